"""Facts with their constants as values: what formulas compute with."""

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
    create,
    different,
    equal,
    name,
    named,
    number,
    select,
    table,
    union_all,
    view,
)
from rulescore.sql.expressions import call, cast
from rulescore.sql.loading import CONSTANT
from rulescore.sql.results import type_letter, word

LETTERS = {"s": ValueType.STRING, "b": ValueType.BOOLEAN, "d": ValueType.DATE}


def relation_table(kind: str, index: int) -> str:
    return name(f"{kind}_relation_{index}")


@dataclass(frozen=True, slots=True)
class Position:
    """An argument of some literals of a table."""

    source: str
    number: int
    literals: Sequence[int]


def position_types(positions: Sequence[Position]) -> exp.Query:
    """The types of constants at positions of each literal: a letter, and whether some number is no 64-bit integer."""
    return union_all([_types_at(one) for one in positions])


def _types_at(position: Position) -> Select:
    key = column("c", "key")
    query = select(
        column("f", "literal"),
        named(type_letter(key), "mark"),
        named(number(position.number), "position"),
        named(exp.Max(this=exp.Case(ifs=[exp.If(this=_is_no_integer(key.copy()), true=number(1))], default=number(0))), "float"),
    ).from_(table(position.source, "f"))
    query = query.join(table(CONSTANT, "c"), on=equal(column("c", "id"), column("f", argument(position.number))))
    query = query.where(exp.In(this=column("f", "literal"), expressions=[number(one) for one in position.literals]))
    return query.group_by(column("f", "literal"), exp.Literal.number(2))


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


def create_relation(
    target: str, source: str, literal: int, types: Sequence[ValueType | None], extra: Sequence[str] = ()
) -> exp.Create:
    """The facts of one literal, their constants decoded."""
    return create(target, _facts(source, [literal], types, extra))


def create_keys(target: str, source: str, arity: int, literals: Sequence[int], extra: Sequence[str] = ()) -> exp.Create:
    """The facts of several literals with the keys of their constants."""
    return create(target, _facts(source, literals, [None] * arity, ("literal", *extra)))


def create_view(target: str, keys: str, literal: int, types: Sequence[ValueType | None], extra: Sequence[str] = ()) -> exp.Create:
    """The facts of one literal as a view on `create_keys`, their constants decoded. A planner may decode them before it leaves out
    the facts of other literals, whose constants are of other types: then they are missing."""
    values = [named(_decoded(column("f", argument(i)), wanted), argument(i)) for i, wanted in enumerate(types)]
    for value in values:
        for one in list(value.find_all(exp.Cast)):
            one.replace(exp.TryCast(this=one.this, to=one.to))
    query = select(*(column("f", one) for one in extra), *values).from_(table(keys, "f"))
    return view(target, query.where(equal(column("f", "literal"), number(literal))))


def _facts(source: str, literals: Sequence[int], types: Sequence[ValueType | None], extra: Sequence[str]) -> Select:
    query = select(*(column("f", one) for one in extra)).from_(table(source, "f"))
    for i, wanted in enumerate(types):
        alias = f"c{i}"
        query = query.join(table(CONSTANT, alias), on=equal(column(alias, "id"), column("f", argument(i))))
        query = query.select(named(_decoded(column(alias, "key"), wanted), argument(i)))
    return query.where(exp.In(this=column("f", "literal"), expressions=[number(one) for one in literals]))


def _decoded(key: exp.Expr, wanted: ValueType | None) -> exp.Expr:
    """A constant's value. Where types are mixed there is none, and keys stand for constants."""
    if wanted is None:
        return key
    return word(key) if wanted is ValueType.STRING else cast(word(key), wanted)
