"""Intervals: how much a number could change with other queries and other data of the same kind.

In each draw every query has a weight: how often it was drawn. Everything that belongs to a query is drawn with it. Weights are
independent with mean and variance 1, and we scale sums by the number of queries drawn. This is the bootstrap of queries, and it
needs no list of the queries that take part in nothing. If all queries show the same violations, or none, there is no spread to draw
from. Then we take the bound of Clopper and Pearson, which is exact for independent queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]
Booleans = np.ndarray[Any, np.dtype[np.bool_]]
Sums = np.ndarray[Any, np.dtype[np.float32]]
Weights = np.ndarray[Any, np.dtype[np.uint8]]

FEWEST_QUERIES = 5
"""Fewer than these give draws that are too much alike (decision 0012)."""

# We look weights up by random numbers of 16 bits, several times quicker than drawing Poisson numbers (decision 0012).
_BITS = 16
_DRAWS_AT_ONCE = 128
# An even number: we take two random numbers of 16 bits from each of 32.
_QUERIES_AT_ONCE = 2**12
_COLUMNS_AT_ONCE = 32
# OpenBLAS spreads products of more than 2^18 steps over threads: 40 times the processor time on a busy machine.
_ROWS_AT_ONCE = 2**18 // (_DRAWS_AT_ONCE * _COLUMNS_AT_ONCE)
# We sum numbers with a precision of 24 bits.
_ROUNDING = 1e-5


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval. `reason`: why there is no number, or no interval."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Entries:
    """What queries add to columns. Each entry has the number of the query, the number of the column, and the amount. A query has at
    most one entry for a column."""

    query: Integers
    column: Integers
    amount: Floats


def drawn_sums(entries: Entries, queries: int, columns: int, draws: int, random: np.random.Generator) -> Sums:
    """The sum of every column in every draw: one row a draw."""
    sums = np.empty((draws, columns), np.float32)
    weights_of = _poisson_table()
    blocks = _blocks(entries, queries, columns)
    for start in range(0, draws, _DRAWS_AT_ONCE):
        end = min(start + _DRAWS_AT_ONCE, draws)
        # One row for each query, so we copy the weights of a few queries in whole rows.
        weights = np.empty((queries, end - start), np.uint8)
        for some in np.split(weights, range(_QUERIES_AT_ONCE, queries, _QUERIES_AT_ONCE)):
            some[:] = weights_of[random.integers(0, 1 << _BITS, size=some.shape, dtype=np.uint16)]
        for block in blocks:
            sums[start:end, block.first : block.last] = _product(weights[block.queries].astype(np.float32), block.amounts)
    return sums


def _product(weights: Sums, amounts: Sums) -> Sums:
    """`weights.T @ amounts` in pieces that are too small to be spread over threads, which wait for each other on a busy machine."""
    pieces, draws, columns = len(weights) // _ROWS_AT_ONCE, weights.shape[1], amounts.shape[1]
    whole = pieces * _ROWS_AT_ONCE
    tall = weights[:whole].reshape(pieces, _ROWS_AT_ONCE, draws).transpose(0, 2, 1)
    product: Sums = (tall @ amounts[:whole].reshape(pieces, _ROWS_AT_ONCE, columns)).sum(axis=0)
    return product + weights[whole:].T @ amounts[whole:]


@dataclass(frozen=True, slots=True)
class _Block:
    """Some neighbouring columns as a matrix whose rows are the queries that add anything to them."""

    first: int
    last: int
    queries: Integers
    amounts: Sums


def _blocks(entries: Entries, number: int, columns: int) -> list[_Block]:
    order = np.argsort(entries.column, kind="stable")
    column, query, amount = entries.column[order], entries.query[order], entries.amount[order]
    taking_part, row = np.zeros(number, np.bool_), np.empty(number, np.int64)
    blocks = []
    for first in range(0, columns, _COLUMNS_AT_ONCE):
        last = min(first + _COLUMNS_AT_ONCE, columns)
        start, end = np.searchsorted(column, [first, last])
        # Sorting, as `np.unique` does it, takes several times as long as marking.
        taking_part[query[start:end]] = True
        queries = np.flatnonzero(taking_part)
        taking_part[queries] = False
        row[queries] = np.arange(len(queries))
        amounts = np.zeros((len(queries), last - first), np.float32)
        amounts[row[query[start:end]], column[start:end] - first] = amount[start:end]
        blocks.append(_Block(first, last, queries, amounts))
    return blocks


def _poisson_table() -> Weights:
    """The weight for each random number. Weights are as frequent as in Poisson's law with mean 1."""
    shares = np.exp(-1.0) / np.cumprod([1.0, *range(1, 9)])
    times = np.round(np.cumsum(shares) * (1 << _BITS)).astype(np.int64)
    weights: Weights = np.searchsorted(times, np.arange(1 << _BITS), side="right").astype(np.uint8)
    return weights


