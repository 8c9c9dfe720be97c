"""Facts with their constants as values: what formulas compute with."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rulescore.sql.facts import CONSTANT
from rulescore.sql.keys import word
from rulescore.sql.names import argument, name
from rulescore.sql.query import Create, Select, create, row, select, view
from rulescore.sql.values import typed_text
from rulescore.sql.words import Sql
from rulescore.values.types import ValueType


def relation_table(kind: str, index: int) -> str:
    return name(f"{kind}_relation_{index}")


def create_relation(target: str, source: str, literal: int, types: Sequence[ValueType], extra: tuple[str, ...] = ()) -> Create:
    """The facts of one literal, their constants decoded."""
    return create(target, _facts(source, [literal], types, extra))


def create_keys(target: str, source: str, arity: int, literals: Sequence[int], extra: tuple[str, ...] = ()) -> Create:
    """The facts of several literals with the keys of their constants."""
    return create(target, _facts(source, literals, [ValueType.MIXED] * arity, ("literal", *extra)))


def create_view(target: str, keys: str, literal: int, types: Sequence[ValueType], extra: tuple[str, ...] = ()) -> Create:
    """The facts of one literal as a view on `create_keys`, their constants decoded. A planner may decode constants before it leaves
    out the facts of other literals; those may be of other types, so we make the casts give NULL instead of failing."""
    f = row(keys, "f")
    values = [_decoded(f[argument(i)], wanted).named(argument(i)).node.copy() for i, wanted in enumerate(types)]
    for value in values:
        for cast in list(value.find_all(exp.Cast)):
            cast.replace(exp.TryCast(this=cast.this, to=cast.to))
    return view(target, select(*f[extra], *values).from_(f).where(f.literal == literal))


def _facts(source: str, literals: Sequence[int], types: Sequence[ValueType], extra: tuple[str, ...]) -> Select:
    f = row(source, "f")
    query = select(*f[extra]).from_(f)
    for i, wanted in enumerate(types):
        c = row(CONSTANT, f"c{i}")
        query = query.join(c, c.id == f[argument(i)]).select(_decoded(c.key, wanted).named(argument(i)))
    return query.where(f.literal.is_in(literals))


def _decoded(key: Sql, wanted: ValueType) -> Sql:
    """A constant's value; its key if types are mixed."""
    if wanted is ValueType.MIXED:
        return key
    return typed_text(word(key), wanted)
