"""The accuracy of predicted facts: from the ranks that their file has, from rankings and truths, or from the facts alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import NamedTuple

import numpy as np

from rulescore.accuracy.answers import Key, ModelAnswers
from rulescore.accuracy.ranks import NOT_FOUND, Numbers, Ranking, Ranks, rank_measures, rank_of
from rulescore.scoring.accuracy import ALL, AccuracyMeasure, ModelAccuracy, Task
from rulescore.setting.model import HeldOut, Ties


@dataclass(frozen=True, slots=True)
class Known:
    """`answers` gives those of a model's answers that are observed facts, or otherwise known. `words`: which facts these are."""

    answers: Callable[[], Collection[Key]]
    words: str


_WORD = re.compile(r"(?:head|tail)\b")
_DIRECTION_UNKNOWN = "nothing says which rows answer a query for a head and which one for a tail: a column `query_direction` does"


class UnmeasurableError(Exception):
    """Ranks cannot be computed; the message says why."""


def with_rows(answers: ModelAnswers, truth: Sequence[Key]) -> ModelAnswers:
    """Answers with the rows of the truths that they are for, if their file names the triples that were asked for."""
    if answers.asked is None or answers.tails is None or not truth:
        return answers
    rows = first_rows(truth)
    found = []
    for (relation, head, tail), asks_tail, answer in zip(answers.facts, answers.tails, answers.asked, strict=True):
        fact = (relation, head, answer) if asks_tail else (relation, answer, tail)
        if fact not in rows:
            raise UnmeasurableError(f"the file asks for {relation}({', '.join(fact[1:])}), which the truth does not have")
        found.append(rows[fact])
    return replace(answers, test_rows=found)


def first_rows(truth: Sequence[Key]) -> dict[Key, int]:
    """The first row of each fact: a repeated fact has one ranking."""
    return {fact: row for row, fact in reversed(list(enumerate(truth)))}


class RankedQuery(NamedTuple):
    """A relation, the entity given beside it, and whether the query asks for the tail. `row`: the row of its truth, if the file has
    rows."""

    tail: bool
    relation: str
    given: str
    row: int | None = None

    def __str__(self) -> str:
        return f"{self.relation}({self.given}, ?)" if self.tail else f"{self.relation}(?, {self.given})"


def link_accuracy(model: str, answers: ModelAnswers, truth: Sequence[Key], known: Known, options: HeldOut) -> ModelAccuracy:
    """By the ranks in the file; else by its rankings; else, if it has none, by its facts."""
    if any(len(fact) != 3 for fact in truth) or any(len(fact) != 3 for fact in answers.facts):
        return replace(fact_accuracy(model, answers.facts, truth), reason="facts of other than two arguments have no ranks")
    try:
        if answers.truth_ranks is not None:
            return _by_ranks(model, answers, answers.truth_ranks, truth, options.hits)
        if _is_ranked(answers):
            return _by_rankings(model, answers, truth, known, options)
    except UnmeasurableError as reason:
        return ModelAccuracy(model, Task.LINKS, asked=len(truth), reason=str(reason))
    return fact_accuracy(model, answers.facts, truth)


def fact_accuracy(model: str, facts: Sequence[Key], truth: Sequence[Key]) -> ModelAccuracy:
    """The share of distinct predicted facts that are true, and the share of distinct truths that are predicted."""
    predicted, held_out = set(facts), set(truth)
    right = len(predicted & held_out)
    measures = (_share("precision", right, len(predicted)), _share("recall", right, len(held_out)))
    return ModelAccuracy(model, Task.FACTS, None, len(held_out), right, "predicted facts", measures=measures)


def _share(metric: str, part: int, whole: int) -> AccuracyMeasure:
    value = part / whole
    return AccuracyMeasure(metric, ALL, whole, value, value, value)


def _by_ranks(model: str, answers: ModelAnswers, ranks: Numbers, truth: Sequence[Key], hits: Sequence[int]) -> ModelAccuracy:
    """A query without a row has no answer, and counts as if its truth was not found."""
    found = ranks_of_file(answers, ranks, truth)
    own, basis = "as in the predictions' file", "ranks of the predictions' file"
    return ModelAccuracy(model, Task.LINKS, None, len(found.least), len(ranks), basis, own, own, rank_measures(found, hits))


