"""Facts with their constants as values: what formulas compute with."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rulescore.sql.build import (
    Select,
    argument,
    column,
    create,
    equal,
    name,
    named,
    number,
    select,
    table,
    view,
)
from rulescore.sql.facts import CONSTANT
from rulescore.sql.keys import word
from rulescore.sql.values import typed_text
from rulescore.values.types import ValueType


def relation_table(kind: str, index: int) -> str:
    return name(f"{kind}_relation_{index}")


def create_relation(target: str, source: str, literal: int, types: Sequence[ValueType], extra: Sequence[str] = ()) -> exp.Create:
    """The facts of one literal, their constants decoded."""
    return create(target, _facts(source, [literal], types, extra))


def create_keys(target: str, source: str, arity: int, literals: Sequence[int], extra: Sequence[str] = ()) -> exp.Create:
    """The facts of several literals with the keys of their constants."""
    return create(target, _facts(source, literals, [ValueType.MIXED] * arity, ("literal", *extra)))


def create_view(target: str, keys: str, literal: int, types: Sequence[ValueType], extra: Sequence[str] = ()) -> exp.Create:
    """The facts of one literal as a view on `create_keys`, their constants decoded. A planner may decode constants before it leaves
    out the facts of other literals; those may be of other types, so we make the casts give NULL instead of failing."""
    values = [named(_decoded(column("f", argument(i)), wanted), argument(i)) for i, wanted in enumerate(types)]
    for value in values:
        for one in list(value.find_all(exp.Cast)):
            one.replace(exp.TryCast(this=one.this, to=one.to))
    query = select(*(column("f", one) for one in extra), *values).from_(table(keys, "f"))
    return view(target, query.where(equal(column("f", "literal"), number(literal))))


def _facts(source: str, literals: Sequence[int], types: Sequence[ValueType], extra: Sequence[str]) -> Select:
    query = select(*(column("f", one) for one in extra)).from_(table(source, "f"))
    for i, wanted in enumerate(types):
        alias = f"c{i}"
        query = query.join(table(CONSTANT, alias), on=equal(column(alias, "id"), column("f", argument(i))))
        query = query.select(named(_decoded(column(alias, "key"), wanted), argument(i)))
    return query.where(exp.In(this=column("f", "literal"), expressions=[number(one) for one in literals]))


def _decoded(key: exp.Expr, wanted: ValueType) -> exp.Expr:
    """A constant's value; its key if types are mixed."""
    if wanted is ValueType.MIXED:
        return key
    return typed_text(word(key), wanted)
