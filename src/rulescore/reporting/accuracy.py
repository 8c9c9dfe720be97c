"""Accuracy and rule violation scores side by side: they answer two questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rulescore.accuracy.measure import Accuracy
from rulescore.accuracy.metrics import Metric
from rulescore.reporting.listing import Cell, CellKind, Column, Listing
from rulescore.reporting.tables import kind_cell, measure_cell, score_cell, violating_cell, why
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import Measure, ModelResult, RuleResult

_SCORES = {"hard_score": "RVS hard", "soft_score": "RVS soft", "soft_mean": "soft mean"}


def accuracy_listing(evaluation: Evaluation, metrics: Sequence[Metric[Any]], accuracies: Mapping[str, Accuracy]) -> Listing:
    """One row a model: how many of the held-out labels it predicted, its accuracy over them, its scores."""
    models = evaluation.model_results
    columns = (
        Column("model", "model"),
        Column("labels", "labels", CellKind.COUNT),
        Column("predicted", "predicted", CellKind.COUNT),
        *(Column(metric.name, metric.title, CellKind.SCORE) for metric in metrics),
        Column("violating", "violating a hard rule", CellKind.COUNT),
        *(Column(key, heading, CellKind.SCORE) for key, heading in _SCORES.items()),
    )
    rows = tuple(_model_row(model, evaluation.rule_results, metrics, accuracies[model.name]) for model in models)
    measures = {model.name: _measures(model, metrics, accuracies[model.name]) for model in models}
    return Listing("accuracy", "Accuracy and rule violation scores", columns, rows, notes=tuple(_reasons(measures)))


def rule_scores_listing(evaluation: Evaluation) -> Listing:
    """One row a rule: its counts over the observed data, then the score of each model."""
    columns = (
        Column("rule", "rule"),
        Column("kind", "kind"),
        Column("refuted", "refuted", CellKind.COUNT),
        Column("evaluable", "evaluable", CellKind.COUNT),
        Column("rate", "rate", CellKind.RATE),
        *(Column(model.name, model.name, CellKind.SCORE) for model in evaluation.model_results),
    )
    rows = tuple(_rule_row(rule) for rule in evaluation.rule_results)
    return Listing("rule_scores", "Each rule over the observed data, and its score under each model", columns, rows)


def _model_row(
    model: ModelResult, rules: Sequence[RuleResult], metrics: Sequence[Metric[Any]], accuracy: Accuracy
) -> tuple[Cell, ...]:
    return (
        model.name,
        accuracy.labels,
        accuracy.predicted,
        *(accuracy.measures[metric.name].value for metric in metrics),
        violating_cell(model),
        *(measure_cell(getattr(model, key)) for key in _SCORES),
    )


def _measures(model: ModelResult, metrics: Sequence[Metric[Any]], accuracy: Accuracy) -> dict[str, Measure]:
    """The measures of a model, by heading."""
    scores: dict[str, Measure] = {heading: getattr(model, key) for key, heading in _SCORES.items()}
    return {metric.title: accuracy.measures[metric.name] for metric in metrics} | scores


def _reasons(measures: Mapping[str, Mapping[str, Measure]]) -> Iterator[str]:
    """Why measures are undefined or say nothing: each reason once, with the models it is true of unless these are all."""
    models: dict[tuple[str, tuple[str, str]], list[str]] = {}
    for name, found in measures.items():
        for heading, measure in found.items():
            if (explained := why(measure)) is not None:
                models.setdefault((heading, explained), []).append(name)
    for (heading, (mark, reason)), names in models.items():
        of_whom = "" if len(names) == len(measures) else f" of {', '.join(names)}"
        yield f"{mark} {heading}{of_whom}: {reason}"


def _rule_row(rule: RuleResult) -> tuple[Cell, ...]:
    counts = rule.dataset
    scores = (score_cell(rule, found) for found in rule.models.values())
    return rule.info.name, kind_cell(rule), counts.refuted, counts.evaluable, counts.rate, *scores
