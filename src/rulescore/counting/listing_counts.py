"""Counts violations by what they have in common. The engine counts many Horn rules at once."""

from __future__ import annotations

from collections import Counter
from collections import Counter as Tally
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rulescore.counting.horn import condition_sources
from rulescore.counting.listing import Asked, Counts, Finder, told_apart
from rulescore.counting.listing_horn import groundings, texts_of
from rulescore.counting.parameters import Counter as HornCounter
from rulescore.errors import Diagnostic, InputError
from rulescore.logic.normal import Bound
from rulescore.logic.plan import ConditionRow, ConditionShape, Group, Judge, LiteralName, ShapeAtom
from rulescore.logic.refutation import identity
from rulescore.scoring.violation import CountedBy, CountedViolations, Fact, Pattern
from rulescore.sql.horn import listing as sql
from rulescore.sql.horn.conditions import asked_keys
from rulescore.sql.horn.listing import MODEL, restricted, row_columns, violating_predictions
from rulescore.sql.query import Select, create, drop
from rulescore.values import Value


def countable(counter: HornCounter, by: CountedBy) -> frozenset[int]:
    """The rules that this module can count. The name of the refuter must not depend on the grounding."""
    groups = [
        group for group in counter.plan.groups if by is CountedBy.ENTITY or counter.context.appendix or _refuters_have_names(group)
    ]
    return frozenset(head.rule for group in groups for head in group.heads)


def _refuters_have_names(group: Group) -> bool:
    """Whether every refutation either has a fact that holds, or says that the head is absent."""
    return all(shape.atoms or _is_closed(shape, row) for shape, rows in group.conditions for row in rows)


def _is_closed(shape: ConditionShape, row: ConditionRow) -> bool:
    itself = ShapeAtom(tuple(Bound(i) for i in range(shape.arity)))
    return shape.negated == (itself,) and not shape.tests and row.literals == (LiteralName(row.predicate, identity(shape.arity)),)


def violation_counts(counter: HornCounter, by: CountedBy, rules: Collection[int], asked: Asked) -> Counts:
    """The numbers of violations of these rules, by the predicate that refutes or by a value of the grounding, and by model."""
    counts: Counts = Tally()
    for number, group in enumerate(counter.plan.groups):
        those = {head.rule for head in group.heads} & set(rules)
        if those:
            only = next(iter(those)) if len(rules) == 1 else None
            if by in {CountedBy.REFUTER, CountedBy.PATTERN}:
                counts.update(_by_refuter(counter, number, asked, only, by))
            else:
                counts.update(_by_value(counter, number, asked, only))
    return counts


def _by_refuter(counter: HornCounter, number: int, asked: Asked, only: int | None, by: CountedBy) -> Counts:
    heads = by is CountedBy.PATTERN
    group, context, models = counter.plan.groups[number], counter.context, asked.models is not None
    arity = len(group.shape.head or ())
    rows = _narrowed(groundings(counter, group, number, asked, ["rule", *asked_keys(arity, predictions=models)]), asked, only)
    if rows is None:
        return Tally()
    sources = condition_sources(number, group)
    with counter.engine.scratch_tables():
        # We put the rows into a table: if the engine cannot estimate their number, joins with them take ten times as long.
        counter.engine.run(create(sql.VIOLATING, rows))
        try:
            if context.appendix:
                statement = sql.by_opponent(context.stride, models=models, heads=heads)
            elif group.judge is Judge.DENIAL:
                statement = sql.by_head(models=models)
            else:
                statement = sql.by_label(sources, context, arity, models=models, heads=heads)
            counts = counter.engine.query(statement).to_pylist()
        finally:
            counter.engine.run(drop(sql.VIOLATING))
    labels = {row["label"]: "false" if group.judge is Judge.DENIAL else _label(counter, row["label"]) for row in counts}
    by_label: Counts = Tally()
    for row in counts:
        label = labels[row["label"]]
        what = Pattern(counter.loaded.literal_name(row["head"], arity).predicate, label) if heads else label
        by_label[told_apart(what), row.get(MODEL)] += int(row["n"])
    return by_label


def _label(counter: HornCounter, label: int) -> str:
    if label < 0:
        return f"closed {counter.loaded.predicate_name(-1 - label)}"
    name = counter.loaded.literal_name(label, 2)
    return f"negative {name.predicate}" if name.negative else name.predicate


def _by_value(counter: HornCounter, number: int, asked: Asked, only: int | None) -> Counts:
    group = counter.plan.groups[number]
    columns = ["rule", *row_columns(group, predictions=asked.predictions)]
    rows = _narrowed(groundings(counter, group, number, asked, columns), asked, only)
    if rows is None or not group.shape.variables:
        return Tally()
    counted = counter.engine.query(sql.by_value(rows, group.shape.variables))
    ids, counts = counted["id"].to_pylist(), counted["n"].to_pylist()
    with counter.engine.scratch_tables():
        texts = texts_of(counter.engine, counter.loaded, set(ids))
    return Tally({(told_apart(texts.value(id)), None): int(n) for id, n in zip(ids, counts, strict=True)})


