"""Slips of the keyboard: which known name the user probably meant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property

_LONGEST_WITH_ONE_SLIP = 8
_MOST_SLIPS = 2


class Spellings:
    """Known names, found by misspelt ones.

    A slip changes at most two neighbouring pieces of a name. So of five pieces at least one survives two slips, moved by at most
    two letters. We look names up by their pieces: comparing each unknown name with each known one would take too long."""

    def __init__(self, known: Iterable[str]) -> None:
        self._known = known

    def closest(self, word: str) -> str | None:
        """A known name within one or two slips (one for names up to eight letters), if there is one.

        If we find one, the unknown name is an error, so `brother` must not pass for a slip of `mother`."""
        if len(word) <= 2:
            return None
        allowed = 1 if len(word) <= _LONGEST_WITH_ONE_SLIP else _MOST_SLIPS
        found = ((_slips(word, other, allowed), other) for other in set(self._similar(word, allowed)))
        return min((one for one in found if one[0] <= allowed), default=(0, None))[1]

    def _similar(self, word: str, allowed: int) -> Iterator[str]:
        shifts = range(-allowed, allowed + 1)
        for length in (len(word) + shift for shift in shifts):
            for piece, (start, end) in enumerate(_pieces(length, allowed)):
                for moved in (start + shift for shift in shifts if start + shift >= 0):
                    yield from self._by_piece.get((allowed, length, piece, word[moved : moved + end - start]), ())

    @cached_property
    def _by_piece(self) -> dict[tuple[int, int, int, str], list[str]]:
        found: defaultdict[tuple[int, int, int, str], list[str]] = defaultdict(list)
        for name in self._known:
            for allowed in range(1, _MOST_SLIPS + 1):
                for piece, (start, end) in enumerate(_pieces(len(name), allowed)):
                    found[allowed, len(name), piece, name[start:end]].append(name)
        return found


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
        for j in range(max(1, i - limit), min(len(right), i + limit) + 1):  # letters that are further apart take too many slips
            b = right[j - 1]
            cost = min(before.get(j, beyond) + 1, now.get(j - 1, beyond) + 1, before.get(j - 1, beyond) + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, two_ago.get(j - 2, beyond) + 1)
            now[j] = cost
        if min(now.values(), default=beyond) > limit:
            return beyond
        two_ago, before = before, now
    return min(before.get(len(right), beyond), beyond)
