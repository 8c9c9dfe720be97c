"""Violations for other programs: a table with a typed column for everything that can be joined with the user's own rows."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from rulescore.language.terms import write_value
from rulescore.reporting.cells import counted
from rulescore.reporting.csv import render_table_csv
from rulescore.reporting.json import VERSION
from rulescore.reporting.sentences import sentence
from rulescore.scoring.evaluation import pandas_frame, polars_frame
from rulescore.scoring.violation import CountedViolations, Fact, Violation, Violations
from rulescore.values.keys import equals_double, key_of, text_of

Keys = Mapping[str, tuple[str, ...]]
"""The key columns of tables, by the predicate of their predictions."""


@dataclass(frozen=True, slots=True, repr=False)
class ViolationTable:
    """Violations, or counts of them, as an Arrow `table`; `total`: how many there are, however many are listed. `what` they are, if
    not violations."""

    table: Any
    total: int
    says_nothing: str | None = None
    counts: Mapping[tuple[str, str | None], int] = field(default_factory=dict)
    what: str = "violation"

    def to_pandas(self) -> Any:
        """The rows as a pandas frame of nullable types."""
        return pandas_frame(self.table)

    def to_polars(self) -> Any:
        """The rows as a Polars frame."""
        return polars_frame(self.table)

    def to_pylist(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.table.to_pylist()
        return found

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'row')} of {counted(self.total, self.what)}>"

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


def violation_table(found: Violations) -> ViolationTable:
    table = pa.table(_columns(found.rows, found.keys))
    return ViolationTable(table, found.total, found.says_nothing, found.counts)


def confirmation_table(found: Violations) -> ViolationTable:
    """Groundings whose head is confirmed: the columns of violations without those about the refutation."""
    table = pa.table(_columns(found.rows, found.keys)).drop_columns(list(_OF_REFUTATION))
    return ViolationTable(table, found.total, counts=found.counts, what="confirmation")


def count_table(by: str, counts: Sequence[CountedViolations], keys: Keys, total: int, limit: int | None = None) -> ViolationTable:
    """The number of violations for each value that they are counted by; the column of these values is named `by`."""
    rows = counts[:limit]
    columns: dict[str, Any] = {by: typed([one.what for one in rows]), "model": typed([one.model for one in rows])}
    if by == "prediction":
        columns |= _of_predictions([one.prediction for one in rows], keys, columns)
        columns |= {
            "score": pa.array([one.score for one in rows], pa.float64()),
            "rank": pa.array([one.rank for one in rows], pa.int64()),
        }
    columns["violations"] = pa.array([one.violations for one in rows], pa.int64())
    if by in {"predicate", "entity"}:
        columns["predictions"] = pa.array([one.predictions for one in rows], pa.int64())
    return ViolationTable(pa.table(columns), total)


def _columns(rows: Sequence[Violation], keys: Keys) -> dict[str, Any]:
    """What is known of each violation first, then the values of variables, then what it rests on."""
    before: dict[str, Any] = {
        "rule": pa.array([row.rule for row in rows], pa.string()),
        "model": pa.array([row.model for row in rows], pa.string()),
        "prediction": pa.array([None if row.prediction is None else str(row.prediction) for row in rows], pa.string()),
    }
    reserved = {*before, *_FIXED, "score", "rank", "roles", "head", "relation", "tail", "value"}
    before |= _of_predictions([row.prediction for row in rows], keys, reserved)
    before |= {
        "score": pa.array([row.score for row in rows], pa.float64()),
        "rank": pa.array([row.rank for row in rows], pa.int64()),
        "roles": _texts([row.roles for row in rows]),
    }
    taken = {*before, *_FIXED}
    variables = dict.fromkeys(name for row in rows for name in row.binding)
    values = {_free(name, "binding", taken): typed([row.binding.get(name) for row in rows]) for name in variables}
    after = {name: make(rows) for name, make in _FIXED.items()}
    return {**before, **values, **after}


def _of_predictions(facts: Sequence[Fact | None], keys: Keys, taken: Iterable[str]) -> dict[str, Any]:
    """The columns to join predictions by: head, relation and tail; the key of a table and the value; or the arguments one by
    one."""
    columns: dict[str, list[Any]] = {"relation": [None] * len(facts)}
    for index, fact in enumerate(facts):
        if fact is None:
            continue
        columns["relation"][index] = fact.predicate
        names = _names(fact, keys, set(taken))
        for name, value in zip(names, fact.values, strict=True):
            columns.setdefault(name, [None] * len(facts))[index] = value
    return {name: typed(values) for name, values in columns.items()}


def _names(fact: Fact, keys: Keys, taken: set[str]) -> Sequence[str]:
    if fact.predicate in keys:
        table = fact.predicate.rpartition(".")[0]
        return [*(_free(one, table, taken) for one in keys[fact.predicate]), "value"]
    return ("head", "tail") if len(fact.values) == 2 else [f"argument_{i + 1}" for i in range(len(fact.values))]


def _free(name: str, prefix: str, taken: Iterable[str]) -> str:
    """A name for a column of the user's that no column of ours has."""
    return f"{prefix}.{name}" if name in taken else name


