"""Rows whose key is their number: a further column `row`, counted from 0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from rulescore.setting.model import RowStream, TextColumns
from rulescore.values import ValueType

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

    text = None if rows.text is None else _numbered_text(rows.text)
    return replace(rows, schema=schema, open=batches, text=text, native=None, numbered=True)


def _numbered_text(text: TextColumns) -> TextColumns:
    def typed(kinds: Mapping[str, ValueType]) -> RowStream:
        return numbered(text.typed(kinds))

    return TextColumns((*text.declared, ROW), text.infer, typed)
