"""Statements that check predictions of the targets of tables against their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from rulescore.sql.build import (
    Query,
    Select,
    all_of,
    any_of,
    big,
    column,
    count_rows,
    different,
    equal,
    integer,
    named,
    negation,
    number,
    one_if,
    select,
    table,
    total,
    union_all,
)
from rulescore.sql.tables.rows import extremes, is_not_finite, shown
from rulescore.sql.values import cast, converted, is_whole
from rulescore.values.types import NUMBERS, ValueType

FAULTS = ("no_id", "no_value", "not_finite", "unknown", "not_hidden")


def _faults(fields: Sequence[str], target_type: ValueType) -> dict[str, exp.Expr]:
    """The condition of each fault of a prediction `p`, joined with the row `r` of its id."""
    value = column("p", "value")
    no_id = any_of(exp.Is(this=column("p", f"k{i}"), expression=exp.null()) for i in range(len(fields)))
    no_value = exp.Is(this=value.copy(), expression=exp.null())
    wrong = is_not_finite(value) if target_type is ValueType.FLOAT else exp.false()
    unknown = all_of([negation(no_id.copy()), exp.Is(this=column("r", fields[0]), expression=exp.null())])
    return dict(zip(FAULTS, (no_id, no_value, wrong, unknown, negation(column("r", "hidden"))), strict=True))


@dataclass(frozen=True, slots=True)
class CheckedPredictions:
    """Staged predictions to be checked, the table of the rows they are for, and the fields of its key."""

    staged: str
    rows: str
    fields: Sequence[str]
    target_type: ValueType


def _with_rows(query: Select, checked: CheckedPredictions) -> Select:
    same = all_of(equal(column("r", one), column("p", f"k{i}")) for i, one in enumerate(checked.fields))
    return query.from_(table(checked.staged, "p")).join(table(checked.rows, "r"), on=same, join_type="left")


def findings(tables: Sequence[CheckedPredictions]) -> Query:
    """For each table, by its place, and each model: how many predictions there are, how many of them have each fault, how many ids
    they predict, and how many of the ids with different values."""
    return union_all([_findings(place, one) for place, one in enumerate(tables)])


def _findings(place: int, checked: CheckedPredictions) -> Select:
    faults = _faults(checked.fields, checked.target_type)
    low, high = extremes(column("p", "value"), checked.target_type)
    counts = [named(total(one_if(condition)), name) for name, condition in faults.items()]
    query = select(column("p", "model"), named(count_rows(), "rows"), *counts, named(one_if(different(low, high)), "several"))
    keys = [column("p", f"k{i}") for i in range(len(checked.fields))]
    by_id = _with_rows(query, checked).group_by(column("p", "model"), *keys)
    totals = [named(big(total(column("d", name))), name) for name in ("rows", *FAULTS, "several")]
    return (
        select(named(number(place), "place"), column("d", "model"), named(count_rows(), "ids"), *totals)
        .from_(by_id.subquery("d"))
        .group_by(column("d", "model"))
    )


def faulty(checked: CheckedPredictions, model: int, fault: str) -> Select:
    """The ids of a model's predictions that have a fault."""
    width = len(checked.fields)
    query = select(*(named(column("p", f"k{i}"), f"k{i}") for i in range(width)))
    mine = equal(column("p", "model"), number(model))
    wrong = _faults(checked.fields, checked.target_type)[fault]
    return shown(_with_rows(query, checked).where(all_of([mine, wrong])), width)


def conflicting(staged: str, width: int, model: int, target_type: ValueType) -> Select:
    """The ids for which a model predicts different values."""
    fields = [f"k{i}" for i in range(width)]
    low, high = extremes(column("p", "value"), target_type)
    query = (
        select(*(column("p", one) for one in fields))
        .from_(table(staged, "p"))
        .where(equal(column("p", "model"), number(model)))
        .group_by(*(column("p", one) for one in fields))
    )
    return shown(query.having(different(low, high)), width)


def not_all_whole(predictions: Query) -> Select:
    """One row if some predicted float is not a whole number."""
    return _any(predictions, negation(is_whole(column("p", "value"))))


def not_all_finite(predictions: Query) -> Select:
    """One row if some prediction is NaN or infinite."""
    return _any(predictions, is_not_finite(cast(column("p", "value"), ValueType.FLOAT)))


def _any(predictions: Query, condition: exp.Expr) -> Select:
    return select(named(number(1), "n")).from_(predictions.subquery("p")).where(condition).limit(1)


def observed_values(rows: str, field: str) -> Select:
    """The target of every row that is not hidden."""
    return select(named(column("r", field), "value")).from_(table(rows, "r")).where(negation(column("r", "hidden")))


def integers_of(predictions: Query) -> Select:
    """Predictions as integers, if all are whole."""
    value = cast(column("p", "value"), ValueType.INTEGER)
    return select(named(value, "value")).from_(predictions.subquery("p"))


def of_model(predictions: Query, width: int, model: int, found: ValueType, held: ValueType) -> Select:
    """Predictions of type `found` as rows of the staged table, in type `held`."""
    fields = [column("p", f"k{i}") for i in range(width)]
    value = cast(column("p", "value"), found) if found in NUMBERS else column("p", "value")
    rows = predictions.subquery("p")
    return select(*fields, named(converted(value, found, held), "value"), named(integer(number(model)), "model")).from_(rows)


def answers(staged: str, predicted: str, fields: Sequence[str]) -> Select:
    """Which model predicted what. `predicted`: the table of numbered predictions, `fields`: its columns for the key and the
    target."""
    given = [*(f"k{i}" for i in range(len(fields) - 1)), "value"]
    made = select(*(column("s", one) for one in ("model", *given))).distinct().from_(table(staged, "s")).subquery("m")
    return (
        select(
            column("m", "model"),
            column("p", "prediction"),
            named(number(0), "observed"),
            named(number(1), "linked"),
            named(exp.cast(exp.null(), "DOUBLE", copy=False), "score"),
            named(exp.cast(exp.null(), "BIGINT", copy=False), "rank"),
            named(exp.cast(exp.null(), "TEXT", copy=False), "query"),
        )
        .from_(made)
        .join(table(predicted, "p"), on=all_of(equal(column("p", f), column("m", g)) for f, g in zip(fields, given, strict=True)))
    )
