"""The answers of a model, row by row in the order of its files, and metrics computed from their ranks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rulescore.errors import Diagnostic, InputError, Place
from rulescore.scoring.evaluation import BOTH, HEADS, TAILS, AccuracyMeasure
from rulescore.setting.choices import Ties
from rulescore.setting.model import FactBatch, FactStream

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """The rank of the truth in the answer to every query, between `least` and `greatest`; infinite if the truth was not found.
    `tails`: whether a query asks for a tail; None if unknown."""

    least: Numbers
    greatest: Numbers
    tails: NDArray[np.bool_] | None = None

    def of(self, chosen: NDArray[np.bool_]) -> Ranks:
        return Ranks(self.least[chosen], self.greatest[chosen], None if self.tails is None else self.tails[chosen])


def rank_measures(ranks: Ranks, hits: Sequence[int] = (1, 3, 10)) -> tuple[AccuracyMeasure, ...]:
    """Every metric over both directions, and over each of them if there are two."""
    parts = [(BOTH, ranks)]
    if ranks.tails is not None:
        parts += [(HEADS, ranks.of(~ranks.tails)), (TAILS, ranks.of(ranks.tails))]
    return tuple(measure for part, chosen in parts for measure in _measures(part, chosen, hits))


def _measures(part: str, ranks: Ranks, hits: Sequence[int]) -> Iterator[AccuracyMeasure]:
    yield _measure("mrr", part, 1 / ranks.greatest, 1 / ranks.least)
    for k in hits:
        yield _measure(f"hits_at_{k}", part, ranks.greatest <= k, ranks.least <= k)
    yield _mean_rank(part, ranks)


def _measure(metric: str, part: str, low: Numbers | NDArray[np.bool_], high: Numbers | NDArray[np.bool_]) -> AccuracyMeasure:
    if not len(low):
        return AccuracyMeasure(metric, part, 0, None, reason="there is no query")
    least, greatest = float(np.mean(low)), float(np.mean(high))
    if least == greatest:
        return AccuracyMeasure(metric, part, len(low), least, least, greatest)
    return AccuracyMeasure(metric, part, len(low), None, least, greatest, "rankings end before some truths are found")


def _mean_rank(part: str, ranks: Ranks) -> AccuracyMeasure:
    number = len(ranks.least)
    if not number:
        return AccuracyMeasure("mean_rank", part, 0, None, reason="there is no query")
    lost = int(np.isinf(ranks.greatest).sum())
    if lost:
        least = float(np.mean(ranks.least)) if not np.isinf(ranks.least).any() else None
        reason = "the truth of a query was not found" if lost == 1 else f"the truths of {lost:,} queries were not found"
        return AccuracyMeasure("mean_rank", part, number, None, least, reason=reason)
    return _measure("mean_rank", part, ranks.least, ranks.greatest)


# The code below turns rankings and truths into ranks: places of truths among the answers without known facts.


NOT_FOUND = (np.inf, np.inf)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The answers to one query. `order`: greater is better. `whole`: there are no further answers. If a ranking was cut, there may
    be more."""

    answers: Sequence[str]
    order: Numbers
    whole: bool


def rank_of(truth: str, ranking: Ranking, known: Collection[int], ties: Ties | None) -> tuple[float, float]:
    """The least and the greatest rank that the truth may have. `known`: the numbers of answers that are known facts, which a filter
    leaves out unless they are the truth that is asked for. `ties`: None if no two answers share a place."""
    place = ranking.answers.index(truth) if truth in ranking.answers else None
    kept = np.ones(len(ranking.answers), dtype=bool)
    kept[[number for number in known if number != place]] = False
    last = ranking.order.min()
    if place is None:
        # The truth is at best as good as the last answer.
        return NOT_FOUND if ranking.whole else (_rank(last, ranking.order[kept], ties or Ties.PESSIMISTIC), np.inf)
    order = ranking.order[place]
    kept[place] = False
    rank = _rank(order, ranking.order[kept], ties or Ties.OPTIMISTIC)
    # An answer that was cut off may have the same score as the last one listed.
    open_end = not ranking.whole and order == last and ties in {Ties.REALISTIC, Ties.PESSIMISTIC}
    return rank, np.inf if open_end else rank


