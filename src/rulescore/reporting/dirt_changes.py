"""Two data sets side by side: which rules, rows and cells are better or worse in the second."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rulescore.reporting.listing import CellKind, Column, Listing, counted
from rulescore.scoring.dirt import DirtyBy
from rulescore.scoring.dirt_changes import Change, PlaceChange, RuleChange

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
