"""From ranks to MRR, Hits@k and the mean rank. If only bounds of a rank are known, the figures have bounds as well."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rulescore.scoring.accuracy import BOTH, HEADS, TAILS, AccuracyMeasure
from rulescore.setting.model import Ties

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


# From rankings and truths to ranks: the place of the truth among the answers that are left when known facts are left out.


NOT_FOUND = (np.inf, np.inf)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The answers to one query. `order`: greater is better. `whole`: there are no further answers; a ranking that was cut may have
    gone on."""

    answers: Sequence[str]
    order: Numbers
    whole: bool


def rank_of(truth: str, ranking: Ranking, known: Collection[int], ties: Ties | None) -> tuple[float, float]:
    """The least and the greatest rank that the truth may have. `known`: the numbers of answers that are known facts, which a filter
    leaves out unless they are the truth that is asked for. `ties`: None if every answer has a place of its own."""
    place = ranking.answers.index(truth) if truth in ranking.answers else None
    kept = np.ones(len(ranking.answers), dtype=bool)
    kept[[number for number in known if number != place]] = False
    last = ranking.order.min()
    if place is None:
        # The truth is at best as good as the last answer.
        return NOT_FOUND if ranking.whole else (_rank(last, ranking.order[kept], ties or Ties.PESSIMISTIC), np.inf)
    own = ranking.order[place]
    kept[place] = False
    rank = _rank(own, ranking.order[kept], ties or Ties.OPTIMISTIC)
    # An answer beyond the end may be as good as the last one.
    open_end = not ranking.whole and own == last and ties in {Ties.REALISTIC, Ties.PESSIMISTIC}
    return rank, np.inf if open_end else rank


def _rank(own: float, others: Numbers, ties: Ties) -> float:
    better, equal = float((others > own).sum()), float((others == own).sum())
    return better + 1 + {Ties.OPTIMISTIC: 0.0, Ties.REALISTIC: equal / 2, Ties.PESSIMISTIC: equal}[ties]
