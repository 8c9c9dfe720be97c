"""Results to stdout, everything else to stderr."""

from __future__ import annotations

import os
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from rulescore.cli.options import is_for_spreadsheets
from rulescore.cli.progress import still
from rulescore.errors import Diagnostic, Paint, Part, Severity, plain, render
from rulescore.errors.texts import visible, visible_lines
from rulescore.reporting.listing import AS_IT_IS, Appearance, Format, Listing, Shown, TableChoice, counted

if TYPE_CHECKING:
    # Loading these takes longer than `--help` may.
    from rulescore.counting.explain import ShapeExplanation
    from rulescore.scoring.evaluation import Evaluation
    from rulescore.scoring.gate_outcomes import Outcome
    from rulescore.scoring.labels import Labels
    from rulescore.session.session import Session

_MOST_OF_ONE_CODE = 10
_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


def show(
    result: Evaluation | Listing,
    form: str,
    *,
    table: str | None = None,
    detail: bool = False,
    gates: Sequence[Outcome] = (),
    choice: TableChoice = AS_IT_IS,
    labels: Labels | None = None,
) -> None:
    from rulescore.reporting.render import render as render_result
    from rulescore.scoring.labels import Labels

    look = appearance()
    text = render_result(
        result,
        Format(form),
        table=None if table is None else Shown(table),
        detail=detail,
        appearance=look,
        spreadsheet=is_for_spreadsheets(click.get_current_context(silent=True)),
        gates=gates,
        choice=choice,
        labels=labels or Labels(),
    )
    # The renderer has already escaped control characters, cell by cell; escapes that are left are our colours.
    put(text, form, look)


def show_violations(session: Session, form: Format) -> None:
    """Prints the first violations of each model."""
    from rulescore.reporting.gates import first_violations

    look = appearance()
    exact = is_for_spreadsheets(click.get_current_context(silent=True))
    text = first_violations(session, session.models, form, appearance=look, spreadsheet=exact)
    put(text, form, look)


def appearance() -> Appearance:
    """The width of stdout, and whether it shows colours."""
    return Appearance(width=shutil.get_terminal_size().columns, colour=has_colour(sys.stdout))


def write(text: str) -> None:
    """Prints text for programs unchanged. On a terminal we escape control characters, so data cannot steer it."""
    # `color=True`: click would otherwise remove from names whatever looks like a colour.
    still()
    click.echo(visible_lines(text) if sys.stdout.isatty() else text, nl=False, color=True)


def has_colour(stream: IO[str]) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def told(problem: Diagnostic) -> str:
    return render(problem, painter())


def painter() -> Paint:
    """The function that colours problems; it adds no colour unless stderr is a terminal that has colours."""
    return _painted if has_colour(sys.stderr) else plain


def _painted(part: Part, severity: Severity, text: str) -> str:
    match part:
        case Part.TITLE:
            return click.style(text, fg=_COLOURS[severity], bold=True)
        case Part.CARET:
            return click.style(text, fg=_COLOURS[severity])
        case Part.MARGIN:
            return click.style(text, fg="blue")


def show_warnings(warnings: Iterable[Diagnostic], *, quiet: bool) -> None:
    """Prints the first few warnings of each code, and how many more there are."""
    if quiet:
        return
    for code, problems in _by_code(warnings).items():
        for problem in problems[:_MOST_OF_ONE_CODE]:
            tell(told(problem) + "\n")
        if len(problems) > _MOST_OF_ONE_CODE:
            tell(f"… and {len(problems) - _MOST_OF_ONE_CODE:,} more of {code}\n")


def show_folded(warnings: Sequence[Diagnostic], *, quiet: bool, where: str = "`--detail`") -> None:
    """Prints a line for each code: its first message, and the number of others. `where`: the option or command that lists all
    warnings."""
    if quiet or not warnings:
        return
    tell("")
    for problems in _by_code(warnings).values():
        line = told(Diagnostic(problems[0].code, problems[0].message, severity=problems[0].severity))
        tell(line if len(problems) == 1 else f"{line} (and {len(problems) - 1:,} more)")
    tell(f"{where} shows all warnings, with places and advice")


def put(text: str, form: str, look: Appearance) -> None:
    """Prints a result to stdout."""
    still()
    click.echo(text, nl=False, color=look.colour) if form == Format.TABLE else write(text)


def tell(text: str) -> None:
    """Prints text to stderr, whose control characters the caller has escaped. We ignore a stderr that cannot be written."""
    still()
    with suppress(OSError):
        click.echo(text, err=True, color=has_colour(sys.stderr))


def _by_code(warnings: Iterable[Diagnostic]) -> dict[str, list[Diagnostic]]:
    by_code: defaultdict[str, list[Diagnostic]] = defaultdict(list)
    for warning in warnings:
        by_code[warning.code].append(warning)
    return by_code


def save(text: str, path: Path, *, quiet: bool, said: str = "") -> None:
    """Writes a text to a file. `said`: what it is, in words that end with `to`."""
    from rulescore.reporting.files import write_files

    write_files(path.parent, {path.name: text})
    if not quiet:
        tell(visible(f"wrote {said}{path}"))


def show_written(paths: Sequence[Path], *, quiet: bool) -> None:
    if paths and not quiet:
        tell(visible(f"wrote {', '.join(path.name for path in paths)} to {paths[0].parent}"))


def show_explanations(explanations: Iterable[ShapeExplanation], *, statements: bool) -> None:
    for explanation in explanations:
        groundings = explanation.estimated_groundings
        estimate = "" if groundings is None else f", about {counted(groundings, 'grounding')}"
        write(f"{explanation.title}\n  {counted(explanation.rules, 'rule')}{estimate}\n\n")
        for statement in explanation.statements if statements else ():
            write(f"{statement}\n\n")
