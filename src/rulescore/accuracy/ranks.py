"""From ranks to MRR, Hits@k and the mean rank. If only bounds of a rank are known, the figures have bounds as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rulescore.scoring.accuracy import BOTH, HEADS, TAILS, AccuracyMeasure

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """The rank of the truth in the answer to every query, between `least` and `greatest`; infinite if the truth was not found.
    `tails`: whether a query asks for a tail; None if unknown."""

    least: Numbers
    greatest: Numbers
    tails: NDArray[np.bool_] | None = None

    def of(self, chosen: NDArray[np.bool_]) -> Ranks:
        return Ranks(self.least[chosen], self.greatest[chosen], None if self.tails is None else self.tails[chosen])


def rank_measures(ranks: Ranks, hits: Sequence[int] = (1, 3, 10)) -> tuple[AccuracyMeasure, ...]:
    """Every figure over both directions, and over each of them if there are two."""
    return tuple(one for part, chosen in _parts(ranks) for one in _measures(part, chosen, hits))


def _parts(ranks: Ranks) -> Iterator[tuple[str, Ranks]]:
    yield BOTH, ranks
    if ranks.tails is not None:
        yield HEADS, ranks.of(~ranks.tails)
        yield TAILS, ranks.of(ranks.tails)


def _measures(part: str, ranks: Ranks, hits: Sequence[int]) -> Iterator[AccuracyMeasure]:
    yield _measure("mrr", part, 1 / ranks.greatest, 1 / ranks.least)
    for k in hits:
        yield _measure(f"hits_at_{k}", part, ranks.greatest <= k, ranks.least <= k)
    yield _mean_rank(part, ranks)


def _measure(metric: str, part: str, low: Numbers | NDArray[np.bool_], high: Numbers | NDArray[np.bool_]) -> AccuracyMeasure:
    if not len(low):
        return AccuracyMeasure(metric, part, 0, None, reason="there is no query")
    least, greatest = float(np.mean(low)), float(np.mean(high))
    if least == greatest:
        return AccuracyMeasure(metric, part, len(low), least, least, greatest)
    return AccuracyMeasure(metric, part, len(low), None, least, greatest, "rankings end before some truths are found")


def _mean_rank(part: str, ranks: Ranks) -> AccuracyMeasure:
    number = len(ranks.least)
    if not number:
        return AccuracyMeasure("mean_rank", part, 0, None, reason="there is no query")
    lost = int(np.isinf(ranks.greatest).sum())
    if lost:
        least = float(np.mean(ranks.least)) if not np.isinf(ranks.least).any() else None
        return AccuracyMeasure("mean_rank", part, number, None, least, reason=_lost(lost))
    return _measure("mean_rank", part, ranks.least, ranks.greatest)


def _lost(number: int) -> str:
    return "the truth of a query was not found" if number == 1 else f"the truths of {number:,} queries were not found"
