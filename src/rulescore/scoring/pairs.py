"""How often two predicates meet, and how surprising it is that they meet so seldom.

The null model: `tuples` tuples could carry a fact of either predicate, and the facts of one are drawn among them independently of
the facts of the other. Then the number that meet is hypergeometric. We count only tuples whose constants stand together in some
fact (see `Session.incompatibilities`). Nearly all combinations of constants have no fact, so among all of them no two predicates
would ever be expected to meet."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PairCount:
    """Two predicates, the number of tuples that both hold of, the number of facts of each, and the number of tuples that could
    carry them."""

    left: str
    right: str
    together: int
    left_facts: int
    right_facts: int
    tuples: int

    @property
    def expected(self) -> float:
        """How many tuples both would hold of, if they were independent."""
        return self.left_facts * self.right_facts / self.tuples

    @property
    def surprise(self) -> float:
        """How improbable it is that so few meet, or fewer: 3 says once in a thousand, 0 says always."""
        return -_log_probability(self.together, self.left_facts, self.right_facts, self.tuples) / math.log(10) or 0.0

    @property
    def probability(self) -> float:
        """The probability as a number from 0 to 1; 0 if it is too small for a float."""
        return math.pow(10, -self.surprise)


def by_surprise(pairs: Iterable[PairCount]) -> list[PairCount]:
    """The most surprising first."""
    return sorted(pairs, key=lambda pair: (-pair.surprise, -pair.expected, pair.left, pair.right))


def _log_probability(most: int, left: int, right: int, tuples: int) -> float:
    """The logarithm of the probability that at most so many of `right` drawn tuples are among `left` of all. Terms are added from
    the last one down, until they no longer count."""
    least = max(0, left + right - tuples)
    if most >= min(left, right):
        return 0.0
    first = _log_binomial(left, most) + _log_binomial(tuples - left, right - most) - _log_binomial(tuples, right)
    total = term = 1.0
    for number in range(most, least, -1):
        term *= number * (tuples - left - right + number) / ((left - number + 1) * (right - number + 1))
        total += term
        if term < total * 1e-17:
            break
    return min(0.0, first + math.log(total))


def _log_binomial(whole: int, part: int) -> float:
    return math.lgamma(whole + 1) - math.lgamma(part + 1) - math.lgamma(whole - part + 1)
