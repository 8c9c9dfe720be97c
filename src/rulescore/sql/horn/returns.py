"""Paths of chains that return to a constant, to be taken off if variables must be distinct.

A walk adds up paths that end alike and so forgets the constants between the first and the last. It can test that a path never
stands still and never returns to its first constant, not that all others are distinct. Therefore we add up over all ways in which
these others may coincide, with the signs and weights of Möbius's function, so that what remains are the paths that never return.

Few paths return. For each way to coincide we look for the part from the first constant that occurs twice to the last that does,
beginning at the constants at which walks arrive, and then join the walks that lead there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import factorial, prod

from rulescore.sql.names import fact_table
from rulescore.sql.query import Select, row, same, select
from rulescore.sql.words import Sql

_FACT = fact_table(2)


@dataclass(frozen=True, slots=True)
class Coincidence:
    """For each constant of a path after the first, by its position from 1 on, the first position that has the same constant."""

    firsts: tuple[int, ...]

    @property
    def last(self) -> int:
        return len(self.firsts)

    @property
    def begins(self) -> int:
        """The first position whose constant occurs again."""
        return min(first for position, first in enumerate(self.firsts, start=1) if first != position)

    @property
    def weight(self) -> int:
        """Möbius's function of the partition of positions by constants."""
        return prod((-1) ** (n - 1) * factorial(n - 1) for n in map(self.firsts.count, set(self.firsts)))

    def first(self, position: int) -> int:
        return self.firsts[position - 1]


def coincidences(last: int) -> list[Coincidence]:
    """All ways in which the constant at position `last` is an earlier one, without two equal neighbours."""
    return [Coincidence(firsts) for firsts in _without_equal_neighbours(last) if firsts[-1] != last]


def _without_equal_neighbours(last: int) -> Iterator[tuple[int, ...]]:
    if last == 0:
        yield ()
        return
    for before in _without_equal_neighbours(last - 1):
        for first in sorted({*before, last} - set(before[-1:])):
            yield (*before, first)


def returned(how: Coincidence, walked: str, starts: str, ends: str | None) -> tuple[Select, Sql, Sql]:
    """The paths that coincide so, where they end, and how often to add them: joins of `w`, the walks that lead to the part that
    returns, `s`, their start, and `e`, the last atom of a body, if the path has one (`ends`)."""
    w, s = row(walked, "w"), row(starts, "s")
    a = select(w.start, w.b).distinct().from_(w).as_("a")
    query = select().from_(a).join(s, s.start == a.start)
    here, constants = a.b, {how.begins: a.b}
    for position in range(how.begins + 1, how.last + 1):
        literal = s[f"l{position - 1}"]
        if ends is not None and position == how.last:
            e = row(ends, "e")
            query, literal = query.join(e, e.start == a.start), e.literal
        # A further atom: a fact that leads on, or back to a constant of the path.
        f, back = row(_FACT, f"f{position}"), constants.get(how.first(position))
        query = query.join(f, f.literal == literal, f.a0 == here, *([] if back is None else [f.a1 == back]))
        query = query.where(f.a0 != f.a1)
        here = constants[how.first(position)] = f.a1
    query = query.join(w, *same(w, a, ["start", "b"]))
    query = query.where(*(w.x != constant for position, constant in constants.items() if position != how.begins))
    return query, here, w.n * how.weight
