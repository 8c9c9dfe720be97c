"""Counts pairs within a distance: two binary searches for each value replace a look at each pair.

The difference of two doubles is rounded, but rounding keeps the order. So if we go up from a value, the computed distance never
falls. So the rows that are close to a value are its neighbours in the sorted group. We find the last of them by evaluating the
rule's own expression, exactly as a join would.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa

from rulescore.engines.base import Engine
from rulescore.language.syntax import Operator
from rulescore.logic.proximity import Proximity
from rulescore.logic.tolerances import DataTolerance
from rulescore.sql.formula import proximity as sql
from rulescore.sql.formula.scope import FormulaContext
from rulescore.sql.query import drop

Array = np.ndarray
Close = Callable[[Array], Array]

# Beyond this, the difference of two integers may not fit 64 bits, or the difference of two doubles may be infinite: then we join.
_LARGEST = {"i": 2**62, "f": 1e307}

# How many searches run at a time: few enough for their data to stay in a processor's cache.
_BLOCK = 1 << 15


@dataclass(frozen=True, slots=True)
class PairCounts:
    """The number of groundings over the data, and in the group that has most."""

    confirmed: int
    refuted: int
    evaluable: int
    largest_group: int


@dataclass(frozen=True, slots=True)
class Values:
    """Values in order within each group, and how many rows have each."""

    groups: Array
    values: Array
    rows: Array

    @property
    def fits(self) -> bool:
        """Whether every difference can be computed."""
        kind = self.values.dtype.kind
        return not len(self.values) or bool(max(-float(self.values.min()), float(self.values.max())) < _LARGEST[kind])


def observed_values(engine: Engine, context: FormulaContext, form: Proximity) -> Values:
    """The values that the rule compares over the data."""
    with _numbered_groups(engine, context, form):
        return ordered(engine.query(sql.ordered_values(context, form)))


def dataset_pairs(engine: Engine, context: FormulaContext, form: Proximity) -> PairCounts | None:
    """Counts over the data; None if values are too large to subtract."""
    values = observed_values(engine, context, form)
    return close_pairs(values, form) if values.fits else None


def prediction_pairs(engine: Engine, context: FormulaContext, form: Proximity, rule: int) -> pa.Table | None:
    """The contribution of every prediction; None if values are too large to subtract."""
    with _numbered_groups(engine, context, form):
        values = ordered(engine.query(sql.ordered_values(context, form)))
        asked = engine.query(sql.predicted_values(context, form))
    groups, points = asked["id"].to_numpy(), asked["value"].to_numpy()
    if not values.fits or not Values(groups, points, groups).fits:
        return None
    true, evaluable = contributed(values, groups, points, form)
    if form.denial:
        confirmed, evaluable = np.zeros_like(true), true
    else:
        confirmed = true
    some = evaluable > 0
    return pa.table(
        {
            "rule": pa.array(np.full(int(some.sum()), rule, np.int32)),
            "prediction": asked["prediction"].filter(pa.array(some)),
            "confirmed": pa.array(confirmed[some]),
            "refuted": pa.array((evaluable - confirmed)[some]),
            "evaluable": pa.array(evaluable[some]),
        }
    )


@contextmanager
def _numbered_groups(engine: Engine, context: FormulaContext, form: Proximity) -> Iterator[None]:
    if not form.groups:
        yield
        return
    engine.run(sql.create_groups(context, form))
    try:
        yield
    finally:
        engine.run(drop(sql.GROUPS))


def ordered(rows: pa.Table) -> Values:
    """Values from rows in the order of `id` and `value`."""
    groups, values = rows["id"].to_numpy(), rows["value"].to_numpy()
    other = np.ones(len(values) + 1, np.bool_)
    other[1:-1] = (groups[1:] != groups[:-1]) | (values[1:] != values[:-1])
    starts = np.flatnonzero(other)
    return Values(groups[starts[:-1]], values[starts[:-1]], np.diff(starts))


def close_pairs(values: Values, form: Proximity) -> PairCounts:
    """Ordered pairs of rows of one group, by whether they are close."""
    starts, ends = bounds(values.groups)
    if not len(starts):
        return PairCounts(0, 0, 0, 0)
    below = np.concatenate(([0], np.cumsum(values.rows)))
    sizes = below[ends] - below[starts]
    pairs = sizes * (sizes - 1) if form.distinct else sizes * sizes
    close = _close(form)
    near = np.zeros(len(starts), np.int64)
    if bool(close(np.zeros(1, values.values.dtype))[0]):
        own = np.arange(len(values.values))
        last = _last(own, np.repeat(ends, ends - starts) - 1, lambda part, at: close(values.values[at] - values.values[part]))
        above = below[last + 1] - below[own + 1]
        near = np.add.reduceat(values.rows * (2 * above + values.rows), starts) - (sizes if form.distinct else 0)
    true = near if form.operator in {Operator.LESS, Operator.AT_MOST} else pairs - near
    if form.denial:
        return PairCounts(0, _sum(true), _sum(true), int(true.max()))
    total, confirmed = _sum(pairs), _sum(true)
    return PairCounts(confirmed, total - confirmed, total, int(pairs.max()))


def contributed(values: Values, groups: Array, points: Array, form: Proximity) -> tuple[Array, Array]:
    """For each predicted value, how many of its pairs make the comparison true, and how many pairs it has. A value has pairs with
    each row of its group in both orders, and with itself unless the rule excludes that."""
    starts, ends = bounds(values.groups)
    known = values.groups[starts] if len(starts) else np.zeros(0, np.int64)
    index = np.searchsorted(known, groups)
    present = index < len(known)
    present[present] = known[index[present]] == groups[present]
    index = np.where(present, index, 0)
    start = np.where(present, starts[index], 0) if len(starts) else np.zeros(len(groups), np.int64)
    end = np.where(present, ends[index], 0) if len(starts) else np.zeros(len(groups), np.int64)
    below = np.concatenate(([0], np.cumsum(values.rows)))
    close = _close(form)
    evaluable = 2 * (below[end] - below[start])
    near = np.zeros(len(points), np.int64)
    if len(points) and len(values.values):
        ordered = values.values
        split = _last(start - 1, end - 1, lambda part, at: ordered[at] < points[part]) + 1
        last = _last(split - 1, end - 1, lambda part, at: close(ordered[at] - points[part]))
        first = _last(start - 1, split - 1, lambda part, at: ~close(points[part] - ordered[at])) + 1
        near = 2 * (below[last + 1] - below[first])
    if not form.distinct:
        evaluable = evaluable + 1
        near = near + close(np.zeros(len(points), points.dtype)).astype(np.int64)
    true = near if form.operator in {Operator.LESS, Operator.AT_MOST} else evaluable - near
    return true, evaluable


def _close(form: Proximity) -> Close:
    """Whether distances are below the limit. It compares exact values: converting an integer to a double could round it."""
    # We do not compare with `value + limit`, because it rounds differently from the rule: 0.4 - 0.3 <= 0.1 is false (0008).
    limit = form.limit
    strict = form.operator in {Operator.LESS, Operator.AT_LEAST}
    whole = min(max(math.ceil(limit) - 1 if strict else math.floor(limit), -1), 2**63 - 1)
    double = _nearest(limit)
    below = double > limit or (strict and double == limit)

    def close(distance: Array) -> Array:
        close: Array = distance <= whole if distance.dtype.kind == "i" else distance < double if below else distance <= double
        return close

    return close


def _nearest(limit: int | float) -> float:
    try:
        return float(limit)
    except OverflowError:
        return math.inf


def bounds(groups: Array) -> tuple[Array, Array]:
    """Where each group begins and ends."""
    changes = np.flatnonzero(groups[1:] != groups[:-1]) + 1
    if not len(groups):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return np.concatenate(([0], changes)), np.concatenate((changes, [len(groups)]))


def _last(low: Array, high: Array, holds: Callable[[slice, Array], Array]) -> Array:
    """For each range (low, high], the last place up to which a condition holds without a gap; `low` if it holds nowhere. `holds`
    takes a slice of the ranges, and one place in each."""
    last = low.copy()
    for start in range(0, len(low), _BLOCK):
        part = slice(start, start + _BLOCK)
        last[part] = _search(low[part], high[part], partial(holds, part))
    return last


def _search(low: Array, high: Array, holds: Callable[[Array], Array]) -> Array:
    while (low < high).any():
        middle = (low + high + 1) >> 1
        good = (low < high) & holds(middle)
        low, high = np.where(good, middle, low), np.where(good, high, middle - 1)
    return low


def _sum(numbers: Array) -> int:
    """A sum that cannot overflow."""
    return int(sum(int(part.sum()) for part in np.array_split(numbers, max(1, len(numbers) // 1_000_000))))


# Tolerances taken from the observed groups, and dataset rates over a grid of them.


@dataclass(frozen=True, slots=True)
class TooLarge:
    """Stands for a tolerance that cannot be computed, because the values are too large to subtract."""


def taken_from(values: Values, form: Proximity, tolerance: DataTolerance) -> int | float | None:
    """The tolerance as a number; None if there are no two observed rows to compare."""
    if tolerance.function == "quantile":
        return _quantile(values, form, tolerance.parameter)
    return _spread(values, tolerance.parameter)


def at_limit(values: Values, form: Proximity, limit: int | float) -> PairCounts:
    """The counts that a rule would have with another tolerance."""
    return close_pairs(values, replace(form, limit=limit))


def _quantile(values: Values, form: Proximity, share: float) -> int | float | None:
    """The least distance that at least a share of the observed pairs do not exceed."""
    within = replace(form, operator=Operator.AT_MOST)
    total = at_limit(values, within, 0).evaluable
    if not total:
        return None
    starts, ends = bounds(values.groups)
    # If we read the bits of non-negative doubles as integers, they keep their order. So 64 halvings search all doubles.
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
    # We scale the values, so neither sums nor squares overflow.
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
