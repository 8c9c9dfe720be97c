"""Rows of several files as one table: a folder, or the files that a pattern such as `sales/*.parquet` names, in the order of their
names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from glob import glob
from pathlib import Path

import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Place
from rulescore.readers.table_rows import MisfitError, value_type
from rulescore.setting.model import RowStream, TextColumns
from rulescore.values import ValueType

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
            notes = (f"only one of them has {', '.join(f'`{name}`' for name in odd) or 'a column twice'}",)
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
        found = [text.infer(columns, whole=whole) for text in texts]
        return {name: _joint_kind(name, [kinds[name] for kinds in found], texts if whole else ()) for name in columns}

    def typed(kinds: Mapping[str, ValueType]) -> RowStream:
        return together(origin, [text.typed(kinds) for text in texts])

    declared = {name for text in texts for name in text.declared}
    return TextColumns(declared, infer, typed)


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
