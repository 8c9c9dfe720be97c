"""Predictions by their numbers, and as facts: the keys of their constants, written for the rows that a query wants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rulescore.sql.facts import ANSWER, CONSTANT
from rulescore.sql.keys import key
from rulescore.sql.names import argument, candidate_table
from rulescore.sql.query import Row, Select, row, select, union_all
from rulescore.sql.values import constant_in
from rulescore.sql.words import Sql, sql
from rulescore.values.keys import key_of
from rulescore.values.types import Value, ValueType


@dataclass(frozen=True, slots=True)
class PredictedFacts:
    """The predicted facts of one arity."""

    arity: int
    stride: int

    def literals(self) -> Select:
        """The number and the literal of each prediction, as it was read."""
        p = self._row()
        return select(p.prediction, p.literal).from_(p).where(self._as_read(p))

    def unlinked(self) -> Select:
        """The keys in each model's predictions that do not occur in the data."""
        u = union_all([self._unlinked_at(i) for i in range(self.arity)]).as_("u")
        return select(u.model, u.key).distinct().from_(u)

    def _unlinked_at(self, place: int) -> Select:
        p, a, c = self._row(), row(ANSWER, "a"), row(CONSTANT, "c")
        query = select(a.model, c.key).from_(p).join(a, a.prediction == p.prediction).join(c, c.id == p[argument(place)])
        return query.where(c.linked == 0, self._as_read(p))

    def with_keys(self, query: Select, prediction: Sql) -> Select:
        """A query with a prediction in each row: the rows whose prediction is one of these, with its `literal` and its keys."""
        p = self._row()
        query = query.join(p, p.prediction == prediction, self._as_read(p)).select(p.literal)
        for i in range(self.arity):
            c = row(CONSTANT, f"c{i}")
            query = query.join(c, c.id == p[argument(i)]).select(c.key.named(argument(i)))
        return query

    def with_values(self, literal: int, values: Sequence[Value]) -> Select | None:
        """The predictions of a literal whose first arguments are these values, and the models that make them; None if no prediction
        can be one."""
        p = self._row()
        query = _answered(p)
        for i, value in enumerate(values):
            c = row(CONSTANT, f"c{i}")
            query = query.join(c, c.id == p[argument(i)]).where(c.key == key_of(value))
        return query.where(p.literal == literal)

    def _row(self) -> Row:
        return row(candidate_table(self.arity), "p")

    def _as_read(self, p: Row) -> Sql:
        return p.literal % self.stride == 0


def _answered(p: Row) -> Select:
    a = row(ANSWER, "a")
    return select(p.prediction, a.model).from_(p).join(a, a.prediction == p.prediction)


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
        p = row(self.source, "p")
        return select(p.prediction, literal=sql(self.literal).integer()).from_(p)

    def with_keys(self, query: Select, prediction: Sql) -> Select:
        p = row(self.source, "p")
        keys = {argument(i): key(p[field], kind) for i, (field, kind) in enumerate(self.fields)}
        return query.join(p, p.prediction == prediction).select(literal=sql(self.literal).integer(), **keys)

    def with_values(self, literal: int, values: Sequence[Value]) -> Select | None:
        p = row(self.source, "p")
        wanted = [(field, constant_in(value, kind)) for (field, kind), value in zip(self.fields, values, strict=False)]
        same = [p[field] == value for field, value in wanted if value is not None]
        return _answered(p).where(*same) if literal == self.literal and len(same) == len(values) else None


Predictions = PredictedFacts | PredictedTargets
