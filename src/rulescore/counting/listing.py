"""Finds violations: counts them and chooses some. The listing of each rule describes the chosen ones."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from itertools import accumulate
from random import Random
from typing import Any, Protocol

import pyarrow as pa

from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, InputError
from rulescore.language.printer import print_atom
from rulescore.language.syntax import Atom, Constant, Rule, Variable
from rulescore.loading.facts import Loaded
from rulescore.loading.tables import LoadedTable
from rulescore.scoring.violation import CountedBy, Fact, Pattern, PredictedKey, ShapeResult, Violation, other_writings
from rulescore.sql.facts import constants_by_key
from rulescore.sql.horn.listing import (
    MODEL,
    MOST,
    RANK,
    RULE,
    SCORE,
    SHARE,
    WANTED,
    chosen,
    drawn,
    first_of_each,
    restricted,
    row_counts,
    wanted_predictions,
)
from rulescore.sql.names import arguments
from rulescore.sql.query import Select, alias, drop
from rulescore.values import Value, key_of, value_of


@dataclass(frozen=True, slots=True)
class Predicted:
    """Looks up predictions and their numbers."""

    engine: Engine
    loaded: Loaded
    tables: Mapping[str, LoadedTable]

    def number(self, atom: Atom) -> int:
        """The number of a predicted fact. If a constant has the wrong type, `5` for the string "5", the error says so."""
        number = self._number_of(atom)
        if number is None:
            raise InputError(Diagnostic("E262", f"no model predicts `{print_atom(atom)}`", helps=(self._how_to_write(atom),)))
        return number

    def number_for(self, key: PredictedKey, model: int | None) -> int:
        """The number of the prediction for a row, by this model or, if it is None, by any model."""
        targets = [table for table in self.tables.values() if table.target is not None and len(table.key) == len(key.values)]
        if len(targets) != 1:
            helps = ('give a fact: `("5", "wife", "76")`, or "wife(5, 76)"',)
            raise InputError(Diagnostic("E262", f"`{key}` names no prediction", helps=helps))
        (table,) = targets
        number = self._with_values(table.predicate, len(key.values) + 1, key.values)
        numbers = {row["prediction"] for row in number if model is None or row["model"] == model}
        if not numbers:
            raise InputError(Diagnostic("E262", f"nothing is predicted for `{key}` of `{table.name}`"))
        if len(numbers) > 1:
            message = f"models differ in what they predict for `{key}` of `{table.name}`"
            raise InputError(Diagnostic("E262", message, helps=("name the model",)))
        return numbers.pop()

    def facts(self, numbers: set[int]) -> dict[int, Fact]:
        """Predicted facts by their numbers."""
        facts: dict[int, Fact] = {}
        with self.engine.scratch_tables():
            self.engine.load(WANTED, pa.table({"id": pa.array(sorted(numbers), pa.int32())}))
            for source in self.loaded.predicted:
                for row in self.engine.query(wanted_predictions(source)).to_pylist():
                    values = tuple(value_of(row[argument]) for argument in arguments(source.arity))
                    facts[row["prediction"]] = Fact(self.loaded.predicate_name(row["literal"]), values)
            self.engine.run(drop(WANTED))
        return facts

    def _how_to_write(self, atom: Atom) -> str:
        """Advice on how to write a prediction that we did not find."""
        written = list(other_writings(atom))
        for prediction in written:
            if self._number_of(prediction) is not None:
                return f"write `{print_atom(prediction)}`, which is predicted"
        for prediction in written:
            if self._occur({key_of(term.value) for term in prediction.terms if isinstance(term, Constant)}):
                return f"constants of the data are written `{print_atom(prediction)}`, but that is not predicted either"
        return "write it as violations show it, a number with all its digits"

    def _number_of(self, atom: Atom) -> int | None:
        """The number of a predicted fact; None if no model predicts it."""
        values = [term.value for term in atom.terms if isinstance(term, Constant)]
        if len(values) != atom.arity:
            return None
        return next((row["prediction"] for row in self._with_values(atom.predicate, atom.arity, values)), None)

    def _with_values(self, predicate: str, arity: int, values: Sequence[Value]) -> list[dict[str, int]]:
        """The predictions of a predicate whose first arguments are these values, and the models that make them."""
        if predicate not in self.loaded.predicate_ids:
            return []
        literal = self.loaded.fact_literal(predicate)
        queries = [source.with_values(literal, values) for source in self.loaded.predicted if source.arity == arity]
        return [row for query in queries if query is not None for row in self.engine.query(query).to_pylist()]

    def _occur(self, keys: set[str]) -> bool:
        """Whether facts or rules have all these constants."""
        with self.engine.scratch_tables():
            self.engine.load(WANTED, pa.table({"key": pa.array(sorted(keys), pa.string())}))
            rows = self.engine.query(constants_by_key(WANTED))
            self.engine.run(drop(WANTED))
        return bool(rows.num_rows == len(keys))


_PIECE = 10_000


@dataclass(frozen=True, slots=True)
class Asked:
    """Which violations the caller wants. `models`: violations of these models' predictions, by the models' numbers; None for
    violations of the data. `prediction`: of this one only. `confirmed`: groundings whose head is confirmed, instead of refuted."""

    models: tuple[int, ...] | None
    prediction: int | None = None
    confirmed: bool = False

    @property
    def predictions(self) -> bool:
        return self.models is not None


Counts = Counter[tuple[tuple[bool, Value | Pattern], int | None]]
"""Numbers of violations by a value that they have in common, and by model."""


def told_apart(value: Value | Pattern) -> tuple[bool, Value | Pattern]:
    """A key for a value: to Python, 1 and true would be one key."""
    return isinstance(value, bool), value


class RuleListing(Protocol):
    """The interface by which each form of rules tells about the violations of one rule."""

    def rows(self, asked: Asked) -> Select | None:
        """A query, `g`, for the violations of all models together; None if there can be no violations."""

    def columns(self, asked: Asked) -> Sequence[str]:
        """The columns of that query that tell one violation from another."""

    def counted(self, by: CountedBy, asked: Asked) -> Counts | None:
        """All violations, counted by the engine; None if it cannot."""

    def described(self, asked: Asked, table: pa.Table, predictions: Sequence[ModelPrediction]) -> list[Violation]:
        """Chosen rows in words; `predictions`: the prediction of each."""


@dataclass(frozen=True, slots=True)
class ModelPrediction:
    """A prediction as a model made it. For a violation of the data, all fields are None."""

    model: str | None = None
    fact: Fact | None = None
    score: float | None = None
    rank: int | None = None


def asked_rows(listing: RuleListing, asked: Asked) -> Select | None:
    rows = listing.rows(asked)
    return rows if rows is None or asked.models is None else restricted(rows, models=asked.models, prediction=asked.prediction)


def _further(columns: Sequence[str], asked: Asked) -> Sequence[str]:
    return (SCORE, RANK) if asked.predictions else () if columns else ("one",)


@dataclass(frozen=True, slots=True)
class Finder:
    """Finds violations of rules, given by their numbers. `listing`: opens the listing of a rule. `facts`: looks up predicted facts
    by their numbers. `about`: the rules that say what their violations are about, by name."""

    engine: Engine
    models: Sequence[str]
    listing: Callable[[int], AbstractContextManager[RuleListing]]
    facts: Callable[[set[int]], dict[int, Fact]]
    about: Mapping[str, Rule] = field(default_factory=dict)

    def count(self, rule: int, asked: Asked) -> dict[int | None, int]:
        """How many violations a rule has, by model."""
        with self.listing(rule) as listing:
            rows = asked_rows(listing, asked)
            counts = () if rows is None else self.engine.query(row_counts(rows, by_model=asked.predictions)).to_pylist()
        return {row.get(MODEL): int(row["n"]) for row in counts if row["n"]}

    def first(self, totals: Mapping[int, int], asked: Asked, limit: int | None) -> list[Violation]:
        """The first violations, rule by rule. `totals`: how many each rule has; rules without violations are absent."""
        violations: list[Violation] = []
        for rule in totals:
            if limit is not None and len(violations) >= limit:
                break
            with self.listing(rule) as listing:
                rows = self._chosen(listing, asked, None if limit is None else limit - len(violations))
                violations += [] if rows is None else self._described(listing, asked, rows)
        return violations

    def sample(self, totals: Mapping[int, int], asked: Asked, size: int, seed: int) -> list[Violation]:
        """A sample of all violations, each as likely as any other: we first draw how many come from each rule."""
        ends = list(accumulate(totals.values()))
        places = Random(seed).sample(range(ends[-1]), min(size, ends[-1])) if ends else []
        drawn = Counter(bisect(ends, place) for place in places)
        violations: list[Violation] = []
        for index, rule in enumerate(totals):
            if drawn[index]:
                with self.listing(rule) as listing:
                    rows = self._chosen(listing, asked, drawn[index], f"{seed}|{rule}")
                    violations += [] if rows is None else self._described(listing, asked, rows)
        return violations

    def drawn(
        self, listing: RuleListing, rules: Sequence[int], asked: Asked, wanted: Mapping[tuple[int, int | None], int], seed: int
    ) -> list[Violation]:
        """As many violations of each rule and model as are wanted, by one statement. `listing`: the listing of all these rules."""
        rows = asked_rows(listing, asked)
        if rows is None:
            return []
        rows = rows.select(**{RULE: alias("g").rule if len(rules) > 1 else rules[0]})
        columns, by = listing.columns(asked), [RULE, MODEL] if asked.predictions else [RULE]
        of_rules = set(rules)
        keys, most = zip(*((key, n) for key, n in wanted.items() if key[0] in of_rules), strict=True)
        shares = {RULE: [rule for rule, _ in keys], MODEL: [model for _, model in keys], MOST: most}
        integers = {field: pa.array(shares[field], pa.int64()) for field in (*by, MOST)}
        with self.engine.scratch_tables():
            self.engine.load(SHARE, pa.table(integers))
            table = self.engine.query(drawn(rows, by, columns, _further(columns, asked), seed))
            self.engine.run(drop(SHARE))
        return self._described(listing, asked, table)

    def every(self, rule: int, asked: Asked) -> Iterator[Violation]:
        """All violations of a rule, described in pieces."""
        with self.listing(rule) as listing:
            rows = self._chosen(listing, asked, None)
            if rows is not None:
                for start in range(0, rows.num_rows, _PIECE):
                    yield from self._described(listing, asked, rows.slice(start, _PIECE))

    def of_each(self, rule: int, asked: Asked, predictions: Sequence[int], most: int) -> Iterator[tuple[int, Violation]]:
        """The first groundings of each of these predictions, with the numbers of the predictions, described in pieces."""
        with self.listing(rule) as listing, self.engine.scratch_tables():
            rows = asked_rows(listing, asked)
            if rows is None:
                return
            self.engine.load(WANTED, pa.table({"id": pa.array(predictions, pa.int64())}))
            table = self.engine.query(first_of_each(rows, [MODEL, *listing.columns(asked)], (SCORE, RANK), most))
            self.engine.run(drop(WANTED))
            for start in range(0, table.num_rows, _PIECE):
                piece = table.slice(start, _PIECE)
                yield from zip(piece["prediction"].to_pylist(), self._described(listing, asked, piece), strict=True)

    def _chosen(self, listing: RuleListing, asked: Asked, limit: int | None, seed: str | None = None) -> pa.Table | None:
        """The first violations or, with a seed, a sample."""
        rows = asked_rows(listing, asked)
        if rows is None:
            return None
        columns = listing.columns(asked)
        order = [MODEL, *columns] if asked.predictions else columns
        return self.engine.query(chosen(rows, order, _further(columns, asked), limit, seed))

    def _described(self, listing: RuleListing, asked: Asked, rows: pa.Table) -> list[Violation]:
        if not rows.num_rows:
            return []
        violations = listing.described(asked, rows, self._predictions_of(rows))
        return [_with_result(violation, self.about) for violation in violations] if self.about else violations

    def _predictions_of(self, rows: pa.Table) -> list[ModelPrediction]:
        if MODEL not in rows.column_names:
            return [ModelPrediction()] * rows.num_rows
        of_predictions: list[dict[str, Any]] = rows.select(["prediction", MODEL, SCORE, RANK]).to_pylist()
        facts = self.facts({int(row["prediction"]) for row in of_predictions})
        return [
            ModelPrediction(self.models[row[MODEL]], facts[int(row["prediction"])], row[SCORE], row[RANK]) for row in of_predictions
        ]


FIRST = 20
"""How many of each rule and model come before others."""


def shares(counts: Mapping[tuple[int, int | None], int], most: int) -> dict[tuple[int, int | None], int]:
    """How many violations to list of each rule and model, `most` in all.

    First we give each up to 20; if there is no room for that, the rules with most violations come first. We share the remaining
    places in proportion to the violations that each has beyond these."""
    if sum(counts.values()) <= most:
        return dict(counts)
    first = max((each for each in range(FIRST + 1) if sum(min(n, each) for n in counts.values()) <= most), default=0)
    listed = {key: min(n, first) for key, n in counts.items()}
    room = most - sum(listed.values())
    left = {key: n - listed[key] for key, n in counts.items() if n > listed[key]}
    every = sum(left.values())
    by_size = sorted(left, key=lambda key: (-left[key], key[0], -1 if key[1] is None else key[1]))
    for key in by_size:
        listed[key] += left[key] * room // every
    for key in by_size[: most - sum(listed.values())]:
        listed[key] += listed[key] < counts[key]
    return {key: n for key, n in listed.items() if n}


def _with_result(violation: Violation, rules: Mapping[str, Rule]) -> Violation:
    rule = rules.get(violation.rule)
    if rule is None or rule.about is None:
        return violation

    def value_of(term: Variable | Constant | None) -> Value | None:
        return violation.binding.get(term.name) if isinstance(term, Variable) else None if term is None else term.value

    about = rule.about
    constraint = next(iter(rule.tags), None)
    return replace(
        violation, result=ShapeResult(constraint, value_of(about.focus), about.path, value_of(about.value), rule.description)
    )
