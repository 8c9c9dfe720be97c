"""Predictions by their numbers, and as facts: the keys of their constants, written for the rows that a query wants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from rulescore.sql.build import (
    Select,
    all_of,
    argument,
    candidate_table,
    column,
    equal,
    integer,
    named,
    number,
    select,
    table,
    union_all,
)
from rulescore.sql.facts import ANSWER, CONSTANT
from rulescore.sql.keys import key
from rulescore.sql.values import constant_in
from rulescore.values.keys import key_of
from rulescore.values.types import Value, ValueType


@dataclass(frozen=True, slots=True)
class PredictedFacts:
    """The predicted facts of one arity."""

    arity: int
    stride: int

    def literals(self) -> Select:
        """The number and the literal of each prediction, as it was read."""
        fields = [column("p", one) for one in ("prediction", "literal")]
        return select(*fields).from_(table(candidate_table(self.arity), "p")).where(self._as_read())

    def unlinked(self) -> Select:
        """The keys in each model's predictions that do not occur in the data."""
        places = [self._unlinked_at(i) for i in range(self.arity)]
        return select(*(column("u", c) for c in ("model", "key"))).distinct().from_(union_all(places).subquery("u"))

    def _unlinked_at(self, place: int) -> Select:
        query = select(column("a", "model"), column("c", "key")).from_(table(candidate_table(self.arity), "p"))
        query = query.join(table(ANSWER, "a"), on=equal(column("a", "prediction"), column("p", "prediction")))
        query = query.join(table(CONSTANT, "c"), on=equal(column("c", "id"), column("p", argument(place))))
        return query.where(equal(column("c", "linked"), number(0)), self._as_read())

    def with_keys(self, query: Select, prediction: exp.Expr) -> Select:
        """A query with a prediction in each row: the rows whose prediction is one of these, with its `literal` and its keys."""
        same = all_of([equal(column("p", "prediction"), prediction), self._as_read()])
        query = query.join(table(candidate_table(self.arity), "p"), on=same).select(column("p", "literal"))
        for i in range(self.arity):
            query = query.join(table(CONSTANT, f"c{i}"), on=equal(column(f"c{i}", "id"), column("p", argument(i))))
            query = query.select(named(column(f"c{i}", "key"), argument(i)))
        return query

    def with_values(self, literal: int, values: Sequence[Value]) -> Select | None:
        """The predictions of a literal whose first arguments are these values, and the models that make them; None if no prediction
        can be one."""
        query = _answered(candidate_table(self.arity))
        for i, value in enumerate(values):
            query = query.join(table(CONSTANT, f"c{i}"), on=equal(column(f"c{i}", "id"), column("p", argument(i))))
            query = query.where(equal(column(f"c{i}", "key"), exp.Literal.string(key_of(value))))
        return query.where(equal(column("p", "literal"), number(literal)))

    def _as_read(self) -> exp.Expr:
        return equal(exp.Mod(this=column("p", "literal"), expression=number(self.stride)), number(0))


def _answered(source: str) -> Select:
    query = select(column("p", "prediction"), column("a", "model")).from_(table(source, "p"))
    return query.join(table(ANSWER, "a"), on=equal(column("a", "prediction"), column("p", "prediction")))


@dataclass(frozen=True, slots=True)
class PredictedTargets:
    """The predictions of a table's target. `source`: the table with a row for each, `fields`: its columns for the key and the
    target, with their types."""

    source: str
    fields: Sequence[tuple[str, ValueType]]
    literal: int

    @property
    def arity(self) -> int:
        return len(self.fields)

    def literals(self) -> Select:
        return select(column("p", "prediction"), self._literal()).from_(table(self.source, "p"))

    def with_keys(self, query: Select, prediction: exp.Expr) -> Select:
        query = query.join(table(self.source, "p"), on=equal(column("p", "prediction"), prediction))
        keys = [named(key(column("p", field), kind), argument(i)) for i, (field, kind) in enumerate(self.fields)]
        return query.select(self._literal(), *keys)

    def with_values(self, literal: int, values: Sequence[Value]) -> Select | None:
        wanted = [(field, constant_in(value, kind)) for (field, kind), value in zip(self.fields, values, strict=False)]
        same = [equal(column("p", field), value) for field, value in wanted if value is not None]
        return _answered(self.source).where(*same) if literal == self.literal and len(same) == len(values) else None

    def _literal(self) -> exp.Expr:
        return named(integer(number(self.literal)), "literal")


Predictions = PredictedFacts | PredictedTargets
