"""LightGBM and XGBoost: an objective that adds the distance of predictions beyond the limits of rules. This module imports
neither."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulescore.errors import Diagnostic, InputError
from rulescore.mending.numeric import NumericSteps, refuse_bounds

__all__ = ["objective"]


def objective(
    steps: NumericSteps, *, weight: float = 1.0, base: str = "squared", gate: bool = True
) -> Callable[[Any, Any], tuple[Any, Any]]:
    """An objective for `lightgbm.train({"objective": …}, data)` and `xgboost.train(…, obj=…)`.

    The training data must have the rows of `steps.ids`, in that order. The base loss and the distance beyond limits are both
    divided by the spread of the labels, their mean distance from the median. So a weight means the same in every unit.

    Args:
        steps: From `rulescore.mending.numeric.numeric_steps`.
        weight: The weight of rules; the base loss has weight 1.
        base: The base loss: `squared` or `absolute`.
        gate: Whether a soft rule counts only while predictions break it more often than the data do.

    Returns:
        A function of predictions and data that gives gradient and hessian.

    Raises:
        InputError: There is no such base loss, the weight is negative or not finite, or a rule limits no distance.
    """
    refuse_bounds(steps)
    if base not in {"squared", "absolute"}:
        raise InputError(Diagnostic("E814", f"there is no base loss `{base}`", helps=("it is `squared` or `absolute`",)))
    if not (np.isfinite(weight) and weight >= 0):
        raise InputError(Diagnostic("E814", f"the weight is {weight}", helps=("give a number from 0",)))

    def gradients(predicted: Any, data: Any) -> tuple[Any, Any]:
        labels = np.asarray(data.get_label(), np.float64)
        values = np.asarray(predicted, np.float64)
        distance, spread = values - labels, float(np.abs(labels - np.median(labels)).mean()) or 1.0
        # We multiply all derivatives by spread ** 2, so the second derivative of the squared loss is 1. The libraries' defaults
        # expect that.
        gradient = distance.copy() if base == "squared" else spread * np.sign(distance)
        hessian = np.ones_like(gradient)
        for pull in pulls(steps, values, gate=gate) if weight else ():
            gradient += weight * spread * pull.slope
            hessian += weight * spread * pull.curvature
        return gradient, hessian

    return gradients


@dataclass(frozen=True, slots=True)
class Pull:
    """A rule adds two numbers for each row: the derivative of the mean distance beyond the limit, in the unit of the target, and a
    curvature that lets a step end at the limit."""

    slope: Any
    curvature: Any


def pulls(steps: NumericSteps, predicted: Any, *, gate: bool) -> list[Pull]:
    """The pulls of all rules that count at these predictions."""
    counts = steps.contributions(predicted) if gate else {}
    counted = []
    for rule in steps.rules:
        if gate and rule.rate:
            _, refuted, evaluable = counts[rule.name].sum(axis=0)
            if not evaluable or refuted / evaluable <= rule.rate:
                continue
        excess, slope = steps.excess(rule, predicted)
        limit = np.divide(float(rule.form.limit), np.abs(rule.slope), out=np.ones(len(slope)), where=rule.slope != 0)
        counted.append(Pull(slope * limit, np.abs(slope * limit) / np.maximum(excess * limit, limit)))
    return counted
