"""The numbers of a result that other tools log with their own."""

from __future__ import annotations

import json
import re

from rulescore.scoring.results import Measure, ModelResult
from rulescore.session.result import Result

MEASURES = ("rvs_hard", "rvs_soft", "violating_predictions")


def model_measures(model: ModelResult) -> dict[str, float | None]:
    """A model's scores, and the number of predictions that violate a hard rule. None if a score is undefined, or if it says
    nothing, like the 0 of an unmeasured model."""
    violating = None if model.violating_reason is not None else model.violating
    return dict(zip(MEASURES, (_telling(model.hard_score), _telling(model.soft_score), violating), strict=True))


def the_model(result: Result) -> ModelResult:
    """The only model of a result."""
    (model,) = result.model_results
    return model


def _telling(measure: Measure) -> float | None:
    return measure.value if measure.mark is None else None


def logged_measures(result: Result, prefix: str = "") -> dict[str, float]:
    """The defined measures of all models, by name: `rvs_hard` if there is one model, `transe/rvs_hard` if there are several. We
    replace characters that names of metrics may not have by their numbers."""
    only = len(result.model_results) == 1
    measures = {
        f"{prefix}{'' if only else _plain(model.name) + '/'}{name}": value
        for model in result.model_results
        for name, value in model_measures(model).items()
    }
    return {name: float(value) for name, value in measures.items() if value is not None}


def logged_options(result: Result) -> dict[str, str]:
    """The options that a result was made with, other than empty ones, and the versions of program and engine, as texts."""
    if result.run is None:
        return {}
    options = {name: value for name, value in result.run.options.items() if value not in (None, False, {}, [])}
    options = {name: value if isinstance(value, str) else json.dumps(value) for name, value in options.items()}
    return {"version": result.run.rulescore, "engine": f"{result.run.engine} {result.run.engine_version}", **options}


def _plain(name: str) -> str:
    return re.sub(r"[^\w\-. ]", lambda letter: f"_{ord(letter[0]):x}_", name)
