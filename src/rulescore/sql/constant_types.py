"""The types of constants, which the marks of their keys tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from rulescore.data.setting import ValueType
from rulescore.sql.build import (
    Select,
    all_of,
    any_of,
    argument,
    column,
    count_rows,
    different,
    equal,
    named,
    number,
    one_if,
    select,
    table,
    union_all,
)
from rulescore.sql.expressions import call, cast
from rulescore.sql.loading import CONSTANT
from rulescore.sql.results import type_letter, word


@dataclass(frozen=True, slots=True)
class Position:
    """An argument of the literals of a table, or of some of them."""

    source: str
    number: int
    literals: Sequence[int] | None = None


def position_types(positions: Sequence[Position]) -> Select:
    """The types of constants at positions, for each literal: a letter, and whether some number is no 64-bit integer. `place` counts
    the positions. Constants are looked at first, since there are far fewer of them than places where they stand."""
    key = column("c", "key")
    marks = select(column("c", "id"), named(type_letter(key), "mark"), named(one_if(_is_no_integer(key.copy())), "float"))
    marks = marks.from_(table(CONSTANT, "c"))
    places = union_all([_constants_at(place, one) for place, one in enumerate(positions)])
    keys = [column("p", "place"), column("p", "literal"), column("m", "mark")]
    query = select(*keys, named(exp.Max(this=column("m", "float")), "float")).from_(places.subquery(alias="p", copy=False))
    query = query.join(marks.subquery(alias="m", copy=False), on=equal(column("m", "id"), column("p", "constant")))
    return query.group_by(*(one.copy() for one in keys))


def _constants_at(place: int, position: Position) -> Select:
    fields = [column("f", "literal"), named(column("f", argument(position.number)), "constant")]
    query = select(named(number(place), "place"), *fields).from_(table(position.source, "f"))
    if position.literals is None:
        return query
    return query.where(exp.In(this=column("f", "literal"), expressions=[number(one) for one in position.literals]))


def _is_no_integer(key: exp.Expr) -> exp.Expr:
    """Whether a number's key is not that of an integer of 64 bits. Its digits are compared as text: a cast that may fail is a
    different thing on every engine."""
    digits = call("REPLACE", word(key), exp.Literal.string("-"), exp.Literal.string(""))
    length = cast(exp.Length(this=digits), ValueType.INTEGER)
    longest = len(str(2**63))
    beyond = exp.GT(this=digits.copy(), expression=exp.Literal.string(str(2**63 - 1)))
    lowest = different(word(key.copy()), exp.Literal.string(str(-(2**63))))
    too_long = exp.GT(this=length, expression=number(longest))
    as_long = equal(length.copy(), number(longest))
    fractions = [exp.Like(this=key.copy(), expression=exp.Literal.string(f"%{c}%")) for c in ".e"]
    return any_of([*fractions, too_long, all_of([as_long, beyond, lowest])])


def constants_by_type() -> Select:
    """How many constants there are of each type, by its letter."""
    keys = select(named(type_letter(column("c", "key")), "mark")).from_(table(CONSTANT, "c")).subquery(alias="k", copy=False)
    return select(column("k", "mark"), named(count_rows(), "n")).from_(keys).group_by(column("k", "mark"))