def _narrowed(rows: Select | None, asked: Asked, only: int | None) -> Select | None:
    if rows is None:
        return None
    if asked.models is not None:
        rows = restricted(rows, models=asked.models, prediction=asked.prediction)
    return rows if only is None else sql.of_rule(rows, only)


@dataclass(frozen=True, slots=True)
class ViolationCounter:
    """`counts`: how many violations each rule and model has, by their numbers; model None: the data. `targets`: the predicates of
    targets of tables, whose last argument is a predicted value. `heads`: of the rules, None for denial constraints."""

    finder: Finder
    horn: HornCounter
    rules: Sequence[str]
    counts: Mapping[tuple[int, int | None], int]
    targets: Collection[str]
    heads: Sequence[str | None]

    def by(self, what: CountedBy, rules: Sequence[int], asked: Asked) -> list[CountedViolations]:
        if what is CountedBy.RULE:
            counted = [CountedViolations(self.rules[rule], self._model(model), n) for (rule, model), n in self.counts.items()]
        elif what is CountedBy.PATTERN:
            counted = self._patterns(asked)
        elif what in {CountedBy.PREDICATE, CountedBy.PREDICTION} and asked.models is None:
            helps = ("count by `rule`, `refuter` or `entity`, or name a model",)
            raise InputError(
                Diagnostic("E262", f"the data alone have no predictions by which to count violations: {what}", helps=helps)
            )
        elif what is CountedBy.REFUTER or asked.models is None:
            counted = self._listed(what, asked)
        else:
            counted = self._of_predictions(what, asked.models, rules)
        return sorted(counted, key=lambda row: (-row.violations, row.model or "", str(row.what)))

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
            for part in self._parts(what, facts[row["prediction"]]):
                violations[part, row["model"]] += int(row["n"])
                predictions[part, row["model"]] += 1
        return [CountedViolations(part, self._model(model), n, predictions[part, model]) for (part, model), n in violations.items()]

    def _parts(self, what: CountedBy, fact: Fact) -> set[Value]:
        if what is CountedBy.PREDICATE:
            return {fact.predicate}
        values = fact.values[:-1] if fact.predicate in self.targets else fact.values
        return {value for value in values if value is not None}

    def _listed(self, what: CountedBy, asked: Asked) -> list[CountedViolations]:
        """Counts by a property of single violations: for many rules at once, rule by rule or, if the engine cannot, row by row."""
        rules = list(dict.fromkeys(rule for rule, _ in self.counts))
        at_once = countable(self.horn, what)
        counts = violation_counts(self.horn, what, [rule for rule in rules if rule in at_once], asked)
        for rule in rules:
            if rule not in at_once:
                counts.update(self._of_rule(what, rule, asked))
        return [
            CountedViolations(value, self._model(model), n)
            for ((_, value), model), n in counts.items()
            if not isinstance(value, Pattern)
        ]

    def _patterns(self, asked: Asked) -> list[CountedViolations]:
        """Counts by what should hold and what refutes it. For denial constraints we need to list nothing."""
        counts: Counter[tuple[Pattern, int | None]] = Counter()
        for (rule, model), n in self.counts.items():
            if self.heads[rule] is None:
                counts[Pattern("", self.rules[rule]), model] += n
        rules = [rule for rule in dict.fromkeys(rule for rule, _ in self.counts) if self.heads[rule] is not None]
        at_once = countable(self.horn, CountedBy.PATTERN)
        together = violation_counts(self.horn, CountedBy.PATTERN, [rule for rule in rules if rule in at_once], asked)
        counts.update({(value, model): n for ((_, value), model), n in together.items() if isinstance(value, Pattern)})
        for rule in rules:
            if rule not in at_once:
                for ((_, label), model), n in self._of_rule(CountedBy.REFUTER, rule, asked).items():
                    counts[Pattern(self.heads[rule] or "", str(label)), model] += n
        return [CountedViolations(str(pattern), self._model(model), n, pattern=pattern) for (pattern, model), n in counts.items()]

    def _of_rule(self, what: CountedBy, rule: int, asked: Asked) -> Counts:
        with self.finder.listing(rule) as listing:
            counted = listing.counted(what, asked)
        if counted is not None:
            return counted
        counts: Counts = Counter()
        for violation in self.finder.every(rule, asked):
            model = None if violation.model is None else self.finder.models.index(violation.model)
            parts = violation.labels if what is CountedBy.REFUTER else violation.binding.values()
            counts.update((part, model) for part in set(map(told_apart, parts)))
        return counts
