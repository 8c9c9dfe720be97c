"""Statements that check predictions of the targets of tables against their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rulescore.sql.query import Query, Row, Select, row, select, union_all
from rulescore.sql.tables.rows import extremes, is_not_finite, key_fields, same_id, shown
from rulescore.sql.values import cast, converted, is_whole
from rulescore.sql.words import FALSE, NULL, Sql, all_of, any_of, count_rows, sql, when
from rulescore.values.types import NUMBERS, ValueType

FAULTS = ("no_id", "no_value", "not_finite", "unknown", "not_hidden")


@dataclass(frozen=True, slots=True)
class CheckedPredictions:
    """Staged predictions to be checked, the table of the rows they are for, and the fields of its key."""

    staged: str
    rows: str
    fields: Sequence[str]
    target_type: ValueType

    @property
    def keys(self) -> list[str]:
        return key_fields(len(self.fields))

    def joined(self) -> tuple[Row, Row, Select]:
        """A prediction, the row of its id, if there is one, and the query that reads both."""
        p, r = row(self.staged, "p"), row(self.rows, "r")
        return p, r, select().from_(p).left_join(r, *same_id(r, self.fields, p))

    def faults(self, p: Row, r: Row) -> dict[str, Sql]:
        """The condition of each fault of a prediction, joined with the row of its id."""
        no_id = any_of(*(key.is_null() for key in p[self.keys]))
        wrong = is_not_finite(p.value) if self.target_type is ValueType.FLOAT else FALSE
        unknown = all_of(~no_id, r[self.fields[0]].is_null())
        return dict(zip(FAULTS, (no_id, p.value.is_null(), wrong, unknown, ~r.hidden), strict=True))


def findings(tables: Sequence[CheckedPredictions]) -> Query:
    """For each table, by its place, and each model: how many predictions there are, how many of them have each fault, how many ids
    they predict, and how many of the ids with different values."""
    return union_all([_findings(place, checked) for place, checked in enumerate(tables)])


def _findings(place: int, checked: CheckedPredictions) -> Select:
    p, r, query = checked.joined()
    counts = {name: when(fault, 1, 0).sum() for name, fault in checked.faults(p, r).items()}
    low, high = extremes(p.value, checked.target_type)
    query = query.select(p.model, rows=count_rows(), **counts, several=when(low != high, 1, 0))
    d = query.group_by(p.model, *p[checked.keys]).as_("d")
    totals = {name: d[name].sum().big() for name in ("rows", *FAULTS, "several")}
    return select(sql(place).named("place"), d.model, ids=count_rows(), **totals).from_(d).group_by(d.model)


def faulty(checked: CheckedPredictions, model: int, fault: str) -> Select:
    """The ids of a model's predictions that have a fault."""
    p, r, query = checked.joined()
    query = query.select(**{key: p[key] for key in checked.keys})
    return shown(query.where(p.model == model, checked.faults(p, r)[fault]), len(checked.keys))


def conflicting(staged: str, width: int, model: int, target_type: ValueType) -> Select:
    """The ids for which a model predicts different values."""
    p = row(staged, "p")
    keys = p[key_fields(width)]
    low, high = extremes(p.value, target_type)
    return shown(select(*keys).from_(p).where(p.model == model).group_by(*keys).having(low != high), width)


def not_all_whole(predictions: Query) -> Select:
    """One row if some predicted float is not a whole number."""
    p = predictions.as_("p")
    return select(n=1).from_(p).where(~is_whole(p.value)).limit(1)


def not_all_finite(predictions: Query) -> Select:
    """One row if some prediction is NaN or infinite."""
    p = predictions.as_("p")
    return select(n=1).from_(p).where(is_not_finite(cast(p.value, ValueType.FLOAT))).limit(1)


def observed_values(rows: str, field: str) -> Select:
    """The target of every row that is not hidden."""
    r = row(rows, "r")
    return select(value=r[field]).from_(r).where(~r.hidden)


def integers_of(predictions: Query) -> Select:
    """Predictions as integers, if all are whole."""
    p = predictions.as_("p")
    return select(value=cast(p.value, ValueType.INTEGER)).from_(p)


def of_model(predictions: Query, width: int, model: int, found: ValueType, held: ValueType) -> Select:
    """Predictions of type `found` as rows of the staged table, in type `held`."""
    p = predictions.as_("p")
    value = converted(cast(p.value, found) if found in NUMBERS else p.value, found, held)
    return select(*p[key_fields(width)], value=value, model=sql(model).integer()).from_(p)


def answers(staged: str, predicted: str, fields: Sequence[str]) -> Select:
    """Which model predicted what. `predicted`: the table of numbered predictions, `fields`: its columns for the key and the
    target."""
    given = [*key_fields(len(fields) - 1), "value"]
    s, p = row(staged, "s"), row(predicted, "p")
    m = select(s.model, *s[given]).distinct().from_(s).as_("m")
    unknown = {"score": NULL.cast("DOUBLE"), "rank": NULL.cast("BIGINT"), "query": NULL.cast("TEXT")}
    query = select(m.model, p.prediction, observed=0, linked=1, **unknown).from_(m)
    return query.join(p, *(p[field] == m[value] for field, value in zip(fields, given, strict=True)))
