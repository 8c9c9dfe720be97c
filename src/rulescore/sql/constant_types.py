"""The types of constants, read from the marks of their keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rulescore.sql.facts import CONSTANT
from rulescore.sql.keys import NUMBER, digits, is_fraction, is_no_integer, length, type_letter
from rulescore.sql.names import argument
from rulescore.sql.query import Row, Select, row, select, union_all
from rulescore.sql.words import case, count_rows, sql
from rulescore.values.types import ValueType

WHOLE, OTHER = "i", "f"
"""The letters of integers of 64 bits, and of all other numbers."""

TYPES = {
    "s": ValueType.STRING,
    "b": ValueType.BOOLEAN,
    "d": ValueType.DATE,
    "t": ValueType.DATETIME,
    "z": ValueType.INSTANT,
    WHOLE: ValueType.INTEGER,
    OTHER: ValueType.FLOAT,
}
"""The types that `position_types` finds, by their letters."""

# Every integer of fewer digits equals a double.
_SURELY_EXACT = 15


@dataclass(frozen=True, slots=True)
class Position:
    """An argument of the literals of a table, or of some of them."""

    source: str
    number: int
    literals: Sequence[int] | None = None


def position_types(positions: Sequence[Position]) -> Select:
    """The types of constants at positions, for each literal: a letter, and the key of an example. `place` is the index of a
    position. We compute the types of constants before the join, since constants are far fewer than their occurrences."""
    c, p = row(CONSTANT, "c"), constants_at(positions)
    letter = type_letter(c.key)
    mark = case((letter != NUMBER, letter), (is_no_integer(c.key), OTHER), default=WHOLE)
    m = select(c.id, c.key, mark=mark).from_(c).as_("m")
    keys = [p.place, p.literal, m.mark]
    return select(*keys, example=m.key.min()).from_(p).join(m, m.id == p.constant).group_by(*keys)


def long_integers(positions: Sequence[Position]) -> Select:
    """The keys of whole numbers at positions that may be too long for a double, for each literal."""
    c, p = row(CONSTANT, "c"), constants_at(positions)
    wanted = type_letter(c.key) == NUMBER, ~is_fraction(c.key), length(digits(c.key)) > _SURELY_EXACT
    m = select(c.id, c.key).from_(c).where(*wanted).as_("m")
    return select(p.place, p.literal, m.key).distinct().from_(p).join(m, m.id == p.constant)


def constants_at(positions: Sequence[Position]) -> Row:
    """The constants of literals at positions: `place`, `literal` and `constant`."""
    return union_all([_constants_at(place, position) for place, position in enumerate(positions)]).as_("p")


def _constants_at(place: int, position: Position) -> Select:
    f = row(position.source, "f")
    query = select(sql(place).named("place"), f.literal, constant=f[argument(position.number)]).from_(f)
    return query if position.literals is None else query.where(f.literal.is_in(position.literals))


def constants_by_type() -> Select:
    """How many constants there are of each type, by its letter."""
    c = row(CONSTANT, "c")
    k = select(mark=type_letter(c.key)).from_(c).as_("k")
    return select(k.mark, n=count_rows()).from_(k).group_by(k.mark)
