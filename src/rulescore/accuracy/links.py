"""The accuracy of predicted facts: from the ranks that their file has, from rankings and truths, or from the facts alone.

Also Sem@k: the share of best answers that have the types which a relation asks for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import NamedTuple

import numpy as np

from rulescore.accuracy.answers import (
    NOT_FOUND,
    Key,
    ModelAnswers,
    Numbers,
    Ranking,
    Ranks,
    first_of_queries,
    rank_measures,
    rank_of,
)
from rulescore.errors import ticked
from rulescore.scoring.evaluation import ALL, BOTH, HEADS, TAILS, AccuracyMeasure, ModelAccuracy, Task
from rulescore.setting.choices import Ties
from rulescore.setting.model import HeldOut


@dataclass(frozen=True, slots=True)
class Known:
    """`answers` gives the answers of a model that are observed facts, or otherwise known. `words`: which facts these are."""

    answers: Callable[[], Collection[Key]]
    words: str


_WORD = re.compile(r"(?:head|tail)\b")
_DIRECTION_UNKNOWN = "nothing says which rows answer a query for a head and which one for a tail: a column `query_direction` does"


class UnmeasurableError(Exception):
    """Ranks cannot be computed; the message says why."""


def with_rows(answers: ModelAnswers, truth: Sequence[Key]) -> ModelAnswers:
    """Answers, each with the row of its truth, if their file names the triples that were asked for."""
    if answers.asked is None or answers.tails is None or not truth:
        return answers
    rows = first_rows(truth)
    rows_asked = []
    for (relation, head, tail), asks_tail, asked in zip(answers.facts, answers.tails, answers.asked, strict=True):
        fact = (relation, head, asked) if asks_tail else (relation, asked, tail)
        if fact not in rows:
            raise UnmeasurableError(f"the file asks for {relation}({', '.join(fact[1:])}), which the truth does not have")
        rows_asked.append(rows[fact])
    return replace(answers, test_rows=rows_asked)


def first_rows(truth: Sequence[Key]) -> dict[Key, int]:
    """The first row of each fact: a repeated fact has one ranking."""
    return {fact: row for row, fact in reversed(list(enumerate(truth)))}


class RankedQuery(NamedTuple):
    """A relation, the entity given with it, and whether the query asks for the tail. `row`: the row of its truth, if the file has
    rows."""

    tail: bool
    relation: str
    given: str
    row: int | None = None

    def __str__(self) -> str:
        return f"{self.relation}({self.given}, ?)" if self.tail else f"{self.relation}(?, {self.given})"


def link_accuracy(model: str, answers: ModelAnswers, truth: Sequence[Key], known: Known, options: HeldOut) -> ModelAccuracy:
    """Measures by the ranks in the file; without ranks, by its rankings; without rankings, by its facts."""
    if any(len(fact) != 3 for fact in truth) or any(len(fact) != 3 for fact in answers.facts):
        return replace(fact_accuracy(model, answers.facts, truth), reason="facts of other than two arguments have no ranks")
    try:
        if answers.truth_ranks is not None:
            queries = first_of_queries(answers)
            assert queries.truth_ranks is not None
            bounds, number = ranks_of_file(queries, queries.truth_ranks, truth), len(queries.truth_ranks)
            source, basis = "as in the predictions' file", "ranks of the predictions' file"
            measures = rank_measures(bounds, options.hits)
            return ModelAccuracy(model, Task.LINKS, None, len(bounds.least), number, basis, source, source, measures)
        # Rows may be ordered answers to queries that we can distinguish.
        ordered = answers.places is not None or answers.scores is not None
        if ordered and (answers.tails is not None or (answers.queries is not None and len(set(answers.queries)) > 1)):
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


def ranks_of_file(answers: ModelAnswers, ranks: Numbers, truth: Sequence[Key]) -> Ranks:
    """A query without a row has no answer, and counts as if its truth was not found."""
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
    """The query that each row answers, by its direction. `rows`: the rows of the truths that they are for."""
    tails = answers.tails if answers.tails is not None else _directions(answers)
    for (relation, head, tail), asks_tail, row in zip(answers.facts, tails, rows or repeat(None, len(tails)), strict=True):
        yield RankedQuery(asks_tail, relation, head if asks_tail else tail, row)


def _asked(truth: Sequence[Key], tail: bool) -> Iterator[RankedQuery]:
    for relation, head, last in truth:
        yield RankedQuery(tail, relation, head if tail else last)


def _refuse_other_truth(queries: Iterator[RankedQuery], truth: Sequence[Key]) -> None:
    """Raise an error if the file ranks queries that the truth does not ask: then its ranks belong to another truth."""
    asked = Counter(query for tail in (True, False) for query in _asked(truth, tail))
    for query, rows in Counter(queries).items():
        if rows > asked[query]:
            times = "no fact" if not asked[query] else f"{asked[query]:,} of it"
            raise UnmeasurableError(f"the file ranks {rows:,} answers to {query}, and the truth has {times}")


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
            of_query = rankings.get(query._replace(row=first.get(fact, row)) if with_rows else query, ())
            answered += bool(of_query)
            asks.append(tail)
            bounds.append(_rank(fact, query, of_query, left_out, ties))
    least, greatest = np.array(bounds, dtype=np.float64).T
    ranks = Ranks(least, greatest, np.array(asks))
    longest = max(len(ranking.answers) for of_query in rankings.values() for ranking in of_query)
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
    """A query may have a ranking for each of its truths, each without the other truths. The rankings differ in truths alone, and
    the filter leaves these out. So the ranking with the truth gives its rank, and if no ranking has it, it was not found."""
    truth = fact[2] if query.tail else fact[1]
    having = [ranking for ranking in rankings if truth in ranking.answers]
    ranks = set()
    for ranking in having or rankings:
        known = [number for number, entity in enumerate(ranking.answers) if answered_fact(query, entity) in left_out]
        ranks.add(rank_of(truth, ranking, known, ties))
    if having and len(ranks) > 1:
        raise UnmeasurableError(f"several rankings answer {query}, and rank the truth `{truth}` differently")
    return max(ranks, default=NOT_FOUND)


def answered_fact(query: RankedQuery, entity: str) -> Key:
    return (query.relation, query.given, entity) if query.tail else (query.relation, entity, query.given)


def rankings_of(answers: ModelAnswers, ties: Ties | None, truth: Sequence[Key]) -> Mapping[RankedQuery, list[Ranking]]:
    """The answers to each query: one ranking, or one for each of its truths. If a ranking is shorter than the longest one, it is
    whole. The longest may have been cut."""
    order = answers.scores if ties is not None else None
    if order is None:
        order = -answers.places if answers.places is not None else answers.scores
    assert order is not None
    rows: dict[tuple[RankedQuery, str | None], list[int]] = {}
    names = answers.queries if answers.queries is not None and answers.test_rows is None else repeat(None, len(answers.facts))
    for number, asked in enumerate(zip(queries_of(answers, answers.test_rows), names, strict=True)):
        rows.setdefault(asked, []).append(number)
    longest = max(map(len, rows.values()))
    rankings: dict[RankedQuery, list[Ranking]] = {}
    for (query, _), numbers in rows.items():
        if query.row is not None:
            _refuse_other_row(query, query.row, truth)
        entities = [answers.facts[number][2 if query.tail else 1] for number in numbers]
        if len(set(entities)) < len(entities):
            what = "several rankings answer" if query.row is None else "an answer stands twice in the ranking of"
            raise UnmeasurableError(
                f"{what} {query}: a column `test_row` tells them apart, with the row of the truth, counted from 0"
            )
        rankings.setdefault(query, []).append(Ranking(entities, order[numbers], len(numbers) < longest))
    return rankings


def _refuse_other_row(query: RankedQuery, row: int, truth: Sequence[Key]) -> None:
    if not 0 <= row < len(truth):
        raise UnmeasurableError(f"a ranking is for row {row:,} of the truth, which has {len(truth):,} rows, counted from 0")
    if next(_asked(truth[row : row + 1], query.tail)) != query._replace(row=None):
        raise UnmeasurableError(f"the ranking for row {row:,} of the truth answers {query}, which that row does not ask")


def _directions(answers: ModelAnswers) -> list[bool]:
    """We tell directions by the first word of queries, as in `tail 12`, or else by the side that differs among the answers to a
    query."""
    if answers.queries is None:
        raise UnmeasurableError(_DIRECTION_UNKNOWN)
    words = {query: _WORD.match(query or "") for query in set(answers.queries)}
    if all(words.values()):
        asks_tail = {query: word is not None and word[0] == "tail" for query, word in words.items()}
        return [asks_tail[query] for query in answers.queries]
    groups: dict[str | None, list[Key]] = {}
    for query, fact in zip(answers.queries, answers.facts, strict=True):
        groups.setdefault(query, []).append(fact)
    asks_tail_of = {}
    for name, facts in groups.items():
        heads, tails = {fact[1] for fact in facts}, {fact[2] for fact in facts}
        if (len(heads) == 1) == (len(tails) == 1):
            raise UnmeasurableError(_DIRECTION_UNKNOWN)
        asks_tail_of[name] = len(heads) == 1
    return [asks_tail_of[query] for query in answers.queries]


# Sem@k: the share of a model's best answers that have the types which a relation's domain and range ask for.


Side = tuple[str, bool]
"""A relation and whether its tails are meant: its range, else its domain."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """The entities that may stand on each side of a relation. A side that is not here may have any entity, and we do not measure
    it."""

    entities: Mapping[Side, Collection[str]]
    basis: str
    empty: tuple[str, ...] = field(default=())
    """Declared classes without known members."""


def observed_sides(facts: Iterable[Key]) -> Fitting:
    """A head or a tail fits a relation if a fact of the relation has it on that side."""
    members: dict[Side, set[str]] = {}
    for relation, *arguments in facts:
        if len(arguments) == 2:
            members.setdefault((relation, False), set()).add(arguments[0])
            members.setdefault((relation, True), set()).add(arguments[1])
    return Fitting(members, "an entity fits if a fact of the relation has it on the same side")


def declared_sides(declared: Mapping[Side, Collection[Collection[str]]], members: Mapping[str, Collection[str]]) -> Fitting:
    """A side has sets of classes. An entity fits if it is a member of some class of each set. A side is left out if none is known
    to fit. A set is empty if no class of it has known members."""
    fitting = {
        side: frozenset.intersection(*(frozenset().union(*(members.get(name, ()) for name in classes)) for classes in sets))
        for side, sets in declared.items()
    }
    every = (classes for sets in declared.values() for classes in sets)
    empty = dict.fromkeys(name for classes in every if not any(members.get(other) for other in classes) for name in classes)
    basis = "entities of the declared domain or range fit, and no others"
    return Fitting({side: fits for side, fits in fitting.items() if fits}, basis, tuple(empty))


@dataclass(frozen=True, slots=True)
class TypedQuery:
    """A query and its answers, the best first."""

    query: RankedQuery
    answers: Sequence[str]


def typed_queries(answers: ModelAnswers, left_out: Collection[Key], truth: Sequence[Key]) -> list[TypedQuery]:
    """The answers to every query, without known facts, but with the truth that a query is for."""
    order = -answers.places if answers.places is not None else answers.scores
    rows: dict[object, list[int]] = {}
    queries = list(queries_of(answers))
    for number, query in enumerate(queries):
        rows.setdefault(_ranking(answers, number, query), []).append(number)
    ranked = []
    for numbers in rows.values():
        if order is not None:
            numbers = [numbers[place] for place in np.argsort(-order[numbers], kind="stable")]
        query = queries[numbers[0]]
        entities = [answers.facts[number][2 if query.tail else 1] for number in numbers]
        row = None if answers.test_rows is None else answers.test_rows[numbers[0]]
        asked_fact = truth[row] if row is not None and row < len(truth) else None
        kept = [entity for entity in entities if (fact := answered_fact(query, entity)) == asked_fact or fact not in left_out]
        ranked.append(TypedQuery(query, kept))
    return ranked


def _ranking(answers: ModelAnswers, number: int, query: RankedQuery) -> object:
    """Which ranking a row belongs to. If the file has ranks but no rows of truths, each row is a ranking of its own."""
    if answers.truth_ranks is not None and answers.test_rows is None:
        return number
    if answers.test_rows is not None:
        return query.tail, answers.test_rows[number]
    return query if answers.queries is None else (query, answers.queries[number])


def type_accuracy(model: str, queries: Sequence[TypedQuery], fitting: Fitting, hits: Sequence[int]) -> ModelAccuracy:
    """Sem@k for heads, for tails, and the mean of both. Queries without an answer, or of undeclared sides, are left out."""
    asked = [query for query in queries if (query.query.relation, query.query.tail) in fitting.entities and query.answers]
    longest = max((len(query.answers) for query in asked), default=0)
    measures = tuple(measure for k in hits for measure in _at(k, asked, fitting, longest))
    reason = None
    if not asked:
        reason = "of no relation that is asked for a domain or range is known"
    elif fitting.empty:
        reason = f"nothing is known to be a {ticked(fitting.empty[:5])}"
    return ModelAccuracy(model, Task.TYPES, None, len(queries), len(asked), fitting.basis, measures=measures, reason=reason)


def _at(k: int, asked: Sequence[TypedQuery], fitting: Fitting, longest: int) -> Iterator[AccuracyMeasure]:
    parts = {part: [query for query in asked if query.query.tail is tail] for part, tail in ((HEADS, False), (TAILS, True))}
    means = {part: float(np.mean([_fit(query, k, fitting) for query in queries])) for part, queries in parts.items() if queries}
    for part in (BOTH, HEADS, TAILS):
        number = len(asked) if part == BOTH else len(parts[part])
        if not means or (part != BOTH and part not in means):
            yield AccuracyMeasure(f"sem_at_{k}", part, number, None, reason="there is no query")
        elif k > longest:
            answers = "one answer" if longest == 1 else f"{longest:,} answers"
            yield AccuracyMeasure(f"sem_at_{k}", part, number, None, reason=f"no ranking has more than {answers}")
        else:
            value = float(np.mean(list(means.values()))) if part == BOTH else means[part]
            yield AccuracyMeasure(f"sem_at_{k}", part, number, value, value, value)


def _fit(query: TypedQuery, k: int, fitting: Fitting) -> float:
    fits = fitting.entities[query.query.relation, query.query.tail]
    best = query.answers[:k]
    return sum(entity in fits for entity in best) / len(best)
