"""Rows and cells that violations name, as listings and as tables for programs; and two data sets side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from rulescore.language.terms import write_value
from rulescore.reporting.listing import Cell, CellKind, Column, Listing, counted
from rulescore.reporting.violations import ViolationTable, typed
from rulescore.scoring.dirt import Dirty, DirtyBy
from rulescore.scoring.dirt_changes import Change, PlaceChange, RuleChange

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


# Which rules, rows and cells are better or worse in the second of two data sets.


_NOUNS = {DirtyBy.ROW: "row", DirtyBy.CELL: "cell"}
_ORDER = (Change.NEW, Change.WORSE, Change.BETTER, Change.FIXED, Change.SAME)


def rule_changes_listing(
    rules: Sequence[RuleChange], places: Mapping[DirtyBy, Sequence[PlaceChange]], limit: int | None
) -> Listing:
    """Rules that the second data set breaks more often come first."""
    columns = (
        Column("rule", "rule"),
        Column("change", "change"),
        Column("refuted_before", "refuted", CellKind.COUNT),
        Column("refuted_after", "then", CellKind.COUNT),
        Column("rate_before", "rate", CellKind.RATE),
        Column("rate_after", "then", CellKind.RATE),
        Column("fixed", "fixed", CellKind.COUNT),
        Column("new", "new", CellKind.COUNT),
    )
    ordered = sorted(rules, key=lambda rule: (_ORDER.index(rule.change), -abs(rule.after.refuted - rule.before.refuted)))
    rows = tuple(
        (
            rule.rule,
            rule.change.value,
            rule.before.refuted,
            rule.after.refuted,
            rule.before.rate,
            rule.after.rate,
            rule.fixed,
            rule.new,
        )
        for rule in ordered[:limit]
    )
    notes = [_told("rule", [rule.change for rule in rules])]
    notes += [_told(_NOUNS[by], [place.change for place in changes]) for by, changes in places.items()]
    return Listing("changes", "The data, then the data of `--against`", columns, rows, notes=tuple(notes))


def _told(noun: str, changes: Sequence[Change]) -> str:
    """How many fared how, in words: 17 rows: 3 new, 14 fixed."""
    numbers = Counter(changes)
    parts = [f"{numbers[change]:,} {change}" for change in _ORDER if numbers[change]]
    what = counted(len(changes), noun) + ("" if noun == "rule" else " in violations")
    return f"{what}: {', '.join(parts) or 'none'}"


def place_changes_listing(by: str, changes: Sequence[PlaceChange], limit: int | None) -> Listing:
    """Rows or cells whose violations changed, and how; those that have as many as before are counted only."""
    changed = [place for place in changes if place.change is not Change.SAME]
    columns = (
        Column("row", "row"),
        *([Column("column", "column")] if by == DirtyBy.CELL else []),
        Column("change", "change"),
        Column("before", "violations", CellKind.COUNT),
        Column("after", "then", CellKind.COUNT),
    )
    rows = tuple(
        (
            ", ".join(map(str, place.place[0])),
            *([place.place[1]] if by == DirtyBy.CELL else []),
            place.change.value,
            place.before,
            place.after,
        )
        for place in changed[:limit]
    )
    notes = [_told(_NOUNS[DirtyBy(by)], [place.change for place in changes])]
    if limit is not None and len(changed) > limit:
        notes.append(f"{len(changed) - limit:,} more rows are not shown; `--limit N` shows more")
    title = f"{_NOUNS[DirtyBy(by)].capitalize()}s in violations: the data, then the data of `--against`"
    return Listing("changes", title, columns, rows, notes=tuple(notes))
