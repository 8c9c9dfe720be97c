"""Parquet files, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyarrow import parquet

from rulescore.data.batches import no_facts
from rulescore.data.frames import read_batches
from rulescore.data.lines import damaged
from rulescore.data.request import Request
from rulescore.data.setting import FactBatch

_BATCH_ROWS = 1 << 17


def read_parquet(request: Request) -> Iterator[FactBatch]:
    """The facts of a Parquet file; its columns keep their types."""
    try:
        # Python opens files of any name, Arrow only those whose name is UTF-8.
        with request.path.open("rb") as handle, parquet.ParquetFile(handle) as file:
            if not file.metadata.num_rows:
                raise no_facts(request)
            yield from read_batches(file.schema_arrow, file.iter_batches(batch_size=_BATCH_ROWS), request)
    except (pa.ArrowInvalid, OSError) as error:
        raise damaged(request.origin, str(error)) from None
