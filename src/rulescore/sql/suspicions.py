"""Statements about constants of rules that do not occur at their places, and counts that suggest declarations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rulescore.sql.facts import CONSTANT, Position, constants_at
from rulescore.sql.names import argument, fact_table, name
from rulescore.sql.query import Row, Select, row, select, union_all
from rulescore.sql.values import key, length
from rulescore.sql.words import Sql, all_of, count_rows, sql
from rulescore.values import ValueType

WANTED = name("wanted_constant")
"""The constants of rules: columns `number`, `literal`, `argument` and `constant` of numbers or, for tables with keys, `key`."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a table with a key, or of the predictions of its target."""

    source: str
    field: str
    type: ValueType


def occurring(positions: Sequence[Position], stride: int, predicates: int) -> Select:
    """The numbers of the wanted constants that some fact, negative fact or prediction has at their places."""
    f, w = union_all([_at(position, stride, predicates) for position in positions]).as_("f"), row(WANTED, "w")
    on = w.constant == f.constant, w.literal == f.literal, w.argument == f.argument
    return select(w.number).distinct().from_(f).join(w, all_of(*on))


def _at(position: Position, stride: int, predicates: int) -> Select:
    """Negative facts have literals of their own, which follow those of all predicates."""
    f = row(position.source, "f")
    at = f[argument(position.number)]
    query = select(sql(position.number).named("argument"), literal=f.literal % (stride * predicates), constant=at).from_(f)
    return query.where(f.literal % stride == 0)


def occurring_values(fields: Sequence[Field]) -> Select:
    """The wanted keys that columns of tables have. `place` is the index of a column."""
    p, w = _every_key(fields), row(WANTED, "w")
    return select(p.place, p.key).from_(p).join(w, w.key == p.key)


def keys_at(positions: Sequence[Position], lengths: tuple[int, int]) -> Select:
    """The constants at positions whose keys have at least and at most so many characters."""
    p, c = constants_at(positions), row(CONSTANT, "c")
    return select(c.key).distinct().from_(p).join(c, c.id == p.constant).where(_is_as_long(c.key, lengths))


def values_at(fields: Sequence[Field], lengths: tuple[int, int]) -> Select:
    """Such constants in columns of tables."""
    p = _every_key(fields)
    return select(p.key).distinct().from_(p).where(_is_as_long(p.key, lengths))


def _every_key(fields: Sequence[Field]) -> Row:
    return union_all([_keys(place, field) for place, field in enumerate(fields)]).as_("p")


def _keys(place: int, field: Field) -> Select:
    v = row(field.source, "v")
    value = v[field.field]
    d = select(value).distinct().from_(v).where(~value.is_null()).as_("d")
    return select(place=place, key=key(d[field.field], field.type)).from_(d)


def _is_as_long(text: Sql, lengths: tuple[int, int]) -> Sql:
    least, most = lengths
    return all_of(length(text) >= least, length(text) <= most)


def argument_counts(stride: int, predicates: int) -> Select:
    """For each predicate with two arguments: its literal, and how many observed facts, first and second arguments it has."""
    f = row(fact_table(2), "f")
    query = select(f.literal, facts=count_rows(), first=f.a0.count_distinct(), second=f.a1.count_distinct()).from_(f)
    as_written = f.literal % stride == 0, f.literal.between(0, stride * predicates - 1)
    return query.where(*as_written).group_by(f.literal)
