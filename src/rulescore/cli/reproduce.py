"""`rulescore reproduce`: runs the published experiments again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rulescore.cli.help import Command
from rulescore.cli.options import format_option, is_for_spreadsheets, quiet_option
from rulescore.cli.output import appearance, put, show_written
from rulescore.cli.plots import refuse_undrawable
from rulescore.reporting.cells import Format

if TYPE_CHECKING:
    # Loading these takes longer than `--help` may.
    from rulescore.reproduction.comparison import Reproduction
    from rulescore.reproduction.experiments import ExperimentOutcome

EXPERIMENTS = ("family", "fb15k-237", "real-estate", "checks", "all")

_ENDINGS = {Format.JSON: "json", Format.CSV: "csv", Format.MARKDOWN: "md"}


@click.command(cls=Command, examples=("rulescore reproduce family", "rulescore reproduce all --output reproduction"))
@click.argument("experiment", type=click.Choice(EXPERIMENTS))
@format_option
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Also write the tables into this folder, and a project file for other commands to read.",
)
@click.option(
    "--plots",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Also draw the published figures, with our values beside the published ones, into this folder.",
)
@quiet_option
def reproduce(experiment: str, form: str, output: Path | None, plots: Path | None, quiet: bool) -> None:
    """Run a published experiment again.

    Prints the published numbers beside ours, and the reason for each difference: other predictions, other data, other averaging,
    training on test facts, or unknown. `checks` tests the publication's claims P1 to P4 about the score, and exits with 1 if one
    does not hold. RULESCORE_DATA names the folder with the data sets and with the folder `predictions`.
    """
    from rulescore.reproduction.experiments import run
    from rulescore.reproduction.rendering import render

    if plots is not None:
        refuse_undrawable()
    found = run(experiment)
    look = appearance()
    text = render(found, Format(form), look, spreadsheet=is_for_spreadsheets(click.get_current_context()))
    # The renderer has already escaped control characters, cell by cell; escapes that are left are our colours.
    put(text, form, look)
    if output is not None:
        _write(found, output, quiet=quiet)
    if plots is not None:
        _draw(found, plots, quiet=quiet)
    if not all(check.holds for check in found.checks):
        raise SystemExit(1)


def _write(found: ExperimentOutcome, folder: Path, *, quiet: bool) -> None:
    """Writes the tables, and the project of each experiment, in a folder of its own if there are several."""
    from rulescore.reporting.files import write_files
    from rulescore.reproduction.rendering import render

    show_written(
        write_files(folder, {f"reproduction.{ending}": render(found, form) for form, ending in _ENDINGS.items()}), quiet=quiet
    )
    for one in found.reproductions:
        show_written(write_files(_own(found, one, folder), one.project), quiet=quiet)


def _draw(found: ExperimentOutcome, folder: Path, *, quiet: bool) -> None:
    from rulescore.reporting.files import write_files
    from rulescore.reproduction.figures import drawings

    for one in found.reproductions:
        show_written(write_files(_own(found, one, folder), drawings(one.figures)), quiet=quiet)


def _own(found: ExperimentOutcome, one: Reproduction, folder: Path) -> Path:
    return folder if len(found.reproductions) == 1 else folder / one.name
