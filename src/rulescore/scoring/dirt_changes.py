"""Compares what breaks rules in two data sets, by rule, by row and by cell. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rulescore.scoring.dirt import Dirty, Place
from rulescore.scoring.results import Counts, RuleResult


class Change(StrEnum):
    """From the first data set to the second. A row or cell that breaks rules in only one of them is fixed, or new."""

    FIXED = "fixed"
    BETTER = "better"
    SAME = "same"
    WORSE = "worse"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class RuleChange:
    """A rule in both data sets. `fixed`: violations by rows that break it less often in the second, or not at all. `new`:
    violations by rows that break it more often."""

    rule: str
    text: str
    before: Counts
    after: Counts
    fixed: int
    new: int

    @property
    def change(self) -> Change:
        """By the number of refuted groundings."""
        return _change(self.before.refuted, self.after.refuted)


@dataclass(frozen=True, slots=True)
class PlaceChange:
    """A row or a cell, with its violations in both data sets."""

    place: Place
    before: int
    after: int

    @property
    def change(self) -> Change:
        return _change(self.before, self.after)


def _change(before: int, after: int) -> Change:
    if before == after:
        return Change.SAME
    if not after:
        return Change.FIXED
    if not before:
        return Change.NEW
    return Change.BETTER if after < before else Change.WORSE


def rule_changes(
    before: Sequence[RuleResult], after: Sequence[RuleResult], dirty_before: Sequence[Dirty], dirty_after: Sequence[Dirty]
) -> list[RuleChange]:
    """Rule by rule. `dirty_before` and `dirty_after`: the groups of rows of violations."""
    return [
        RuleChange(
            first.info.name,
            first.info.text,
            first.dataset,
            second.dataset,
            sum(_fewer(first.info.name, dirty_before, dirty_after)),
            sum(_fewer(first.info.name, dirty_after, dirty_before)),
        )
        for first, second in zip(before, after, strict=True)
    ]


def _fewer(rule: str, here: Sequence[Dirty], there: Sequence[Dirty]) -> Iterator[int]:
    """For each group of rows, how many more violations of a rule it has `here` than `there`."""
    others = {place.place: place.violations.get(rule, 0) for place in there}
    for place in here:
        yield max(0, place.violations.get(rule, 0) - others.get(place.place, 0))


def place_changes(before: Sequence[Dirty], after: Sequence[Dirty]) -> list[PlaceChange]:
    """Rows or cells that break rules in one of the data sets. The greatest changes come first."""
    first, second = ({place.place: place.total for place in places} for places in (before, after))
    changes = [PlaceChange(place, first.get(place, 0), second.get(place, 0)) for place in dict.fromkeys((*first, *second))]
    return sorted(changes, key=lambda changed: (-abs(changed.after - changed.before), -changed.before))
