"""The few numbers of a result that other tools keep beside their own."""

from __future__ import annotations

from rulescore.result import Result
from rulescore.scoring.results import Measure, ModelResult

MEASURES = ("rvs_hard", "rvs_soft", "violating_predictions")


def model_measures(model: ModelResult) -> dict[str, float | None]:
    """A model's scores, and how many of its predictions violate a hard rule. None: undefined, or a number that says nothing."""
    violating = None if model.violating_reason is not None else model.violating
    return dict(zip(MEASURES, (_telling(model.hard_score), _telling(model.soft_score), violating), strict=True))


def the_model(result: Result) -> ModelResult:
    """The model of a result that has one."""
    (model,) = result.model_results
    return model


def _telling(measure: Measure) -> float | None:
    return measure.value if measure.mark is None else None
