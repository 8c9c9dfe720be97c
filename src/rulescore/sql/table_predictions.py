"""Statements that check predictions of the targets of tables against their rows."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rulescore.data.setting import ValueType
from rulescore.sql.build import (
    Select,
    all_of,
    any_of,
    column,
    count_rows,
    different,
    equal,
    named,
    negation,
    number,
    one_if,
    select,
    table,
    total,
)
from rulescore.sql.tables import is_not_finite, shown

FAULTS = ("no_id", "no_value", "not_finite", "unknown", "not_hidden")


def _faults(fields: Sequence[str], target_type: ValueType) -> dict[str, exp.Expr]:
    """What can be wrong with a prediction `p` beside the row `r` of its id."""
    value = column("p", "value")
    no_id = any_of(exp.Is(this=column("p", f"k{i}"), expression=exp.null()) for i in range(len(fields)))
    no_value = exp.Is(this=value.copy(), expression=exp.null())
    wrong = is_not_finite(value) if target_type is ValueType.FLOAT else exp.false()
    unknown = all_of([negation(no_id.copy()), exp.Is(this=column("r", fields[0]), expression=exp.null())])
    return dict(zip(FAULTS, (no_id, no_value, wrong, unknown, negation(column("r", "hidden"))), strict=True))


def _with_rows(query: Select, staged: str, rows: str, fields: Sequence[str]) -> Select:
    same = all_of(equal(column("r", one), column("p", f"k{i}")) for i, one in enumerate(fields))
    return query.from_(table(staged, "p")).join(table(rows, "r"), on=same, join_type="left")


def fault_counts(staged: str, rows: str, fields: Sequence[str], target_type: ValueType) -> Select:
    """How many predictions of each model have each fault."""
    faults = _faults(fields, target_type)
    counts = [named(exp.cast(total(one_if(condition)), "BIGINT", copy=False), name) for name, condition in faults.items()]
    return _with_rows(select(column("p", "model"), *counts), staged, rows, fields).group_by(column("p", "model"))


def faulty(staged: str, rows: str, fields: Sequence[str], target_type: ValueType, model: int, fault: str) -> Select:
    """The ids of a model's predictions that have a fault."""
    query = select(*(named(column("p", f"k{i}"), f"k{i}") for i in range(len(fields))))
    mine = equal(column("p", "model"), number(model))
    found = _with_rows(query, staged, rows, fields).where(all_of([mine, _faults(fields, target_type)[fault]]))
    return shown(found, len(fields))


def covered_ids(staged: str, width: int) -> Select:
    """How many ids each model predicts, and how many of them with different values."""
    fields = [column("p", f"k{i}") for i in range(width)]
    low, high = exp.Min(this=column("p", "value")), exp.Max(this=column("p", "value"))
    ids = (
        select(column("p", "model"), named(one_if(different(low, high)), "several"))
        .from_(table(staged, "p"))
        .group_by(column("p", "model"), *fields)
    )
    several = exp.cast(total(column("d", "several")), "BIGINT", copy=False)
    return (
        select(column("d", "model"), named(count_rows(), "ids"), named(several, "several"))
        .from_(ids.subquery(alias="d", copy=False))
        .group_by(column("d", "model"))
    )


def conflicting(staged: str, width: int, model: int) -> Select:
    """The ids for which a model predicts different values."""
    fields = [f"k{i}" for i in range(width)]
    low, high = exp.Min(this=column("p", "value")), exp.Max(this=column("p", "value"))
    query = (
        select(*(column("p", one) for one in fields))
        .from_(table(staged, "p"))
        .where(equal(column("p", "model"), number(model)))
        .group_by(*(column("p", one) for one in fields))
    )
    return shown(query.having(different(low, high), copy=False), width)  # type: ignore[arg-type]  # the same query


def predictions_of(staged: str, width: int, model: int) -> Select:
    fields = [*(f"k{i}" for i in range(width)), "value"]
    return select(*(column("p", one) for one in fields)).from_(table(staged, "p")).where(equal(column("p", "model"), number(model)))
