"""The floor: compiled loops over adjacency lists that can count only rules of one or two binary atoms, by the appendix's way.

A rule is normalised to h(X, Y) <- b(X, Y) or h(X, Y) <- b1(X, Z), b2(Z, Y), where an atom may be read backwards. Rules with one
body share its counts: for each body the groundings are counted per predicate that holds of (X, Y), and a head's confirmed and
refuted groundings are read off those counts.

For predictions exactly one place of the tuple (evidence, body…) is a prediction and the others are observed, so the same
loops count them over other adjacency lists: predictions as evidence, as the first atom, as the second.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from horn import Rule, is_chain
from workload import Encoded, Row, Triples, row

Integers = npt.NDArray[np.int32]
Totals = npt.NDArray[np.int64]


class Adjacency(NamedTuple):
    """Neighbours along each predicate. The sources of predicate p are `source[predicate_start[p]:predicate_start[p + 1]]`, the
    neighbours of the source at position s are `neighbour[source_start[s]:source_start[s + 1]]`."""

    predicate_start: Integers
    source: Integers
    source_start: Integers
    neighbour: Integers


class Evidence(NamedTuple):
    """What holds of each pair. The pairs of X are at `first_start[X]:first_start[X + 1]`, `second` is their Y; the predicates
    of the pair at position i are `predicate[pair_start[i]:pair_start[i + 1]]`."""

    first_start: Integers
    second: Integers
    pair_start: Integers
    predicate: Integers


class Graph(NamedTuple):
    forward: Adjacency
    backward: Adjacency
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Bodies:
    """Distinct normal bodies as rows (b1, b1 is backward, b2 or -1, b2 is backward), and for each rule its body and head."""

    rows: Integers
    body_of: Integers
    head_of: Integers


@dataclass(frozen=True, slots=True)
class Outcome:
    """One row per rule. Seconds exclude compilation."""

    rows: list[Row]
    index_seconds: float
    count_seconds: float


def run(data: Encoded, rules: list[Rule]) -> Outcome:
    """Count all rules, after a first run on next to nothing that compiles the loops."""
    _count(_few(data), rules[:2])
    return _count(data, rules)


def _few(data: Encoded) -> Encoded:
    facts, predictions = (Triples(t.predicate[:9], t.first[:9], t.second[:9]) for t in (data.facts, data.predictions))
    return Encoded(data.predicates, data.entities, facts, predictions)


def _count(data: Encoded, rules: list[Rule]) -> Outcome:
    started = time.perf_counter()
    sizes = len(data.predicates), len(data.entities)
    facts = index(data.facts.predicate, data.facts.first, data.facts.second, *sizes)
    predictions = index(data.predictions.predicate, data.predictions.first, data.predictions.second, *sizes)
    indexed = time.perf_counter()
    bodies = normalise(rules, data.predicates)
    observed = count_bodies(bodies.rows, facts, facts, facts.evidence, *sizes)
    model = count_bodies(bodies.rows, facts, facts, predictions.evidence, *sizes)
    model += count_bodies(bodies.rows, predictions, facts, facts.evidence, *sizes)
    # A body of one atom has no second place for a prediction.
    chains = bodies.rows[:, 2] >= 0
    model[chains] += count_bodies(bodies.rows[chains], facts, predictions, facts.evidence, *sizes)
    counts = np.concatenate([_per_rule(bodies, observed), _per_rule(bodies, model)], axis=1)
    finished = time.perf_counter()
    return Outcome([row(*rule) for rule in counts.tolist()], indexed - started, finished - indexed)


def _per_rule(bodies: Bodies, counts: Totals) -> Totals:
    """Confirmed and refuted of each rule from its body's counts per predicate: all predicates are pairwise incompatible."""
    confirmed = counts[bodies.body_of, bodies.head_of]
    return np.stack([confirmed, counts.sum(axis=1)[bodies.body_of] - confirmed], axis=1)


def normalise(rules: list[Rule], predicates: list[str]) -> Bodies:
    number = {name: i for i, name in enumerate(predicates)}
    position: dict[tuple[int, bool, int, bool], int] = {}
    body_of = [position.setdefault(_normal_body(rule, number), len(position)) for rule in rules]
    head_of = [number[rule.head.predicate] for rule in rules]
    return Bodies(np.array(list(position), np.int32), np.array(body_of, np.int32), np.array(head_of, np.int32))


