"""Columns of a source beside those of its facts, such as the rank of the truth, by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pyarrow as pa

from rulescore.readers.files import InputFile
from rulescore.readers.frames import arrow_table
from rulescore.readers.text import find_dialect, stream
from rulescore.setting.choices import FileFormat
from rulescore.setting.request import Request

_BLANKS = re.compile(r"[\s-]+")

Wanted = Mapping[str, frozenset[str]]
"""The columns to find: our name for each, with the names it may have in a source."""


def file_columns(file: InputFile, request: Request, kind: FileFormat, wanted: Wanted) -> pa.Table:
    """Those of the wanted columns that a file has. We have read its facts before, without problems."""
    with file.opened() as opening:
        if kind is FileFormat.PARQUET:
            from pyarrow import parquet

            with parquet.ParquetFile(opening.reader()) as rows:
                found = _found(rows.schema_arrow.names, wanted)
                return rows.read(columns=[rows.schema_arrow.names[i] for i in found.values()]).rename_columns(list(found))
        dialect = find_dialect(opening, request)
        found = _found(dialect.header or (), wanted)
        if not found:
            return pa.table({})
        names = list(found)
        batches = [pa.RecordBatch.from_arrays(one.columns, names) for one in stream(opening, dialect, list(found.values()))]
        return pa.Table.from_batches(batches, pa.schema([(name, pa.string()) for name in names]))


def frame_columns(frame: object, origin: str, wanted: Wanted) -> pa.Table:
    table = arrow_table(frame, origin)
    found = _found(table.column_names, wanted)
    return table.select(list(found.values())).rename_columns(list(found))


def _found(names: Sequence[str], wanted: Wanted) -> dict[str, int]:
    """The numbers of the wanted columns; the first if two columns have one meaning."""
    plain = [_BLANKS.sub("_", name.strip().lower()) for name in names]
    places = {part: [i for i, name in enumerate(plain) if name in known] for part, known in wanted.items()}
    return {part: found[0] for part, found in places.items() if found}
