"""From rankings and truths to ranks: the place of the truth among the answers that are left when known facts are left out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from rulescore.accuracy.ranks import Numbers
from rulescore.setting.model import Ties

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
