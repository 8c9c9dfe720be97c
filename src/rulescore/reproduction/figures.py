"""Published charts, drawn again: ours, with the published values."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import pyarrow as pa

from rulescore.reproduction.published import Printed
from rulescore.scoring.results import Counts, Measure, ModelRuleResult, RuleInfo, RuleKind, RuleResult
from rulescore.session.result import Result

_MEASURES = {
    "hits@1": "hits_at_1",
    "mrr": "mrr",
    "soft": "soft_score",
    "hard": "hard_score",
    "r2": "r_squared",
    "aggregate": "soft_score",
}


_NOTE_WIDTH = 70
_BY_PLACE = "in falling order, since the publication does not name its rules; ours: {}"


class Chart(StrEnum):
    DATASET_RATES = "dataset_rates"
    RULES = "rules"
    MODELS = "models"
    TRADEOFF = "tradeoff"
    TOLERANCES = "tolerances"


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart of a result, with the published values. A chart over tolerances has `points` instead of a result."""

    name: str
    chart: Chart
    result: Result | None
    published: pa.Table | None
    points: pa.Table | None = None
    note: str | None = None


def model_figures(models: Mapping[str, Mapping[str, Any]]) -> pa.Table:
    """Published numbers of models, without measures that no chart has."""
    rows = [
        (model, _MEASURES[key], float(value))
        for model, numbers in models.items()
        for key, value in numbers.items()
        if key in _MEASURES
    ]
    return table_of(("model", "measure", "value"), rows)


def table_of(names: Sequence[str], rows: Sequence[Sequence[object]]) -> pa.Table:
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def of_rules(result: Result, kind: RuleKind) -> Result:
    return replace(result, rule_results=tuple(rule for rule in result.rule_results if rule.kind is kind))


def rates_by_place(result: Result, published: Sequence[Printed]) -> Figure:
    """Rates of rules that the publication does not name, in falling order. Our rates are taken at even distances among all of
    ours."""
    judged = [rule for rule in result.rule_results if rule.dataset.rate is not None]
    ordered = sorted(judged, key=lambda rule: (-(rule.dataset.rate or 0), -rule.dataset.evaluable))
    numbers = sorted(map(float, published), reverse=True)
    chosen = _evenly(ordered, len(numbers))
    rules = [replace(rule, info=_place(place, rule.info.text), models={}) for place, rule in enumerate(chosen, 1)]
    rates = [(_place(place).name, number) for place, number in enumerate(numbers, 1)]
    drawn = replace(result, rule_results=tuple(rules), model_results=())
    note = _BY_PLACE.format(f"{len(numbers)} of {len(ordered)}, at even distances")
    return Figure("dataset_rates", Chart.DATASET_RATES, drawn, table_of(("rule", "value"), rates), note=note)


def scores_by_place(
    name: str, result: Result, kind: RuleKind, published: Mapping[str, Sequence[Printed]], *, highest: bool = False
) -> Figure:
    """For each model, the scores of rules that the publication does not name, in falling order. Our scores: the highest, or scores
    at even distances among all of ours."""
    number = max(map(len, published.values()))
    models: list[dict[str, ModelRuleResult]] = [{} for _ in range(number)]
    for model in published:
        scores = [rule.models[model].score.value for rule in result.rule_results if rule.kind is kind]
        falling = sorted((score for score in scores if score is not None), reverse=True)
        for place, score in enumerate(falling[:number] if highest else _evenly(falling, number)):
            models[place][model] = ModelRuleResult(Counts(), Measure(score), Measure(None))
    rules = [RuleResult(_place(place), kind, "", Counts(), scores) for place, scores in enumerate(models, 1)]
    rows = [
        (_place(place).name, model, score)
        for model, scores in published.items()
        for place, score in enumerate(sorted(map(float, scores), reverse=True), 1)
    ]
    drawn = replace(
        result, rule_results=tuple(rules), model_results=tuple(model for model in result.model_results if model.name in published)
    )
    note = _BY_PLACE.format("the highest" if highest else f"{number} of each model's, at even distances")
    return Figure(name, Chart.RULES, drawn, table_of(("rule", "model", "value"), rows), note=note)


def _evenly(ordered: Sequence[Any], number: int) -> list[Any]:
    return [ordered[round(place * (len(ordered) - 1) / (number - 1))] for place in range(number)]


def _place(place: int, text: str = "") -> RuleInfo:
    return RuleInfo(f"place {place}", text)


def drawings(figures: Sequence[Figure]) -> dict[str, str | bytes]:
    """Every figure as SVG, PNG and PDF, by the names of the files."""
    from rulescore.plots.figures import rendered

    return {f"{figure.name}.{ending}": content for figure in figures for ending, content in rendered(chart_of(figure)).items()}


def chart_of(figure: Figure) -> Any:
    """The figure as an Altair chart."""
    from rulescore.plots.figures import lines_chart

    if figure.result is None:
        titles = {"dataset_rate": "dataset rate", "soft_score": "RVS of the four rules together"}
        title = "Dataset rates and scores over ε"
        return lines_chart(figure.points, "ε, in % of the compared value", title=title, measures=titles, log=True)
    draw: Callable[[Any], Any] = getattr(figure.result.plot, figure.chart.value)
    chart = draw(figure.published)
    if figure.note is not None:
        chart.title.subtitle = [*chart.title.subtitle, *textwrap.wrap(figure.note, _NOTE_WIDTH)]
    return chart
