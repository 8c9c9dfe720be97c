"""Which rows and cells of tables violations name, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from rulescore.language.terms import write_value
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
