"""The scores of each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from rulescore.reporting.cells import shown
from rulescore.reporting.listing import CellKind
from rulescore.reporting.plots.look import COLOURS, NUMBERS, OURS, PUBLISHED, data, finished, labels, legend
from rulescore.reporting.plots.measures import Values, by_measure, measure_title, measures
from rulescore.reporting.plots.published import NothingToDrawError, published_rows, refuse_unknown
from rulescore.scoring.evaluation import Evaluation

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
