"""Rows and cells that violations name, as listings and as tables for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from rulescore.language.terms import write_value
from rulescore.reporting.listing import Cell, CellKind, Column, Listing, counted
from rulescore.reporting.violations import ViolationTable, typed
from rulescore.scoring.dirt import Dirty, DirtyBy

_TITLES = {
    DirtyBy.ROW: "Rows that break rules",
    DirtyBy.CELL: "Cells in violations",
    DirtyBy.ROWS: "Rows together in violations",
}
_MOST_RULES = 3


def dirt_listing(by: str, places: Sequence[Dirty], total: int, most: int | None) -> Listing:
    """At most `most` rows, cells or groups of rows, each with its violations and the rules that it breaks most often."""
    shown = places[:most]
    cells = by == DirtyBy.CELL
    columns = (
        Column("row", "rows" if by == DirtyBy.ROWS else "row"),
        *((Column("column", "column"), Column("value", "value")) if cells else ()),
        Column("violations", "violations", CellKind.COUNT),
        Column("rules", "rules"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            ", ".join(map(str, place.rows)),
            *((place.column, None if place.value is None else write_value(place.value)) if cells else ()),
            place.total,
            _rules(place),
        )
        for place in shown
    ]
    what = {DirtyBy.ROW: "row", DirtyBy.CELL: "cell", DirtyBy.ROWS: "group of rows"}[DirtyBy(by)]
    whats = counted(len(places), what) if by != DirtyBy.ROWS else f"{len(places):,} different groups of rows"
    notes = [f"{counted(total, 'violation')}, which name {whats}"]
    if by == DirtyBy.ROWS:
        notes.append("rows are named once, whatever their order; each order is a violation of its own")
    if len(shown) < len(places):
        notes.append(f"{len(places) - len(shown):,} more rows are not shown; `--limit N` shows more")
    return Listing("violations", _TITLES[DirtyBy(by)], columns, tuple(rows), notes=tuple(notes))


def _rules(place: Dirty) -> str:
    """The rules that a place breaks, those it breaks most often first."""
    rules = sorted(place.violations, key=lambda rule: -place.violations[rule])
    more = f" and {len(rules) - _MOST_RULES:,} more" if len(rules) > _MOST_RULES else ""
    return ", ".join(rules[:_MOST_RULES]) + more


def dirt_table(by: str, places: Sequence[Dirty], total: int, most: int | None = None) -> ViolationTable:
    """A row for each place and rule. Keys of several columns, and groups of rows, are text."""
    listed = [(place, rule, number) for place in places[:most] for rule, number in place.violations.items()]
    columns: dict[str, Any] = {
        "table": pa.array([", ".join(dict.fromkeys(row.table for row in place.rows)) for place, _, _ in listed], pa.string())
    }
    single = by != DirtyBy.ROWS and all(len(row.key) == 1 for place, _, _ in listed for row in place.rows)
    columns["row"] = (
        typed([place.rows[0].key[0] for place, _, _ in listed])
        if single
        else pa.array([", ".join(map(str, place.rows)) for place, _, _ in listed], pa.string())
    )
    if by == DirtyBy.CELL:
        columns["column"] = pa.array([place.column for place, _, _ in listed], pa.string())
        columns["value"] = typed([place.value for place, _, _ in listed])
    columns["rule"] = pa.array([rule for _, rule, _ in listed], pa.string())
    columns["violations"] = pa.array([number for _, _, number in listed], pa.int64())
    return ViolationTable(pa.table(columns), total)
