"""Asking for violations: how many there are, which are chosen, and what each rule's own listing says of those."""

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

from rulescore.data.violation import CountedBy, Fact, Violation
from rulescore.engines.base import Engine
from rulescore.language.syntax import Value
from rulescore.sql.build import Select
from rulescore.sql.listing import MODEL, RANK, SCORE, chosen, counted, restricted

_PIECE = 10_000


@dataclass(frozen=True, slots=True)
class Asked:
    """Violations of the predictions of some models, by their numbers, or of the data: None. Of one prediction, if it is given.
    `confirmed`: groundings whose head is confirmed, instead of those whose head is refuted."""

    models: tuple[int, ...] | None
    prediction: int | None = None
    confirmed: bool = False

    @property
    def predictions(self) -> bool:
        return self.models is not None


Counts = Counter[tuple[tuple[bool, Value], int | None]]
"""Violations by what they are counted by, and by model."""


def told_apart(value: Value) -> tuple[bool, Value]:
    """To Python, 1 and true are one key."""
    return isinstance(value, bool), value


class RuleListing(Protocol):
    """What every form of rules knows of its violations."""

    def rows(self, asked: Asked) -> Select | None:
        """A query, `g`, for all of them, whoever's predictions they are of; None if there can be none."""

    def columns(self, asked: Asked) -> Sequence[str]:
        """The columns of that query that tell one from another."""

    def counted(self, by: CountedBy, asked: Asked) -> Counts | None:
        """All of them, counted by the engine; None if it cannot."""

    def described(self, asked: Asked, found: pa.Table, answers: Sequence[Answer]) -> list[Violation]:
        """Chosen rows in words, with whose predictions they are."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A prediction as a model made it; nobody's, for the data."""

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
    """The first of them, or a sample by a seed."""
    rows = asked_rows(listing, asked)
    if rows is None:
        return None
    columns = listing.columns(asked)
    order = [MODEL, *columns] if asked.predictions else columns
    further = (SCORE, RANK) if asked.predictions else () if columns else ("one",)
    return engine.query(chosen(rows, order, further, limit, seed))


@dataclass(frozen=True, slots=True)
class Finder:
    """Finds violations of rules, which have numbers. `listing`: opens the listing of a rule. `facts`: predicted facts by their
    numbers."""

    engine: Engine
    models: Sequence[str]
    listing: Callable[[int], AbstractContextManager[RuleListing]]
    facts: Callable[[set[int]], dict[int, Fact]]

    def count(self, rule: int, asked: Asked) -> dict[int | None, int]:
        with self.listing(rule) as listing:
            return count(self.engine, listing, asked)

    def first(self, totals: Mapping[int, int], asked: Asked, limit: int | None) -> list[Violation]:
        """The first violations, rule by rule. `totals`: how many each rule has, of those that have any."""
        found: list[Violation] = []
        for rule in totals:
            if limit is not None and len(found) >= limit:
                break
            with self.listing(rule) as listing:
                rows = choose(self.engine, listing, asked, None if limit is None else limit - len(found), None)
                found += [] if rows is None else self._described(listing, asked, rows)
        return found

    def sample(self, totals: Mapping[int, int], asked: Asked, size: int, seed: int) -> list[Violation]:
        """So many violations of all that there are, each as likely as any other: how many of each rule is drawn first."""
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
        """All violations of a rule, described a piece at a time."""
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
