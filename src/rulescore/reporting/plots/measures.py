"""The figures of models by name, as the table `models` of a result names them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rulescore.scoring.accuracy import accuracy_by_metric, metric_title
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import ModelResult

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
