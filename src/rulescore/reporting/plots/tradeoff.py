"""Accuracy against scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from rulescore.errors import Diagnostic, InputError, meant
from rulescore.reporting.plots.look import BESIDE, OURS, PUBLISHED, colours, data, finished, labels, legend, shapes, wide
from rulescore.reporting.plots.measures import SCORES, Values, by_measure, measure_title, measures
from rulescore.reporting.plots.published import NothingToDrawError, published_rows, refuse_unknown
from rulescore.scoring.accuracy import higher_is_better
from rulescore.scoring.evaluation import Evaluation

_FIRST = ("hits_at_1", "mrr", "r_squared", "accuracy", "macro_f1")
_DRAWN = ("hard_score", "soft_score")


def tradeoff_chart(evaluation: Evaluation, published: Any = None, metric: str | None = None) -> Any:
    """A mark for each model at its accuracy and its score; a line leads from a published pair to ours."""
    ours = measures(evaluation)
    rows = published_rows(published, ("model", "measure", "value"))
    refuse_unknown(rows, "measure", ours)
    theirs = by_measure(rows)
    accuracies = [name for name, values in ours.items() if name not in SCORES and values]
    if not accuracies:
        help = "give what was held out: `--truth`, or `truth=` in Python"
        raise NothingToDrawError("tradeoff", "no accuracy was measured", help)
    if metric is None:
        metric = next((name for name in _FIRST if name in accuracies), accuracies[0])
    elif metric not in accuracies:
        raise InputError(_unknown(metric, accuracies))
    models = labels([*(model.name for model in evaluation.model_results), *(row["model"] for row in rows)])
    parts = [_points(metric, name, models, ours, theirs) for name in _DRAWN if ours[name]]
    if not parts:
        raise NothingToDrawError("tradeoff", "no model has a score")
    better = "right" if higher_is_better(metric.rpartition(".")[2]) else "left"
    notes = [*([BESIDE] if theirs else []), f"better: to the {better}, and down"]
    return finished(alt.hconcat(*parts), f"{measure_title(metric)} against rule violation scores", *notes)


def _unknown(metric: str, known: list[str]) -> Diagnostic:
    notes = (f"measured were {', '.join(f'`{name}`' for name in known)}",)
    helps = meant(metric, known)
    return Diagnostic("E792", f"no metric `{metric}` was measured", notes=notes, helps=helps)


def _points(metric: str, name: str, models: Mapping[str, str], ours: Values, theirs: Values) -> Any:
    pairs = {source: _pairs(found, metric, name) for source, found in ((OURS, ours), (PUBLISHED, theirs))}
    values: list[dict[str, Any]] = [
        {"model": models[model], "source": source, "accuracy": accuracy, "score": score}
        for source, found in pairs.items()
        for model, (accuracy, score) in found.items()
    ]
    lines = [
        {"model": models[model], "accuracy": at[0], "score": at[1], "accuracy2": end[0], "score2": end[1]}
        for model, at in pairs[OURS].items()
        if (end := pairs[PUBLISHED].get(model)) is not None
    ]
    names = list(models.values())
    across = alt.X("accuracy:Q", title=measure_title(metric), scale=alt.Scale(zero=False, nice=True, padding=14))
    up = alt.Y("score:Q", title=measure_title(name), **wide(max((one["score"] for one in values), default=0)))
    base = alt.Chart(data(values)).encode(
        x=across,
        y=up,
        color=alt.Color("model:N", scale=colours(names), legend=legend()),
        shape=alt.Shape("model:N", scale=shapes(names), legend=legend()),
        tooltip=[alt.Tooltip("model:N"), alt.Tooltip("source:N"), alt.Tooltip("accuracy:Q"), alt.Tooltip("score:Q")],
    )
    filled = base.mark_point(filled=True, size=80, opacity=1).transform_filter(alt.datum.source == OURS)
    hollow = base.mark_point(filled=False, size=170, strokeWidth=1.5, opacity=1).transform_filter(alt.datum.source == PUBLISHED)
    between = (
        alt.Chart(data(lines))
        .mark_rule(color="#8C8C8C", strokeWidth=1)
        .encode(x=across, y=up, x2=alt.X2("accuracy2:Q"), y2=alt.Y2("score2:Q"))
    )
    layers = [*([between] if lines else []), filled, *([hollow] if pairs[PUBLISHED] else [])]
    return alt.layer(*layers).properties(width=270, height=260)


def _pairs(found: Values, metric: str, name: str) -> dict[str, tuple[float, float]]:
    accuracies, scores = found.get(metric, {}), found.get(name, {})
    return {model: (accuracies[model], scores[model]) for model in accuracies if model in scores}
