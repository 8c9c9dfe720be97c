"""Ids and values that come beside a table, in the types of its columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.data.setting import KeyedTable, RowStream, ValueType
from rulescore.data.table_rows import ARROW_TYPES, fitted, value_type
from rulescore.errors import Diagnostic, InputError, Place, suggestion
from rulescore.logic.tables import named_type

CODES = {
    "E350": "a table of ids or predictions has not the columns that it needs, or no line that names them",
    "E351": "ids or predictions are of another type than the table's column",
}

PREDICTION = "prediction"
_NUMBERS = frozenset({ValueType.INTEGER, ValueType.FLOAT})


def id_columns(stream: RowStream, table: KeyedTable, types: Sequence[ValueType]) -> tuple[pa.Table, list[Diagnostic]]:
    """Ids as columns `k0`, `k1`, … in the types of a table's key, and what is wrong with them."""
    schema = stream.schema()
    names = _key_names(schema, table, stream, alone=len(schema.names) == 1)
    found, problems = typed_columns(stream, schema, names, types, [f"k{i}" for i in range(len(names))])
    return found, problems or list(_first_id(stream, names, table, types))


def _first_id(stream: RowStream, names: Sequence[str], table: KeyedTable, types: Sequence[ValueType]) -> Iterator[Diagnostic]:
    """A text file without a header would lose its first id: a name that reads as a number or a date is no name of a column."""
    (first, *more) = names
    plain = types[0] not in (ValueType.STRING, ValueType.BOOLEAN)
    if (
        stream.text
        and not more
        and first not in (*table.key, "id")
        and plain
        and fitted(pa.array([first]), types[0]).null_count == 0
    ):
        message = f"the first line, `{first}`, is read as the name of the column, and looks like an id"
        yield Diagnostic("E350", message, Place(stream.origin), helps=(f"put a line with `{table.key[0]}` before it",))


def prediction_columns(
    stream: RowStream, table: KeyedTable, types: Sequence[ValueType], target: ValueType
) -> tuple[pa.Table, list[Diagnostic]]:
    """Predictions as `k0`, …, `value`, in the types of a table's key and target. Numbers for a target of whole numbers may be
    whole or not."""
    schema = stream.schema()
    names = _key_names(schema, table, stream)
    if schema.names.count(PREDICTION) != 1:
        raise _columns_problem(stream, schema, PREDICTION, "predictions have a column `prediction`, and those of the key")

    def read(wanted: ValueType) -> tuple[pa.Table, list[Diagnostic]]:
        fields = [*(f"k{i}" for i in range(len(names))), "value"]
        return typed_columns(stream, schema, [*names, PREDICTION], [*types, wanted], fields)

    if target is not ValueType.INTEGER:
        return read(target)
    if stream.text or value_type(schema.field(PREDICTION).type) is ValueType.INTEGER:  # a float does not hold every integer
        found, problems = read(ValueType.INTEGER)
        if not problems:
            return found, problems
    return read(ValueType.FLOAT)


def _key_names(schema: pa.Schema, table: KeyedTable, stream: RowStream, alone: bool = False) -> list[str]:
    """The columns that hold the key: those of its names; `id`, or the only column, for a key of one."""
    if len(table.key) == 1 and table.key[0] not in schema.names:
        if schema.names.count("id") == 1:
            return ["id"]
        if alone:
            return list(schema.names)
    for one in table.key:
        if schema.names.count(one) != 1:
            note = f"rows of `{table.name}` are named by {' and '.join(f'`{key}`' for key in table.key)}"
            raise _columns_problem(
                stream, schema, one, note + (", here also by `id`" if len(table.key) == 1 and one != "id" else "")
            )
    return list(table.key)


def _columns_problem(stream: RowStream, schema: pa.Schema, column: str, note: str) -> InputError:
    times = schema.names.count(column)
    listed = ", ".join(f"`{one}`" for one in schema.names)
    close = suggestion(column, schema.names)
    return InputError(
        Diagnostic(
            "E350",
            f"there is no column `{column}`" if not times else f"there are {times} columns `{column}`",
            Place(stream.origin),
            notes=(f"the columns are {listed}", note),
            helps=(f"is `{close}` meant? rename it to `{column}`",) if close and not times else (),
        )
    )


def typed_columns(
    stream: RowStream, schema: pa.Schema, names: Sequence[str], types: Sequence[ValueType], fields: Sequence[str]
) -> tuple[pa.Table, list[Diagnostic]]:
    """Columns of a stream in these types and under these names. A value that is not of its type is reported, with its id."""
    problems = [
        _type_problem(stream, one, value_type(schema.field(one).type), wanted)
        for one, wanted in zip(names, types, strict=True)
        if not _fits(schema.field(one).type, wanted, stream)
    ]
    target = pa.schema([(one, ARROW_TYPES[wanted]) for one, wanted in zip(fields, types, strict=True)])
    if problems:
        return target.empty_table(), problems
    batches, wrong = [target.empty_table()], [_Wrong(one, wanted) for one, wanted in zip(names, types, strict=True)]
    for batch in stream.open(names):
        columns = [_converted(batch.column(i), kind, stream, wrong[i], batch) for i, kind in enumerate(types)]
        batches.append(pa.table(columns, schema=target))
    return pa.concat_tables(batches), [one.problem(stream) for one in wrong if one.count]


class _Wrong:
    """The values of a column that are not of its type: the first few with their ids, and how many."""

    def __init__(self, name: str, wanted: ValueType) -> None:
        self._name, self._wanted, self.count = name, wanted, 0
        self._shown: list[str] = []

    def add(self, lost: pa.Array, column: pa.Array, batch: pa.RecordBatch) -> None:
        rows = pc.indices_nonzero(lost)
        self.count += len(rows)
        for row in rows[: 5 - len(self._shown)].to_pylist():
            behind = "" if self._name == batch.schema.names[0] else f" for `{batch.column(0)[row].as_py()}`"
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
}


def _fits(kind: pa.DataType, wanted: ValueType, stream: RowStream) -> bool:
    """Whether values can be of the wanted type. A column without values has none that are not."""
    found = value_type(kind)
    return stream.text or pa.types.is_null(kind) or found is wanted or {found, wanted} <= _NUMBERS


def _type_problem(stream: RowStream, column: str, found: ValueType | None, wanted: ValueType) -> Diagnostic:
    message = f"`{column}` is {named_type(found)}, and the table's column {named_type(wanted)}"
    helps = (
        "convert it"
        if wanted is not ValueType.STRING
        else "convert it to text, or declare the type of the table's column if that comes from a text file",
    )
    return Diagnostic("E351", message, Place(stream.origin), helps=helps)


def _converted(column: pa.Array, wanted: ValueType, stream: RowStream, wrong: _Wrong, batch: pa.RecordBatch) -> pa.Array:
    if stream.text:
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
