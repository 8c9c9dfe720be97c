"""The scores of each model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt

from rulescore.errors import Diagnostic, InputError, meant
from rulescore.reporting.cells import shown
from rulescore.reporting.listing import CellKind
from rulescore.reporting.plots.look import (
    BESIDE,
    COLOURS,
    NUMBERS,
    OURS,
    PUBLISHED,
    colours,
    data,
    finished,
    labels,
    legend,
    shapes,
    wide,
)
from rulescore.reporting.plots.published import NothingToDrawError, published_rows, refuse_unknown
from rulescore.scoring.accuracy import accuracy_by_metric, higher_is_better, metric_title
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import ModelResult

_WIDTH = 230
_ALWAYS = ("hard_score", "soft_score")


def models_chart(evaluation: Evaluation, published: Any = None) -> Any:
    """Bars of the two scores and of every other measure that is published; a word stands for a score that is not defined."""
    if not evaluation.model_results:
        raise NothingToDrawError("models", "there are no models")
    ours = measures(evaluation)
    rows = published_rows(published, ("model", "measure", "value"))
    refuse_unknown(rows, "measure", ours)
    theirs = by_measure(rows)
    models = labels([*(model.name for model in evaluation.model_results), *(row["model"] for row in rows)])
    words = {name: _words(evaluation, name) for name in _ALWAYS}
    drawn = [name for name in ours if name in _ALWAYS or name in theirs]
    parts = [_bars(name, models, ours, theirs, words.get(name, {}), labelled=not place % 2) for place, name in enumerate(drawn)]
    chart = alt.concat(*parts, columns=2, spacing={"row": 20, "column": 60})
    return finished(chart, "Rule violation scores of the models", "RVS: less is better")


def _words(evaluation: Evaluation, name: str) -> dict[str, str]:
    """The words in place of scores that are not defined or say nothing."""
    found = {model.name: getattr(model, name) for model in evaluation.model_results}
    return {model: one.mark or "undefined" for model, one in found.items() if one.value is None or one.mark is not None}


def _bars(name: str, models: Mapping[str, str], ours: Values, theirs: Values, words: Mapping[str, str], *, labelled: bool) -> Any:
    values: list[dict[str, Any]] = [
        {"model": models[model], "source": source, "value": value, "shown": shown(value, CellKind.SCORE)}
        for source, found in ((OURS, ours), (PUBLISHED, theirs))
        for model, value in found.get(name, {}).items()
    ]
    values += [{"model": models[model], "source": OURS, "value": None, "shown": word} for model, word in words.items()]
    sources: Sequence[str] = (OURS, PUBLISHED) if theirs else (OURS,)
    greatest = max((one["value"] for one in values if one["value"] is not None), default=0)
    axis = alt.Axis(domain=False, ticks=False, labels=labelled, labelPadding=6)
    base = alt.Chart(data(values)).encode(
        y=alt.Y("model:N", sort=list(models.values()), scale=alt.Scale(domain=list(models.values())), title=None, axis=axis),
        yOffset=alt.YOffset("source:N", sort=list(sources), scale=alt.Scale(domain=list(sources))),
    )
    least = min((one["value"] for one in values if one["value"] is not None), default=0)
    scale = alt.Scale(domain=[min(least, 0), greatest * 1.02 if greatest > 0 else 1], nice=False)
    length = alt.X("value:Q", title=measure_title(name), scale=scale, axis=alt.Axis(tickCount=5, format=NUMBERS))
    colour = alt.Scale(domain=list(sources), range=[COLOURS[0], COLOURS[1]][: len(sources)])
    bars = base.mark_bar().encode(
        x=length,
        color=alt.Color("source:N", scale=colour, legend=legend() if theirs else None),
        tooltip=[alt.Tooltip("model:N"), alt.Tooltip("source:N"), alt.Tooltip("value:Q")],
    )
    numbers = base.mark_text(align="left", dx=6, fontSize=10).encode(x=alt.value(_WIDTH), text="shown:N")
    return alt.layer(bars, numbers).properties(width=_WIDTH, height=len(models) * (32 if theirs else 24))


# Accuracy against scores.


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


# The figures of models by name, as the table `models` of a result names them.


SCORES = {"hard_score": "RVS hard", "soft_score": "RVS soft", "hard_mean": "hard mean", "soft_mean": "soft mean"}

Values = Mapping[str, Mapping[str, float]]
"""By measure and model; undefined values are left out."""


def measures(evaluation: Evaluation) -> dict[str, dict[str, float]]:
    """Scores, then accuracy."""
    found = {name: dict(_scores(evaluation.model_results, name)) for name in SCORES}
    for metric, by_model in accuracy_by_metric(evaluation.accuracy_results).items():
        found[metric] = {model: one.value for model, one in by_model.items() if one.value is not None}
    return found


def _scores(models: Iterable[ModelResult], name: str) -> Iterable[tuple[str, float]]:
    for model in models:
        measure = getattr(model, name)
        if measure.value is not None and measure.mark is None:
            yield model.name, measure.value


def by_measure(rows: Iterable[Mapping[str, str | float]]) -> dict[str, dict[str, float]]:
    """Published rows in the same form."""
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        found.setdefault(str(row["measure"]), {})[str(row["model"])] = float(row["value"])
    return found


def measure_title(name: str) -> str:
    table, dot, metric = name.rpartition(".")
    return SCORES.get(name) or f"{table}{dot}{metric_title(metric)}"
