"""Counts violations by what they have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rulescore.counting.horn import Counter as HornCounter
from rulescore.counting.listing import horn_counts
from rulescore.counting.listing.asking import Asked, Counts, Finder, told_apart
from rulescore.errors import Diagnostic, InputError
from rulescore.scoring.violation import CountedBy, CountedViolations, Fact
from rulescore.sql.horn.listing import violating_predictions
from rulescore.values.types import Value


@dataclass(frozen=True, slots=True)
class ViolationCounter:
    """`counts`: how many violations each rule and model has, by their numbers; model None: the data. `targets`: the predicates of
    targets of tables, whose last argument is a predicted value."""

    finder: Finder
    horn: HornCounter
    rules: Sequence[str]
    counts: Mapping[tuple[int, int | None], int]
    targets: Collection[str]

    def by(self, what: CountedBy, rules: Sequence[int], asked: Asked) -> list[CountedViolations]:
        if what is CountedBy.RULE:
            found = [CountedViolations(self.rules[rule], self._model(model), n) for (rule, model), n in self.counts.items()]
        elif what in {CountedBy.PREDICATE, CountedBy.PREDICTION} and asked.models is None:
            helps = ("count by `rule`, `refuter` or `entity`, or name a model",)
            raise InputError(Diagnostic("E266", f"the data make no predictions to count violations by {what}", helps=helps))
        elif what is CountedBy.REFUTER or asked.models is None:
            found = self._listed(what, asked)
        else:
            found = self._of_predictions(what, asked.models, rules)
        return sorted(found, key=lambda one: (-one.violations, one.model or "", str(one.what)))

    def _model(self, number: int | None) -> str | None:
        return None if number is None else self.finder.models[number]

    def _of_predictions(self, what: CountedBy, models: Sequence[int], rules: Sequence[int]) -> list[CountedViolations]:
        """Counts by a property of the violating predictions: no grounding needs to be listed."""
        rows = self.finder.engine.query(violating_predictions(models, rules)).to_pylist() if self.counts else []
        facts = self.finder.facts({row["prediction"] for row in rows})
        if what is CountedBy.PREDICTION:
            return [
                CountedViolations(str(fact), self._model(row["model"]), int(row["n"]), 1, fact, row["score"], row["rank"])
                for row in rows
                for fact in [facts[row["prediction"]]]
            ]
        violations: Counter[tuple[Value, int]] = Counter()
        predictions: Counter[tuple[Value, int]] = Counter()
        for row in rows:
            for one in self._parts(what, facts[row["prediction"]]):
                violations[one, row["model"]] += int(row["n"])
                predictions[one, row["model"]] += 1
        return [CountedViolations(one, self._model(model), n, predictions[one, model]) for (one, model), n in violations.items()]

    def _parts(self, what: CountedBy, fact: Fact) -> set[Value]:
        if what is CountedBy.PREDICATE:
            return {fact.predicate}
        values = fact.values[:-1] if fact.predicate in self.targets else fact.values
        return {one for one in values if one is not None}

    def _listed(self, what: CountedBy, asked: Asked) -> list[CountedViolations]:
        """Counts by a property of single violations: for many rules at once, rule by rule or, if the engine cannot, row by row."""
        rules = list(dict.fromkeys(rule for rule, _ in self.counts))
        at_once = horn_counts.countable(self.horn, what)
        found = horn_counts.counted(self.horn, what, [one for one in rules if one in at_once], asked)
        for rule in rules:
            if rule not in at_once:
                found.update(self._of_rule(what, rule, asked))
        return [CountedViolations(value, self._model(model), n) for ((_, value), model), n in found.items()]

    def _of_rule(self, what: CountedBy, rule: int, asked: Asked) -> Counts:
        with self.finder.listing(rule) as listing:
            counted = listing.counted(what, asked)
        if counted is not None:
            return counted
        found: Counts = Counter()
        for violation in self.finder.every(rule, asked):
            model = None if violation.model is None else self.finder.models.index(violation.model)
            parts = violation.labels if what is CountedBy.REFUTER else violation.binding.values()
            found.update((one, model) for one in set(map(told_apart, parts)))
        return found
