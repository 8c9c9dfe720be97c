"""Paths of chains that return to a constant, to be taken off if variables must be distinct.

A walk adds up paths that end alike and so forgets the constants between the first and the last. It can test that a path never
stands still and never returns to its first constant, not that all others are distinct. Therefore we add up over all ways in which
these others may coincide, with the signs and weights of Möbius's function, so that what remains are the paths that never return.

Few paths return. For each way to coincide we look for the part from the first constant that occurs twice to the last that does,
beginning at the constants at which walks arrive, and then join the walks that lead there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import factorial, prod

from sqlglot import exp

from rulescore.sql.build import Select, all_of, column, different, equal, fact_table, number, product, select, table

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


def returned(how: Coincidence, walked: str, starts: str, ends: str | None) -> tuple[Select, exp.Expr, exp.Expr]:
    """The paths that coincide so, where they end, and how often to add them: joins of `w`, the walks that lead to the part that
    returns, `s`, their start, and `e`, the last atom of a body, if the path has one (`ends`)."""
    arrived = select(column("w", "start"), column("w", "b")).distinct().from_(table(walked, "w"))
    query = select().from_(arrived.subquery("a")).join(table(starts, "s"), on=equal(column("s", "start"), column("a", "start")))
    here: exp.Expr = column("a", "b")
    constants = {how.begins: here}
    for position in range(how.begins + 1, how.last + 1):
        is_end = ends is not None and position == how.last
        if is_end and ends is not None:
            query = query.join(table(ends, "e"), on=equal(column("e", "start"), column("a", "start")))
        literal = column("e", "literal") if is_end else column("s", f"l{position - 1}")
        query, here = _step(query, f"f{position}", literal, here, constants.get(how.first(position)))
        constants[how.first(position)] = here
    walk = [equal(column("w", field), column("a", field)) for field in ("start", "b")]
    query = query.join(table(walked, "w"), on=all_of(walk))
    query = query.where(*_apart(column("w", "x"), [one for position, one in constants.items() if position != how.begins]))
    return query, here.copy(), product(column("w", "n"), number(how.weight))


def _step(query: Select, alias: str, literal: exp.Expr, here: exp.Expr, back: exp.Expr | None) -> tuple[Select, exp.Expr]:
    """A further atom: a fact that leads on, or back to a constant of the path."""
    on = [equal(column(alias, "literal"), literal), equal(column(alias, "a0"), here.copy())]
    if back is not None:
        on.append(equal(column(alias, "a1"), back.copy()))
    query = query.join(table(_FACT, alias), on=all_of(on)).where(different(column(alias, "a0"), column(alias, "a1")))
    return query, column(alias, "a1")


def _apart(x: exp.Expr, constants: Sequence[exp.Expr]) -> list[exp.Expr]:
    return [different(x.copy(), one.copy()) for one in constants]
