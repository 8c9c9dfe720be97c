"""Published numbers beside ours, as data: a cell for each, with the class of what differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from rulescore.reporting.listing import CellKind, Listing
from rulescore.reproduction.figures import Figure
from rulescore.reproduction.published import Printed, agrees
from rulescore.result import Result


class Cause(StrEnum):
    """The reason why a number differs from the published one."""

    SAME = "same"
    PREDICTIONS = "other predictions"
    DATA = "other data"
    AVERAGING = "other averaging"
    TEST_FACTS = "training on test facts"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Cell:
    """One published number. `ours`: our number, by the appendix if there are two ways of counting; None if we have none to compare.
    `by_definition`: our number by the definition. `kind`: how numbers are shown."""

    row: str
    measure: str
    published: Printed
    ours: float | int | None
    cause: Cause
    kind: CellKind = CellKind.SCORE
    by_definition: float | int | None = None

    @property
    def difference(self) -> float | None:
        return None if self.ours is None else self.ours - float(self.published)


@dataclass(frozen=True, slots=True)
class Reason:
    """The meaning of a class in a table, and the command that shows the evidence."""

    text: str
    command: str


@dataclass(frozen=True, slots=True)
class Compared:
    """A published table beside ours. `reasons`: one for each class that its cells may have. `wide`: if there are many cells, the
    listing that people see instead of a row for each cell. `both`: whether people, like programs, see numbers by the definition
    as well."""

    name: str
    title: str
    of: str
    cells: tuple[Cell, ...]
    reasons: Mapping[Cause, Reason]
    notes: tuple[str, ...] = ()
    wide: Listing | None = None
    both: bool = True


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A published experiment, run again. `parts`: tables in the order in which people read them. `result`: by the appendix, if
    there are two ways of counting. `files`: the files that we read. `project`: the files of a project that scores it, by name."""

    name: str
    title: str
    remarks: tuple[str, ...]
    parts: tuple[Compared | Listing, ...]
    result: Result
    figures: tuple[Figure, ...]
    files: tuple[Path, ...]
    project: Mapping[str, str] = field(default_factory=dict)

    @property
    def compared(self) -> tuple[Compared, ...]:
        return tuple(part for part in self.parts if isinstance(part, Compared))

    @property
    def cells(self) -> tuple[tuple[Compared, Cell], ...]:
        return tuple((table, cell) for table in self.compared for cell in table.cells)

    @property
    def causes(self) -> Counter[Cause]:
        return Counter(cell.cause for _, cell in self.cells)


def cell(
    row: str,
    measure: str,
    published: Printed,
    ours: float | int | None,
    cause: Cause,
    kind: CellKind = CellKind.SCORE,
    by_definition: float | int | None = None,
) -> Cell:
    """`cause`: the class of the difference, if there is one."""
    same = ours is not None and agrees(published, ours)
    return Cell(row, measure, published, ours, Cause.SAME if same else cause, kind, by_definition)


def sizes(
    published: Mapping[str, int], ours: Mapping[str, int], cause: Cause, reasons: Mapping[Cause, Reason], *, name: str = "data"
) -> Compared:
    """The size of a data set beside the published one."""
    cells = tuple(cell(what, "number", published[what], ours.get(what), cause, CellKind.COUNT) for what in published)
    return Compared(name, "The data set", "of", cells, reasons)


def used(reasons: Mapping[Cause, Reason], cells: Iterable[Cell]) -> Sequence[tuple[Cause, Reason]]:
    """The reasons that occur in some cell, in the order of the classes."""
    found = {one.cause for one in cells}
    return [(cause, reasons[cause]) for cause in Cause if cause in found and cause in reasons]
