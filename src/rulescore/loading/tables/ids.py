"""Ids and values that the user gives for a table, converted to the types of its columns: by us, or in place by a statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, InputError, Place, suggestion
from rulescore.loading.samples import counted, offenders, shown_value
from rulescore.loading.stored import StoredRows
from rulescore.logic.tables import named_type
from rulescore.readers.constant_columns import is_text
from rulescore.readers.table_rows import ARROW_TYPES, fitted, value_type
from rulescore.setting.model import KeyedTable, RowStream
from rulescore.sql.query import Select
from rulescore.sql.tables import rows as sql
from rulescore.values.types import ValueType

PREDICTION = "prediction"

Given = RowStream | StoredRows
Columns: TypeAlias = pa.Table | Select
"""Rows that we have read, or a query for rows that stay in the engine."""

_NUMBERS = frozenset({ValueType.INTEGER, ValueType.FLOAT})


def id_columns(engine: Engine, given: Given, table: KeyedTable, types: Sequence[ValueType]) -> tuple[Columns, list[Diagnostic]]:
    """Ids as columns `k0`, `k1`, … in the types of a table's key, and what is wrong with them."""
    schema = given.schema()
    names = _key_names(schema, table, given, alone=len(schema.names) == 1)
    found, problems = typed_columns(engine, given, names, types, [f"k{i}" for i in range(len(names))])
    return found, problems or list(_first_id(given, names, table, types))


def _first_id(given: Given, names: Sequence[str], table: KeyedTable, types: Sequence[ValueType]) -> Iterator[Diagnostic]:
    """Refuses a text file whose header reads as a number or a date: it probably has no header, and would lose its first id."""
    (first, *more) = names
    plain = types[0] not in (ValueType.STRING, ValueType.BOOLEAN)
    if (
        given.text
        and not more
        and first not in (*table.key, "id")
        and plain
        and fitted(pa.array([first]), types[0]).null_count == 0
    ):
        message = f"the first line, `{first}`, is read as the name of the column, and looks like an id"
        yield Diagnostic("E350", message, Place(given.origin), helps=(f"put a line with `{table.key[0]}` before it",))


def prediction_columns(
    engine: Engine, given: Given, table: KeyedTable, types: Sequence[ValueType], target: ValueType
) -> tuple[Columns, list[Diagnostic]]:
    """Predictions as `k0`, …, `value`, in the types of a table's key and target. Predictions of a target of whole numbers may be
    fractions."""
    schema = given.schema()
    names = _key_names(schema, table, given)
    # Many programs write predictions under the name of what they predict.
    value = str(table.target) if PREDICTION not in schema.names and schema.names.count(str(table.target)) == 1 else PREDICTION
    if schema.names.count(value) != 1:
        raise _columns_problem(given, schema, PREDICTION, "predictions have a column `prediction`, and those of the key")

    def read(wanted: ValueType) -> tuple[Columns, list[Diagnostic]]:
        fields = [*(f"k{i}" for i in range(len(names))), "value"]
        return typed_columns(engine, given, [*names, value], [*types, wanted], fields)

    if target is not ValueType.INTEGER:
        return read(target)
    kind = value_type(schema.field(value).type)
    if given.text or kind is not ValueType.FLOAT:  # a float does not hold every integer
        found, problems = read(ValueType.INTEGER)
        if not problems or not (given.text or kind is ValueType.INTEGER):
            return found, problems
    return read(ValueType.FLOAT)


def _key_names(schema: pa.Schema, table: KeyedTable, given: Given, alone: bool = False) -> list[str]:
    """The columns that hold the key: those with its names or, for a key of one column, `id` or the only column."""
    if len(table.key) == 1 and table.key[0] not in schema.names:
        if schema.names.count("id") == 1:
            return ["id"]
        if alone:
            return list(schema.names)
    for one in table.key:
        if schema.names.count(one) != 1:
            note = f"rows of `{table.name}` are named by {' and '.join(f'`{key}`' for key in table.key)}"
            raise _columns_problem(
                given, schema, one, note + (", here also by `id`" if len(table.key) == 1 and one != "id" else "")
            )
    return list(table.key)


def _columns_problem(given: Given, schema: pa.Schema, column: str, note: str) -> InputError:
    times = schema.names.count(column)
    listed = ", ".join(f"`{one}`" for one in schema.names)
    close = suggestion(column, schema.names)
    return InputError(
        Diagnostic(
            "E350",
            f"there is no column `{column}`" if not times else f"there are {times} columns `{column}`",
            Place(given.origin),
            notes=(f"the columns are {listed}", note),
            helps=(f"is `{close}` meant? rename it to `{column}`",) if close and not times else (),
        )
    )


def typed_columns(
    engine: Engine, given: Given, names: Sequence[str], types: Sequence[ValueType], fields: Sequence[str]
) -> tuple[Columns, list[Diagnostic]]:
    """Columns in these types and under these names, and a problem for each column with values of another type."""
    schema = given.schema()
    wanted = list(zip(names, types, strict=True))
    problems = [
        _type_problem(given, one, value_type(schema.field(one).type), kind)
        for one, kind in wanted
        if not _fits(schema.field(one).type, kind, given)
    ]
    target = pa.schema([(one, ARROW_TYPES[kind]) for one, kind in zip(fields, types, strict=True)])
    if problems:
        return target.empty_table(), problems
    if isinstance(given, RowStream):
        return _read(given, wanted, target)
    query = sql.fitted(given.table, dict(zip(fields, wanted, strict=True)))
    return query, [problem for one, kind in wanted for problem in _unfit(engine, given, one, kind)]


