"""A session, as far as it counts: over the data, and with predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

import pyarrow as pa

from rulescore.counting import horn, run
from rulescore.counting.contributions import prediction_findings
from rulescore.counting.explain import expensive_formulas, expensive_rules
from rulescore.engines.log import purpose
from rulescore.errors import Diagnostic, Severity
from rulescore.logic import conventions
from rulescore.logic.plan import Judge
from rulescore.opening import Opened
from rulescore.progress import warn_now
from rulescore.scoring.results import Counts, PredictionFindings
from rulescore.setting.choices import Convention


class Counted(Opened):
    """Counts on demand. It loads the plan's parameters once, and counts contributions once."""

    _contributed = _warned = False

    @cached_property
    def _names(self) -> list[str]:
        """The names of rules, by their numbers."""
        return [rule.name for rule in self.rules]

    @cached_property
    def counter(self) -> horn.Counter:
        """The plan, prepared for counting."""
        if any(group.judge is Judge.EVIDENCE for group in self.plan.groups):
            self.evidence.number()
        with purpose("loading the parameters of the plan"):
            horn.prepare(self._unprepared)
        return self._unprepared

    @cached_property
    def _unprepared(self) -> horn.Counter:
        """The plan with what refutes its heads: all that listings need."""
        options = self.setting.scoring
        with purpose("loading what refutes heads"):
            return horn.open_counter(
                self.engine,
                self.data.loaded,
                self.plan,
                self.refutations,
                appendix=options.convention is Convention.APPENDIX,
                distinct_variables=conventions.distinct_variables(options),
                roles=conventions.roles(options),
                titles=self.formulas.titles,
            )

    def _dataset_counts(self) -> list[Counts]:
        """The counts of every rule over the data."""
        self._warn_of_many()
        found = self.formulas.sorted_counts()
        others = chain(self.formulas.dataset_statements(found), self.sql_rules.dataset_statements())
        statements = chain(horn.over_the_data(self.counter), run.told(others))
        return self._in_order(found | run.dataset_counts(self.engine, statements))

    def _contribute(self) -> None:
        """Count what every prediction contributes to every rule; only the first call does."""
        if not self._contributed:
            run.count_contributions(self.engine, self._prediction_statements())
            if self.setting.sql_rules and self.data.loaded.predicted:
                self.sql_rules.refuse_unknown_predictions()
            self._contributed = True

    def _model_counts(self) -> dict[str, list[Counts]]:
        """The counts of every rule with the predictions of each model."""
        self._contribute()
        totals = run.model_totals(self.engine) if self.data.loaded.predicted else {}
        return {model: self._in_order(totals.get(number, {})) for number, model in enumerate(self.data.loaded.models)}

    def _findings(self, hard: Sequence[int]) -> Mapping[str, PredictionFindings]:
        """The findings about each model's predictions. `hard`: the numbers of the hard rules."""
        self._contribute()
        loaded = self.data.loaded
        counts = run.prediction_counts(self.engine, loaded, hard) if loaded.predicted else []
        any_unlinked = any(count.new_linked < count.new for count in counts)
        return prediction_findings(
            loaded.models,
            counts,
            self.concerned,
            hard=hard,
            observed={name for name, predicate in loaded.vocabulary.predicates.items() if predicate.observed},
            unlinked=run.unlinked_names(self.engine, loaded) if any_unlinked else {},
        )

    def _violating(self, hard: Sequence[int]) -> Iterator[pa.Table]:
        """The predictions of all models that are not observed, and which of them violate a hard rule."""
        self._contribute()
        return run.violating_predictions(self.engine, self.data.loaded, hard)

    def _prediction_statements(self) -> Iterator[run.TitledStatement]:
        yield from horn.with_predictions(self.counter)
        if self.data.loaded.predicted:
            yield from run.told(self.formulas.prediction_statements())
            yield from run.told(self.sql_rules.prediction_statements())

    def _in_order(self, rows: run.CountRows) -> list[Counts]:
        return [Counts(*rows.get(number, (0, 0, 0))) for number in range(len(self.rules))]

    def _warn_of_many(self) -> None:
        """Warn once, before a run that may take hours."""
        if self._warned:
            return
        self._warned = True
        found = expensive_rules(self._unprepared) | expensive_formulas(self.formulas)
        if found:
            warn_now(_too_many(found, self._names))


def _too_many(found: Mapping[int, int], names: Sequence[str]) -> Diagnostic:
    most = sorted(found, key=lambda rule: -found[rule])
    listed = tuple(f"`{names[rule]}`: about {found[rule]:,}" for rule in most[:3])
    rules = "1 rule may have" if len(found) == 1 else f"{len(found):,} rules may have"
    return Diagnostic(
        "W213",
        f"{rules} more than a thousand million groundings: counting may take hours and all memory",
        notes=(*listed, *([f"and {len(most) - 3:,} more"] if len(most) > 3 else ())),
        helps=("`--explain` shows estimates; `--timeout` and `--memory-limit` bound the run, Ctrl-C ends it",),
        severity=Severity.WARNING,
    )
