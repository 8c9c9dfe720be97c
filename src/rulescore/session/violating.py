"""The part of a session that lists the groundings behind its counts, all or some of them, and counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property
from itertools import chain

from rulescore.counting import run
from rulescore.counting.listing import Asked, Finder, Predicted, RuleListing, shares
from rulescore.counting.listing_counts import ViolationCounter
from rulescore.counting.listing_formulas import FormulaListing
from rulescore.counting.listing_horn import HornListing, alike
from rulescore.counting.listing_rows import cells_of_violations
from rulescore.engines.base import purpose
from rulescore.errors import Diagnostic, InputError, meant, ticked
from rulescore.language.printer import print_atom, print_condition
from rulescore.language.syntax import Atom, Constant, Falsity, Head, Refuting
from rulescore.logic.normal import normal_rule
from rulescore.logic.tolerances import with_tolerance
from rulescore.scoring import violation
from rulescore.scoring.dirt import Cells, Dirty, DirtyBy, counted_by
from rulescore.session.opening import Opened
from rulescore.sql.horn.listing import contributions_of, makers_of, refuted_counts
from rulescore.sql.names import arguments
from rulescore.sql.results import judged_predictions, judgements

_MOST_TOGETHER = 10_000_000
"""How many violations one statement draws from, if they are of several rules."""
_MOST_EXPLAINED = 1000
"""How many groundings that explain a prediction we list at most."""


class Violating(Opened):
    """Finds violations, and the contributions of one prediction."""

    @cached_property
    def _open(self) -> dict[int, RuleListing]:
        """Listings that are open, by the numbers of their rules."""
        return {}

    @cached_property
    def _predicted(self) -> Predicted:
        return Predicted(self.engine, self.data.loaded, self.data.tables)

    @cached_property
    def _finder(self) -> Finder:
        named = zip(self.counted.names, self.program.rules, strict=False)  # rules in SQL come last
        about = {name: rule for name, rule in named if rule.about is not None}
        return Finder(self.engine, self.data.loaded.models, self._listing, self._predicted.facts, about)

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
    ) -> violation.Violations:
        """Groundings whose head is refuted. They come from one model, from several or, if `model` is None, from the data; from all
        rules or one. We list the first `limit`, or a sample. The total counts all violations, even if the list is shorter."""
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
        return violation.Violations(totals.total(), rows, says_nothing, self._named(counts), self.prediction_keys)

    def sampled_violations(
        self, models: Sequence[str] | None, most: int, *, rules: Sequence[str] | None = None, seed: int = 0
    ) -> violation.Violations:
        """At most so many violations: all, or some of every rule and model, drawn at random. `models`: None for violations in
        the data. `rules`: only of these; the total counts all."""
        asked = self._asked(models, None)
        counts = self._counts(range(len(self.counted.names)), asked, every=True)
        of_rules = set(self.counted.names if rules is None else rules)
        wanted = shares({key: n for key, n in counts.items() if self.counted.names[key[0]] in of_rules}, most)
        rows: list[violation.Violation] = []
        for together in self._listed_together(list(dict.fromkeys(rule for rule, _ in wanted)), counts):
            with self._listing_of(together) as listing:
                rows += self._finder.drawn(listing, together, asked, wanted, seed)
        places = {name: place for place, name in enumerate(self.counted.names)}
        rows.sort(key=lambda row: places[row.rule])
        return violation.Violations(sum(counts.values()), rows, None, self._named(counts), self.prediction_keys)

    def _listed_together(self, rules: Sequence[int], counts: Mapping[tuple[int, int | None], int]) -> Iterator[list[int]]:
        """The rules in lists, each for one statement that lists no more violations than memory has room for."""
        in_horn = {rule: normal_rule(self.program.rules[rule]) for rule in rules if rule in self.data.horn_rules}
        yield from ([rule] for rule in rules if rule not in in_horn)
        sizes: Counter[int] = Counter()
        for (rule, _), n in counts.items():
            sizes[rule] += n
        for group in alike(in_horn, self.refutations):
            together, size = group[:1], sizes[group[0]]
            for rule in group[1:]:
                if size + sizes[rule] > _MOST_TOGETHER:
                    yield together
                    together, size = [], 0
                together.append(rule)
                size += sizes[rule]
            yield together

    def violation_counts(
        self, by: str, *, rule: str | None = None, model: str | Sequence[str] | None = None
    ) -> list[violation.CountedViolations]:
        """How many violations there are of each rule, predicate, refuter, entity or prediction, the most first."""
        rules, asked = self._rule_numbers(rule), self._asked(model, None)
        counts = self._counts(rules, asked, every=True)
        counter = ViolationCounter(
            self._finder, self.counted.counter, self.counted.names, counts, self.prediction_keys, self._heads
        )
        return counter.by(violation.CountedBy(by), rules, asked)

    @property
    def refuting(self) -> dict[str, tuple[str, ...]]:
        """The declarations that can refute the head of each rule, as written, by the rules' names. For extracted pairs: their
        number."""
        declared = [declaration for declaration in self.program.declarations if isinstance(declaration, Refuting)]
        heads = dict.fromkeys(head for head in self._heads if head is not None)
        by_head = {
            head: tuple(dict.fromkeys(way.words for way in declared if head in way.refuted or None in way.refuted))
            for head in heads
        }
        extracted = Counter(predicate for pair in self.extracted for predicate in set(pair))
        by_head |= {
            head: (*ways, f"extract incompatible: {extracted[head]:,} other predicates")
            for head, ways in by_head.items()
            if extracted[head]
        }
        return {name: by_head.get(head or "", ()) for name, head in zip(self.counted.names, self._heads, strict=True)}

    @cached_property
    def _heads(self) -> list[str | None]:
        """The predicates of the heads of all rules or, of other heads, their texts; None for denial constraints."""
        heads = [rule.head for rule in self.program.rules]
        in_sql = ["a rule in SQL"] * (len(self.rules) - len(heads))
        return [*(_head_name(head) for head in heads), *in_sql]

    def explained(self, prediction: Atom | violation.PredictedKey, model: str | None = None) -> violation.Explained:
        """What one prediction, given as a fact or by the key of its row, contributes to every rule."""
        number = self._prediction_number(prediction, model)
        makers = sorted(self.engine.query(makers_of(number))["model"].to_pylist())
        models = tuple(self.data.loaded.models[maker] for maker in makers)
        if model is not None and model not in models:
            self._model_number(model)
            helps = (f"it is predicted by {ticked(models)}",)
            raise InputError(Diagnostic("E262", f"`{model}` does not predict it", helps=helps))
        self.counted.contribute()
        rows = self.engine.query(contributions_of(number)).to_pylist()
        counts = {self.counted.names[row["rule"]]: (row["confirmed"], row["refuted"], row["evaluable"]) for row in rows}
        asked = Asked((makers[0],), number)
        broken = {row["rule"]: row["refuted"] for row in rows if row["refuted"]}
        met = {row["rule"]: row["confirmed"] for row in rows if row["confirmed"] and not row["refuted"]}
        fact = self._finder.facts({number})[number]
        return violation.Explained(
            fact, models, counts, self._first(broken, asked), self._first(met, replace(asked, confirmed=True))
        )

    def predicted_fact(self, key: violation.PredictedKey, model: str | None) -> violation.Fact:
        """The fact that a model predicts for a row."""
        number = self._prediction_number(key, model)
        return self._finder.facts({number})[number]

    def judged_predictions(self) -> Iterator[violation.JudgedPrediction]:
        """Every prediction of every model, with the rules that it breaks and meets, by their numbers."""
        self.counted.contribute()
        rows: dict[int, list[tuple[int, int, int]]] = {}
        for row in self.engine.query(judgements()).to_pylist() if self.data.loaded.predicted else ():
            rows.setdefault(row["prediction"], []).append((row["rule"], row["confirmed"], row["refuted"]))
        for source in self.data.loaded.predicted:
            names = arguments(source.arity)
            for row in self.engine.query(judged_predictions(source)).to_pylist():
                counts = rows.get(row["prediction"], ())
                yield violation.JudgedPrediction(
                    row["prediction"],
                    self.data.loaded.models[row["model"]],
                    self.data.loaded.predicate_name(row["literal"]),
                    tuple(row[name] for name in names),
                    bool(row["observed"]),
                    bool(row["linked"]),
                    tuple(rule for rule, _, refuted in counts if refuted),
                    tuple(rule for rule, confirmed, refuted in counts if confirmed and not refuted),
                )

    def dirt(self, by: DirtyBy, rule: str | None = None) -> list[Dirty]:
        """The rows, cells or groups of rows that violations of one rule, or of all, name. Rules in SQL name no rows. The session
        must count every rule as a formula (`horn=False`): these know which rows their atoms are about."""
        wanted = self._rule_numbers(rule)
        named = (self._cells(number) for number in wanted if number < len(self.program.rules))
        return counted_by(by, chain.from_iterable(named))

    def _cells(self, number: int) -> Iterator[tuple[str, Cells]]:
        name = self.counted.names[number]
        with purpose(f"listing the rows of rule `{name}`"):
            context = self.formulas.context(number, predictions=False)
            yield from ((name, cells) for cells in cells_of_violations(self.engine, context))

    def unlinked_names(self) -> dict[str, str | None]:
        """The keys in predictions that do not occur in the data, with the key that was probably meant."""
        return run.probably_meant(self.engine, self.data.loaded)

    def first_of_each(
        self, rule: int, predictions: Sequence[int], *, confirmed: bool = False, most: int = 1
    ) -> Iterator[tuple[int, violation.Violation]]:
        """The first groundings of a rule, given by its number, that each of these predictions breaks or, if `confirmed`, meets."""
        asked = Asked(tuple(range(len(self.data.loaded.models))), confirmed=confirmed)
        return self._finder.of_each(rule, asked, predictions, most)

    def _prediction_number(self, prediction: Atom | violation.PredictedKey, model: str | None) -> int:
        """The number of a prediction. If a key may mean several predictions, the model decides. A fact needs no model."""
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
        return range(len(self.counted.names)) if name is None else [self._rule_number(name)]

    def _rule_number(self, name: str) -> int:
        return _number_of("rule", name, self.counted.names)

    def _model_number(self, name: str) -> int:
        return _number_of("model", name, self.data.loaded.models)

    def _first(self, totals: Mapping[int, int], asked: Asked) -> violation.Violations:
        """The first groundings of the rules, rule by rule, with the number that each rule has."""
        (model,) = asked.models or (None,)
        named = self._named({(rule, model): n for rule, n in totals.items()})
        rows = self._finder.first(dict(sorted(totals.items())), asked, _MOST_EXPLAINED)
        return violation.Violations(sum(totals.values()), rows, counts=named, keys=self.prediction_keys)

    def _named(self, counts: Mapping[tuple[int, int | None], int]) -> dict[tuple[str, str | None], int]:
        models = self.data.loaded.models
        return {(self.counted.names[rule], None if model is None else models[model]): n for (rule, model), n in counts.items()}

    def _counts(self, rules: Sequence[int], asked: Asked, *, every: bool) -> dict[tuple[int, int | None], int]:
        """How many violations each rule and model has: from the counts of all rules or, without `every`, by a query a rule."""
        if not every:
            return {(rule, model): n for rule in rules for model, n in self._finder.count(rule, asked).items()}
        if asked.models is None:
            dataset = self.counted.over_the_data()
            return {(rule, None): dataset[rule].refuted for rule in rules if dataset[rule].refuted}
        if not self.data.loaded.predicted:
            return {}
        self.counted.contribute()
        rows = self.engine.query(refuted_counts(asked.prediction)).to_pylist()
        counts = {(row["rule"], row["model"]): int(row["n"]) for row in rows if row["n"]}
        return {key: counts[key] for rule in rules for model in asked.models if (key := (rule, model)) in counts}

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
        with purpose(f"listing rule `{self.counted.names[index]}`"):
            if index in self._open:
                yield self._open[index]
                return
            with self._listing_of([index]) as listing:
                yield listing

    @contextmanager
    def _listing_of(self, rules: Sequence[int]) -> Iterator[RuleListing]:
        """The listing of a rule, or of several that are alike."""
        index = rules[0]
        if index >= len(self.program.rules):
            yield self.sql_rules.listing(index)
            return
        name, rule = self.counted.names[index], self.program.rules[index]
        if index not in self.data.horn_rules:
            if index in self.formulas.tolerances:
                rule = with_tolerance(rule, self.formulas.tolerances[index])
            yield FormulaListing(self.formulas, index, name, rule)
            return
        counter = self.counted.unprepared
        with self.engine.scratch_tables():
            normal = {number: (self.counted.names[number], normal_rule(self.program.rules[number])) for number in rules}
            listing = HornListing(counter, self.refutations, normal)
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
        names = " and ".join(f"`{model}`" for model in unmeasured)
        return f"unmeasured: no prediction of {names} is of a predicate of a rule that can be refuted"


def _head_name(head: Head) -> str | None:
    match head:
        case Falsity():
            return None
        case Atom(predicate):
            return predicate
        case _:
            return print_condition(head)


def _no_prediction(atom: Atom) -> Diagnostic:
    return Diagnostic(
        "E262",
        f"`{print_atom(atom)}` names no prediction of a model",
        helps=("give a fact without variables, and the model that predicts it",),
    )


def _number_of(what: str, name: str, known: Sequence[str]) -> int:
    if name not in known:
        helps = meant(name, known) or (f"there are {ticked(known[:10])}",)
        raise InputError(Diagnostic("E261", f"there is no {what} `{name}`", helps=helps))
    return known.index(name)