def drawn_others(others: int, normal: Floats) -> Floats:
    """How often each draw has queries that take part in nothing. The same normal numbers serve every model, since models are asked
    the same queries."""
    drawn: Floats = np.maximum(0.0, others + np.sqrt(others) * normal)
    return drawn


def percentiles(draws: Floats, level: float, *, sums: Sequence[bool] | None = None) -> tuple[Floats, Floats]:
    """Low and high of every column, over the draws in which it is defined (not NaN); NaN if there are none. `sums`: columns that
    are sums. If a few large parts dominate a sum, its draws are skewed and plain percentiles lie too low: we move these by the
    skewness of the draws (Efron's acceleration)."""
    ordered = np.sort(draws, axis=0)
    known = np.count_nonzero(~np.isnan(ordered), axis=0)
    lean = np.zeros(draws.shape[1])
    if sums is not None:
        lean[list(sums)] = _skewness(draws[:, list(sums)]) / 6
    low, high = (_at(ordered, known, _moved(lean, share)) for share in ((1 - level) / 2, (1 + level) / 2))
    return low, high


def _skewness(draws: Floats) -> Floats:
    away = draws - np.nanmean(draws, axis=0) if draws.size else draws
    spread = np.nanmean(away**2, axis=0) if draws.size else np.zeros(draws.shape[1])
    with np.errstate(invalid="ignore", divide="ignore"):
        skewness: Floats = np.nan_to_num(np.nanmean(away**3, axis=0) / spread**1.5) if draws.size else spread
    return skewness


def _moved(lean: Floats, share: float) -> Floats:
    normal = NormalDist()
    far = normal.inv_cdf(share)
    # Few columns are skewed. For the others we return exactly the share that was asked for.
    return np.array([share if not skew else normal.cdf(far / max(1 - skew * far, 0.1)) for skew in lean.tolist()])


def _at(ordered: Floats, known: Integers, share: Floats) -> Floats:
    """The value at a share of the draws, interpolated between neighbours as numpy's quantiles are."""
    place = np.maximum(known - 1, 0) * share
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(known - 1, 0))
    columns = np.arange(ordered.shape[1])
    lower, upper = ordered[below, columns], ordered[above, columns]
    values: Floats = np.where(known > 0, lower + (upper - lower) * (place - below), np.nan)
    return values


def never_seen(queries: int, level: float) -> float:
    """The largest share that an event may have if none of so many queries shows it (Clopper and Pearson)."""
    return float(1 - ((1 - level) / 2) ** (1 / queries))


def drawn_never(queries: Integers, draws: int, random: np.random.Generator) -> Floats:
    """Shares whose upper percentile is `never_seen`."""
    return 1 - random.random((draws, len(queries))) ** (1 / np.maximum(queries, 1))


def drawn_alike(shares: Floats, queries: Integers, draws: int, random: np.random.Generator) -> Floats:
    """Shares if every query has the same: other queries may have any share from 0 to 1."""
    others = drawn_never(queries, draws, random)
    away = random.random((draws, len(queries))) >= shares
    drawn: Floats = shares * (1 - others) + others * away
    return drawn


def is_steady(draws: Floats) -> Booleans:
    """The columns that do not vary from draw to draw, except by rounding."""
    low, high = np.fmin.reduce(draws), np.fmax.reduce(draws)
    steady: Booleans = high - low <= _ROUNDING * high
    return steady


def drawn_rates(refuted: Floats, evaluable: Floats, draws: int, random: np.random.Generator) -> Floats:
    """Rates that the data's counts leave possible, by Jeffreys' prior (decision 0012): never 0, so we can divide by them."""
    return random.beta(refuted + 0.5, evaluable - refuted + 0.5, size=(draws, len(refuted)))
