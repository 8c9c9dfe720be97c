"""Scores over something that was varied: how many answers count, from which score on, a tolerance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pyarrow as pa

from rulescore.reporting.plots.look import (
    BESIDE,
    NUMBERS,
    colours,
    dashes,
    data,
    few,
    finished,
    labels,
    legend,
    powers,
    shapes,
    thinned,
    wide,
)
from rulescore.reporting.plots.models import measure_title
from rulescore.reporting.plots.published import NothingToDrawError, published_rows, refuse_unknown
from rulescore.scoring.curve import CurveOver, CurvePoint, curve_points
from rulescore.scoring.evaluation import Evaluation

POINT_COLUMNS = ("at", "model", "measure", "value")


def curve_chart(
    evaluation: Evaluation, published: Any = None, over: CurveOver = CurveOver.RANK, at: Sequence[int | float] | None = None
) -> Any:
    """The two scores with the best k answers to each query, or with answers that have a score or more."""
    if not evaluation.model_results:
        raise NothingToDrawError("curve", "there are no models")
    points = curve_points(evaluation, over, at)
    table = _point_table(points)
    if not table.num_rows:
        raise NothingToDrawError("curve", "no model has a score")
    if over is CurveOver.RANK:
        what = "answers to each query that count, the best first (k)"
        longest = max(point.at for point in points)
        return lines_chart(table, what, title="Scores by number of answers", published=published, log=longest > 10)
    return lines_chart(table, "score from which on answers count", title="Scores by threshold", published=published)


def lines_chart(
    points: pa.Table,
    over: str,
    *,
    title: str,
    measures: Mapping[str, str] | None = None,
    published: Any = None,
    log: bool = False,
) -> Any:
    """A line for each model, in a panel for each measure: of a table with the columns `at`, `model`, `measure` and `value`; nulls
    are left out. `over`: what is varied; `measures`: their titles; `log`: by powers, if all of `at` is above 0."""
    ours, theirs = published_rows(points, POINT_COLUMNS), published_rows(published, POINT_COLUMNS)
    names = list(dict.fromkeys(row["measure"] for row in ours))
    refuse_unknown(theirs, "measure", names)
    models = labels(row["model"] for row in (*ours, *theirs))
    log = log and all(row["at"] > 0 for row in (*ours, *theirs))
    titles = {name: (measures or {}).get(name, measure_title(name)) for name in names}
    parts = [_lines(_of(ours, name), _of(theirs, name), over, titles[name], models, log=log) for name in names]
    return finished(alt.hconcat(*parts), title, *([BESIDE] if theirs else []))


def _point_table(points: Sequence[CurvePoint]) -> pa.Table:
    rows = [
        {"at": float(point.at), "model": point.model, "measure": measure, "value": value}
        for point in points
        for measure, value in (("hard_score", point.hard), ("soft_score", point.soft))
        if value is not None
    ]
    schema = pa.schema([("at", pa.float64()), ("model", pa.string()), ("measure", pa.string()), ("value", pa.float64())])
    return pa.Table.from_pylist(rows, schema)


def _of(rows: Sequence[Mapping[str, Any]], measure: str) -> list[Mapping[str, Any]]:
    return [row for row in rows if row["measure"] == measure]


def _lines(
    ours: Sequence[Mapping[str, Any]],
    theirs: Sequence[Mapping[str, Any]],
    over: str,
    title: str,
    models: Mapping[str, str],
    *,
    log: bool,
) -> Any:
    lines, marks = [], []
    for model, label in models.items():
        line = thinned(sorted((row["at"], row["value"]) for row in ours if row["model"] == model))
        lines += [{"at": at, "value": value, "model": label} for at, value in line]
        marks += [{"at": at, "value": value, "model": label} for at, value in few(line, log=log)]
    rings = [{"at": row["at"], "value": row["value"], "model": models[row["model"]]} for row in theirs]
    names = list(models.values())
    places = [row["at"] for row in (*ours, *theirs)]
    span = [min(places), max(places)] if min(places) < max(places) else [min(places), min(places) + 1]
    scale = alt.Scale(type="log" if log else "linear", domain=span, nice=False, zero=False)
    ticks = {"values": powers(span[1])} if log else {"tickCount": 8}
    across = alt.X("at:Q", title=over, scale=scale, axis=alt.Axis(format=NUMBERS, **ticks))
    up = alt.Y("value:Q", title=title, **wide(max(row["value"] for row in (*ours, *theirs))))
    colour = alt.Color("model:N", scale=colours(names), legend=legend())
    shape = alt.Shape("model:N", scale=shapes(names), legend=legend())
    dash = alt.StrokeDash("model:N", scale=dashes(names), legend=None)
    drawn = alt.Chart(data(lines)).mark_line(strokeWidth=1.8).encode(x=across, y=up, color=colour, strokeDash=dash)
    points = alt.Chart(data(marks)).mark_point(filled=True, size=50, opacity=1).encode(x=across, y=up, color=colour, shape=shape)
    hollow = (
        alt.Chart(data(rings)).mark_point(size=130, strokeWidth=1.4, opacity=1).encode(x=across, y=up, color=colour, shape=shape)
    )
    return alt.layer(drawn, points, *([hollow] if rings else [])).properties(width=290, height=240)