def _normal_body(rule: Rule, number: dict[str, int]) -> tuple[int, bool, int, bool]:
    x, y = rule.head.terms
    if len(rule.body) == 1 and {*rule.body[0].terms} == {x, y} and x != y:
        return number[rule.body[0].predicate], rule.body[0].second == x, -1, False
    if not is_chain(rule):
        raise ValueError(f"the kernel counts chains of one or two atoms only, not {rule}")
    from_x, to_y = rule.body if x in rule.body[0].terms else rule.body[::-1]
    return number[from_x.predicate], from_x.second == x, number[to_y.predicate], to_y.first == y


@numba.njit(cache=True)
def index(predicate: Integers, first: Integers, second: Integers, predicates: int, entities: int) -> Graph:
    by_second = _order(second, entities, np.arange(len(second)).astype(np.int32))
    by_pair = _order(first, entities, by_second)
    evidence = _evidence(predicate[by_pair], first[by_pair], second[by_pair], entities)
    forward = _order(predicate, predicates, by_pair)
    backward = _order(predicate, predicates, by_second)
    return Graph(
        _adjacency(predicate[forward], first[forward], second[forward], predicates),
        _adjacency(predicate[backward], second[backward], first[backward], predicates),
        evidence,
    )


@numba.njit(cache=True)
def _order(key: Integers, size: int, before: Integers) -> Integers:
    """Positions sorted by key, ties in the order given: one pass of a counting sort."""
    place = np.zeros(size + 1, np.int32)
    for value in key:
        place[value + 1] += 1
    for value in range(size):
        place[value + 1] += place[value]
    ordered = np.empty_like(before)
    for position in before:
        ordered[place[key[position]]] = position
        place[key[position]] += 1
    return ordered


@numba.njit(cache=True)
def _adjacency(predicate: Integers, source: Integers, neighbour: Integers, predicates: int) -> Adjacency:
    predicate_start = np.zeros(predicates + 1, np.int32)
    sources = np.empty(len(source), np.int32)
    source_start = np.empty(len(source) + 1, np.int32)
    found = 0
    for i in range(len(source)):
        if i == 0 or source[i] != source[i - 1] or predicate[i] != predicate[i - 1]:
            sources[found] = source[i]
            source_start[found] = i
            found += 1
            predicate_start[predicate[i] + 1] = found
    source_start[found] = len(source)
    for p in range(predicates):
        predicate_start[p + 1] = max(predicate_start[p + 1], predicate_start[p])
    return Adjacency(predicate_start, sources[:found], source_start[: found + 1], neighbour)


@numba.njit(cache=True)
def _evidence(predicate: Integers, first: Integers, second: Integers, entities: int) -> Evidence:
    first_start = np.zeros(entities + 1, np.int32)
    seconds = np.empty(len(first), np.int32)
    pair_start = np.empty(len(first) + 1, np.int32)
    found = 0
    for i in range(len(first)):
        if i == 0 or first[i] != first[i - 1] or second[i] != second[i - 1]:
            seconds[found] = second[i]
            pair_start[found] = i
            found += 1
            first_start[first[i] + 1] = found
    pair_start[found] = len(first)
    for x in range(entities):
        first_start[x + 1] = max(first_start[x + 1], first_start[x])
    return Evidence(first_start, seconds[:found], pair_start[: found + 1], predicate)


@numba.njit(cache=True)
def count_bodies(rows: Integers, left: Graph, right: Graph, evidence: Evidence, predicates: int, entities: int) -> Totals:
    """For each body the groundings (distinct X, Y, Z) per predicate that holds of (X, Y)."""
    counts = np.zeros((len(rows), predicates), np.int64)
    mark = np.full(entities, -1, np.int32)
    begin = np.zeros((2, entities), np.int32)
    degree = np.zeros((2, entities), np.int32)
    for i in range(len(rows)):
        p, p_backward, q, q_backward = rows[i]
        from_x = left.backward if p_backward else left.forward
        if q < 0:
            _count_single(from_x, p, evidence, mark, counts[i])
        else:
            to_y = right.backward if q_backward else right.forward
            from_y = right.forward if q_backward else right.backward
            _spread(to_y, q, begin[0], degree[0])
            _spread(from_y, q, begin[1], degree[1])
            _count_chain(from_x, p, to_y, from_y, evidence, mark, begin, degree, counts[i])
            _clear(to_y, q, degree[0])
            _clear(from_y, q, degree[1])
    return counts


