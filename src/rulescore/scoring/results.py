"""The findings of an evaluation, and how it was made, as data. Undefined is None and has its reason."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Self

from rulescore.language.reading import EVERY_RULE, RuleSource
from rulescore.language.words import OWN_FORMAT
from rulescore.readers.inputs import Input
from rulescore.setting.model import Setting
from rulescore.version import __version__


@dataclass(frozen=True, slots=True)
class PredictionCounts:
    """How many predictions a model brought: rows read, rows within top_k, distinct facts among them, repeated rows, and how many of
    the distinct facts are observed already. `hidden` and `covered` are None if it predicts no table's target: how many targets
    are hidden in the tables it predicts, and how many of them it predicts. `queries`: how many queries the rows answer; a fact
    without a known query is a query by itself."""

    rows: int
    kept: int
    distinct: int
    duplicates: int
    already_observed: int
    hidden: int | None = None
    covered: int | None = None
    queries: int | None = None


@dataclass(frozen=True, slots=True)
class TableCounts:
    """A table with a key: its rows, and how many of them have a hidden target. `inferred`: the columns of a text file that nobody
    declares, with the types that we gave them by their values."""

    name: str
    rows: int
    hidden: int
    inferred: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class DataSummary:
    """What was read: distinct observed facts, repeated rows, negative facts and how many of them are observed too, constants,
    predicates with facts, tables with keys."""

    facts: int
    fact_duplicates: int
    negatives: int
    negatives_observed: int
    constants: int
    predicates: int
    tables: tuple[TableCounts, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """`date` is in UTC, by ISO 8601. `options`: plain values of JSON's types."""

    rulescore: str
    date: str
    engine: str
    engine_version: str
    options: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[Input, ...] = ()

    def digested(self) -> Self:
        """The run with the digests of its inputs."""
        return replace(self, inputs=tuple(entry.digested() for entry in self.inputs))


def run_of(setting: Setting, engine: str, engine_version: str, inputs: tuple[Input, ...]) -> Run:
    """A run that ends now."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Run(__version__, now, engine, engine_version, _options(setting), inputs)


def _options(setting: Setting) -> dict[str, Any]:
    """The options that affect counts; the engine's options do not."""
    scoring = setting.scoring
    rules = {file.name: _rule_options(file) for file in setting.rules if isinstance(file, RuleSource) and _is_chosen(file)}
    return {
        "convention": scoring.convention.value,
        "distinct_variables": scoring.distinct_variables,
        "roles": None if scoring.roles is None else sorted(scoring.roles),
        "weights": dict(scoring.weights),
        "kinds": {rule: kind.value for rule, kind in scoring.kinds.items()},
        "hard_needs": scoring.hard_needs,
        "allow_unrefutable": scoring.allow_unrefutable,
        "top_k": {model.model: model.top_k for model in setting.predictions},
        "functions": [function.name for function in setting.functions],
        **({"rules": rules} if rules else {}),
    }


def _is_chosen(source: RuleSource) -> bool:
    return source.format not in (None, OWN_FORMAT) or source.choice != EVERY_RULE


def _rule_options(source: RuleSource) -> dict[str, Any]:
    return {"format": source.format} | asdict(source.choice) | {"heads": list(source.choice.heads)}


MOST_PREDICATES = 5


