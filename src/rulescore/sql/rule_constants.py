"""Statements about constants of rules: which of them occur at their places, and what occurs there instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from rulescore.sql.build import Select, all_of, column, equal, name, named, negation, number, select, table, union_all
from rulescore.sql.constant_types import Position, constants_at
from rulescore.sql.facts import CONSTANT
from rulescore.sql.keys import key, length
from rulescore.values.types import ValueType

WANTED = name("wanted_constant")
"""The constants of rules: a column `constant` of numbers or, for tables with keys, a column `key`."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a table with a key, or of the predictions of its target."""

    source: str
    field: str
    type: ValueType


def occurring(positions: Sequence[Position]) -> Select:
    """The wanted constants that literals have at positions."""
    fields = [column("p", one) for one in ("place", "literal", "constant")]
    query = select(*fields).distinct().from_(constants_at(positions))
    return query.join(table(WANTED, "w"), on=equal(column("w", "constant"), column("p", "constant")))


def occurring_values(fields: Sequence[Field]) -> Select:
    """The wanted keys that columns of tables have. `place` is the index of a column."""
    query = select(column("p", "place"), column("p", "key")).from_(_every_key(fields))
    return query.join(table(WANTED, "w"), on=equal(column("w", "key"), column("p", "key")))


def keys_at(positions: Sequence[Position], lengths: tuple[int, int]) -> Select:
    """The constants at positions whose keys have at least and at most so many characters."""
    query = select(column("c", "key")).distinct().from_(constants_at(positions))
    query = query.join(table(CONSTANT, "c"), on=equal(column("c", "id"), column("p", "constant")))
    return query.where(_is_as_long(column("c", "key"), lengths))


def values_at(fields: Sequence[Field], lengths: tuple[int, int]) -> Select:
    """The same of columns of tables."""
    query = select(column("p", "key")).distinct().from_(_every_key(fields))
    return query.where(_is_as_long(column("p", "key"), lengths))


def _every_key(fields: Sequence[Field]) -> exp.Expr:
    return union_all([_keys(place, one) for place, one in enumerate(fields)]).subquery("p")


def _keys(place: int, one: Field) -> Select:
    present = negation(exp.Is(this=column("v", one.field), expression=exp.null()))
    values = select(column("v", one.field)).distinct().from_(table(one.source, "v")).where(present).subquery("d")
    return select(named(number(place), "place"), named(key(column("d", one.field), one.type), "key")).from_(values)


def _is_as_long(text: exp.Expr, lengths: tuple[int, int]) -> exp.Expr:
    least, most = (number(one) for one in lengths)
    return all_of(
        [exp.GTE(this=length(text), expression=least), exp.LTE(this=length(text.copy()), expression=most)],
    )
