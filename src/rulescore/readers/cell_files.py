"""Cells of tables as tools write repairs: a file of `id, attribute, value`, such as HoloClean's `tid,attribute,correct_val`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.errors import Diagnostic, InputError, Place, meant
from rulescore.readers.row_numbers import ROW, numbered
from rulescore.readers.table_rows import ARROW_TYPES, Guess, MisfitError, file_rows, read_as, value_type
from rulescore.setting.model import RowStream, TextColumns
from rulescore.values import ValueType

_ATTRIBUTE = ("attribute", "column")
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class WrittenCell:
    """A cell by the key of its row, as text, and its value, None if it is missing."""

    key: str
    column: str
    value: str | None


def read_cells(path: Path, delimiter: str | None = None) -> list[WrittenCell] | None:
    """The cells of a file of three columns, of which the second is named `attribute` or `column`; None for any other file."""
    rows = file_rows(path, delimiter=delimiter)
    names = rows.schema().names
    if rows.text is None or len(names) != 3 or names[1] not in _ATTRIBUTE:
        return None
    cells = []
    for batch in rows.open(names):
        keys, columns, values = (column.to_pylist() for column in batch.columns)
        cells += [WrittenCell(key or "", column or "", value) for key, column, value in zip(keys, columns, values, strict=True)]
    return cells


def patched(rows: RowStream, key: str, cells: Sequence[WrittenCell], origin: str) -> RowStream:
    """The rows with these cells in place of their own. InputError for a cell that they do not have."""
    names = rows.schema().names
    table = pa.Table.from_batches(list(rows.open(names)))
    places = {str(value): place for place, value in enumerate(table.column(key).to_pylist())}
    refuse_unknown(cells, places, [name for name in names if name != key], origin)
    by_column: dict[str, dict[int, str | None]] = {}
    for cell in cells:
        by_column.setdefault(cell.column, {})[places[cell.key]] = cell.value
    kinds = {name: ValueType.STRING if rows.text else _kind(rows, name) for name in names}
    for column, values in by_column.items():
        patch = _read(list(values.values()), kinds[column], column, origin)
        changed: list[Any] = table.column(column).to_pylist()
        for place, value in zip(values, patch, strict=True):
            changed[place] = value
        index = table.schema.get_field_index(column)
        table = table.set_column(index, column, pa.array(changed, ARROW_TYPES[kinds[column]]))
    if rows.text is None:
        return replace(rows, origin=origin, open=_opens(table), native=None, version=None)
    kept = table.drop_columns([ROW]) if rows.numbered else table
    made = text_rows(kept, origin)
    return numbered(made) if rows.numbered else made


def _kind(rows: RowStream, name: str) -> ValueType:
    return value_type(rows.schema().field(name).type) or ValueType.STRING


def _read(values: Sequence[str | None], kind: ValueType, column: str, origin: str) -> list[Any]:
    read = read_as(pa.array(values, pa.string()), kind)
    if read is None:
        message = f"a value for `{column}` is not of its type, {kind.name.lower()}"
        raise InputError(Diagnostic("E351", message, Place(origin)))
    return list(read.to_pylist())


def refuse_unknown(cells: Sequence[WrittenCell], places: Mapping[str, int], columns: Sequence[str], origin: str) -> None:
    """Raises InputError for cells of rows or columns that a table does not have. `places`: of its rows, by their keys."""
    for name in dict.fromkeys(cell.column for cell in cells):
        if name not in columns:
            message = f"there is no column `{name}` in the table"
            raise InputError(Diagnostic("E320", message, Place(origin), helps=meant(name, columns)))
    unknown = list(dict.fromkeys(cell.key for cell in cells if cell.key not in places))
    if unknown:
        listed = ", ".join(f"`{key}`" for key in unknown[:_MOST_NAMED])
        message = f"{len(unknown):,} ids that the table does not have: {listed}{', …' if len(unknown) > _MOST_NAMED else ''}"
        raise InputError(Diagnostic("E352", message, Place(origin)))


def _opens(table: pa.Table) -> Any:
    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return iter(table.select(list(columns)).to_batches())

    return batches


def text_rows(table: pa.Table, origin: str, inferred: Mapping[str, ValueType] | None = None) -> RowStream:
    """Columns of text, as a text file would have them: their types follow from their values."""
    kinds = inferred or {}

    def infer(columns: Sequence[str], *, whole: bool) -> dict[str, ValueType | None]:
        guesses = {name: Guess() for name in columns}
        for name, guess in guesses.items():
            guess.look(pc.fill_null(table.column(name).combine_chunks(), ""))
        return {name: guess.kind for name, guess in guesses.items()}

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        arrays = [read_as(pc.fill_null(table.column(name).combine_chunks(), ""), _of(name)) for name in columns]
        if any(array is None for array in arrays):
            raise MisfitError
        yield pa.RecordBatch.from_arrays(arrays, list(columns))

    def _of(name: str) -> ValueType:
        return kinds.get(name, ValueType.STRING)

    def schema() -> pa.Schema:
        return pa.schema([(name, _DECLARED[_of(name)]) for name in table.column_names])

    return RowStream(origin, schema, batches, text=TextColumns((), infer, lambda found: text_rows(table, origin, found)))


_DECLARED = ARROW_TYPES | {ValueType.DATETIME: pa.timestamp("us"), ValueType.INSTANT: pa.timestamp("us", "UTC")}
