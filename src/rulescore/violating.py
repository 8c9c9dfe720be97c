"""The groundings behind the counts of an opened setting: lists of them, their numbers, and those of one prediction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from rulescore.counted import Counted
from rulescore.counting import run
from rulescore.counting.listing.asking import Asked, Finder, RuleListing
from rulescore.counting.listing.counts import ViolationCounter
from rulescore.counting.listing.formulas import FormulaListing
from rulescore.counting.listing.horn import HornListing
from rulescore.counting.listing.predicted import Predicted
from rulescore.engines.log import purpose
from rulescore.errors import Diagnostic, InputError
from rulescore.language.printer import print_atom
from rulescore.language.syntax import Atom, Constant
from rulescore.logic.normal import normal_rule
from rulescore.logic.tolerances import with_tolerance
from rulescore.opening import Opened
from rulescore.scoring.violation import CountedBy, CountedViolations, Explained, Fact, PredictedKey, Violations
from rulescore.sql.horn.listing import contributions_of, makers_of, refuted_counts

_MOST_EXPLAINED = 1000
"""How many groundings that explain a prediction we list at most."""


class Violating:
    """Finds violations. Callers give rules, models and predictions by their numbers."""

    def __init__(self, opened: Opened, counted: Counted) -> None:
        self._opened, self._counted = opened, counted
        self._engine, self._loaded = opened.engine, opened.data.loaded
        self._names = [rule.name for rule in opened.rules]
        self._predicted = Predicted(self._engine, self._loaded, opened.data.tables)
        self._finder = Finder(self._engine, self._loaded.models, self._listing, self._predicted.facts)

    @property
    def keys(self) -> dict[str, tuple[str, ...]]:
        """The key columns of tables whose targets are predicted, by the predicate of the predictions."""
        return {table.predicate: table.key for table in self._opened.data.tables.values() if table.target is not None}

    def listed(
        self, rules: Sequence[int], asked: Asked, *, every: bool, limit: int | None, sample: int | None, seed: int
    ) -> Violations:
        """Violations of some rules: the first, or a sample. `every`: `rules` are all rules of the setting."""
        counts = self._counts(rules, asked, every=every)
        totals = _by_rule(counts)
        if sample is not None:
            rows = self._finder.sample(totals, asked, sample, seed)
        else:
            rows = self._finder.first(totals, asked, limit) if limit is None or limit > 0 else []
        total = sum(totals.values())
        says_nothing = None if total else self._says_nothing(rules, asked)
        return Violations(total, rows, says_nothing, self._named(counts), self.keys)

    def counted(self, by: CountedBy, rules: Sequence[int], asked: Asked) -> list[CountedViolations]:
        """How many violations there are of each rule, predicate, refuter, entity or prediction, the most first."""
        counts = self._counts(rules, asked, every=True)
        counter = ViolationCounter(self._finder, self._counted.counter, self._names, counts, self.keys)
        return counter.by(by, rules, asked)

    def asked(self, models: Sequence[int] | None, prediction: Atom | None) -> Asked:
        numbers = None if models is None else tuple(models)
        if prediction is None:
            return Asked(numbers)
        if numbers is None or not all(isinstance(term, Constant) for term in prediction.terms):
            raise InputError(_no_prediction(prediction))
        return Asked(numbers, self._predicted.number(prediction))

    def number(self, prediction: Atom | PredictedKey, model: int | None) -> int:
        """The number of a prediction that is given as a fact, or by the key of its row and the model."""
        if isinstance(prediction, Atom):
            return self._predicted.number(prediction)
        return self._predicted.number_for(prediction, model)

    def fact(self, number: int) -> Fact:
        """The predicted fact."""
        return self._finder.facts({number})[number]

    def makers(self, number: int) -> list[int]:
        """The models that make a prediction."""
        return sorted(self._engine.query(makers_of(number))["model"].to_pylist())

    def explained(self, number: int, makers: Sequence[int]) -> Explained:
        """What one prediction contributes to every rule."""
        self._counted.contribute()
        rows = self._engine.query(contributions_of(number)).to_pylist()
        counts = {self._names[row["rule"]]: (row["confirmed"], row["refuted"], row["evaluable"]) for row in rows}
        models = tuple(self._loaded.models[one] for one in makers)
        asked = Asked((makers[0],), number)
        broken = {row["rule"]: row["refuted"] for row in rows if row["refuted"]}
        met = {row["rule"]: row["confirmed"] for row in rows if row["confirmed"] and not row["refuted"]}
        fact = self.fact(number)
        return Explained(fact, models, counts, self._first(broken, asked), self._first(met, replace(asked, confirmed=True)))

    def _first(self, totals: Mapping[int, int], asked: Asked) -> Violations:
        """The first groundings of the rules, rule by rule, with the number that each rule has."""
        (model,) = asked.models or (None,)
        named = self._named({(rule, model): n for rule, n in totals.items()})
        rows = self._finder.first(dict(sorted(totals.items())), asked, _MOST_EXPLAINED)
        return Violations(sum(totals.values()), rows, counts=named, keys=self.keys)

    def _named(self, counts: Mapping[tuple[int, int | None], int]) -> dict[tuple[str, str | None], int]:
        models = self._loaded.models
        return {(self._names[rule], None if model is None else models[model]): n for (rule, model), n in counts.items()}

    def _counts(self, rules: Sequence[int], asked: Asked, *, every: bool) -> dict[tuple[int, int | None], int]:
        """How many violations each rule and model has: from the counts of all rules or, without `every`, by a query a rule."""
        if not every:
            return {(one, model): n for one in rules for model, n in self._finder.count(one, asked).items()}
        if asked.models is None:
            dataset = self._counted.dataset()
            return {(one, None): dataset[one].refuted for one in rules if dataset[one].refuted}
        if not self._loaded.predicted:
            return {}
        self._counted.contribute()
        rows = self._engine.query(refuted_counts(asked.prediction)).to_pylist()
        found = {(row["rule"], row["model"]): int(row["n"]) for row in rows if row["n"]}
        return {key: found[key] for one in rules for model in asked.models if (key := (one, model)) in found}

    @contextmanager
    def _listing(self, index: int) -> Iterator[RuleListing]:
        with purpose(f"listing rule `{self._names[index]}`"), self._listing_of(index) as found:
            yield found

    @contextmanager
    def _listing_of(self, index: int) -> Iterator[RuleListing]:
        opened = self._opened
        if index >= len(opened.program.rules):
            yield opened.sql_rules.listing(index)
            return
        name, rule = self._names[index], opened.program.rules[index]
        if index not in opened.data.horn_rules:
            if index in opened.formulas.tolerances:
                rule = with_tolerance(rule, opened.formulas.tolerances[index])
            yield FormulaListing(opened.formulas, index, name, rule)
            return
        counter = self._counted.counter
        with self._engine.scratch_tables():
            listing = HornListing(counter, opened.refutations, name, normal_rule(rule))
            try:
                yield listing
            finally:
                listing.close()

    def _says_nothing(self, rules: Iterable[int], asked: Asked) -> str | None:
        """Why there are no violations, if there could not have been any."""
        opened = self._opened
        if all(opened.rules[index].unrefutable for index in rules):
            return "unrefutable: nothing declared could refute these rules"
        unmeasured = [
            self._loaded.models[model]
            for model in asked.models or ()
            if not run.predicted(self._engine, self._loaded, model) & opened.concerned.by_refutable
        ]
        if not unmeasured or len(unmeasured) < len(asked.models or ()):
            return None
        names = " and ".join(f"`{one}`" for one in unmeasured)
        return f"unmeasured: no prediction of {names} is of a predicate of a rule that can be refuted"


def _no_prediction(atom: Atom) -> Diagnostic:
    return Diagnostic(
        "E262",
        f"`{print_atom(atom)}` names no prediction of a model",
        helps=("give a fact without variables, and the model that predicts it",),
    )


def _by_rule(counts: Mapping[tuple[int, int | None], int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for (rule, _), n in counts.items():
        found[rule] = found.get(rule, 0) + n
    return found