def _rank(order: float, others: Numbers, ties: Ties) -> float:
    better, equal = float((others > order).sum()), float((others == order).sum())
    return better + 1 + {Ties.OPTIMISTIC: 0.0, Ties.REALISTIC: equal / 2, Ties.PESSIMISTIC: equal}[ties]


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
    """One entry a row. `places`: the place of each row in the ranking. `tails`: whether the row answers a query for a tail.
    `asked`: the true answer to its query. A field without a column is None."""

    facts: list[Key]
    scores: Numbers | None = None
    places: Numbers | None = None
    queries: list[str | None] | None = None
    tails: list[bool] | None = None
    test_rows: list[int] | None = None
    truth_ranks: Numbers | None = None
    asked: list[str] | None = None


def first_of_queries(answers: ModelAnswers) -> ModelAnswers:
    """The first row of each query. A query is a direction and the row of a truth; if these are not known, all rows."""
    if answers.tails is None or answers.test_rows is None or answers.truth_ranks is None:
        return answers
    first: dict[tuple[bool, int], int] = {}
    for number, query in enumerate(zip(answers.tails, answers.test_rows, strict=True)):
        first.setdefault(query, number)
    rows = list(first.values())
    return ModelAnswers(
        [answers.facts[row] for row in rows], tails=[answers.tails[row] for row in rows], truth_ranks=answers.truth_ranks[rows]
    )


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
    return reduce(_joined, map(_answers_of, streams))


def _joined(left: ModelAnswers, right: ModelAnswers) -> ModelAnswers:
    joined: dict[str, Any] = {}
    for name in (field.name for field in fields(ModelAnswers)):
        first, second = getattr(left, name), getattr(right, name)
        if first is not None and second is not None:
            joined[name] = np.concatenate([first, second]) if isinstance(first, np.ndarray) else first + second
    return ModelAnswers(**joined)


def _answers_of(stream: FactStream) -> ModelAnswers:
    facts: list[Key] = []
    parts: dict[str, list[pa.Array]] = {"score": [], "rank": [], "query": []}
    for batch in stream.open():
        facts.extend(batch_keys(batch))
        for name, arrays in parts.items():
            arrays.append(batch.rows.column(name))
    further = pa.table({}) if stream.columns is None else stream.columns(COLUMNS)
    queries = [query for part in parts["query"] for query in part.to_pylist()]
    return ModelAnswers(
        facts,
        _numeric(parts["score"]),
        _numeric(parts["rank"]),
        None if None in queries else queries,
        _directions(further, stream.origin),
        _whole(further, "test_row", stream.origin),
        _truth_ranks(further, stream.origin),
        further["asked"].to_pylist() if "asked" in further.column_names else None,
    )


def _numeric(parts: list[pa.Array]) -> Numbers | None:
    """None unless every row has one."""
    column = pa.chunked_array(parts).cast(pa.float64())
    return None if column.null_count else column.to_numpy()


def _directions(further: pa.Table, origin: str) -> list[bool] | None:
    if "direction" not in further.column_names:
        return None
    words = [str(word).strip().lower() for word in further["direction"].to_pylist()]
    for row, word in enumerate(words):
        if word not in _TAIL and word not in _HEAD:
            notes = ("a query asks for a `head` or for a `tail`",)
            raise InputError(Diagnostic("E314", f"row {row:,}: the direction is `{word}`", Place(origin), notes=notes))
    return [word in _TAIL for word in words]


def _truth_ranks(further: pa.Table, origin: str) -> Numbers | None:
    """Ranks count from 1. An empty rank, 0 or a negative rank stands for a truth that was not found."""
    if "rank_of_truth" not in further.column_names:
        return None
    column = further["rank_of_truth"]
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)
    try:
        # The mean of tied ranks may be no whole number.
        ranks = column.cast(pa.float64()).fill_null(-1).to_numpy()
    except pa.ArrowInvalid as error:
        raise InputError(Diagnostic("E314", "a rank of the truth is not a number", Place(origin), notes=(str(error),))) from None
    return np.where(ranks >= 1, ranks, np.inf)


def _whole(further: pa.Table, name: str, origin: str) -> list[int] | None:
    if name not in further.column_names:
        return None
    try:
        column = further[name].cast(pa.int64())
    except pa.ArrowInvalid as error:
        raise InputError(Diagnostic("E314", f"`{name}` is not a whole number", Place(origin), notes=(str(error),))) from None
    return None if column.null_count else [int(number) for number in column.to_pylist()]
