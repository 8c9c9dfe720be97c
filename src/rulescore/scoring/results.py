"""What an evaluation found, as data. Undefined is None and stands beside its reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from rulescore.data.summary import DataSummary, PredictionCounts

__all__ = [
    "Counts",
    "DataSummary",
    "Measure",
    "ModelResult",
    "ModelRuleResult",
    "PredictionCounts",
    "RuleInfo",
    "RuleKind",
    "RuleResult",
]


class RuleKind(StrEnum):
    HARD = "hard"
    SOFT = "soft"
    UNDETERMINED = "undetermined"


@dataclass(frozen=True, slots=True)
class Counts:
    """Groundings whose head is confirmed, refuted, and either (or, by the appendix's way of counting, their sum)."""

    confirmed: int = 0
    refuted: int = 0
    evaluable: int = 0

    @property
    def rate(self) -> float | None:
        return self.refuted / self.evaluable if self.evaluable else None


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """A rule as scoring sees it: its name and text, and what its author declared."""

    name: str
    text: str
    declared_kind: str | None = None
    weight: float = 1.0
    denial: bool = False
    description: str | None = None
    tags: tuple[str, ...] = ()
    place: str | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """A number, or None with the reason why it is undefined."""

    value: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ModelRuleResult:
    counts: Counts
    score: Measure
    share: Measure


@dataclass(frozen=True, slots=True)
class RuleResult:
    info: RuleInfo
    kind: RuleKind
    kind_reason: str
    dataset: Counts
    models: dict[str, ModelRuleResult] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelResult:
    """`hard_score` and `soft_score` are the aggregates of the definition. `hard_mean` runs over hard rules with evaluable
    groundings only; `soft_mean` renormalises the shares over soft rules."""

    name: str
    predictions: PredictionCounts
    hard_score: Measure
    soft_score: Measure
    hard_mean: Measure
    soft_mean: Measure
