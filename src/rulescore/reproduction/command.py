"""`rulescore reproduce`: runs the published experiments again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rulescore.cli.options import Command, format_option, is_for_spreadsheets, quiet_option
from rulescore.cli.output import appearance, put, show_written
from rulescore.reporting.listing import Format

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
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Also write the tables into this folder, and a project file for other commands to read.",
)
@click.option(
    "--plots",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Also draw the published figures, with our values next to the published ones, into this folder.",
)
@quiet_option
def reproduce(experiment: str, form: str, output: Path | None, plots: Path | None, quiet: bool) -> None:
    """Run a published experiment again.

    Prints the published numbers with ours, and the reason for each difference: other predictions, other data, other averaging,
    training on test facts, or unknown. `checks` tests the publication's claims P1 to P4 about the score, and exits with 1 if one
    does not hold. RULESCORE_DATA names the folder with the data sets and with the folder `predictions`.
    """
    from rulescore.reproduction.experiments import render, run

    if plots is not None:
        import rulescore.plots  # noqa: F401  # raises an error if the package that draws is missing
    outcome = run(experiment)
    look = appearance()
    text = render(outcome, Format(form), look, spreadsheet=is_for_spreadsheets(click.get_current_context()))
    # The renderer has already escaped control characters, cell by cell; escapes that are left are our colours.
    put(text, form, look)
    if output is not None:
        _write(outcome, output, quiet=quiet)
    if plots is not None:
        _draw(outcome, plots, quiet=quiet)
    if not all(check.holds for check in outcome.checks):
        raise SystemExit(1)


def _write(outcome: ExperimentOutcome, folder: Path, *, quiet: bool) -> None:
    """Writes the tables, and the project of each experiment, in a folder of its own if there are several."""
    from rulescore.reporting.files import write_files
    from rulescore.reproduction.experiments import render

    show_written(
        write_files(folder, {f"reproduction.{ending}": render(outcome, form) for form, ending in _ENDINGS.items()}), quiet=quiet
    )
    for reproduction in outcome.reproductions:
        show_written(write_files(_own(outcome, reproduction, folder), reproduction.project), quiet=quiet)


def _draw(outcome: ExperimentOutcome, folder: Path, *, quiet: bool) -> None:
    from rulescore.reporting.files import write_files
    from rulescore.reproduction.figures import drawings

    for reproduction in outcome.reproductions:
        show_written(write_files(_own(outcome, reproduction, folder), drawings(reproduction.figures)), quiet=quiet)


def _own(outcome: ExperimentOutcome, reproduction: Reproduction, folder: Path) -> Path:
    return folder if len(outcome.reproductions) == 1 else folder / reproduction.name
