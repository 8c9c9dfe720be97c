"""Sem@k: the share of a model's best answers that are of the types which a relation's domain and range ask for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rulescore.accuracy.answers import Key, ModelAnswers
from rulescore.accuracy.links import RankedQuery, answered_fact, queries_of
from rulescore.scoring.accuracy import BOTH, HEADS, TAILS, AccuracyMeasure, ModelAccuracy, Task

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
    """Heads and tails that a relation is observed with fit it."""
    found: dict[Side, set[str]] = {}
    for relation, *arguments in facts:
        if len(arguments) == 2:
            found.setdefault((relation, False), set()).add(arguments[0])
            found.setdefault((relation, True), set()).add(arguments[1])
    return Fitting(found, "entities that are observed on the same side of the relation fit")


def declared_sides(declared: Mapping[Side, Collection[str]], members: Mapping[str, Collection[str]]) -> Fitting:
    """Members of any class of a side fit. A side is left out if its classes have no known members."""
    found = {side: frozenset().union(*(members.get(one, ()) for one in classes)) for side, classes in declared.items()}
    empty = dict.fromkeys(one for classes in declared.values() for one in classes if not members.get(one))
    basis = "entities of the declared domain or range fit, and no others"
    return Fitting({side: fits for side, fits in found.items() if fits}, basis, tuple(empty))


@dataclass(frozen=True, slots=True)
class TypedQuery:
    """A query and its answers, the best first."""

    query: RankedQuery
    answers: Sequence[str]


def typed_queries(answers: ModelAnswers, left_out: Collection[Key], truth: Sequence[Key]) -> list[TypedQuery]:
    """The answers to every query, without those that are known facts, but with the truth that a query is for."""
    order = -answers.places if answers.places is not None else answers.scores
    rows: dict[object, list[int]] = {}
    queries = list(queries_of(answers))
    for number, query in enumerate(queries):
        rows.setdefault(_ranking(answers, number, query), []).append(number)
    found = []
    for numbers in rows.values():
        if order is not None:
            numbers = [numbers[one] for one in np.argsort(-order[numbers], kind="stable")]
        query = queries[numbers[0]]
        entities = [answers.facts[number][2 if query.tail else 1] for number in numbers]
        row = None if answers.test_rows is None else answers.test_rows[numbers[0]]
        own = truth[row] if row is not None and row < len(truth) else None
        kept = [one for one in entities if (fact := answered_fact(query, one)) == own or fact not in left_out]
        found.append(TypedQuery(query, kept))
    return found


def _ranking(answers: ModelAnswers, number: int, query: RankedQuery) -> object:
    """The key of a row's ranking; in a file with ranks of truths, each row is a ranking."""
    if answers.truth_ranks is not None:
        return number
    if answers.test_rows is not None:
        return query.tail, answers.test_rows[number]
    return query if answers.queries is None else (query, answers.queries[number])


def type_accuracy(model: str, queries: Sequence[TypedQuery], fitting: Fitting, hits: Sequence[int]) -> ModelAccuracy:
    """Sem@k for heads, for tails, and the mean of both. Queries without an answer, or of undeclared sides, are left out."""
    asked = [one for one in queries if (one.query.relation, one.query.tail) in fitting.entities and one.answers]
    longest = max((len(one.answers) for one in asked), default=0)
    measures = tuple(one for k in hits for one in _at(k, asked, fitting, longest))
    reason = None
    if not asked:
        reason = "of no relation that is asked for a domain or range is known"
    elif fitting.empty:
        reason = f"nothing is known to be a {', '.join(f'`{one}`' for one in fitting.empty[:5])}"
    return ModelAccuracy(model, Task.TYPES, None, len(queries), len(asked), fitting.basis, measures=measures, reason=reason)


def _at(k: int, asked: Sequence[TypedQuery], fitting: Fitting, longest: int) -> Iterator[AccuracyMeasure]:
    parts = {part: [one for one in asked if one.query.tail is tail] for part, tail in ((HEADS, False), (TAILS, True))}
    means = {part: float(np.mean([_share(one, k, fitting) for one in found])) for part, found in parts.items() if found}
    for part in (BOTH, HEADS, TAILS):
        number = len(asked) if part == BOTH else len(parts[part])
        if not means or (part != BOTH and part not in means):
            yield AccuracyMeasure(f"sem_at_{k}", part, number, None, reason="there is no query")
        elif k > longest:
            yield AccuracyMeasure(f"sem_at_{k}", part, number, None, reason=_too_short(longest))
        else:
            value = float(np.mean(list(means.values()))) if part == BOTH else means[part]
            yield AccuracyMeasure(f"sem_at_{k}", part, number, value, value, value)


def _share(one: TypedQuery, k: int, fitting: Fitting) -> float:
    fits = fitting.entities[one.query.relation, one.query.tail]
    best = one.answers[:k]
    return sum(answer in fits for answer in best) / len(best)


def _too_short(longest: int) -> str:
    return f"no ranking has more than {'one answer' if longest == 1 else f'{longest:,} answers'}"
