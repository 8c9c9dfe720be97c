"""The predicates of the loaded data, with their arity and how often they occur; and which known name a misspelt one probably
means.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from rulescore.language.trees import attribute_table
from rulescore.logic.problems import DECIDABLE

_LONGEST_WITH_ONE_SLIP = 8
_MOST_SLIPS = 2


class Spellings:
    """Known names, found by misspelt ones.

    A slip changes at most two neighbouring pieces of a name. So if a name has five pieces, at least one stays the same after two
    slips, and moves by at most two letters. We look names up by their pieces: comparing each unknown name with each known one would
    take too long."""

    def __init__(self, known: Iterable[str]) -> None:
        self._known = known

    def closest(self, word: str) -> str | None:
        """A known name within one or two slips (one for names up to eight letters), if there is one.

        If there is one, the unknown name is an error. So `brother` must not count as a slip of `mother`."""
        if len(word) <= 2:
            return None
        allowed = 1 if len(word) <= _LONGEST_WITH_ONE_SLIP else _MOST_SLIPS
        near = ((_slips(word, other, allowed), other) for other in set(self._similar(word, allowed)))
        return min((word for word in near if word[0] <= allowed), default=(0, None))[1]

    def _similar(self, word: str, allowed: int) -> Iterator[str]:
        shifts = range(-allowed, allowed + 1)
        for length in (len(word) + shift for shift in shifts):
            for piece, (start, end) in enumerate(_pieces(length, allowed)):
                for moved in (start + shift for shift in shifts if start + shift >= 0):
                    yield from self._by_piece.get((allowed, length, piece, word[moved : moved + end - start]), ())

    @cached_property
    def _by_piece(self) -> dict[tuple[int, int, int, str], list[str]]:
        by_piece: defaultdict[tuple[int, int, int, str], list[str]] = defaultdict(list)
        for name in self._known:
            for allowed in range(1, _MOST_SLIPS + 1):
                for piece, (start, end) in enumerate(_pieces(len(name), allowed)):
                    by_piece[allowed, len(name), piece, name[start:end]].append(name)
        return by_piece


def _pieces(length: int, slips: int) -> Iterator[tuple[int, int]]:
    """Where the pieces of a name begin and end. There is one piece more than so many slips can change."""
    number = 2 * slips + 1
    for piece in range(number):
        yield piece * length // number, (piece + 1) * length // number


def _slips(left: str, right: str, limit: int) -> int:
    """How many insertions, deletions, replacements and swaps of neighbours lie between two words; `limit + 1` if more than that."""
    beyond = limit + 1
    two_ago: dict[int, int] = {}
    before = {j: j for j in range(min(limit, len(right)) + 1)}
    for i, a in enumerate(left, 1):
        now = {0: i} if i <= limit else {}
        # If two letters stand further apart, matching them takes too many slips.
        for j in range(max(1, i - limit), min(len(right), i + limit) + 1):
            b = right[j - 1]
            cost = min(before.get(j, beyond) + 1, now.get(j - 1, beyond) + 1, before.get(j - 1, beyond) + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, two_ago.get(j - 2, beyond) + 1)
            now[j] = cost
        if min(now.values(), default=beyond) > limit:
            return beyond
        two_ago, before = before, now
    return min(before.get(len(right), beyond), beyond)


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate and the number of its distinct facts among the observed, the predicted and the negative ones."""

    name: str
    arity: int
    observed: int = 0
    predicted: int = 0
    negative: int = 0

    @property
    def occurs(self) -> bool:
        return bool(self.observed or self.predicted or self.negative)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Predicates by name."""

    predicates: dict[str, Predicate]

    def arity(self, name: str) -> int | None:
        known = self.predicates.get(name)
        return known.arity if known else None


# The meaning of the names in rules. It decides whether a rule is a Horn rule.


@dataclass(frozen=True, slots=True)
class Names:
    """The tables of a setting, with the attributes of their keys, its registered predicates, and the predicates that rule files
    define. The vocabulary is None until the data are loaded."""

    tables: Mapping[str, tuple[str, ...]]
    functions: frozenset[str]
    vocabulary: Vocabulary | None = None
    defined: frozenset[str] = frozenset()

    def is_predicate(self, name: str) -> bool:
        """Whether a name is a predicate of facts: not an attribute of a table and, unless the data have it, not a test."""
        if self._is_of_table(name) or name in self.defined:
            return False
        known = self.vocabulary.predicates.get(name) if self.vocabulary is not None else None
        return (known is not None and known.occurs) or not (name in DECIDABLE or name in self.functions)

    def is_test(self, name: str) -> bool:
        """Whether a name is a test, built in or registered."""
        return not (self.is_predicate(name) or self._is_of_table(name) or name in self.defined)

    def _is_of_table(self, name: str) -> bool:
        """Whether a name belongs to a table or to an attribute of a table."""
        return bool(self.tables) and (name in self.tables or attribute_table(name, self.tables) is not None)

    def is_surely_test(self, name: str) -> bool:
        """Whether we know that a name is a test: until the data are loaded, they may have a predicate of that name."""
        return self.vocabulary is not None and self.is_test(name)
