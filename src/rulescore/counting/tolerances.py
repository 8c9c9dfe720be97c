"""Tolerances taken from the observed groups, and dataset rates over a grid of them."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

import numpy as np

from rulescore.counting.proximity import PairCounts, Values, bounds, counted
from rulescore.language.syntax import Operator
from rulescore.logic.proximity import Proximity
from rulescore.logic.tolerances import DataTolerance


@dataclass(frozen=True, slots=True)
class TooLarge:
    """In place of a tolerance: values are too large to subtract."""


def taken_from(values: Values, form: Proximity, tolerance: DataTolerance) -> int | float | None:
    """The tolerance as a number; None if there are no two observed rows to compare."""
    if tolerance.function == "quantile":
        return _quantile(values, form, tolerance.parameter)
    return _spread(values, tolerance.parameter)


def at_limit(values: Values, form: Proximity, limit: int | float) -> PairCounts:
    """The counts that a rule would have with another tolerance."""
    return counted(values, replace(form, limit=limit))


def _quantile(values: Values, form: Proximity, share: float) -> int | float | None:
    """The least distance that at least a share of the observed pairs do not exceed."""
    within = replace(form, operator=Operator.AT_MOST)
    total = at_limit(values, within, 0).evaluable
    if not total:
        return None
    starts, ends = bounds(values.groups)
    # The bits of non-negative doubles, read as integers, are in the order of their values: 64 halvings search all doubles.
    ranges = values.values[ends - 1] - values.values[starts]
    as_numbers = values.values.dtype if values.values.dtype.kind == "i" else np.dtype(np.float64)

    def distance(step: int) -> int | float:
        return step if as_numbers.kind == "i" else float(np.int64(step).view(np.float64))

    low, high = 0, int(ranges.max()) if as_numbers.kind == "i" else int(np.float64(ranges.max()).view(np.int64))
    while low < high:
        middle = (low + high) // 2
        if at_limit(values, within, distance(middle)).confirmed >= share * total:
            high = middle
        else:
            low = middle + 1
    return distance(low)


def _spread(values: Values, times: float) -> float | None:
    """A multiple of the median, over the groups of two rows or more, of the group's standard deviation."""
    starts, _ = bounds(values.groups)
    if not len(starts):
        return None
    rows = np.add.reduceat(values.rows, starts).astype(np.float64)
    # Scaled, so that neither sums nor squares overflow.
    scale = 2.0 ** np.frexp(np.abs(values.values.astype(np.float64)).max())[1]
    scaled = values.values / scale
    sums = np.add.reduceat(scaled * values.rows, starts)
    means = np.repeat(sums / rows, np.diff(np.append(starts, len(scaled))))
    squares = np.add.reduceat((scaled - means) ** 2 * values.rows, starts)
    some = rows > 1
    if not some.any():
        return None
    spread = float(np.median(np.sqrt(squares[some] / (rows[some] - 1))))
    return min(times * spread * float(scale), sys.float_info.max)
