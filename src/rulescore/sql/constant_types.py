"""The types of constants, read from the marks of their keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from rulescore.sql.build import (
    Select,
    all_of,
    argument,
    column,
    count_rows,
    different,
    equal,
    named,
    negation,
    number,
    select,
    table,
    union_all,
)
from rulescore.sql.facts import CONSTANT
from rulescore.sql.keys import NUMBER, digits, is_fraction, is_no_integer, length, type_letter
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
    key = column("c", "key")
    letter = type_letter(key)
    whole = exp.Literal.string(WHOLE)
    marks = exp.Case(
        ifs=[
            exp.If(this=different(letter, exp.Literal.string(NUMBER)), true=letter.copy()),
            exp.If(this=is_no_integer(key.copy()), true=exp.Literal.string(OTHER)),
        ],
        default=whole,
    )
    constants = select(column("c", "id"), column("c", "key"), named(marks, "mark")).from_(table(CONSTANT, "c"))
    keys = [column("p", "place"), column("p", "literal"), column("m", "mark")]
    query = select(*keys, named(exp.Min(this=column("m", "key")), "example")).from_(constants_at(positions))
    query = query.join(constants.subquery("m"), on=equal(column("m", "id"), column("p", "constant")))
    return query.group_by(*(one.copy() for one in keys))


def long_integers(positions: Sequence[Position]) -> Select:
    """The keys of whole numbers at positions that may be too long for a double, for each literal."""
    key = column("c", "key")
    wanted = [
        equal(type_letter(key), exp.Literal.string(NUMBER)),
        negation(is_fraction(key.copy())),
        exp.GT(this=length(digits(key.copy())), expression=number(_SURELY_EXACT)),
    ]
    constants = select(column("c", "id"), column("c", "key")).from_(table(CONSTANT, "c")).where(all_of(wanted))
    query = select(column("p", "place"), column("p", "literal"), column("m", "key")).distinct().from_(constants_at(positions))
    return query.join(constants.subquery("m"), on=equal(column("m", "id"), column("p", "constant")))


def constants_at(positions: Sequence[Position]) -> exp.Expr:
    """The constants of literals at positions: `place`, `literal` and `constant`."""
    return union_all([_constants_at(place, one) for place, one in enumerate(positions)]).subquery("p")


def _constants_at(place: int, position: Position) -> Select:
    fields = [column("f", "literal"), named(column("f", argument(position.number)), "constant")]
    query = select(named(number(place), "place"), *fields).from_(table(position.source, "f"))
    if position.literals is None:
        return query
    return query.where(exp.In(this=column("f", "literal"), expressions=[number(one) for one in position.literals]))


def constants_by_type() -> Select:
    """How many constants there are of each type, by its letter."""
    keys = select(named(type_letter(column("c", "key")), "mark")).from_(table(CONSTANT, "c")).subquery("k")
    return select(column("k", "mark"), named(count_rows(), "n")).from_(keys).group_by(column("k", "mark"))
