"""Results to stdout, everything else to stderr."""

from __future__ import annotations

import os
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rulescore.errors import Diagnostic, render
from rulescore.reporting.cells import counted
from rulescore.reporting.format import Format

if TYPE_CHECKING:
    # Loading these takes longer than `--help` may.
    from rulescore.evaluate import ShapeExplanation
    from rulescore.reporting.listing import Listing
    from rulescore.reporting.terminal import Appearance
    from rulescore.scoring.evaluation import Evaluation
    from rulescore.scoring.gate_outcomes import Outcome

_MOST_OF_ONE_CODE = 10


def show(result: Evaluation | Listing, form: str, gates: Sequence[Outcome] = ()) -> None:
    from rulescore.reporting.render import render as render_result

    look = appearance()
    click.echo(render_result(result, Format(form), appearance=look, gates=gates), nl=False, color=look.colour)


def appearance() -> Appearance:
    """How wide stdout is, and whether it takes colours."""
    from rulescore.reporting.terminal import Appearance

    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Appearance(width=shutil.get_terminal_size().columns, colour=colour)


def show_warnings(warnings: Iterable[Diagnostic], *, quiet: bool) -> None:
    """The first few of each code; the others are counted."""
    if quiet:
        return
    by_code: defaultdict[str, list[Diagnostic]] = defaultdict(list)
    for warning in warnings:
        by_code[warning.code].append(warning)
    for code, problems in by_code.items():
        for problem in problems[:_MOST_OF_ONE_CODE]:
            click.echo(harmless(render(problem)) + "\n", err=True)
        if len(problems) > _MOST_OF_ONE_CODE:
            click.echo(f"… and {len(problems) - _MOST_OF_ONE_CODE:,} more of {code}\n", err=True)


def show_written(paths: Sequence[Path], *, quiet: bool) -> None:
    if paths and not quiet:
        click.echo(f"wrote {', '.join(path.name for path in paths)} to {paths[0].parent}", err=True)


def show_explanations(explanations: Iterable[ShapeExplanation]) -> None:
    for explanation in explanations:
        groundings = explanation.estimated_groundings
        estimate = "" if groundings is None else f", about {counted(groundings, 'grounding')}"
        click.echo(f"{explanation.title}\n  {counted(explanation.rules, 'rule')}{estimate}\n")
        for statement in explanation.statements:
            click.echo(f"{statement}\n")
