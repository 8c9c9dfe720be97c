"""What a model answers, row by row, as its files have it: facts, scores, places in rankings, and the ranks of truths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulescore.accuracy.ranks import Numbers
from rulescore.errors import Diagnostic, InputError, Place
from rulescore.setting.model import FactBatch, FactStream

Key = tuple[str, ...]
"""A predicate and the keys of its constants."""

COLUMNS = {
    "rank_of_truth": frozenset({"rank_of_truth", "truth_rank", "true_rank", "rank_of_target", "filtered_rank"}),
    "direction": frozenset({"query_direction", "direction"}),
    "test_row": frozenset({"test_row"}),
}
_TAIL = frozenset({"tail", "t", "object", "o"})
_HEAD = frozenset({"head", "h", "subject", "s"})


@dataclass(frozen=True, slots=True, eq=False)
class ModelAnswers:
    """One entry a row. `places` are those in the ranking. `tails`: whether the row answers a query for a tail. `asked`: the true
    answer to its query. A field without a column is None."""

    facts: list[Key]
    scores: Numbers | None = None
    places: Numbers | None = None
    queries: list[str | None] | None = None
    tails: list[bool] | None = None
    test_rows: list[int] | None = None
    truth_ranks: Numbers | None = None
    asked: list[str] | None = None


def fact_keys(streams: Iterable[FactStream]) -> Iterator[Key]:
    for stream in streams:
        for batch in stream.open():
            yield from batch_keys(batch)


def batch_keys(batch: FactBatch) -> Iterator[Key]:
    columns = [batch.rows.column(f"a{place}").to_pylist() for place in range(batch.arity)]
    if batch.predicate is None:
        return zip(batch.rows.column("predicate").to_pylist(), *columns, strict=True)
    return ((batch.predicate, *row) for row in zip(*columns, strict=True))


def read_answers(streams: Iterable[FactStream]) -> ModelAnswers:
    """The answers of all streams. A field that only some streams have is None."""
    read = [_read(stream) for stream in streams]
    first, *others = read
    for one in others:
        first = _joined(first, one)
    return first


def _joined(left: ModelAnswers, right: ModelAnswers) -> ModelAnswers:
    return ModelAnswers(
        left.facts + right.facts,
        _both(left.scores, right.scores),
        _both(left.places, right.places),
        None if left.queries is None or right.queries is None else left.queries + right.queries,
        None if left.tails is None or right.tails is None else left.tails + right.tails,
        None if left.test_rows is None or right.test_rows is None else left.test_rows + right.test_rows,
        _both(left.truth_ranks, right.truth_ranks),
        None if left.asked is None or right.asked is None else left.asked + right.asked,
    )


def _both(left: Numbers | None, right: Numbers | None) -> Numbers | None:
    return None if left is None or right is None else np.concatenate([left, right])


def _read(stream: FactStream) -> ModelAnswers:
    facts: list[Key] = []
    parts: dict[str, list[pa.Array]] = {"score": [], "rank": [], "query": []}
    for batch in stream.open():
        facts.extend(batch_keys(batch))
        for name, found in parts.items():
            found.append(batch.rows.column(name))
    further = pa.table({}) if stream.columns is None else stream.columns(COLUMNS)
    queries = [one for part in parts["query"] for one in part.to_pylist()]
    return ModelAnswers(
        facts,
        _numbers(parts["score"]),
        _numbers(parts["rank"]),
        None if None in queries else queries,
        _directions(further, stream.origin),
        _whole(further, "test_row", stream.origin),
        _truth_ranks(further, stream.origin),
        further["asked"].to_pylist() if "asked" in further.column_names else None,
    )


def _numbers(parts: list[pa.Array]) -> Numbers | None:
    """None unless every row has one."""
    column = pa.chunked_array(parts).cast(pa.float64())
    return None if column.null_count else column.to_numpy()


def _directions(further: pa.Table, origin: str) -> list[bool] | None:
    if "direction" not in further.column_names:
        return None
    words = [str(one).strip().lower() for one in further["direction"].to_pylist()]
    for row, word in enumerate(words):
        if word not in _TAIL and word not in _HEAD:
            notes = ("a query asks for a `head` or for a `tail`",)
            raise InputError(Diagnostic("E551", f"row {row:,}: the direction is `{word}`", Place(origin), notes=notes))
    return [word in _TAIL for word in words]


def _truth_ranks(further: pa.Table, origin: str) -> Numbers | None:
    """Ranks count from 1; an empty one, 0 and negative ones stand for a truth that was not found."""
    if "rank_of_truth" not in further.column_names:
        return None
    column = further["rank_of_truth"]
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)
    try:
        # Mean ranks of ties are not whole.
        ranks = column.cast(pa.float64()).fill_null(-1).to_numpy()
    except pa.ArrowInvalid as error:
        raise InputError(Diagnostic("E550", "a rank of the truth is not a number", Place(origin), notes=(str(error),))) from None
    return np.where(ranks >= 1, ranks, np.inf)


def _whole(further: pa.Table, name: str, origin: str) -> list[int] | None:
    if name not in further.column_names:
        return None
    try:
        column = further[name].cast(pa.int64())
    except pa.ArrowInvalid as error:
        raise InputError(Diagnostic("E550", f"`{name}` is not a whole number", Place(origin), notes=(str(error),))) from None
    return None if column.null_count else [int(one) for one in column.to_pylist()]