class RuleKind(StrEnum):
    HARD = "hard"
    SOFT = "soft"
    UNDETERMINED = "undetermined"


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of groundings whose head is confirmed, refuted, and either of these; by the appendix convention, the last is the
    sum."""

    confirmed: int = 0
    refuted: int = 0
    evaluable: int = 0

    @property
    def rate(self) -> float | None:
        return self.refuted / self.evaluable if self.evaluable else None


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """The description of a rule for scoring: its name, its text, and its author's declarations. `unrefutable`: nothing declared
    could ever refute its head. `tautology`: its head stands in its body. `confidence`, `support`: as stated by the program that
    found the rule."""

    name: str
    text: str
    declared_kind: str | None = None
    weight: float = 1.0
    denial: bool = False
    description: str | None = None
    tags: tuple[str, ...] = ()
    place: str | None = None
    unrefutable: bool = False
    tautology: bool = False
    confidence: float | None = None
    support: int | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """A number, or None with the reason why it is undefined. `mark`: the word that people see in place of a number that says
    nothing; the reason then begins with it."""

    value: float | None
    reason: str | None = None
    mark: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class PredictionFindings:
    """Findings about a model's distinct predictions: how many take part in an evaluable grounding, violate a hard rule, and violate
    any rule; the predicates that stand in no rule, each with its number of predictions; and whether some prediction has a predicate
    of a rule that can be refuted.

    `new`: how many are not observed already; of these, how many violate a hard rule, are linked (all their constants occur in the
    data), are concerned by a rule, and are judged: they take part in an evaluable grounding, or are linked and concerned by a hard
    denial constraint. `denials`: the numbers of the hard denial constraints that concern a linked prediction. `unlinked`: a
    constant that does not occur in the data. All of these are
    None if a saved result does not have them. `meant`: what that constant, or a predicate of no rule, probably meant."""

    with_partner: int = 0
    violating: int = 0
    violating_any: int = 0
    unconcerned: Mapping[str, int] = field(default_factory=dict)
    measured: bool = False
    new: int | None = None
    violating_new: int | None = None
    linked: int | None = None
    concerned: int | None = None
    judged: int | None = None
    denials: frozenset[int] = field(default=frozenset(), compare=False)
    unlinked: str | None = None
    meant: Mapping[str, str] = field(default_factory=dict)

    @property
    def unconcerned_text(self) -> str:
        """The predicates that stand in no rule; the most predicted ones first."""
        most = sorted(self.unconcerned.items(), key=lambda entry: (-entry[1], entry[0]))
        shown = ", ".join(f"`{predicate}` ({times:,}{self._hint(predicate)})" for predicate, times in most[:MOST_PREDICATES])
        return shown + (f", and {len(most) - MOST_PREDICATES:,} more" if len(most) > MOST_PREDICATES else "")

    @property
    def unlinked_text(self) -> str:
        """A constant that does not occur in the data, and what it probably meant."""
        name = str(self.unlinked)
        return f"`{name}`{f' (did you mean `{self.meant[name]}`?)' if name in self.meant else ''}"

    def _hint(self, name: str) -> str:
        return f"; did you mean `{self.meant[name]}`?" if name in self.meant else ""


@dataclass(frozen=True, slots=True)
class ModelRuleResult:
    counts: Counts
    score: Measure
    share: Measure


@dataclass(frozen=True, slots=True)
class RuleResult:
    """`largest_group`: the evaluable groundings over the data that lie in the group with most of them, None if groundings are not
    counted by groups. `tolerance`: the tolerance taken from the data, None if the rule has its own or none."""

    info: RuleInfo
    kind: RuleKind
    kind_reason: str
    dataset: Counts
    models: dict[str, ModelRuleResult] = field(default_factory=dict)
    largest_group: int | None = None
    tolerance: int | float | None = None

    @property
    def rate_bound(self) -> Measure:
        """An upper bound for the rate, with 95% confidence, if no evaluable grounding over the data breaks the rule."""
        if self.kind is not RuleKind.HARD or self.dataset.refuted:
            return Measure(None, "the data break the rule" if self.dataset.refuted else f"the rule is {self.kind}")
        if not self.dataset.evaluable:
            return Measure(None, "no evaluable grounding in the data")
        if self.info.unrefutable:
            return Measure(None, "nothing declared could refute it")
        return Measure(-math.expm1(math.log(0.05) / self.dataset.evaluable))

    @property
    def largest_group_share(self) -> Measure:
        """The largest group's share of the evaluable groundings over the data. If it is near 1, a single group decides the rate."""
        if self.largest_group is None:
            return Measure(None, "the rule's groundings are not counted by groups")
        if not self.dataset.evaluable:
            return Measure(None, "no evaluable grounding in the data")
        return Measure(self.largest_group / self.dataset.evaluable)


@dataclass(frozen=True, slots=True)
class ModelResult:
    """`hard_score` and `soft_score` are the aggregates of the definition. `hard_mean` runs over hard rules with evaluable
    groundings only; `soft_mean` renormalises the shares over soft rules. `evaluable`: the evaluable groundings in which its
    predictions take part. `findings`: None if single predictions were not counted. `violating_reason`: if the number of predictions
    that violate a hard rule says nothing, the reason."""

    name: str
    predictions: PredictionCounts
    hard_score: Measure
    soft_score: Measure
    hard_mean: Measure
    soft_mean: Measure
    evaluable: int = 0
    findings: PredictionFindings | None = None
    violating_reason: str | None = None

    @property
    def unmeasured(self) -> bool:
        """Whether none of its predictions has a predicate of a rule that can be refuted."""
        return self.findings is not None and not self.findings.measured

    @property
    def violating(self) -> int | None:
        """How many of its distinct predictions violate a hard rule."""
        return None if self.findings is None else self.findings.violating

    @property
    def violating_any(self) -> int | None:
        """How many of its distinct predictions violate any rule."""
        return None if self.findings is None else self.findings.violating_any

    @property
    def violating_new(self) -> int | None:
        """How many of its new predictions violate a hard rule."""
        return None if self.findings is None else self.findings.violating_new

    @property
    def new(self) -> int | None:
        """How many of its distinct predictions are not observed already."""
        return None if self.findings is None else self.findings.new

    @property
    def linked(self) -> int | None:
        """How many of its new predictions have only constants that occur in the data."""
        return None if self.findings is None else self.findings.linked

    @property
    def concerned(self) -> int | None:
        """How many of its new predictions have a predicate that stands in a rule."""
        return None if self.findings is None else self.findings.concerned

    @property
    def judged(self) -> int | None:
        """How many of its new predictions some rule could judge."""
        return None if self.findings is None else self.findings.judged

    @property
    def without_partner(self) -> int | None:
        """How many of its distinct predictions take part in no evaluable grounding of any rule."""
        return None if self.findings is None else self.predictions.distinct - self.findings.with_partner

    @property
    def unconcerned(self) -> int | None:
        """How many of its distinct predictions have a predicate that stands in no rule."""
        return None if self.findings is None else sum(self.findings.unconcerned.values())

    @property
    def coverage(self) -> Measure:
        """The share of the hidden targets that the model predicts."""
        counts = self.predictions
        if counts.hidden is None or counts.covered is None:
            return Measure(None, "the model predicts no table's target")
        if not counts.hidden:
            return Measure(None, "no target is hidden")
        return Measure(counts.covered / counts.hidden)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """A distance, or a percentage."""

    value: int | float
    relative: bool = False


@dataclass(frozen=True, slots=True)
class GridRow:
    """What a rule would find in the data with another tolerance."""

    rule: RuleInfo
    tolerance: Tolerance
    counts: Counts
