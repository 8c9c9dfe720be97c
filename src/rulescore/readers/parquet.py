"""Parquet files, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyarrow import parquet

from rulescore.readers.batches import no_facts
from rulescore.readers.files import InputFile
from rulescore.readers.frames import read_batches
from rulescore.readers.lines import damaged
from rulescore.setting.model import FactBatch
from rulescore.setting.request import Request

_BATCH_ROWS = 1 << 17


def read_parquet(file: InputFile, request: Request) -> Iterator[FactBatch]:
    """The facts of a Parquet file; its columns keep their types."""
    try:
        with file.opened() as opening, parquet.ParquetFile(opening.reader()) as rows:
            if not rows.metadata.num_rows:
                raise no_facts(request)
            batches = (valid(batch) for batch in rows.iter_batches(batch_size=_BATCH_ROWS))
            yield from read_batches(rows.schema_arrow, batches, request)
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError) as error:
        raise damaged(request.origin, str(error)) from None


def valid(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch, after a check that its texts are UTF-8, which Arrow takes on trust."""
    batch.validate(full=True)
    return batch
