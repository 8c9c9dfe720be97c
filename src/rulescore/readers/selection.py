"""The best predictions of each query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulescore.errors import Diagnostic, InputError, Place
from rulescore.setting.choices import EVERY_ANSWER
from rulescore.setting.model import FactBatch, FactStream, ModelPredictions


class _Choice(StrEnum):
    """The column by which we choose the best predictions of a stream."""

    RANK = "rank"
    QUERY = "query"
    NOTHING = "nothing"


class PredictionReader:
    """Iterates once over the batches of a model's predictions that `top_k` keeps; `rows_read` then says how many rows there
    were in all. It skips predictions in the engine's own database.

    What it keeps depends on the columns of a stream. Rank: rows with rank up to k. Query and score: the k best scores of each
    query, earlier rows first among equal scores, each with the resulting rank. Neither: every row. Without `top_k`, k is 1.
    """

    def __init__(self, predictions: ModelPredictions) -> None:
        self._predictions = predictions
        self.rows_read = 0

    def __iter__(self) -> Iterator[FactBatch]:
        for stream in self._predictions.streams:
            if isinstance(stream, FactStream):
                yield from self._kept(stream)

    def _kept(self, stream: FactStream) -> Iterator[FactBatch]:
        top_k = 1 if self._predictions.top_k is None else self._predictions.top_k
        first: _Choice | None = None
        collected: list[FactBatch] = []
        for batch in stream.open():
            self.rows_read += batch.rows.num_rows
            choice = _choice(batch, stream)
            if choice is not (first := first or choice):
                raise _mixed(stream)
            match choice:
                case _Choice.RANK:
                    yield replace(batch, rows=batch.rows.filter(pc.less_equal(batch.rows.column("rank"), top_k)))
                case _Choice.QUERY:
                    collected.append(batch)
                case _Choice.NOTHING:
                    if self._predictions.top_k is not None:
                        raise InputError(unranked(self._predictions.model, top_k, stream.origin))
                    yield batch
        if collected:
            yield from _best_of_each_query(collected, top_k, stream)


def unranked(model: str, top_k: int, origin: str) -> Diagnostic:
    """The error if the user asks for the best predictions, and nothing says which these are."""
    columns = "add a `rank` column, or `query` and `score` columns"
    if top_k == EVERY_ANSWER:
        message = f"a curve over ranks needs ranks or queries, but the predictions of `{model}` have neither rank nor query"
        helps = (f"ask for one over scores, `--curve score`, or {columns}",)
    else:
        message = f"`top_k` is given, but the predictions of `{model}` have neither rank nor query"
        helps = (f"leave top_k out, or {columns}",)
    return Diagnostic("E330", message, Place(origin), helps=helps)


def _choice(batch: FactBatch, stream: FactStream) -> _Choice:
    """Rank before query. All rows of a batch must have the rank or query, or none of them."""
    for choice in (_Choice.RANK, _Choice.QUERY):
        values = batch.rows.column(choice.value)
        if values.null_count == 0:
            return choice
        if values.null_count < len(values):
            raise _mixed(stream)
    return _Choice.NOTHING


def _mixed(stream: FactStream) -> InputError:
    notes = ("the answers of one source are all chosen by rank, or all by query and score, or all kept",)
    return InputError(
        Diagnostic("E330", "some rows have a rank or a query and others have none", Place(stream.origin), notes=notes)
    )


def _best_of_each_query(batches: list[FactBatch], top_k: int, stream: FactStream) -> Iterator[FactBatch]:
    """Needs all batches of a stream at once: the predictions of a query may stand anywhere in it."""
    rows = pa.Table.from_arrays(
        [pa.chunked_array([b.rows.column(name) for b in batches]) for name in ("query", "score")], ["query", "score"]
    )
    ranks = _ranks(rows, top_k, stream)
    # If there are no scores, the order of a query's predictions does not matter.
    known = not rows.column("score").null_count
    start = 0
    for batch in batches:
        end = start + batch.rows.num_rows
        batch_ranks, place = ranks[start:end], batch.rows.schema.get_field_index("rank")
        ranked = batch.rows.set_column(place, "rank", pa.array(batch_ranks, pa.int64())) if known else batch.rows
        yield replace(batch, rows=ranked.filter(pa.array(batch_ranks <= top_k)))
        start = end


def _ranks(rows: pa.Table, top_k: int, stream: FactStream) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The rank of each row among the predictions of its query."""
    codes = pc.dictionary_encode(rows.column("query")).combine_chunks().indices.to_numpy()
    if rows.column("score").null_count and np.bincount(codes).max() > top_k:
        message = f"a query has more than {top_k} answers, and neither rank nor score says which are best"
        helps = ("add a `rank` or `score` column, or ask for a larger top_k",)
        raise InputError(Diagnostic("E330", message, Place(stream.origin), helps=helps))
    scores = rows.column("score").fill_null(0.0).to_numpy()
    # lexsort is stable, so equal scores stay in the order of the rows.
    order = np.lexsort((-scores, codes))
    sorted_codes = codes[order]
    starts = np.flatnonzero(np.r_[True, sorted_codes[1:] != sorted_codes[:-1]])
    sizes = np.diff(np.r_[starts, len(order)])
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(1, len(order) + 1) - np.repeat(starts, sizes)
    return ranks
