"""A comparison as listings for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rulescore.reporting.cells import UNDEFINED, ComparisonTable, counted, of_all, shown
from rulescore.reporting.listing import Cell, CellKind, Column, Listing, ListingLayout
from rulescore.scoring.changes import Change
from rulescore.scoring.comparison import ComparedResults

MOST_ROWS = 20
"""Rules that separate two models, and predictions that changed: so many of each are shown to people."""

MEASURES = {"violating": "violating a hard rule", "hard_score": "RVS hard", "soft_score": "RVS soft"}
_BETWEEN = " to "

Row = Mapping[str, Any]


def comparison_listings(comparison: ComparedResults) -> list[Listing]:
    """What matters: the models, and what distinguishes them; if there are no differences, the rules of the models."""
    told_apart = len(comparison.differences) > 0
    shown = [ComparisonTable.DIFFERENCES, ComparisonTable.RULE_DIFFERENCES] if told_apart else [ComparisonTable.RULES]
    tables = [ComparisonTable.MODELS, *shown, *([ComparisonTable.CHANGES] if comparison.two_runs else [])]
    return [listing for table in tables for listing in table_listings(comparison, table)]


def table_listings(comparison: ComparedResults, table: ComparisonTable) -> list[Listing]:
    """One table; if it is of pairs or of models, a listing for each."""
    rows: list[Row] = getattr(comparison, table).to_pylist()
    match table:
        case ComparisonTable.MODELS:
            return [_models(comparison)]
        case ComparisonTable.DIFFERENCES:
            return [_differences(rows)]
        case ComparisonTable.RULES:
            models = dict.fromkeys((row["run"], row["model"]) for row in rows)
            return [_rules_alone([row for row in rows if (row["run"], row["model"]) == one], one) for one in models]
        case ComparisonTable.RULE_DIFFERENCES:
            found = [_rules([row for row in rows if _pair(row) == pair], pair) for pair in pairs_of(comparison)]
            changed = [row for row in rows if row["change"] == Change.CHANGED]
            return [*found, *([_changed_rules(changed)] if changed else [])]
        case ComparisonTable.CHANGES:
            return [_changes([row for row in rows if _pair(row) == pair], pair) for pair in pairs_of(comparison)]


def pairs_of(comparison: ComparedResults) -> list[tuple[str, str]]:
    """The names of models that are compared with each other."""
    return list(dict.fromkeys(map(_pair, comparison.differences.to_pylist())))


def _pair(row: Row) -> tuple[str, str]:
    return row["first"], row["second"]


def _models(comparison: ComparedResults) -> Listing:
    rows: dict[tuple[str | None, str], dict[str, Row]] = {}
    for row in comparison.models.to_pylist():
        rows.setdefault((row["run"], row["model"]), {})[row["measure"]] = row
    columns = (
        *([Column("run", "run")] if comparison.two_runs else []),
        Column("model", "model"),
        Column("violating", "violating a hard rule", CellKind.COUNT),
        *(Column(measure, heading, CellKind.COUNT) for measure, heading in (MEASURES | {"violating": "share"}).items()),
    )
    cells = tuple(
        (
            *([run] if comparison.two_runs else []),
            model,
            _of_all(found["violating"]),
            *(with_interval(found[measure], "value", _kind(measure)) for measure in MEASURES),
        )
        for (run, model), found in rows.items()
    )
    reasons = _reasons((MEASURES[row["measure"]], row["reason"]) for row in comparison.models.to_pylist())
    return Listing("models", "Models, with intervals", columns, cells, notes=(comparison.method, *reasons))


def _of_all(row: Row) -> Cell:
    return None if row["violating"] is None or row["value"] is None else of_all(row["violating"], row["predictions"])


def _kind(measure: str) -> CellKind:
    return CellKind.RATE if measure == "violating" else CellKind.SCORE


def with_interval(row: Row, name: str, kind: CellKind) -> Cell:
    """1.00 (0.52 to 1.73); without the bracket if there is no interval."""
    value = row[name]
    if value is None:
        return None
    prefix = "" if name == "value" else f"{name}_"
    low, high = row[f"{prefix}low"], row[f"{prefix}high"]
    return shown(value, kind) if low is None else f"{shown(value, kind)} ({shown(low, kind)}{_BETWEEN}{shown(high, kind)})"


def _reasons(found: Iterable[tuple[str, str | None]]) -> list[str]:
    """Why numbers have no interval: each reason once."""
    reasons: Counter[tuple[str, str]] = Counter((what, why) for what, why in found if why is not None)
    return [f"{what}, no interval for {counted(number, 'model')}: {why}" for (what, why), number in reasons.items()]


def _differences(rows: Sequence[Row]) -> Listing:
    columns = (
        Column("first", "first"),
        Column("second", "second"),
        Column("measure", "of"),
        Column("difference", "first less second", CellKind.COUNT),
        Column("better", "better"),
    )
    cells = tuple(
        (
            row["first"],
            row["second"],
            MEASURES[row["measure"]],
            with_interval(row, "difference", _kind(row["measure"])),
            _better(row),
        )
        for row in rows
    )
    notes = ("a model is called better if the interval of the difference does not hold 0; less is better",)
    return Listing("differences", "Differences", columns, cells, notes=notes)


def _better(row: Row) -> str:
    if row["difference_low"] is None:
        return UNDEFINED
    return "not told apart" if row["better"] is None else str(row[row["better"]])


def _rules_alone(rows: Sequence[Row], name: tuple[str | None, str]) -> Listing:
    """The rules of a model without differences: those that it breaks most often."""
    columns = (
        Column("rule", "rule"),
        Column("kind", "kind"),
        Column("refuted", "refuted", CellKind.COUNT),
        Column("rate", "share", CellKind.COUNT),
        Column("score", "score", CellKind.COUNT),
    )
    ordered = sorted(rows, key=lambda row: -row["refuted"])
    cells = tuple(
        (
            row["rule"],
            row["kind"],
            of_all(row["refuted"], row["evaluable"]),
            with_interval(row, "rate", CellKind.RATE),
            with_interval(row, "score", CellKind.SCORE),
        )
        for row in ordered[:MOST_ROWS]
    )
    more = len(rows) - MOST_ROWS
    notes = [f"{more:,} more rules: `--format csv --table rules`"] if more > 0 else []
    return Listing("rules", f"Rules of {': '.join(filter(None, name))}, with intervals", columns, cells, notes=tuple(notes))


def _rules(rows: Sequence[Row], pair: tuple[str, str]) -> Listing:
    first, second = pair
    columns = (
        Column("rule", "rule"),
        Column("kind", "kind"),
        Column("first_refuted", "refuted by first", CellKind.COUNT),
        Column("second_refuted", "by second", CellKind.COUNT),
        Column("only_first", "by first alone", CellKind.COUNT),
        Column("only_second", "by second alone", CellKind.COUNT),
        Column("difference", "score, first less second", CellKind.COUNT),
        Column("better", "better"),
    )
    compared = [row for row in rows if row["change"] != Change.CHANGED]
    telling = [row for row in compared if row["first_refuted"] or row["second_refuted"]]
    cells = tuple(
        (
            row["rule"],
            row["kind"],
            row["first_refuted"],
            row["second_refuted"],
            row["only_first"],
            row["only_second"],
            with_interval(row, "difference", CellKind.SCORE),
            _better(row),
        )
        for row in telling[:MOST_ROWS]
    )
    notes = [f"first: {first}; second: {second}; alone: predictions that break the rule under the one and not under the other"]
    if len(telling) > MOST_ROWS:
        notes.append(
            f"{len(telling) - MOST_ROWS:,} more rules are broken by one or the other: `--format csv --table rule_differences`"
        )
    if len(compared) > len(telling):
        notes.append(f"{counted(len(compared) - len(telling), 'rule')} that neither breaks")
    if len(rows) > len(compared):
        notes.append(f"{counted(len(rows) - len(compared), 'rule')} whose text has changed: not compared")
    if len(rows) >= MOST_ROWS:
        notes.append(f"each interval stands for itself: of {len(rows):,} rules some are told apart by chance alone")
    return Listing("rule_differences", f"Rules that separate {first} and {second} most", columns, cells, notes=tuple(notes))


def _changed_rules(rows: Sequence[Row]) -> Listing:
    """Each changed rule once, with its text before and after."""
    columns = (Column("rule", "rule"), Column("first_text", "before"), Column("second_text", "after"))
    cells = tuple(dict.fromkeys((row["rule"], row["first_text"], row["second_text"]) for row in rows))
    notes = ("their violations in the one result say nothing about those in the other",)
    return Listing("changed_rules", "Rules whose text has changed", columns, cells, notes=notes, layout=ListingLayout.BLOCKS)


def _changes(rows: Sequence[Row], pair: tuple[str, str]) -> Listing:
    columns = (
        Column("change", "change"),
        Column("rule", "rule"),
        Column("prediction", "prediction"),
        Column("first_refuted", "refuted before", CellKind.COUNT),
        Column("second_refuted", "after", CellKind.COUNT),
    )
    cells = tuple(
        (
            row["change"],
            row["rule"],
            f"{row['predicate']}({', '.join(row['arguments'])})",
            row["first_refuted"],
            row["second_refuted"],
        )
        for row in rows[:MOST_ROWS]
    )
    number = Counter(row["change"] for row in rows)
    summary = ", ".join(f"{number[change.value]:,} {change.value}" for change in Change if number[change.value])
    notes = [f"violations of predictions: {summary or 'none has changed'}"]
    if len(rows) > MOST_ROWS:
        notes.append(f"{len(rows) - MOST_ROWS:,} more: `--format csv --table changes`")
    return Listing("changes", f"From {pair[0]} to {pair[1]}", columns, cells, notes=tuple(notes))
