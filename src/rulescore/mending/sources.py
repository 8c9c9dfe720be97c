"""Reads candidates from any source of predictions: all of them, whatever their ranks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pyarrow as pa

from rulescore.readers.sources import FactsLike, prediction_streams
from rulescore.setting.model import FactBatch, FactStream, ModelPredictions

_ANSWERED = ("score", "rank", "query")


def batches(facts: FactsLike) -> Iterator[FactBatch]:
    """The batches of facts or predictions, with ranks and scores if they have any."""
    for stream in prediction_streams(facts):
        if isinstance(stream, FactStream):
            yield from stream.open()


def read(batch: FactBatch) -> Iterator[tuple[str, list[str], int]]:
    """Predicate and keys of each row of a batch, with the row's number."""
    columns = batch.rows.to_pydict()
    for row in range(batch.rows.num_rows):
        yield batch.predicate or columns["predicate"][row], [columns[f"a{place}"][row] for place in range(batch.arity)], row


def unranked_predictions(*sources: FactsLike) -> ModelPredictions:
    """Predictions that are kept whatever their ranks."""
    streams = [stream for facts in sources for stream in prediction_streams(facts) if isinstance(stream, FactStream)]
    return ModelPredictions("candidates", tuple(FactStream(stream.origin, partial(_bare, stream)) for stream in streams))


def _bare(stream: FactStream) -> Iterator[FactBatch]:
    for batch in stream.open():
        rows = batch.rows
        for name in _ANSWERED:
            place = rows.schema.get_field_index(name)
            rows = rows.set_column(place, rows.schema.field(place), pa.nulls(rows.num_rows, rows.schema.field(place).type))
        yield FactBatch(batch.arity, rows, batch.predicate, batch.floats, None, batch.negative, batch.declared_text)
