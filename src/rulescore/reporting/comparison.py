"""A comparison as listings for people, and its tables for programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

import pyarrow as pa

from rulescore.reporting.cells import UNDEFINED, counted, of_all, shown
from rulescore.reporting.csv import render_table_csv
from rulescore.reporting.format import Format
from rulescore.reporting.json import PROGRAM, VERSION
from rulescore.reporting.latex import render_latex
from rulescore.reporting.listing import Cell, CellKind, Column, Layout, Listing
from rulescore.reporting.markdown import render_markdown
from rulescore.reporting.terminal import Appearance, render_terminal
from rulescore.scoring.changes import Change
from rulescore.scoring.comparison import Comparison

MOST_ROWS = 20
"""Rules that separate two models, and predictions that changed: so many of each are shown to people."""

_MEASURES = {"violating": "share violating a hard rule", "hard_score": "hard score", "soft_score": "soft score"}
_PLAIN = Appearance()
_BETWEEN = " to "

Row = Mapping[str, Any]


class ComparisonTable(StrEnum):
    MODELS = "models"
    DIFFERENCES = "differences"
    RULES = "rules"
    RULE_DIFFERENCES = "rule_differences"
    CHANGES = "changes"


def render_comparison(
    comparison: Comparison,
    form: Format,
    table: ComparisonTable | None = None,
    *,
    appearance: Appearance = _PLAIN,
) -> str:
    """JSON has all tables, CSV the one that is chosen, and people see what matters of them. If none is chosen, it is that of the
    differences or, of a model alone, that of models."""
    match form:
        case Format.JSON:
            return _json(comparison)
        case Format.CSV:
            return render_table_csv(_flat(getattr(comparison, table or _table_of(comparison))))
        case Format.TABLE:
            return render_terminal(comparison_listings(comparison), appearance)
        case Format.MARKDOWN:
            return "\n".join(map(render_markdown, comparison_listings(comparison)))
        case Format.LATEX:
            return "\n".join(map(render_latex, comparison_listings(comparison)))


def _table_of(comparison: Comparison) -> ComparisonTable:
    return ComparisonTable.DIFFERENCES if len(comparison.differences) else ComparisonTable.MODELS


def _json(comparison: Comparison) -> str:
    document = {
        "program": PROGRAM,
        "version": VERSION,
        "listing": "comparison",
        "method": comparison.method,
        "level": comparison.level,
        "draws": comparison.draws,
        "seed": comparison.seed,
        **{table.value: getattr(comparison, table).to_pylist() for table in ComparisonTable},
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _flat(table: Any) -> Any:
    """Arguments one after the other, as the other listings write several texts."""
    if "arguments" not in table.column_names:
        return table
    place = table.column_names.index("arguments")
    texts = ["; ".join(words) for words in table["arguments"].to_pylist()]
    return table.set_column(place, "arguments", pa.array(texts, pa.string()))


def comparison_listings(comparison: Comparison) -> list[Listing]:
    differences = comparison.differences.to_pylist()
    rules = comparison.rule_differences.to_pylist()
    pairs = list(dict.fromkeys((row["first"], row["second"]) for row in differences))
    found = [_models(comparison)]
    if not pairs:
        alone = comparison.rules.to_pylist()
        names = dict.fromkeys((row["run"], row["model"]) for row in alone)
        found += [_rules_alone([row for row in alone if (row["run"], row["model"]) == name], name) for name in names]
    else:
        found.append(_differences(differences))
    for pair in pairs:
        found.append(_rules([row for row in rules if (row["first"], row["second"]) == pair], pair))
    if any(row["change"] == Change.CHANGED for row in rules):
        found.append(_changed_rules(rules))
    if comparison.two_runs:
        changes = comparison.changes.to_pylist()
        found += [_changes([row for row in changes if (row["first"], row["second"]) == pair], pair) for pair in pairs]
    return found


def _models(comparison: Comparison) -> Listing:
    rows: dict[tuple[str | None, str], dict[str, Row]] = {}
    for row in comparison.models.to_pylist():
        rows.setdefault((row["run"], row["model"]), {})[row["measure"]] = row
    columns = (
        *([Column("run", "run")] if comparison.two_runs else []),
        Column("model", "model"),
        Column("violating", "violating a hard rule", CellKind.COUNT),
        *(Column(measure, heading, CellKind.COUNT) for measure, heading in _MEASURES.items()),
    )
    cells = tuple(
        (
            *([run] if comparison.two_runs else []),
            model,
            _of_all(found["violating"]),
            *(_with_interval(found[measure], "value", _kind(measure)) for measure in _MEASURES),
        )
        for (run, model), found in rows.items()
    )
    reasons = _reasons((_MEASURES[row["measure"]], row["reason"]) for row in comparison.models.to_pylist())
    return Listing("models", "Models, with intervals", columns, cells, notes=(comparison.method, *reasons))


def _of_all(row: Row) -> Cell:
    return None if row["violating"] is None else of_all(row["violating"], row["predictions"])


def _kind(measure: str) -> CellKind:
    return CellKind.RATE if measure == "violating" else CellKind.SCORE


def _with_interval(row: Row, name: str, kind: CellKind) -> Cell:
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
            _MEASURES[row["measure"]],
            _with_interval(row, "difference", _kind(row["measure"])),
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
    """Of a model that is compared with none: those that it breaks most often."""
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
            _with_interval(row, "rate", CellKind.RATE),
            _with_interval(row, "score", CellKind.SCORE),
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
        Column("first_refuted", f"refuted by {first}", CellKind.COUNT),
        Column("second_refuted", f"by {second}", CellKind.COUNT),
        Column("only_first", f"predictions of {first} alone", CellKind.COUNT),
        Column("only_second", f"of {second} alone", CellKind.COUNT),
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
            _with_interval(row, "difference", CellKind.SCORE),
            _better(row),
        )
        for row in telling[:MOST_ROWS]
    )
    notes = []
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
    """Each once, with what it was and what it is."""
    columns = (Column("rule", "rule"), Column("first_text", "before"), Column("second_text", "after"))
    changed = [row for row in rows if row["change"] == Change.CHANGED]
    cells = tuple(dict.fromkeys((row["rule"], row["first_text"], row["second_text"]) for row in changed))
    notes = ("their violations in the one result say nothing about those in the other",)
    return Listing("changed_rules", "Rules whose text has changed", columns, cells, notes=notes, layout=Layout.BLOCKS)


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
