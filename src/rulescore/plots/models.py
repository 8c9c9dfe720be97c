"""The scores of each model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt

from rulescore.errors import Diagnostic, InputError, meant, ticked
from rulescore.plots import look
from rulescore.reporting.listing import CellKind, shown
from rulescore.scoring.evaluation import Evaluation, accuracy_by_metric, higher_is_better, metric_title
from rulescore.scoring.results import ModelResult

_WIDTH = 230
_ALWAYS = ("hard_score", "soft_score")


def models_chart(evaluation: Evaluation, published: Any = None) -> Any:
    """Bars of the two scores and of every other measure that is published; a word stands for a score that is not defined."""
    if not evaluation.model_results:
        raise look.NothingToDrawError("models", "there are no models")
    ours = measures(evaluation)
    rows = look.published_rows(published, ("model", "measure", "value"))
    look.refuse_unknown(rows, "measure", ours)
    theirs = by_measure(rows)
    models = look.labels([*(model.name for model in evaluation.model_results), *(row["model"] for row in rows)])
    words = {name: _words(evaluation, name) for name in _ALWAYS}
    drawn = [name for name in ours if name in _ALWAYS or name in theirs]
    intervals = _intervals(evaluation)
    parts = [
        _bars(name, models, ours, theirs, words.get(name, {}), intervals.get(name, {}), labelled=not place % 2)
        for place, name in enumerate(drawn)
    ]
    chart = alt.concat(*parts, columns=2, spacing={"row": 20, "column": 60})
    notes = ["RVS: less is better", *([look.EVEN] if ours["soft_score"] else [])]
    return look.finished(chart, "Rule violation scores of the models", *notes, *([look.INTERVALS] if intervals else []))


def _intervals(evaluation: Evaluation) -> dict[str, dict[str, tuple[float, float]]]:
    """Intervals of the scores that say something, by measure and model."""
    compared = look.intervals_of(evaluation)
    ours = measures(evaluation)
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for row in [] if compared is None else compared.models.to_pylist():
        if row["low"] is not None and row["model"] in ours.get(row["measure"], {}):
            found.setdefault(row["measure"], {})[row["model"]] = row["low"], row["high"]
    return found


def _words(evaluation: Evaluation, name: str) -> dict[str, str]:
    """The words in place of scores that are not defined or say nothing."""
    measures = {model.name: getattr(model, name) for model in evaluation.model_results}
    return {model: value.mark or "undefined" for model, value in measures.items() if value.value is None or value.mark is not None}


def _bars(
    name: str,
    models: Mapping[str, str],
    ours: Values,
    theirs: Values,
    words: Mapping[str, str],
    intervals: Mapping[str, tuple[float, float]],
    *,
    labelled: bool,
) -> Any:
    values: list[dict[str, Any]] = [
        {"model": models[model], "source": source, "value": value, "shown": shown(value, CellKind.SCORE)}
        for source, values_of_source in ((look.OURS, ours), (look.PUBLISHED, theirs))
        for model, value in values_of_source.get(name, {}).items()
    ]
    values += [{"model": models[model], "source": look.OURS, "value": None, "shown": word} for model, word in words.items()]
    sources: Sequence[str] = (look.OURS, look.PUBLISHED) if theirs else (look.OURS,)
    lines = [{"model": models[model], "source": look.OURS, "value": low, "high": high} for model, (low, high) in intervals.items()]
    reached = [row["value"] for row in values if row["value"] is not None] + [row["high"] for row in lines]
    greatest = max([*reached, *([1] if name == "soft_score" and reached else [])], default=0)
    axis = alt.Axis(domain=False, ticks=False, labels=labelled, labelPadding=6)
    base = alt.Chart().encode(
        y=alt.Y("model:N", sort=list(models.values()), scale=alt.Scale(domain=list(models.values())), title=None, axis=axis),
        yOffset=alt.YOffset("source:N", sort=list(sources), scale=alt.Scale(domain=list(sources))),
    )
    least = min((row["value"] for row in values if row["value"] is not None), default=0)
    scale = alt.Scale(domain=[min(least, 0), greatest * 1.02 if greatest > 0 else 1], nice=False)
    length = alt.X("value:Q", title=measure_title(name), scale=scale, axis=alt.Axis(tickCount=5, format=look.NUMBERS))
    colour = alt.Scale(domain=list(sources), range=[look.COLOURS[0], look.COLOURS[1]][: len(sources)])
    bars = base.mark_bar().encode(
        x=length,
        color=alt.Color("source:N", scale=colour, legend=look.legend() if theirs else None),
        tooltip=[alt.Tooltip("model:N"), alt.Tooltip("source:N"), alt.Tooltip("value:Q")],
    )
    numbers = base.mark_text(align="left", dx=6, fontSize=10).encode(x=alt.value(_WIDTH), text="shown:N")
    within = base.mark_rule(strokeWidth=1.2).encode(x="value:Q", x2="high:Q").properties(data=look.data(lines))
    layers = [bars, *([within] if lines else []), *([look.even("x")] if name == "soft_score" and reached else []), numbers]
    return alt.layer(*layers, data=look.data(values)).properties(width=_WIDTH, height=len(models) * (32 if theirs else 24))


# Accuracy against scores.


_FIRST = ("hits_at_1", "mrr", "r_squared", "accuracy", "macro_f1")
_DRAWN = ("hard_score", "soft_score")


def tradeoff_chart(evaluation: Evaluation, published: Any = None, metric: str | None = None) -> Any:
    """A mark for each model at its accuracy and its score; a line leads from a published pair to ours."""
    ours = measures(evaluation)
    rows = look.published_rows(published, ("model", "measure", "value"))
    look.refuse_unknown(rows, "measure", ours)
    theirs = by_measure(rows)
    accuracies = [name for name, values in ours.items() if name not in SCORES and values]
    if not accuracies:
        help = "give what was held out: `--truth`, or `truth=` in Python"
        raise look.NothingToDrawError("tradeoff", "no accuracy was measured", help)
    if metric is None:
        metric = next((name for name in _FIRST if name in accuracies), accuracies[0])
    elif metric not in accuracies:
        raise InputError(_unknown(metric, accuracies))
    models = look.labels([*(model.name for model in evaluation.model_results), *(row["model"] for row in rows)])
    intervals = _intervals(evaluation)
    parts = [_points(metric, name, models, ours, theirs, intervals.get(name, {})) for name in _DRAWN if ours[name]]
    if not parts:
        raise look.NothingToDrawError("tradeoff", "no model has a score")
    better = "right" if higher_is_better(metric.rpartition(".")[2]) else "left"
    notes = [*([look.BESIDE] if theirs else []), f"better: to the {better}, and down"]
    notes += [*([look.EVEN] if ours["soft_score"] else []), *([look.INTERVALS] if intervals else [])]
    return look.finished(alt.hconcat(*parts), f"{measure_title(metric)} against rule violation scores", *notes)


def _unknown(metric: str, known: list[str]) -> Diagnostic:
    notes = (f"measured were {ticked(known)}",)
    helps = meant(metric, known)
    return Diagnostic("E791", f"no metric `{metric}` was measured", notes=notes, helps=helps)


def _points(
    metric: str,
    name: str,
    models: Mapping[str, str],
    ours: Values,
    theirs: Values,
    intervals: Mapping[str, tuple[float, float]],
) -> Any:
    pairs = {source: _pairs(values, metric, name) for source, values in ((look.OURS, ours), (look.PUBLISHED, theirs))}
    values: list[dict[str, Any]] = [
        {"model": models[model], "source": source, "accuracy": accuracy, "score": score}
        for source, of_source in pairs.items()
        for model, (accuracy, score) in of_source.items()
    ]
    lines = [
        {"model": models[model], "accuracy": at[0], "score": at[1], "accuracy2": end[0], "score2": end[1]}
        for model, at in pairs[look.OURS].items()
        if (end := pairs[look.PUBLISHED].get(model)) is not None
    ]
    spans = [
        {"model": models[model], "accuracy": pairs[look.OURS][model][0], "score": low, "high": high}
        for model, (low, high) in intervals.items()
        if model in pairs[look.OURS]
    ]
    names = list(models.values())
    across = alt.X("accuracy:Q", title=measure_title(metric), scale=alt.Scale(zero=False, nice=True, padding=14))
    greatest = max([*(row["score"] for row in values), *(row["high"] for row in spans)], default=0)
    up = alt.Y("score:Q", title=f"{measure_title(name)}{look.log_words(greatest)}", **look.wide(greatest))
    base = alt.Chart().encode(
        x=across,
        y=up,
        color=alt.Color("model:N", scale=look.colours(names), legend=look.legend()),
        shape=alt.Shape("model:N", scale=look.shapes(names), legend=look.legend()),
        tooltip=[alt.Tooltip("model:N"), alt.Tooltip("source:N"), alt.Tooltip("accuracy:Q"), alt.Tooltip("score:Q")],
    )
    heavy, ring = (alt.Size("model:N", scale=look.sizes(names, size), legend=None) for size in (80, 170))
    filled = base.encode(size=heavy).mark_point(filled=True, opacity=1).transform_filter(alt.datum.source == look.OURS)
    hollow = base.encode(size=ring).mark_point(filled=False, strokeWidth=1.5, opacity=1)
    hollow = hollow.transform_filter(alt.datum.source == look.PUBLISHED)
    colour = alt.Color("model:N", scale=look.colours(names), legend=look.legend())
    within = alt.Chart(look.data(spans)).mark_rule(strokeWidth=1).encode(x=across, y=up, y2="high:Q", color=colour)
    between = (
        alt.Chart(look.data(lines))
        .mark_rule(color="#8C8C8C", strokeWidth=1)
        .encode(x=across, y=up, x2=alt.X2("accuracy2:Q"), y2=alt.Y2("score2:Q"))
    )
    layers = [*([look.even("y")] if name == "soft_score" else []), *([between] if lines else []), *([within] if spans else [])]
    layers += [filled, *([hollow] if pairs[look.PUBLISHED] else [])]
    return alt.layer(*layers, data=look.data(values)).resolve_scale(size="independent").properties(width=270, height=260)


def _pairs(values: Values, metric: str, name: str) -> dict[str, tuple[float, float]]:
    accuracies, scores = values.get(metric, {}), values.get(name, {})
    return {model: (accuracies[model], scores[model]) for model in accuracies if model in scores}


# The figures of models by name, as the table `models` of a result names them.


SCORES = {"hard_score": "RVS hard", "soft_score": "RVS soft", "hard_mean": "hard mean", "soft_mean": "soft mean"}

Values = Mapping[str, Mapping[str, float]]
"""By measure and model; undefined values are left out."""


def measures(evaluation: Evaluation) -> dict[str, dict[str, float]]:
    """Scores, then accuracy."""
    measures = {name: dict(_scores(evaluation.model_results, name)) for name in SCORES}
    for metric, by_model in accuracy_by_metric(evaluation.accuracy_results).items():
        measures[metric] = {model: measure.value for model, measure in by_model.items() if measure.value is not None}
    return measures


def _scores(models: Iterable[ModelResult], name: str) -> Iterable[tuple[str, float]]:
    for model in models:
        measure = getattr(model, name)
        if measure.value is not None and measure.mark is None:
            yield model.name, measure.value


def by_measure(rows: Iterable[Mapping[str, str | float]]) -> dict[str, dict[str, float]]:
    """Published rows in the same form."""
    values: dict[str, dict[str, float]] = {}
    for row in rows:
        values.setdefault(str(row["measure"]), {})[str(row["model"])] = float(row["value"])
    return values


def measure_title(name: str) -> str:
    table, dot, metric = name.rpartition(".")
    return SCORES.get(name) or f"{table}{dot}{metric_title(metric)}"
