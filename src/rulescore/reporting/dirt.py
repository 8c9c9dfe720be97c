"""Rows and cells that violations name, as listings and as tables for programs; and two data sets side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from rulescore.language.terms import write_value
from rulescore.reporting.listing import Audience, CellKind, Column, Filled, Listing, counted, filled
from rulescore.reporting.violations import ViolationTable, typed
from rulescore.scoring.dirt import Change, Dirty, DirtyBy, PlaceChange, RuleChange

_TITLES = {
    DirtyBy.ROW: "Rows that break rules",
    DirtyBy.CELL: "Cells in violations",
    DirtyBy.ROWS: "Rows together in violations",
}
_MOST_RULES = 3


def dirt_listing(by: str, places: Sequence[Dirty], total: int, most: int | None) -> Listing:
    """At most `most` rows, cells or groups of rows, each with its violations and the rules that it breaks most often."""
    shown = places[:most]
    cell: tuple[Filled[Dirty], ...] = (
        (Column("column", "column"), lambda place: place.column),
        (Column("value", "value"), lambda place: None if place.value is None else write_value(place.value)),
    )
    columns, rows = filled(
        shown,
        (Column("row", "rows" if by == DirtyBy.ROWS else "row"), lambda place: ", ".join(map(str, place.rows))),
        *(cell if by == DirtyBy.CELL else ()),
        (Column("violations", "violations", CellKind.COUNT), lambda place: place.total),
        (Column("rules", "rules"), _rules),
    )
    what = {DirtyBy.ROW: "row", DirtyBy.CELL: "cell", DirtyBy.ROWS: "group of rows"}[DirtyBy(by)]
    whats = counted(len(places), what) if by != DirtyBy.ROWS else f"{len(places):,} different groups of rows"
    notes = [f"{counted(total, 'violation')}, which name {whats}"]
    if by == DirtyBy.ROWS:
        notes.append("each set of rows is listed once, but each order of its rows is a violation")
    if total and not places:
        notes.append("a rule in SQL says of no row that it breaks the rule; without `--by`, you see what its statement found")
    if len(shown) < len(places):
        notes.append(f"{len(places) - len(shown):,} more rows are not shown; `--limit N` shows more")
    return Listing("violations", _TITLES[DirtyBy(by)], columns, rows, notes=tuple(notes))


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


# Lists the rules, rows and cells that are better or worse in the second of two data sets.


_NOUNS = {DirtyBy.ROW: "row", DirtyBy.CELL: "cell"}
_WORDS = (
    "refuted: cases of the rule that the data break, so violations; fixed: violations that are gone; new: violations that the same "
    "rows did not have"
)
_ORDER = (Change.NEW, Change.WORSE, Change.BETTER, Change.FIXED, Change.SAME)


def rule_changes_listing(
    rules: Sequence[RuleChange], places: Mapping[DirtyBy, Sequence[PlaceChange]], limit: int | None
) -> Listing:
    """Rules that the second data set breaks more often come first."""
    ordered = sorted(rules, key=lambda rule: (_ORDER.index(rule.change), -abs(rule.after.refuted - rule.before.refuted)))
    columns, rows = filled(
        ordered[:limit],
        (Column("rule", "rule"), lambda rule: rule.rule),
        (Column("change", "change"), lambda rule: rule.change.value),
        (Column("refuted_before", "refuted", CellKind.COUNT), lambda rule: rule.before.refuted),
        (Column("refuted_after", "then", CellKind.COUNT), lambda rule: rule.after.refuted),
        (Column("rate_before", "rate", CellKind.RATE), lambda rule: rule.before.rate),
        (Column("rate_after", "then", CellKind.RATE), lambda rule: rule.after.rate),
        (Column("fixed", "fixed", CellKind.COUNT), lambda rule: rule.fixed),
        (Column("new", "new", CellKind.COUNT), lambda rule: rule.new),
        (Column("text", "text", CellKind.CODE, Audience.PEOPLE), lambda rule: rule.text),
    )
    before, after = sum(rule.before.refuted for rule in rules), sum(rule.after.refuted for rule in rules)
    notes = [_WORDS, _told("rule", [rule.change for rule in rules])]
    notes += [_told(_NOUNS[by], [place.change for place in changes]) for by, changes in places.items()]
    lead = (f"The data have {counted(before, 'violation')} of these rules, the data of `--against` {after:,}.",)
    return Listing("changes", "The data, then the data of `--against`", columns, rows, notes=tuple(notes), lead=lead)


def _told(noun: str, changes: Sequence[Change]) -> str:
    """How many fared how, in words: 17 rows: 3 new, 14 fixed."""
    numbers = Counter(changes)
    parts = [f"{numbers[change]:,} {change}" for change in _ORDER if numbers[change]]
    what = counted(len(changes), noun) + ("" if noun == "rule" else " in violations")
    return f"{what}: {', '.join(parts) or 'none'}"


def place_changes_listing(by: str, changes: Sequence[PlaceChange], limit: int | None) -> Listing:
    """Rows or cells whose violations changed, and how; those that have as many as before are counted only."""
    changed = [place for place in changes if place.change is not Change.SAME]
    column: Filled[PlaceChange] = (Column("column", "column"), lambda place: place.place[1])
    columns, rows = filled(
        changed[:limit],
        (Column("row", "row"), lambda place: ", ".join(map(str, place.place[0]))),
        *([column] if by == DirtyBy.CELL else ()),
        (Column("change", "change"), lambda place: place.change.value),
        (Column("before", "violations", CellKind.COUNT), lambda place: place.before),
        (Column("after", "then", CellKind.COUNT), lambda place: place.after),
    )
    notes = [_told(_NOUNS[DirtyBy(by)], [place.change for place in changes])]
    if limit is not None and len(changed) > limit:
        notes.append(f"{len(changed) - limit:,} more rows are not shown; `--limit N` shows more")
    title = f"{_NOUNS[DirtyBy(by)].capitalize()}s in violations: the data, then the data of `--against`"
    return Listing("changes", title, columns, rows, notes=tuple(notes))
