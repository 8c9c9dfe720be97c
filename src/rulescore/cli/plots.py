"""Writes figures as files, and reports which were written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rulescore.cli.output import show_written, tell

if TYPE_CHECKING:
    from rulescore.plots.figures import WrittenFigures
    from rulescore.scoring.curve import CurveOver
    from rulescore.scoring.evaluation import Evaluation


# vl-convert runs Vega in V8, which reserves this many bytes of addresses.
_FIGURES = 71 * 10**9


def refuse_folders(results: Path | None, plots: Path | None) -> None:
    """Raises an error before we count if results or figures could not be written afterwards."""
    folders = [path for path in (results, plots) if path is not None]
    if not folders:
        return
    from rulescore.reporting.files import refuse_unswappable

    for folder in folders:
        refuse_unswappable(folder)
    if plots is None:
        return
    import rulescore.plots  # noqa: F401  # raises an error if the package that draws is missing

    if results is not None and _is_within(results, plots):
        message = "the folder of results and the folder of figures lie one inside the other, and we replace each as a whole"
        raise click.UsageError(f"{message}; give one folder for both, or two side by side")


def draw(evaluation: Evaluation, folder: Path, *, quiet: bool) -> None:
    from rulescore.plots.figures import write_figures

    written = write_figures(evaluation, folder)
    _tell(written, {**written.left_out, "curve": "`--curve --plots` draws it"}, quiet=quiet)


def draw_curve(evaluation: Evaluation, folder: Path, over: CurveOver, *, quiet: bool) -> None:
    from rulescore.plots.figures import write_curve

    written = write_curve(evaluation, folder, over)
    _tell(written, written.left_out, quiet=quiet)


def _tell(written: WrittenFigures, left_out: dict[str, str], *, quiet: bool) -> None:
    show_written(written.paths, quiet=quiet)
    if left_out and not quiet:
        tell(f"not drawn: {', '.join(f'{name} ({reason})' for name, reason in left_out.items())}")


def _is_within(first: Path, second: Path) -> bool:
    inner, outer = first.resolve(), second.resolve()
    return inner != outer and (inner.is_relative_to(outer) or outer.is_relative_to(inner))
