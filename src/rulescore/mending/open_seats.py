"""Counts a seat some of whose ways hold for every value of an argument. The result is rows that add up.

Ways overlap: one may hold for all values, another for some of them, and a grounding counts once. We cut the candidates into
*cells*: all values, one value of one argument, both arguments alike, single points. Every cell gets a difference, and a
candidate's count is the sum of the differences of its cells.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

Cell = tuple[int | None, ...]
"""The value of each class, None where any will do."""

Triple = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Holds:
    """A way that holds in a cell, and confirms the head or refutes it; with `unless`, it refutes what nothing confirms.

    A way that `vetoes` does neither. At a point where it holds, no other way of its `refutation` refutes.

    `excluded`: classes, and values that they must not have. `unlike`: the two classes must differ. `alike`: they must be the same.
    """

    cell: Cell
    confirmed: bool
    excluded: frozenset[tuple[int, int]] = frozenset()
    unlike: bool = False
    alike: bool = False
    unless: bool = False
    refutation: int | None = None
    vetoes: bool = False

    def at(self, point: Cell) -> bool:
        if any(mine is not None and mine != theirs for mine, theirs in zip(self.cell, point, strict=True)):
            return False
        if any(point[place] == value for place, value in self.excluded):
            return False
        same = len(point) == 2 and point[0] == point[1]
        return not (self.unlike and same) and not (self.alike and not same)


@dataclass(slots=True)
class _Cells:
    """The ways of one grounding of the rest of the body, by how many values they have."""

    everywhere: list[Holds] = field(default_factory=list)
    lines: dict[tuple[int, int], list[Holds]] = field(default_factory=dict)
    diagonal: list[Holds] = field(default_factory=list)
    points: dict[Cell, list[Holds]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Difference:
    """What a cell adds to the counts of its candidates. `alike`: it is the cell of all candidates whose classes are the same."""

    cell: Cell
    counts: Triple
    alike: bool = False


def differences(ways: Iterable[Holds], width: int) -> list[Difference]:
    """The cells of one grounding of the rest of the body with `width` open classes, at most two."""
    cells = _Cells()
    for way in ways:
        fixed = [(place, value) for place, value in enumerate(way.cell) if value is not None]
        if len(fixed) == width:
            cells.points.setdefault(way.cell, []).append(way)
        elif way.alike:
            cells.diagonal.append(way)
        elif fixed:
            cells.lines.setdefault(fixed[0], []).append(way)
        else:
            cells.everywhere.append(way)
    _add_borders(cells, width)
    return [difference for difference in _differences(cells, width) if any(difference.counts)]


def _add_borders(cells: _Cells, width: int) -> None:
    """Make cells of the values that a way leaves out, and of the intersections of cells. Then every way holds in a whole cell or
    nowhere in it."""
    for way in (*cells.everywhere, *cells.diagonal):
        for place, value in way.excluded:
            if width == 1 or way.alike:
                cells.points.setdefault((value,) * width, [])
            else:
                cells.lines.setdefault((place, value), [])
    has_diagonal = bool(cells.diagonal) or any(way.unlike for way in cells.everywhere)
    if width < 2:
        return
    for (place, value), ways in list(cells.lines.items()):
        for way in ways:
            for other, excluded in way.excluded:
                if other != place:
                    cells.points.setdefault(_point(place, value, excluded), [])
        if has_diagonal or any(way.unlike for way in ways):
            cells.points.setdefault((value, value), [])
    first = [value for place, value in cells.lines if place == 0]
    second = [value for place, value in cells.lines if place == 1]
    for left in first:
        for right in second:
            cells.points.setdefault((left, right), [])
    if has_diagonal and not cells.diagonal:
        cells.diagonal.append(Holds((None, None), confirmed=True, alike=True, unlike=True))  # holds nowhere


def _point(place: int, value: int, other: int) -> Cell:
    return (value, other) if place == 0 else (other, value)


_FRESH = -1, -2  # no constant has these numbers: they stand for candidates known only by their cell


def _differences(cells: _Cells, width: int) -> list[Difference]:
    every_difference: list[Difference] = []
    everywhere = (0, 0, 0)
    if cells.everywhere:
        everywhere = _counts(cells.everywhere, _FRESH[:width])
        every_difference.append(Difference((None,) * width, everywhere))
    diagonal = (0, 0, 0)
    if cells.diagonal:
        ways = [*cells.everywhere, *cells.diagonal]
        diagonal = _less(_counts(ways, (_FRESH[0],) * width), everywhere)
        every_difference.append(Difference((None,) * width, diagonal, alike=True))
    lines: dict[tuple[int, int], Triple] = {}
    for (place, value), ways in cells.lines.items():
        lines[place, value] = _less(_counts([*cells.everywhere, *ways], _point(place, value, _FRESH[0])), everywhere)
        every_difference.append(Difference(tuple(value if i == place else None for i in range(width)), lines[place, value]))
    for point, ways in cells.points.items():
        whole = [*cells.everywhere, *ways]
        before = everywhere
        for line in enumerate(point):
            if line in lines:
                whole += cells.lines[line]
                before = _plus(before, lines[line])
        if cells.diagonal and len(set(point)) == 1:
            whole += cells.diagonal
            before = _plus(before, diagonal)
        every_difference.append(Difference(point, _less(_counts(whole, point), before)))
    return every_difference


def _counts(ways: Iterable[Holds], point: Cell) -> Triple:
    holding = [way for way in ways if way.at(point)]
    confirmed = any(way.confirmed for way in holding)
    vetoed = {way.refutation for way in holding if way.vetoes}
    refuting = (way for way in holding if not way.confirmed and way.refutation not in vetoed)
    refuted = any(not (way.unless and confirmed) for way in refuting)
    return int(confirmed), int(refuted), int(confirmed or refuted)


def _less(left: Triple, right: Triple) -> Triple:
    return left[0] - right[0], left[1] - right[1], left[2] - right[2]


def _plus(left: Triple, right: Triple) -> Triple:
    return left[0] + right[0], left[1] + right[1], left[2] + right[2]
