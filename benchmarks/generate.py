"""A seeded graph of FB15k-237's size and skew, with rules and predictions, for machines that do not have the real one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from horn import Atom, Rule, Term

ENTITIES = 14_541
PREDICATES = 237
FACTS = 272_115
RULES = 509
CHAINS = 390
PREDICTIONS = 23_631

Integers = npt.NDArray[np.int64]
Fact = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Graph:
    """Facts and predictions as (first argument, predicate, second argument), each distinct."""

    facts: list[Fact]
    predictions: list[Fact]
    rules: list[Rule]


def generate(seed: int = 0) -> Graph:
    random = np.random.default_rng(seed)
    facts = _facts(random)
    predictions = _predictions(random, facts)
    return Graph(_named(facts), _named(predictions), _rules(random))


def predicate_name(number: int) -> str:
    return f"/made/predicate/{number:03}"


def _facts(random: np.random.Generator) -> Integers:
    """Rows (predicate, first, second), exactly FACTS of them, all distinct, every predicate used."""
    pairs: list[Integers] = []
    for size in _sizes():
        # A tenth of a predicate's facts repeat pairs of an earlier one, so that heads find evidence for and against them.
        echoes = random.permutation(pairs[random.integers(0, len(pairs))])[: size // 10] if pairs else np.empty(0, np.int64)
        pairs.append(_distinct_pairs(random, echoes, int(size)))
    predicates = np.repeat(np.arange(PREDICATES), [len(keys) for keys in pairs])
    keys = np.concatenate(pairs)
    return np.stack([predicates, keys // ENTITIES, keys % ENTITIES], axis=1)


def _sizes() -> Integers:
    """Facts per predicate: a power law from some sixteen thousand down to a few dozen, that sums to FACTS."""
    weights = 1.0 / (np.arange(PREDICATES) + 8.0) ** 1.35
    sizes: Integers = np.maximum(40, (weights / weights.sum() * FACTS).astype(np.int64))
    sizes[0] += FACTS - sizes.sum()
    return sizes


def _distinct_pairs(random: np.random.Generator, start: Integers, size: int) -> Integers:
    """`size` distinct pairs, each as the one number first * ENTITIES + second, that include `start`."""
    first, second = _pool(random, size), _pool(random, size)
    keys = start
    while len(keys) < size:
        drawn = first[_popular(random, len(first), size)] * ENTITIES + second[_popular(random, len(second), size)]
        keys = np.concatenate([keys, np.setdiff1d(drawn, keys)])
    return np.concatenate([start, random.permutation(keys[len(start) :])])[:size]


def _pool(random: np.random.Generator, facts: int) -> Integers:
    """The entities one side of a predicate draws from, most popular first: few for a type such as month, many for persons."""
    # The lower bound leaves room for distinct pairs whatever the other side is.
    size = int(np.exp(random.uniform(np.log(20 + facts**0.6), np.log(6_000))))
    start = int(random.integers(0, ENTITIES))
    return random.permutation((start + np.arange(size)) % ENTITIES)


def _popular(random: np.random.Generator, size: int, count: int) -> Integers:
    """Positions with a skew: half uniform, half falling off steeply, so that a few entities are hubs."""
    steep = (size * random.random(count) ** 6).astype(np.int64)
    return np.where(random.random(count) < 0.5, steep, random.integers(0, size, count))


def _predictions(random: np.random.Generator, facts: Integers) -> Integers:
    """Facts with one argument replaced by another value the predicate has there: distinct, none of them observed."""
    chosen = random.integers(0, len(facts), 3 * PREDICTIONS)
    made = facts[chosen].copy()
    others = facts[_of_the_same_predicate(random, facts, chosen)]
    side = random.integers(1, 3, len(made))
    rows = np.arange(len(made))
    made[rows, side] = others[rows, side]
    known = _keys(facts)
    distinct = np.unique(_keys(made), return_index=True)[1]
    fresh = distinct[~np.isin(_keys(made[distinct]), known)]
    return made[np.sort(fresh)[:PREDICTIONS]]


def _of_the_same_predicate(random: np.random.Generator, facts: Integers, chosen: Integers) -> Integers:
    """For each chosen row another row of its predicate; rows are sorted by predicate."""
    starts = np.searchsorted(facts[:, 0], np.arange(PREDICATES + 1))
    predicate = facts[chosen, 0]
    others: Integers = random.integers(starts[predicate], starts[predicate + 1])
    return others


def _keys(rows: Integers) -> Integers:
    keys: Integers = (rows[:, 0] * ENTITIES + rows[:, 1]) * ENTITIES + rows[:, 2]
    return keys


def _rules(random: np.random.Generator) -> list[Rule]:
    """Distinct rules: CHAINS with two body atoms, the others with one, in all directions."""
    made: dict[Rule, None] = {}
    for wanted, chain in ((CHAINS, True), (RULES, False)):
        while len(made) < wanted:
            made[_rule(random, chain=chain)] = None
    return list(made)


def _rule(random: np.random.Generator, *, chain: bool) -> Rule:
    steps = (("A", "B"), ("B", "C")) if chain else (("A", "B"),)
    body = tuple(_atom(random, step) for step in steps)
    head = _atom(random, ("A", "C" if chain else "B"))
    return Rule(head, body)


def _atom(random: np.random.Generator, ends: tuple[str, str]) -> Atom:
    first, second = ends if random.random() < 0.7 else ends[::-1]
    return Atom(predicate_name(int(random.integers(0, PREDICATES))), Term(first), Term(second))


def _named(rows: Integers) -> list[Fact]:
    return [(f"/made/{a:05}", predicate_name(p), f"/made/{b:05}") for p, a, b in rows.tolist()]
