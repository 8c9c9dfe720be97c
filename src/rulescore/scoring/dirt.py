"""Which rows and cells of tables violations name, how often, and how that changes from one data set to another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rulescore.language.terms import write_value
from rulescore.scoring.results import Counts, RuleResult
from rulescore.values import Value


class DirtyBy(StrEnum):
    """The units by which violations of the data are counted: a row, a cell, or all rows of a violation together, in any order."""

    ROW = "row"
    CELL = "cell"
    ROWS = "rows"


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table, by its key."""

    table: str
    key: tuple[Value, ...]

    def __str__(self) -> str:
        return f"{self.table}({', '.join(map(write_value, self.key))})"


Cells = Mapping[TableRow, Mapping[str, Value | None]]
"""The rows that a violation names, with the columns that it names of each, and their values; None if it names no value."""


Place = tuple[tuple[TableRow, ...], str | None]
"""Rows, and a column if it is a cell of one row."""


@dataclass(frozen=True, slots=True)
class Dirty:
    """One row, cell or group of rows, with the number of violations that name it, by rule. `column` and `value`: of a cell."""

    rows: tuple[TableRow, ...]
    violations: Mapping[str, int]
    column: str | None = None
    value: Value | None = None

    @property
    def total(self) -> int:
        return sum(self.violations.values())

    @property
    def place(self) -> Place:
        return self.rows, self.column


def counted_by(by: DirtyBy, violations: Iterable[tuple[str, Cells]]) -> list[Dirty]:
    """The rows, cells or groups of rows of these violations. Each violation comes with its rule. Places with the most violations
    come first. A violation counts once for a row, even if the row stands at several of its atoms."""
    counts: dict[Place, Counter[str]] = {}
    values: dict[Place, Value | None] = {}
    for rule, cells in violations:
        for place, value in _places(by, cells):
            counts.setdefault(place, Counter())[rule] += 1
            values[place] = value
    dirty = [Dirty(rows, dict(rules), column, values[rows, column]) for (rows, column), rules in counts.items()]
    return sorted(dirty, key=lambda place: -place.total)


def _places(by: DirtyBy, cells: Cells) -> Iterator[tuple[Place, Value | None]]:
    match by:
        case DirtyBy.ROWS:
            if cells:
                yield (tuple(sorted(cells, key=str)), None), None
        case DirtyBy.ROW:
            yield from ((((row,), None), None) for row in cells)
        case DirtyBy.CELL:
            yield from ((((row,), column), value) for row, columns in cells.items() for column, value in columns.items())


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