def ranks_of_file(answers: ModelAnswers, ranks: Numbers, truth: Sequence[Key]) -> Ranks:
    if answers.tails is None:
        asked = len(truth) if len(ranks) <= len(truth) else 2 * len(truth)
        if len(ranks) > asked:
            raise UnmeasurableError(f"the file ranks {len(ranks):,} truths, and there are {len(truth):,}")
        padded = _padded(ranks, asked)
        return Ranks(padded, padded)
    tails = np.array(answers.tails)
    _refuse_other_truth(queries_of(answers), truth)
    parts = [(tail, _padded(ranks[tails == tail], len(truth))) for tail in (True, False) if (tails == tail).any()]
    every = np.concatenate([part for _, part in parts])
    return Ranks(every, every, np.concatenate([np.full(len(part), tail) for tail, part in parts]))


def _padded(ranks: Numbers, number: int) -> Numbers:
    return np.concatenate([ranks, np.full(number - len(ranks), np.inf)])


def queries_of(answers: ModelAnswers, rows: Iterable[int | None] | None = None) -> Iterator[RankedQuery]:
    """The query that each row answers, by its direction. `rows`: those of the truths that they are for."""
    tails = answers.tails if answers.tails is not None else _directions(answers)
    for (relation, head, tail), asks_tail, row in zip(answers.facts, tails, rows or repeat(None, len(tails)), strict=True):
        yield RankedQuery(asks_tail, relation, head if asks_tail else tail, row)


def _asked(truth: Sequence[Key], tail: bool) -> Iterator[RankedQuery]:
    for relation, head, last in truth:
        yield RankedQuery(tail, relation, head if tail else last)


def _refuse_other_truth(queries: Iterator[RankedQuery], truth: Sequence[Key]) -> None:
    """Raise an error if the file ranks queries that the truth does not ask: its ranks are of another truth."""
    asked = Counter(query for tail in (True, False) for query in _asked(truth, tail))
    for query, rows in Counter(queries).items():
        if rows > asked[query]:
            times = "no fact" if not asked[query] else f"{asked[query]:,} of it"
            raise UnmeasurableError(f"the file ranks {rows:,} answers to {query}, and the truth has {times}")


def _is_ranked(answers: ModelAnswers) -> bool:
    """Whether rows are ordered answers to queries that we can distinguish."""
    ordered = answers.places is not None or answers.scores is not None
    return ordered and (answers.tails is not None or (answers.queries is not None and len(set(answers.queries)) > 1))


def _by_rankings(model: str, answers: ModelAnswers, truth: Sequence[Key], known: Known, options: HeldOut) -> ModelAccuracy:
    ties = options.ties if options.ties is not None or answers.places is not None else Ties.REALISTIC
    rankings = rankings_of(answers, ties, truth)
    left_out = set(truth).union(known.answers()) if options.filtered else set[Key]()
    tails = [tail for tail in (True, False) if any(query.tail is tail for query in rankings)]
    with_rows = any(query.row is not None for query in rankings)
    first = {} if answers.asked is None else first_rows(truth)
    bounds, asks, answered = [], [], 0
    for tail in tails:
        for row, (fact, query) in enumerate(zip(truth, _asked(truth, tail), strict=True)):
            found = rankings.get(query._replace(row=first.get(fact, row)) if with_rows else query, ())
            answered += bool(found)
            asks.append(tail)
            bounds.append(_rank(fact, query, found, left_out, ties))
    least, greatest = np.array(bounds, dtype=np.float64).T
    ranks = Ranks(least, greatest, np.array(asks))
    longest = max(len(one.answers) for found in rankings.values() for one in found)
    return ModelAccuracy(
        model,
        Task.LINKS,
        None,
        len(bounds),
        answered,
        f"rankings of at most {longest:,} answers",
        f"{known.words} and held-out facts are left out" if options.filtered else "none",
        "as ranked" if ties is None else ties.value,
        rank_measures(ranks, options.hits),
    )