@numba.njit(cache=True)
def _spread(adjacency: Adjacency, predicate: int, begin: Integers, degree: Integers) -> None:
    """Make one predicate's neighbours addressable by entity."""
    for s in range(adjacency.predicate_start[predicate], adjacency.predicate_start[predicate + 1]):
        begin[adjacency.source[s]] = adjacency.source_start[s]
        degree[adjacency.source[s]] = adjacency.source_start[s + 1] - adjacency.source_start[s]


@numba.njit(cache=True)
def _clear(adjacency: Adjacency, predicate: int, degree: Integers) -> None:
    for s in range(adjacency.predicate_start[predicate], adjacency.predicate_start[predicate + 1]):
        degree[adjacency.source[s]] = 0


@numba.njit(cache=True)
def _count_single(from_x: Adjacency, p: int, evidence: Evidence, mark: Integers, counts: Totals) -> None:
    for s in range(from_x.predicate_start[p], from_x.predicate_start[p + 1]):
        x = from_x.source[s]
        low, high = evidence.first_start[x], evidence.first_start[x + 1]
        for pair in range(low, high):
            mark[evidence.second[pair]] = pair
        for n in range(from_x.source_start[s], from_x.source_start[s + 1]):
            y = from_x.neighbour[n]
            if mark[y] >= 0 and y != x:
                _add(evidence, mark[y], 1, counts)
        for pair in range(low, high):
            mark[evidence.second[pair]] = -1


@numba.njit(cache=True)
def _add(evidence: Evidence, pair: int, groundings: int, counts: Totals) -> None:
    for e in range(evidence.pair_start[pair], evidence.pair_start[pair + 1]):
        counts[evidence.predicate[e]] += groundings


@numba.njit(cache=True)
def _count_chain(
    from_x: Adjacency,
    p: int,
    to_y: Adjacency,
    from_y: Adjacency,
    evidence: Evidence,
    mark: Integers,
    begin: Integers,
    degree: Integers,
    counts: Totals,
) -> None:
    """From each X the cheaper of two ways: follow the body to Y and look for evidence, or start from the evidence's Y and look
    which of its Z are neighbours of X."""
    for s in range(from_x.predicate_start[p], from_x.predicate_start[p + 1]):
        x = from_x.source[s]
        middles = from_x.neighbour[from_x.source_start[s] : from_x.source_start[s + 1]]
        low, high = evidence.first_start[x], evidence.first_start[x + 1]
        paths = 0
        for z in middles:
            paths += degree[0, z]
        if paths == 0 or low == high:
            continue
        lookups = 0
        for pair in range(low, high):
            lookups += degree[1, evidence.second[pair]]
        if lookups == 0:
            continue
        if paths + high - low <= lookups + len(middles):
            _body_first(x, middles, to_y, evidence, low, high, mark, begin[0], degree[0], counts)
        else:
            _evidence_first(x, middles, from_y, evidence, low, high, mark, begin[1], degree[1], counts)


@numba.njit(cache=True)
def _body_first(
    x: int,
    middles: Integers,
    to_y: Adjacency,
    evidence: Evidence,
    low: int,
    high: int,
    mark: Integers,
    begin: Integers,
    degree: Integers,
    counts: Totals,
) -> None:
    for pair in range(low, high):
        mark[evidence.second[pair]] = pair
    mark[x] = -1
    for z in middles:
        if z != x:
            for y in to_y.neighbour[begin[z] : begin[z] + degree[z]]:
                if mark[y] >= 0 and y != z:
                    _add(evidence, mark[y], 1, counts)
    for pair in range(low, high):
        mark[evidence.second[pair]] = -1


@numba.njit(cache=True)
def _evidence_first(
    x: int,
    middles: Integers,
    from_y: Adjacency,
    evidence: Evidence,
    low: int,
    high: int,
    mark: Integers,
    begin: Integers,
    degree: Integers,
    counts: Totals,
) -> None:
    for z in middles:
        mark[z] = 1
    mark[x] = -1
    for pair in range(low, high):
        y = evidence.second[pair]
        if y != x and degree[y] > 0:
            groundings = 0
            for z in from_y.neighbour[begin[y] : begin[y] + degree[y]]:
                if mark[z] >= 0 and z != y:
                    groundings += 1
            _add(evidence, pair, groundings, counts)
    for z in middles:
        mark[z] = -1
