"""Finds violations: counts them, chooses some, and has each rule's own listing describe those."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import accumulate
from random import Random
from typing import Any, Protocol

import pyarrow as pa

from rulescore.engines.base import Engine
from rulescore.scoring.violation import CountedBy, Fact, Violation
from rulescore.sql.horn.listing import MODEL, RANK, SCORE, chosen, counted, restricted
from rulescore.sql.query import Select
from rulescore.values.types import Value

_PIECE = 10_000


@dataclass(frozen=True, slots=True)
class Asked:
    """Which violations the caller wants. `models`: by their numbers, those whose predictions violate; None for violations of the
    data. `prediction`: of this one only. `confirmed`: groundings whose head is confirmed, instead of refuted."""

    models: tuple[int, ...] | None
    prediction: int | None = None
    confirmed: bool = False

    @property
    def predictions(self) -> bool:
        return self.models is not None


Counts = Counter[tuple[tuple[bool, Value], int | None]]
"""Numbers of violations by a value that they have in common, and by model."""


def told_apart(value: Value) -> tuple[bool, Value]:
    """A key for a value: to Python, 1 and true would be one key."""
    return isinstance(value, bool), value


class RuleListing(Protocol):
    """What every form of rules tells about the violations of one rule."""

    def rows(self, asked: Asked) -> Select | None:
        """A query, `g`, for the violations of all models together; None if there can be none."""

    def columns(self, asked: Asked) -> Sequence[str]:
        """The columns of that query that tell one violation from another."""

    def counted(self, by: CountedBy, asked: Asked) -> Counts | None:
        """All violations, counted by the engine; None if it cannot."""

    def described(self, asked: Asked, found: pa.Table, answers: Sequence[Answer]) -> list[Violation]:
        """Chosen rows in words; `answers`: the prediction of each."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A prediction as a model made it; all None for a violation of the data."""

    model: str | None = None
    fact: Fact | None = None
    score: float | None = None
    rank: int | None = None


def asked_rows(listing: RuleListing, asked: Asked) -> Select | None:
    rows = listing.rows(asked)
    return rows if rows is None or asked.models is None else restricted(rows, models=asked.models, prediction=asked.prediction)


def count(engine: Engine, listing: RuleListing, asked: Asked) -> dict[int | None, int]:
    """How many violations there are, by model."""
    rows = asked_rows(listing, asked)
    if rows is None:
        return {}
    found = engine.query(counted(rows, by_model=asked.predictions)).to_pylist()
    return {row.get(MODEL): int(row["n"]) for row in found if row["n"]}


def choose(engine: Engine, listing: RuleListing, asked: Asked, limit: int | None, seed: str | None) -> pa.Table | None:
    """The first violations or, with a seed, a sample."""
    rows = asked_rows(listing, asked)
    if rows is None:
        return None
    columns = listing.columns(asked)
    order = [MODEL, *columns] if asked.predictions else columns
    further = (SCORE, RANK) if asked.predictions else () if columns else ("one",)
    return engine.query(chosen(rows, order, further, limit, seed))


@dataclass(frozen=True, slots=True)
class Finder:
    """Finds violations of rules, given by their numbers. `listing`: opens the listing of a rule. `facts`: looks up predicted facts
    by their numbers."""

    engine: Engine
    models: Sequence[str]
    listing: Callable[[int], AbstractContextManager[RuleListing]]
    facts: Callable[[set[int]], dict[int, Fact]]

    def count(self, rule: int, asked: Asked) -> dict[int | None, int]:
        with self.listing(rule) as listing:
            return count(self.engine, listing, asked)

    def first(self, totals: Mapping[int, int], asked: Asked, limit: int | None) -> list[Violation]:
        """The first violations, rule by rule. `totals`: how many each rule has; rules without violations are absent."""
        found: list[Violation] = []
        for rule in totals:
            if limit is not None and len(found) >= limit:
                break
            with self.listing(rule) as listing:
                rows = choose(self.engine, listing, asked, None if limit is None else limit - len(found), None)
                found += [] if rows is None else self._described(listing, asked, rows)
        return found

    def sample(self, totals: Mapping[int, int], asked: Asked, size: int, seed: int) -> list[Violation]:
        """A sample of all violations, each as likely as any other: we first draw how many come from each rule."""
        ends = list(accumulate(totals.values()))
        places = Random(seed).sample(range(ends[-1]), min(size, ends[-1])) if ends else []
        drawn = Counter(bisect(ends, place) for place in places)
        found: list[Violation] = []
        for index, rule in enumerate(totals):
            if drawn[index]:
                with self.listing(rule) as listing:
                    rows = choose(self.engine, listing, asked, drawn[index], f"{seed}|{rule}")
                    found += [] if rows is None else self._described(listing, asked, rows)
        return found

    def every(self, rule: int, asked: Asked) -> Iterator[Violation]:
        """All violations of a rule, described in pieces."""
        with self.listing(rule) as listing:
            rows = choose(self.engine, listing, asked, None, None)
            if rows is not None:
                for start in range(0, rows.num_rows, _PIECE):
                    yield from self._described(listing, asked, rows.slice(start, _PIECE))

    def _described(self, listing: RuleListing, asked: Asked, rows: pa.Table) -> list[Violation]:
        if not rows.num_rows:
            return []
        return listing.described(asked, rows, self._answers(rows))

    def _answers(self, rows: pa.Table) -> list[Answer]:
        if MODEL not in rows.column_names:
            return [Answer()] * rows.num_rows
        of_predictions: list[dict[str, Any]] = rows.select(["prediction", MODEL, SCORE, RANK]).to_pylist()
        facts = self.facts({int(row["prediction"]) for row in of_predictions})
        return [Answer(self.models[row[MODEL]], facts[int(row["prediction"])], row[SCORE], row[RANK]) for row in of_predictions]
