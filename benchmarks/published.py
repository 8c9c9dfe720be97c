"""The published method on DuckDB: for each rule and each predicate its head is incompatible with, one query.

It gets what makes it fast: integers for names, one table per predicate sorted by its columns, all in memory. Predictions stand
beside the facts, marked by a column, and a condition says that exactly one row of the tuple is a prediction.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from horn import Atom, Rule, Term
from workload import Encoded, Row, Triples, row

# These queries are so small that a second thread costs more than it brings.
THREADS = 1


@dataclass(frozen=True, slots=True)
class Stratum:
    """Rules that stand for a population of their kind, by their positions in the rule file."""

    members: tuple[int, ...]
    population: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The counts of the sampled rules by position, and the seconds all rules would take by the mean of each stratum."""

    rows: dict[int, Row]
    dataset_seconds: float
    model_seconds: float


def sample(rules: Sequence[Rule], rows: Sequence[Row], size: int = 3, seed: int = 0) -> tuple[Stratum, ...]:
    """At most `size` rules of each kind, by body length, variables and whether anything is evaluable: most rules of FB15k-237
    have no evaluable grounding, and a sample without others would prove little about the counts."""
    kinds: dict[tuple[int, int, bool], list[int]] = {}
    for i, (rule, counts) in enumerate(zip(rules, rows, strict=True)):
        kinds.setdefault((len(rule.body), len(rule.variables), any(counts)), []).append(i)
    chooser = random.Random(seed)
    return tuple(Stratum(tuple(chooser.sample(kinds[k], min(size, len(kinds[k])))), len(kinds[k])) for k in sorted(kinds))


def write_sample(path: Path, strata: Sequence[Stratum]) -> None:
    path.write_text(json.dumps([asdict(stratum) for stratum in strata]))


def read_sample(path: Path) -> tuple[Stratum, ...]:
    return tuple(Stratum(tuple(s["members"]), s["population"]) for s in json.loads(path.read_text()))


class Published:
    """A database with the facts and one model's predictions loaded."""

    def __init__(self, data: Encoded) -> None:
        self._predicates = {name: i for i, name in enumerate(data.predicates)}
        self._entities = {name: i for i, name in enumerate(data.entities)}
        self._connection = duckdb.connect(config={"threads": THREADS})
        self._load("observed", data.facts)
        self._load("predicted", data.predictions)
        for p in range(len(data.predicates)):
            self._connection.execute(
                f"CREATE TABLE marked_{p} AS SELECT * FROM (SELECT *, FALSE AS predicted FROM observed_{p} "
                f"UNION ALL SELECT *, TRUE FROM predicted_{p}) ORDER BY predicted, a, b"
            )

    def _load(self, prefix: str, facts: Triples) -> None:
        for p in range(len(self._predicates)):
            rows = np.flatnonzero(facts.predicate == p)
            self._connection.register("__rows", pa.table({"a": facts.first[rows], "b": facts.second[rows]}))
            self._connection.execute(f"CREATE TABLE {prefix}_{p} AS SELECT * FROM __rows ORDER BY a, b")
            self._connection.unregister("__rows")

    def run(self, rules: Sequence[Rule], strata: Sequence[Stratum]) -> Outcome:
        """Count the rules of the sample and extrapolate their times to all rules."""
        rows: dict[int, Row] = {}
        dataset_seconds = model_seconds = 0.0
        for stratum in strata:
            share = stratum.population / len(stratum.members)
            for i in stratum.members:
                started = time.perf_counter()
                dataset = self._counts(rules[i], self._dataset_query)
                halfway = time.perf_counter()
                model = self._counts(rules[i], self._model_query)
                rows[i] = row(*dataset, *model)
                dataset_seconds += share * (halfway - started)
                model_seconds += share * (time.perf_counter() - halfway)
        return Outcome(rows, dataset_seconds, model_seconds)

    def close(self) -> None:
        self._connection.close()

    def dataset_counts(self, rule: Rule) -> tuple[int, int]:
        """Confirmed and refuted groundings of the facts."""
        return self._counts(rule, self._dataset_query)

    def _counts(self, rule: Rule, query: Callable[[Rule, str], str]) -> tuple[int, int]:
        """Groundings with the head itself as evidence, and with each predicate it is incompatible with."""
        others = (name for name in self._predicates if name != rule.head.predicate)
        return self._one(query(rule, rule.head.predicate)), sum(self._one(query(rule, name)) for name in others)

    def _one(self, query: str) -> int:
        return int(self._connection.execute(query).fetchall()[0][0])

    def _dataset_query(self, rule: Rule, evidence: str) -> str:
        return dataset_query(rule, evidence, self._predicates, self._entities)

    def _model_query(self, rule: Rule, evidence: str) -> str:
        atoms = _atoms(rule, evidence)
        places = range(len(atoms))
        one = (" AND ".join(f"{'' if i == place else 'NOT '}t{i}.predicted" for i in places) for place in places)
        exactly_one = f"({' OR '.join(f'({text})' for text in one)})"
        return _query("marked", atoms, self._predicates, self._entities, exactly_one)


Numbers = Mapping[str, int]


def dataset_query(rule: Rule, evidence: str, predicates: Numbers, entities: Numbers) -> str:
    """How many groundings of the facts this predicate holds of, in SQL that any database understands."""
    return _query("observed", _atoms(rule, evidence), predicates, entities)


def _query(prefix: str, atoms: Sequence[Atom], predicates: Numbers, entities: Numbers, *conditions: str) -> str:
    tables = (f"{prefix}_{predicates[atom.predicate]} t{i}" for i, atom in enumerate(atoms))
    return f"SELECT count(*) FROM {', '.join(tables)} WHERE {' AND '.join([*joins(atoms, entities), *conditions])}"


def joins(atoms: Sequence[Atom], entities: Numbers) -> Iterator[str]:
    """Equal columns for one variable, a number for a constant, and different values for every two variables."""
    column: dict[Term, str] = {}
    for i, atom in enumerate(atoms):
        for name, term in zip("ab", atom.terms, strict=True):
            place = f"t{i}.{name}"
            if not term.variable:
                # A constant that no fact mentions has no number, and no fact has -1.
                yield f"{place} = {entities.get(term.name, -1)}"
            elif column.setdefault(term, place) != place:
                yield f"{place} = {column[term]}"
    yield from (f"{x} <> {y}" for x, y in combinations(column.values(), 2))


def _atoms(rule: Rule, evidence: str) -> tuple[Atom, ...]:
    return (*rule.body, Atom(evidence, rule.head.first, rule.head.second))