def typed(values: Sequence[Any]) -> Any:
    """An array of one type, if the values have one; else of texts."""
    kinds = {type(one) for one in values if one is not None}
    if kinds <= {str}:
        return pa.array(values, pa.string())
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {datetime.date}:
        return pa.array(values, pa.date32())
    if kinds == {datetime.datetime} and len(zones := {one.tzinfo for one in values if one is not None}) == 1:
        return pa.array(values, pa.timestamp("us", None if zones == {None} else "UTC"))
    if kinds == {datetime.timedelta}:
        return pa.array(values, pa.duration("us"))
    if kinds == {int} and all(one is None or -(2**63) <= one < 2**63 for one in values):
        return pa.array(values, pa.int64())
    if kinds <= {int, float} and all(not isinstance(one, int) or equals_double(one) for one in values):
        return pa.array([None if one is None else float(one) for one in values], pa.float64())
    return pa.array([None if one is None else _text(one) for one in values], pa.string())


def _text(value: Any) -> str:
    if isinstance(value, datetime.timedelta):
        return write_value(value)
    try:
        return text_of(key_of(value))
    except (TypeError, ValueError):  # a column of a rule in SQL may hold anything
        return str(value)


def _texts(values: Sequence[tuple[str, ...]]) -> Any:
    return pa.array([list(one) for one in values], pa.list_(pa.string()))


def _first_refuter(row: Violation, part: Callable[[Fact], Any]) -> Any:
    """A part of the first fact that refutes, if it is a triple."""
    fact = next((fact for one in row.refuters for fact in one.facts), None)
    return None if fact is None or fact.names or len(fact.values) != 2 else part(fact)


def _first(found: Sequence[Any], part: Callable[[Any], Any]) -> Any:
    return part(found[0]) if found else None


_FIXED: dict[str, Callable[[Sequence[Violation]], Any]] = {
    "body": lambda rows: _texts([row.body for row in rows]),
    "rule_head": lambda rows: pa.array([row.head for row in rows], pa.string()),
    "refuted_by": lambda rows: _texts([row.refuted_by for row in rows]),
    "refuter_head": lambda rows: typed([_first_refuter(row, lambda fact: fact.values[0]) for row in rows]),
    "refuter_relation": lambda rows: typed([_first_refuter(row, lambda fact: fact.predicate) for row in rows]),
    "refuter_tail": lambda rows: typed([_first_refuter(row, lambda fact: fact.values[1]) for row in rows]),
    "comparison": lambda rows: typed([_first(row.compared, lambda one: one.text) for row in rows]),
    "left": lambda rows: typed([_first(row.compared, lambda one: one.left) for row in rows]),
    "right": lambda rows: typed([_first(row.compared, lambda one: one.right) for row in rows]),
    "margin": lambda rows: typed([_first(row.compared, lambda one: one.margin) for row in rows]),
    "margin_unit": lambda rows: typed([_first(row.compared, lambda one: one.unit) for row in rows]),
    "aggregate": lambda rows: typed([_first(row.aggregated, lambda one: one.text) for row in rows]),
    "aggregate_value": lambda rows: typed([_first(row.aggregated, lambda one: one.value) for row in rows]),
    "aggregate_before": lambda rows: typed([_first(row.aggregated, lambda one: one.before) for row in rows]),
    "sentence": lambda rows: pa.array([sentence(row) for row in rows], pa.string()),
}


_OF_REFUTATION = (
    *("refuted_by", "refuter_head", "refuter_relation", "refuter_tail"),
    *("comparison", "left", "right", "margin", "margin_unit"),
)


def render_violations_csv(found: ViolationTable, *, spreadsheet: bool = False) -> str:
    """Lists in one field, separated by semicolons; truths, dates, date-times and durations as in rules."""
    columns = {name: _csv_column(found.table[name]) for name in found.table.column_names}
    return render_table_csv(pa.table(columns), spreadsheet=spreadsheet)


def _csv_column(column: Any) -> Any:
    if pa.types.is_list(column.type):
        return pa.array([None if one is None else "; ".join(one) for one in column.to_pylist()], pa.string())
    if pa.types.is_timestamp(column.type) or pa.types.is_duration(column.type):
        return pa.array([None if one is None else write_value(one) for one in column.to_pylist()], pa.string())
    return column.cast(pa.string()) if pa.types.is_boolean(column.type) else column


def render_violations_json(found: ViolationTable, by: str | None = None) -> str:
    rows = [{name: _json_value(value) for name, value in row.items()} for row in found.to_pylist()]
    figures = {"by": by} if by is not None else {"says_nothing": found.says_nothing}
    document = {"version": VERSION, "listing": "violations", "total": found.total, "shown": len(rows), **figures, "rows": rows}
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _json_value(value: Any) -> Any:
    return write_value(value) if isinstance(value, datetime.date | datetime.timedelta) else value
