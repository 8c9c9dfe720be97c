"""A session, as far as it lists the groundings behind its counts: all, some of them, their numbers, and those of one prediction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property

from rulescore.counted import Counted
from rulescore.counting import run
from rulescore.counting.listing.asking import Asked, Finder, RuleListing
from rulescore.counting.listing.counts import ViolationCounter
from rulescore.counting.listing.formulas import FormulaListing
from rulescore.counting.listing.horn import HornListing
from rulescore.counting.listing.predicted import Predicted
from rulescore.engines.log import purpose
from rulescore.errors import Diagnostic, InputError, meant
from rulescore.language.printer import print_atom
from rulescore.language.syntax import Atom, Constant
from rulescore.logic.normal import normal_rule
from rulescore.logic.tolerances import with_tolerance
from rulescore.scoring.violation import CountedBy, CountedViolations, Explained, Fact, PredictedKey, Violations
from rulescore.sql.horn.listing import contributions_of, makers_of, refuted_counts

_MOST_EXPLAINED = 1000
"""How many groundings that explain a prediction we list at most."""


class Violating(Counted):
    """Finds violations, and what one prediction does."""

    @cached_property
    def _open(self) -> dict[int, RuleListing]:
        """Listings that are open, by the numbers of their rules."""
        return {}

    @property
    def _predicted(self) -> Predicted:
        return Predicted(self.engine, self.data.loaded, self.data.tables)

    @property
    def _finder(self) -> Finder:
        return Finder(self.engine, self.data.loaded.models, self._listing, self._predicted.facts)

    @property
    def prediction_keys(self) -> dict[str, tuple[str, ...]]:
        """The key columns of tables whose targets are predicted, by the predicate of the predictions."""
        return {table.predicate: table.key for table in self.data.tables.values() if table.target is not None}

    def violations(
        self,
        *,
        rule: str | None = None,
        model: str | Sequence[str] | None = None,
        prediction: Atom | None = None,
        limit: int | None = 20,
        sample: int | None = None,
        seed: int = 0,
    ) -> Violations:
        """Groundings whose head is refuted: of one model, of several or, if `model` is None, of the data; of all rules or one; the
        first `limit` or a sample. The total counts all, however many the list has."""
        rules, asked = self._rule_numbers(rule), self._asked(model, prediction)
        with nullcontext() if rule is None else self._kept_open(rules[0]):
            counts = self._counts(rules, asked, every=rule is None)
            totals: Counter[int] = Counter()
            for (number, _), n in counts.items():
                totals[number] += n
            if sample is not None:
                rows = self._finder.sample(totals, asked, sample, seed)
            else:
                rows = self._finder.first(totals, asked, limit) if limit is None or limit > 0 else []
        says_nothing = None if totals.total() else self._says_nothing(rules, asked)
        return Violations(totals.total(), rows, says_nothing, self._named(counts), self.prediction_keys)

    def violation_counts(
        self, by: str, *, rule: str | None = None, model: str | Sequence[str] | None = None
    ) -> list[CountedViolations]:
        """How many violations there are of each rule, predicate, refuter, entity or prediction, the most first."""
        rules, asked = self._rule_numbers(rule), self._asked(model, None)
        counts = self._counts(rules, asked, every=True)
        counter = ViolationCounter(self._finder, self.counter, self._names, counts, self.prediction_keys)
        return counter.by(CountedBy(by), rules, asked)

    def explained(self, prediction: Atom | PredictedKey, model: str | None = None) -> Explained:
        """What one prediction, given as a fact or by the key of its row, contributes to every rule."""
        number = self._prediction_number(prediction, model)
        makers = sorted(self.engine.query(makers_of(number))["model"].to_pylist())
        models = tuple(self.data.loaded.models[one] for one in makers)
        if model is not None and model not in models:
            self._model_number(model)
            helps = (f"it is predicted by {', '.join(f'`{one}`' for one in models)}",)
            raise InputError(Diagnostic("E263", f"`{model}` does not predict it", helps=helps))
        self._contribute()
        rows = self.engine.query(contributions_of(number)).to_pylist()
        counts = {self._names[row["rule"]]: (row["confirmed"], row["refuted"], row["evaluable"]) for row in rows}
        asked = Asked((makers[0],), number)
        broken = {row["rule"]: row["refuted"] for row in rows if row["refuted"]}
        met = {row["rule"]: row["confirmed"] for row in rows if row["confirmed"] and not row["refuted"]}
        fact = self._finder.facts({number})[number]
        return Explained(fact, models, counts, self._first(broken, asked), self._first(met, replace(asked, confirmed=True)))

    def predicted_fact(self, key: PredictedKey, model: str | None) -> Fact:
        """The fact that a model predicts for a row."""
        number = self._prediction_number(key, model)
        return self._finder.facts({number})[number]

    def _prediction_number(self, prediction: Atom | PredictedKey, model: str | None) -> int:
        """The number of a prediction. The model tells which one a key means; a fact needs none."""
        if isinstance(prediction, Atom):
            return self._predicted.number(prediction)
        return self._predicted.number_for(prediction, None if model is None else self._model_number(model))

    def _asked(self, models: str | Sequence[str] | None, prediction: Atom | None) -> Asked:
        named = [models] if isinstance(models, str) else models
        numbers = None if named is None else tuple(map(self._model_number, named))
        if prediction is None:
            return Asked(numbers)
        if numbers is None or not all(isinstance(term, Constant) for term in prediction.terms):
            raise InputError(_no_prediction(prediction))
        return Asked(numbers, self._predicted.number(prediction))

    def _rule_numbers(self, name: str | None) -> Sequence[int]:
        return range(len(self._names)) if name is None else [self._rule_number(name)]

    def _rule_number(self, name: str) -> int:
        return _number("rule", name, self._names)

    def _model_number(self, name: str) -> int:
        return _number("model", name, self.data.loaded.models)

    def _first(self, totals: Mapping[int, int], asked: Asked) -> Violations:
        """The first groundings of the rules, rule by rule, with the number that each rule has."""
        (model,) = asked.models or (None,)
        named = self._named({(rule, model): n for rule, n in totals.items()})
        rows = self._finder.first(dict(sorted(totals.items())), asked, _MOST_EXPLAINED)
        return Violations(sum(totals.values()), rows, counts=named, keys=self.prediction_keys)

    def _named(self, counts: Mapping[tuple[int, int | None], int]) -> dict[tuple[str, str | None], int]:
        models = self.data.loaded.models
        return {(self._names[rule], None if model is None else models[model]): n for (rule, model), n in counts.items()}

    def _counts(self, rules: Sequence[int], asked: Asked, *, every: bool) -> dict[tuple[int, int | None], int]:
        """How many violations each rule and model has: from the counts of all rules or, without `every`, by a query a rule."""
        if not every:
            return {(one, model): n for one in rules for model, n in self._finder.count(one, asked).items()}
        if asked.models is None:
            dataset = self._dataset_counts()
            return {(one, None): dataset[one].refuted for one in rules if dataset[one].refuted}
        if not self.data.loaded.predicted:
            return {}
        self._contribute()
        rows = self.engine.query(refuted_counts(asked.prediction)).to_pylist()
        found = {(row["rule"], row["model"]): int(row["n"]) for row in rows if row["n"]}
        return {key: found[key] for one in rules for model in asked.models if (key := (one, model)) in found}

    @contextmanager
    def _kept_open(self, index: int) -> Iterator[None]:
        """Context manager: to count and to list the violations of one rule, load its parameters once."""
        with self._listing(index) as self._open[index]:
            try:
                yield
            finally:
                del self._open[index]

    @contextmanager
    def _listing(self, index: int) -> Iterator[RuleListing]:
        with purpose(f"listing rule `{self._names[index]}`"):
            if index in self._open:
                yield self._open[index]
                return
            with self._listing_of(index) as listing:
                yield listing

    @contextmanager
    def _listing_of(self, index: int) -> Iterator[RuleListing]:
        if index >= len(self.program.rules):
            yield self.sql_rules.listing(index)
            return
        name, rule = self._names[index], self.program.rules[index]
        if index not in self.data.horn_rules:
            if index in self.formulas.tolerances:
                rule = with_tolerance(rule, self.formulas.tolerances[index])
            yield FormulaListing(self.formulas, index, name, rule)
            return
        counter = self._unprepared
        with self.engine.scratch_tables():
            listing = HornListing(counter, self.refutations, name, normal_rule(rule))
            try:
                yield listing
            finally:
                listing.close()

    def _says_nothing(self, rules: Iterable[int], asked: Asked) -> str | None:
        """Why there are no violations, if there could not have been any."""
        if all(self.rules[index].unrefutable for index in rules):
            return "unrefutable: nothing declared could refute these rules"
        unmeasured = [
            self.data.loaded.models[model]
            for model in asked.models or ()
            if not run.predicted(self.engine, self.data.loaded, model) & self.concerned.by_refutable
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


def _number(what: str, name: str, known: Sequence[str]) -> int:
    if name not in known:
        helps = meant(name, known) or (f"there are {', '.join(f'`{k}`' for k in known[:10])}",)
        raise InputError(Diagnostic("E261", f"there is no {what} `{name}`", helps=helps))
    return known.index(name)