def _read(stream: RowStream, wanted: Sequence[tuple[str, ValueType]], target: pa.Schema) -> tuple[pa.Table, list[Diagnostic]]:
    batches, wrong = [target.empty_table()], [_Wrong(one, kind, wanted[0][1]) for one, kind in wanted]
    for batch in stream.open([one for one, _ in wanted]):
        columns = [_converted(batch.column(i), kind, stream, wrong[i], batch) for i, (_, kind) in enumerate(wanted)]
        batches.append(pa.table(columns, schema=target))
    return pa.concat_tables(batches), [one.problem(stream) for one in wrong if one.count]


def _unfit(engine: Engine, rows: StoredRows, column: str, wanted: ValueType) -> Iterator[Diagnostic]:
    """Values of a stored column that its type, or the wanted one, does not hold."""
    if rows.table.may_lose(column) and (found := offenders(engine, sql.lost_values(rows.table, column))):
        yield Diagnostic("E314", f"`{column}` {lost(rows.columns.field(column).type)}: {found}", Place(rows.origin))
    broken = wanted is ValueType.INTEGER and value_type(rows.columns.field(column).type) is ValueType.FLOAT
    if broken and (found := offenders(engine, sql.not_whole(rows.table, column))):
        what = f"{counted(found.total, 'value')} of `{column}` {'are' if found.total > 1 else 'is'} not {_A[wanted]}"
        yield Diagnostic("E351", f"{what}: {found}", Place(rows.origin))


def lost(kind: pa.DataType) -> str:
    """The words for values of a stored column that our types cannot hold."""
    if not pa.types.is_timestamp(kind):
        return "does not fit into 64 bits"
    return "has nanoseconds, and date-times have microseconds" if kind.unit == "ns" else "is in no year from 1 to 9999"


class _Wrong:
    """The values of a column that are not of its type: the first few with their ids, and how many."""

    def __init__(self, name: str, wanted: ValueType, of_ids: ValueType) -> None:
        self._name, self._wanted, self._of_ids, self.count = name, wanted, of_ids, 0
        self._shown: list[str] = []

    def add(self, lost: pa.Array, column: pa.Array, batch: pa.RecordBatch) -> None:
        rows = pc.indices_nonzero(lost)
        self.count += len(rows)
        for row in rows[: 5 - len(self._shown)].to_pylist():
            own = shown_value(batch.column(0)[row].as_py(), self._of_ids)
            behind = "" if self._name == batch.schema.names[0] else f" for `{own}`"
            self._shown.append(f"`{column[row].as_py()}`{behind}")

    def problem(self, stream: RowStream) -> Diagnostic:
        more = f" and {self.count - len(self._shown):,} more" if self.count > len(self._shown) else ""
        message = f"{self.count:,} of `{self._name}` {'are' if self.count > 1 else 'is'} not {_A[self._wanted]}"
        return Diagnostic("E351", f"{message}: {', '.join(self._shown)}{more}", Place(stream.origin))


_A = {
    ValueType.STRING: "text",
    ValueType.INTEGER: "a whole number",
    ValueType.FLOAT: "a number",
    ValueType.BOOLEAN: "`true` or `false`",
    ValueType.DATE: "a date like 2024-05-31",
    ValueType.DATETIME: "a date-time without a zone, like 2024-05-31T12:30:00",
    ValueType.INSTANT: "a date-time with a zone, like 2024-05-31T12:30:00Z",
}

_TO = {
    ValueType.INTEGER: 'whole numbers: in pandas `.astype("Int64")`',
    ValueType.FLOAT: 'numbers: in pandas `.astype("Float64")`',
    ValueType.BOOLEAN: 'true and false: in pandas `.astype("boolean")`',
    ValueType.DATE: "dates: in pandas `pandas.to_datetime(…).dt.date`",
    ValueType.DATETIME: "date-times without a zone: in pandas `pandas.to_datetime(…).dt.tz_localize(None)`",
    ValueType.INSTANT: "date-times with a zone: in pandas `pandas.to_datetime(…, utc=True)`",
}


def _fits(kind: pa.DataType, wanted: ValueType, given: Given) -> bool:
    """Whether a column's values can be of the wanted type. A column without values always fits."""
    found = value_type(kind)
    return bool(given.text) or pa.types.is_null(kind) or found is wanted or {found, wanted} <= _NUMBERS


def _type_problem(given: Given, column: str, found: ValueType | None, wanted: ValueType) -> Diagnostic:
    message = f"`{column}` is {named_type(found)}, and the table's column {named_type(wanted)}"
    helps = (
        f"convert it to {_TO[wanted]}"
        if wanted is not ValueType.STRING
        else "convert it to text, or declare the type of the table's column if that comes from a text file",
    )
    return Diagnostic("E351", message, Place(given.origin), helps=helps)


def _converted(column: pa.Array, wanted: ValueType, stream: RowStream, wrong: _Wrong, batch: pa.RecordBatch) -> pa.Array:
    if stream.text and is_text(column.type):
        found = fitted(column, wanted)
        lost = pc.and_(pc.is_null(found), pc.not_equal(pc.fill_null(column, ""), ""))
    elif wanted is ValueType.INTEGER and pa.types.is_floating(column.type):
        whole = pc.and_(pc.equal(column, pc.floor(column)), pc.less(pc.abs(column), 2.0**63))
        lost = pc.invert(pc.fill_null(whole, True))
        found = pc.if_else(whole, column, pa.scalar(None, pa.float64())).cast(pa.int64())
    else:
        return column.cast(ARROW_TYPES[wanted], safe=False)
    if pc.any(lost, min_count=0).as_py():
        wrong.add(lost, column, batch)
    return found
