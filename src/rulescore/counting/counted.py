"""The counts of all rules, whichever way each is counted: over the data, and with the predictions of models."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from rulescore.counting import horn, run
from rulescore.counting.evidence import Evidence
from rulescore.counting.formulas import Formulas
from rulescore.counting.parameters import Counter, open_counter
from rulescore.counting.sql_rules import SqlRules
from rulescore.engines.base import Engine, purpose
from rulescore.errors import Diagnostic, Severity
from rulescore.loading.facts import Loaded
from rulescore.logic.horn import Refutations
from rulescore.logic.plan import Judge, Plan
from rulescore.logic.refutable import Concerned
from rulescore.scoring.results import Counts, PredictionFindings, RuleInfo, RuleKind
from rulescore.scoring.score import kind_of
from rulescore.setting.options import ScoringOptions
from rulescore.sql.query import TitledStatement
from rulescore.waiting import warn_now

MANY_GROUNDINGS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class AllCounts:
    """The counts of every rule over the data and with the predictions of each model. `hard`: the numbers of the hard rules.
    `contributions`: None if nobody fetches them."""

    dataset: list[Counts]
    models: dict[str, list[Counts]]
    hard: list[int]
    findings: Mapping[str, PredictionFindings]
    contributions: pa.Table | None


@dataclass
class Counted:
    """Counts on demand. It loads the plan's parameters once, and counts contributions once."""

    engine: Engine
    loaded: Loaded
    rules: Sequence[RuleInfo]
    titles: Sequence[str]
    options: ScoringOptions
    plan: Plan
    refutations: Refutations
    evidence: Evidence
    formulas: Formulas
    sql_rules: SqlRules
    concerned: Concerned
    _contributed = _warned = False

    @cached_property
    def names(self) -> list[str]:
        """The names of rules, by their numbers."""
        return [rule.name for rule in self.rules]

    @cached_property
    def counter(self) -> Counter:
        """The plan, prepared for counting."""
        if any(group.judge is Judge.EVIDENCE for group in self.plan.groups):
            self.evidence.number()
        with purpose("loading the parameters of the plan"):
            horn.prepare(self.unprepared)
        return self.unprepared

    @cached_property
    def unprepared(self) -> Counter:
        """The plan, with the refuters of its heads loaded. Listings need no more."""
        with purpose("loading what refutes heads"):
            return open_counter(self.engine, self.loaded, self.plan, self.refutations, self.options, self.titles)

    def all(self, *, contributions: bool) -> AllCounts:
        """Count everything. `contributions`: whether to fetch them."""
        dataset, models = self.over_the_data(), self.with_predictions()
        needs = self.options.hard_needs
        kinds = (kind_of(rule, counts, needs)[0] for rule, counts in zip(self.rules, dataset, strict=True))
        hard = [number for number, kind in enumerate(kinds) if kind is RuleKind.HARD]
        findings = run.findings_of(self.engine, self.loaded, self.concerned, hard)
        fetched = run.brought_contributions(self.engine, self.loaded, self.names) if contributions else None
        return AllCounts(dataset, models, hard, findings, fetched)

    def over_the_data(self) -> list[Counts]:
        """The counts of every rule over the data."""
        self._warn_of_many()
        counts = self.formulas.sorted_counts() if self.formulas.rules else {}
        statements = self._dataset_statements(self.counter, counts)
        return self._in_order(counts | run.dataset_counts(self.engine, statements))

    def _dataset_statements(self, counter: Counter, counted: Collection[int]) -> Iterator[TitledStatement]:
        """The statements that count the rules over the data that are not counted yet."""
        yield from horn.over_the_data(counter)
        if self.formulas.rules:
            yield from run.told(self.formulas.dataset_statements(counted))
        if self.sql_rules.rules:
            yield from run.told(self.sql_rules.statements(predictions=False))

    def contribute(self) -> None:
        """Count what every prediction contributes to every rule; only the first call does."""
        if not self._contributed:
            run.count_contributions(self.engine, self._prediction_statements())
            if self.sql_rules.rules and self.loaded.predicted:
                self.sql_rules.refuse_unknown_predictions()
            self._contributed = True

    def with_predictions(self) -> dict[str, list[Counts]]:
        """The counts of every rule with the predictions of each model."""
        self.contribute()
        totals = run.model_totals(self.engine) if self.loaded.predicted else {}
        return {model: self._in_order(totals.get(number, {})) for number, model in enumerate(self.loaded.models)}

    def violating(self, hard: Sequence[int]) -> Iterator[pa.Table]:
        """The predictions of all models that are not observed, and which of them violate a hard rule."""
        self.contribute()
        return run.violating_predictions(self.engine, self.loaded, hard)

    def _prediction_statements(self) -> Iterator[TitledStatement]:
        yield from horn.with_predictions(self.counter)
        if self.formulas.rules and self.loaded.predicted:
            yield from run.told(self.formulas.prediction_statements())
        if self.sql_rules.rules and self.loaded.predicted:
            yield from run.told(self.sql_rules.statements(predictions=True))

    def _in_order(self, rows: run.CountRows) -> list[Counts]:
        return [Counts(*rows.get(number, (0, 0, 0))) for number in range(len(self.rules))]

    def _warn_of_many(self) -> None:
        """Warn once, before a run that may take hours."""
        if self._warned:
            return
        self._warned = True
        estimates = horn.estimates(self.unprepared) | (self.formulas.estimates() if self.formulas.rules else {})
        too_many = {rule: n for rule, n in estimates.items() if n > MANY_GROUNDINGS}
        if too_many:
            warn_now(_too_many(too_many, self.names))


def _too_many(estimates: Mapping[int, int], names: Sequence[str]) -> Diagnostic:
    most = sorted(estimates, key=lambda rule: -estimates[rule])
    listed = tuple(f"`{names[rule]}`: about {estimates[rule]:,}" for rule in most[:3])
    rules = "1 rule may have" if len(estimates) == 1 else f"{len(estimates):,} rules may have"
    return Diagnostic(
        "W213",
        f"{rules} more than a thousand million groundings: counting may take hours and all memory",
        notes=(*listed, *([f"and {len(most) - 3:,} more"] if len(most) > 3 else ())),
        helps=("`--explain` shows estimates; `--timeout` and `--memory-limit` bound the run, Ctrl-C ends it",),
        severity=Severity.WARNING,
    )
