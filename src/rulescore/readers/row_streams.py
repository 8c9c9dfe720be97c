"""Rows of tables made from other rows: several files together, rows with their numbers, rows with some cells replaced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.errors import Diagnostic, InputError, Place, meant, ticked
from rulescore.readers.table_rows import ARROW_TYPES, SOURCE_TYPES, Guess, MisfitError, file_rows, read_as, value_type
from rulescore.setting.model import RowStream, TextColumns
from rulescore.values import ValueType

# Rows of several files: a folder, or the files that a pattern such as `sales/*.parquet` names, in the order of their names.


_NUMBERS = {ValueType.INTEGER, ValueType.FLOAT}


def files_of(path: Path) -> list[Path] | None:
    """The files of a folder or of a pattern; None if the path names one file. We skip files whose name begins with a dot or an
    underscore: writers of tables leave them there for their own use."""
    if path.is_dir():
        files = sorted(member for member in path.iterdir() if member.name[0] not in "._" and member.is_file())
        what = f"the folder `{path}` has no file"
    elif any(sign in str(path) for sign in "*?[") and not path.exists():
        # `Path.glob` takes no pattern that begins at the root.
        files = sorted(Path(name) for name in glob(str(path), recursive=True) if Path(name).is_file())  # noqa: PTH207
        what = f"no file is named like `{path}`"
    else:
        return None
    if not files:
        raise InputError(Diagnostic("E301", what))
    return files


def together(origin: str, parts: Sequence[RowStream]) -> RowStream:
    """The rows of all parts, one after the other."""
    texts = [part.text for part in parts if part.text is not None]
    if texts and len(texts) < len(parts):
        odd = next(part for part in parts if (part.text is None) != (parts[0].text is None))
        notes = ("text files get their types from their values, Parquet files have types of their own",)
        message = f"`{parts[0].origin}` and `{odd.origin}` are not of one kind"
        raise InputError(Diagnostic("E302", message, Place(origin), notes=notes, helps=("name the files of one kind: `*.csv`",)))

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        kinds = [value_type(kind) for kind in _joint_schema(origin, parts).types]
        wanted = dict(zip(parts[0].schema().names, kinds, strict=True))
        for part in parts:
            for batch in part.open(columns):
                yield _as_floats(batch, [name for name in columns if wanted[name] is ValueType.FLOAT])

    text = _joint_text(origin, parts, texts) if texts else None
    return RowStream(origin, lambda: _joint_schema(origin, parts), batches, text=text)


def _joint_schema(origin: str, parts: Sequence[RowStream]) -> pa.Schema:
    """The columns of the first part, which all parts have; whole numbers of some and floats of others are floats."""
    first = parts[0].schema()
    fields = {field.name: field for field in first}
    for part in parts[1:]:
        schema = part.schema()
        if sorted(schema.names) != sorted(first.names):
            odd = sorted(set(schema.names) ^ set(first.names))
            notes = (f"only one of them has {ticked(odd) or 'a column twice'}",)
            message = f"`{part.origin}` has other columns than `{parts[0].origin}`"
            raise InputError(Diagnostic("E320", message, Place(origin), notes=notes))
        for field in schema:
            kinds = {value_type(field.type), value_type(fields[field.name].type)}
            if kinds == _NUMBERS:
                fields[field.name] = pa.field(field.name, pa.float64())
            elif len(kinds) > 1 and not pa.types.is_null(field.type):
                if not pa.types.is_null(fields[field.name].type):
                    notes = (f"it is {fields[field.name].type} in `{parts[0].origin}`, and {field.type} in `{part.origin}`",)
                    message = f"the column `{field.name}` has two types"
                    raise InputError(Diagnostic("E320", message, Place(origin), notes=notes))
                fields[field.name] = field
    return pa.schema(list(fields.values()))


def _as_floats(batch: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    for name in names:
        place = batch.schema.get_field_index(name)
        column = batch.column(place)
        if pa.types.is_integer(column.type):
            # Arrow refuses an integer that no double equals.
            batch = batch.set_column(place, pa.field(name, pa.float64()), column.cast(pa.float64()))
    return batch


def _joint_text(origin: str, parts: Sequence[RowStream], texts: Sequence[TextColumns]) -> TextColumns:
    def infer(columns: Sequence[str], *, whole: bool) -> dict[str, ValueType | None]:
        inferred = [text.infer(columns, whole=whole) for text in texts]
        return {name: _joint_kind(name, [kinds[name] for kinds in inferred], texts if whole else ()) for name in columns}

    declared = {name for text in texts for name in text.declared}
    return TextColumns(declared, infer, lambda kinds: together(origin, [text.typed(kinds) for text in texts]))


def _joint_kind(name: str, kinds: Sequence[ValueType | None], texts: Sequence[TextColumns]) -> ValueType | None:
    """The type of a column in all files. `texts`: files to look through for integers that no double equals."""
    known = {kind for kind in kinds if kind is not None}
    if len(known) < 2:
        return next(iter(known), None)
    if known != _NUMBERS:
        return ValueType.STRING
    exact = all(_reads(text.typed({name: ValueType.FLOAT}), name) for text in texts)
    return ValueType.FLOAT if exact else ValueType.STRING


def _reads(rows: RowStream, name: str) -> bool:
    try:
        for _ in rows.open([name]):
            pass
    except MisfitError:
        return False
    return True


# Rows whose key is their number: a further column `row`, counted from 0.


ROW = "row"
"""The column that holds the number of a row, and the key that asks for it."""


def numbered(rows: RowStream) -> RowStream:
    """The rows of a file or a frame with their numbers, in the order of their source. An engine must not read them itself: it may
    have another order."""

    def schema() -> pa.Schema:
        return rows.schema().append(pa.field(ROW, pa.int64()))

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        others = [name for name in columns if name != ROW]
        first = 0
        # To count the rows we have to read one column.
        for batch in rows.open(others or rows.schema().names[:1]):
            numbers = pa.array(range(first, first + batch.num_rows), pa.int64())
            first += batch.num_rows
            arrays = [numbers if name == ROW else batch.column(others.index(name)) for name in columns]
            yield pa.RecordBatch.from_arrays(arrays, list(columns))

    text = rows.text
    columns = None if text is None else TextColumns((*text.declared, ROW), text.infer, lambda kinds: numbered(text.typed(kinds)))
    return replace(rows, schema=schema, open=batches, text=columns, native=None, numbered=True)


# Cells of tables as tools write repairs: a file of `id, attribute, value`, such as HoloClean's `tid,attribute,correct_val`.


_ATTRIBUTE = ("attribute", "column")
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class WrittenCell:
    """A cell by the key of its row, as text, and its value, None if it is missing."""

    key: str
    column: str
    value: str | None


def read_cells(path: Path) -> list[WrittenCell] | None:
    """The cells of a file of three columns, of which the second is named `attribute` or `column`; None for any other file."""
    rows = file_rows(path)
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
        final = table
        return replace(
            rows, origin=origin, open=lambda some: iter(final.select(list(some)).to_batches()), native=None, version=None
        )
    return numbered(text_rows(table.drop_columns([ROW]), origin)) if rows.numbered else text_rows(table, origin)


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
        listed = ticked(unknown[:_MOST_NAMED])
        ids = "1 id" if len(unknown) == 1 else f"{len(unknown):,} ids"
        message = f"{ids} that the table does not have: {listed}{', …' if len(unknown) > _MOST_NAMED else ''}"
        raise InputError(Diagnostic("E352", message, Place(origin)))


def text_rows(table: pa.Table, origin: str, inferred: Mapping[str, ValueType] | None = None) -> RowStream:
    """Columns of text, as a text file would have them: their types follow from their values."""

    def kind(name: str) -> ValueType:
        return (inferred or {}).get(name, ValueType.STRING)

    def infer(columns: Sequence[str], *, whole: bool) -> dict[str, ValueType | None]:
        return {name: Guess.of(pc.fill_null(table.column(name).combine_chunks(), "")) for name in columns}

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        arrays = [read_as(pc.fill_null(table.column(name).combine_chunks(), ""), kind(name)) for name in columns]
        if any(array is None for array in arrays):
            raise MisfitError
        yield pa.RecordBatch.from_arrays(arrays, list(columns))

    def schema() -> pa.Schema:
        return pa.schema([(name, SOURCE_TYPES[kind(name)]) for name in table.column_names])

    return RowStream(origin, schema, batches, text=TextColumns((), infer, lambda kinds: text_rows(table, origin, kinds)))
