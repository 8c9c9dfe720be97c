"""Curves: scores at every cut of rankings or scores, as a listing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rulescore.reporting.cells import Format
from rulescore.reporting.listing import CellKind, Column, Listing
from rulescore.scoring.curve import CurveOver, CurvePoint

_FOR_PROGRAMS = frozenset({Format.CSV, Format.JSON})
_LEADING = (1, 2, 5)


def curve_listing(points: Sequence[CurvePoint], over: CurveOver, form: Format) -> Listing:
    """One row a cut and model. People see a few cuts of a long curve: 1, 2, 5, 10 and so on, and the last; programs see all."""
    by_rank = over is CurveOver.RANK
    shown = points if form in _FOR_PROGRAMS or not by_rank else _few(points)
    notes = ["k: the best k answers of each query count" if by_rank else "threshold: answers with that score or more count"]
    if len(shown) < len(points):
        notes.append(f"{len(shown):,} of {len(points):,} rows; `--format csv` has all of them")
    columns = (
        Column("k", "k", CellKind.COUNT) if by_rank else Column("threshold", "threshold", CellKind.VALUE),
        Column("model", "model"),
        Column("violating", "violating", CellKind.COUNT),
        Column("evaluable", "evaluable", CellKind.COUNT),
        Column("hard_score", "RVS hard", CellKind.SCORE),
        Column("soft_score", "RVS soft", CellKind.SCORE),
    )
    rows = tuple((one.at, one.model, one.violating, one.evaluable, one.hard, one.soft) for one in shown)
    return Listing("curve", "Scores by number of answers" if by_rank else "Scores by threshold", columns, rows, notes=tuple(notes))


def _few(points: Sequence[CurvePoint]) -> list[CurvePoint]:
    last = max((int(one.at) for one in points), default=0)
    cuts = {*_series(last), last}
    return [one for one in points if one.at in cuts]


def _series(last: int) -> Iterable[int]:
    size = 1
    while size <= last:
        yield from (size * lead for lead in _LEADING)
        size *= 10
