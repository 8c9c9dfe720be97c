"""What rules would find in the data with other tolerances."""

from __future__ import annotations

from dataclasses import dataclass

from rulescore.scoring.results import Counts, RuleInfo


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