def _rank(
    fact: Key, query: RankedQuery, rankings: Sequence[Ranking], left_out: Collection[Key], ties: Ties | None
) -> tuple[float, float]:
    """A query may have a ranking for each of its truths, without the other truths. These rankings differ only in the truths, which
    the filter leaves out. So the ranking that has the truth gives its rank, and any ranking shows that it is not found."""
    truth = fact[2] if query.tail else fact[1]
    having = [one for one in rankings if truth in one.answers]
    ranks = {rank_of(truth, one, _known(query, one, left_out), ties) for one in having or rankings}
    if having and len(ranks) > 1:
        raise UnmeasurableError(f"several rankings answer {query}, and rank the truth `{truth}` differently")
    return max(ranks, default=NOT_FOUND)


def _known(query: RankedQuery, ranking: Ranking, left_out: Collection[Key]) -> list[int]:
    return [number for number, answer in enumerate(ranking.answers) if answered_fact(query, answer) in left_out]


def answered_fact(query: RankedQuery, answer: str) -> Key:
    return (query.relation, query.given, answer) if query.tail else (query.relation, answer, query.given)


def rankings_of(answers: ModelAnswers, ties: Ties | None, truth: Sequence[Key]) -> Mapping[RankedQuery, list[Ranking]]:
    """The answers to each query: one ranking, or one for each of its truths. A ranking that is shorter than the longest one is
    whole; the longest may have been cut."""
    order = answers.scores if ties is not None else None
    if order is None:
        order = -answers.places if answers.places is not None else answers.scores
    assert order is not None
    rows: dict[tuple[RankedQuery, str | None], list[int]] = {}
    names = answers.queries if answers.queries is not None and answers.test_rows is None else repeat(None, len(answers.facts))
    for number, told in enumerate(zip(queries_of(answers, answers.test_rows), names, strict=True)):
        rows.setdefault(told, []).append(number)
    longest = max(map(len, rows.values()))
    found: dict[RankedQuery, list[Ranking]] = {}
    for (query, _), numbers in rows.items():
        if query.row is not None:
            _refuse_other_row(query, query.row, truth)
        entities = [answers.facts[number][2 if query.tail else 1] for number in numbers]
        if len(set(entities)) < len(entities):
            what = "several rankings answer" if query.row is None else "an answer stands twice in the ranking of"
            raise UnmeasurableError(
                f"{what} {query}: a column `test_row` tells them apart, with the row of the truth, counted from 0"
            )
        found.setdefault(query, []).append(Ranking(entities, order[numbers], len(numbers) < longest))
    return found


def _refuse_other_row(query: RankedQuery, row: int, truth: Sequence[Key]) -> None:
    if not 0 <= row < len(truth):
        raise UnmeasurableError(f"a ranking is for row {row:,} of the truth, which has {len(truth):,} rows, counted from 0")
    if next(_asked(truth[row : row + 1], query.tail)) != query._replace(row=None):
        raise UnmeasurableError(f"the ranking for row {row:,} of the truth answers {query}, which that row does not ask")


def _directions(answers: ModelAnswers) -> list[bool]:
    """By the first word of queries, as in `tail 12`; else by what differs among the answers to a query."""
    if answers.queries is None:
        raise UnmeasurableError(_DIRECTION_UNKNOWN)
    words = {query: _WORD.match(query or "") for query in set(answers.queries)}
    if all(words.values()):
        asks_tail = {query: word is not None and word[0] == "tail" for query, word in words.items()}
        return [asks_tail[query] for query in answers.queries]
    groups: dict[str | None, list[Key]] = {}
    for query, fact in zip(answers.queries, answers.facts, strict=True):
        groups.setdefault(query, []).append(fact)
    found = {}
    for name, facts in groups.items():
        heads, tails = {fact[1] for fact in facts}, {fact[2] for fact in facts}
        if (len(heads) == 1) == (len(tails) == 1):
            raise UnmeasurableError(_DIRECTION_UNKNOWN)
        found[name] = len(heads) == 1
    return [found[query] for query in answers.queries]
