"""What the commands beside `score` find, as listings."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rulescore.language.terms import write_value
from rulescore.reporting.cells import counted, shown
from rulescore.reporting.listing import Audience, Cell, CellKind, Column, Listing, ListingLayout
from rulescore.reporting.rulefile import shown_probability
from rulescore.reporting.sentences import sentence, shown_margin
from rulescore.reporting.tables import titled, with_types
from rulescore.scoring.results import DataSummary, PredictionCounts, RuleInfo, TableCounts
from rulescore.scoring.violation import Aggregated, ComparedValues, CountedViolations, Violation, Violations
from rulescore.values.keys import key_of, text_of
from rulescore.values.types import Value

if TYPE_CHECKING:
    # Listing rules does not need the engine that these come from.
    from rulescore.scoring.pairs import PairCount
    from rulescore.scoring.tolerances import GridRow, Tolerance

TITLE_COLUMNS = (
    Column("title", "rule", audience=Audience.PEOPLE),
    Column("rule", "rule", audience=Audience.PROGRAMS),
    Column("text", "text", audience=Audience.PROGRAMS),
)


def tolerances_listing(rows: Sequence[GridRow]) -> Listing:
    """What rules that limit a distance would find in the data with other tolerances."""
    columns = (
        Column("rule", "rule"),
        Column("text", "text", audience=Audience.PROGRAMS),
        Column("written", "tolerance", CellKind.VALUE, Audience.PEOPLE),
        Column("tolerance", "tolerance", CellKind.VALUE, Audience.PROGRAMS),
        Column("unit", "unit", audience=Audience.PROGRAMS),
        Column("confirmed", "confirmed", CellKind.COUNT),
        Column("refuted", "refuted", CellKind.COUNT),
        Column("evaluable", "evaluable", CellKind.COUNT),
        Column("rate", "rate", CellKind.RATE),
    )
    cells = tuple(
        (
            row.rule.name,
            row.rule.text,
            _written(row.tolerance),
            row.tolerance.value,
            "percent" if row.tolerance.relative else "absolute",
            row.counts.confirmed,
            row.counts.refuted,
            row.counts.evaluable,
            row.counts.rate,
        )
        for row in rows
    )
    return Listing("tolerances", "Rules over the observed facts, by tolerance", columns, cells)


def violations_listing(found: Violations) -> Listing:
    """For people: a block for each, which begins with a sentence."""
    columns = (
        Column("sentence", "what"),
        Column("rule", "rule"),
        Column("binding", "grounding", CellKind.BINDING),
        Column("answer", "ranked"),
        Column("roles", "as", CellKind.TEXTS),
        Column("body", "body", CellKind.TEXTS),
        Column("head", "head"),
        Column("refuted_by", "refuted by", CellKind.TEXTS),
        Column("compared", "compared", CellKind.TEXTS),
        Column("aggregated", "computed", CellKind.TEXTS),
    )
    rows = tuple(
        (
            sentence(row),
            row.rule,
            {name: _value(one) for name, one in row.binding.items()},
            _ranked(row),
            row.roles,
            row.body,
            row.head,
            row.refuted_by,
            tuple(map(_compared, row.compared)),
            tuple(map(_aggregated, row.aggregated)),
        )
        for row in found.rows
    )
    shown_of = f"{len(rows):,} of {counted(found.total, 'violation')} shown"
    return Listing(
        "violations",
        "Violations",
        columns,
        rows,
        notes=(*_by_model(found), shown_of, *((found.says_nothing,) if found.says_nothing else ())),
        layout=ListingLayout.BLOCKS,
    )


def _by_model(found: Violations) -> Iterator[str]:
    """How many violations each model has, if there are several."""
    totals: dict[str, int] = {}
    for (_, model), n in found.counts.items():
        if model is not None:
            totals[model] = totals.get(model, 0) + n
    if len(totals) > 1:
        yield ", ".join(f"{model} {n:,}" for model, n in totals.items())


def _ranked(row: Violation) -> str | None:
    parts = [] if row.rank is None else [f"rank {row.rank:,}"]
    parts += [] if row.score is None else [f"score {shown(row.score, CellKind.VALUE)}"]
    return ", ".join(parts) or None


def _value(value: object) -> str:
    if isinstance(value, datetime.timedelta):
        return write_value(value)
    try:
        return text_of(key_of(value))  # type: ignore[arg-type]
    except (TypeError, ValueError):  # a column of a rule in SQL may hold anything
        return str(value)


def _compared(one: ComparedValues) -> str:
    mark = "%" if one.percent else ""
    sides = f"{one.text}: {_number(one.left)}{mark} against {_number(one.right)}{mark}"
    return sides if one.margin is None else f"{sides}, {'by' if one.holds else 'missed by'} {shown_margin(one)}"


def _aggregated(one: Aggregated) -> str:
    without = "" if one.before == one.value else f", {_number(one.before)} without the prediction"
    return f"{one.text} = {_number(one.value)}{without}"


def _number(value: Value | None) -> str:
    return shown(value, CellKind.VALUE) if isinstance(value, int | float | None) and not isinstance(value, bool) else _value(value)


def violation_counts_listing(by: str, counts: Sequence[CountedViolations], total: int, most: int | None) -> Listing:
    """The number of violations for each value that they are counted by, at most `most` rows."""
    left_out = len(counts) - len(counts[:most])
    counts = counts[:most]
    predicted = any(one.predictions is not None for one in counts) and by != "prediction"
    columns = [Column(by, by), Column("model", "model"), Column("violations", "violations", CellKind.COUNT)]
    columns += [Column("predictions", "predictions", CellKind.COUNT)] if predicted else []
    columns += [Column("ranked", "ranked")] if by == "prediction" else []
    rows = []
    for one in counts:
        cells: list[Cell] = [_value(one.what), one.model, one.violations]
        cells += [one.predictions] if predicted else []
        rows.append((*cells, *([_counted_rank(one)] if by == "prediction" else [])))
    notes = [counted(total, "violation")]
    notes += [f"{left_out:,} more rows are not shown; `--limit N` shows more"] if left_out else []
    return Listing("violations", f"Violations by {by}", tuple(columns), tuple(rows), notes=tuple(notes))


def _counted_rank(one: CountedViolations) -> str | None:
    parts = [] if one.rank is None else [f"rank {one.rank:,}"]
    return ", ".join([*parts, *([] if one.score is None else [f"score {shown(one.score, CellKind.VALUE)}"])]) or None


def incompatibilities_listing(pairs: Iterable[PairCount]) -> Listing:
    columns = (
        Column("left", "predicate"),
        Column("right", "predicate"),
        Column("together", "together", CellKind.COUNT),
        Column("expected", "expected", CellKind.SCORE),
        Column("chance", "probability of so few", audience=Audience.PEOPLE),
        Column("probability", "probability", CellKind.SCORE, Audience.PROGRAMS),
        Column("surprise", "surprise", CellKind.SCORE, Audience.PROGRAMS),
        Column("left_facts", "facts of the first", CellKind.COUNT),
        Column("right_facts", "facts of the second", CellKind.COUNT),
        Column("tuples", "tuples", CellKind.COUNT, Audience.PROGRAMS),
    )
    rows = tuple(
        (
            pair.left,
            pair.right,
            pair.together,
            pair.expected,
            shown_probability(pair),
            pair.probability,
            pair.surprise,
            pair.left_facts,
            pair.right_facts,
            pair.tuples,
        )
        for pair in pairs
    )
    return Listing("incompatibilities", "Pairs of predicates", columns, rows)


def rules_listing(rules: Iterable[RuleInfo]) -> Listing:
    columns = (
        *TITLE_COLUMNS,
        Column("declared_kind", "declared"),
        Column("weight", "weight", CellKind.WEIGHT),
        Column("description", "description", audience=Audience.PROGRAMS),
        Column("tags", "tags", CellKind.TEXTS),
        Column("confidence", "confidence", CellKind.RATE, Audience.PROGRAMS),
        Column("support", "support", CellKind.COUNT, Audience.PROGRAMS),
        Column("place", "place", audience=Audience.PROGRAMS),
    )
    rows = tuple(
        (
            *title_cells(rule),
            rule.declared_kind,
            rule.weight,
            rule.description,
            rule.tags,
            rule.confidence,
            rule.support,
            rule.place,
        )
        for rule in rules
    )
    return Listing("rules", "Rules", columns, rows, notes=(counted(len(rows), "rule"),))


_CHECKED = (Column("what", "what"), Column("number", "number", CellKind.COUNT))


def rule_files_listing(files: int, rules: int) -> Listing:
    return Listing("check", "Checked", _CHECKED, (("rule files", files), ("rules", rules)))


def check_listing(summary: DataSummary, rules: int, models: Mapping[str, PredictionCounts]) -> Listing:
    rows = (
        ("rules", rules),
        ("models", len(models)),
        ("observed facts", summary.facts),
        ("repeated rows of observed facts", summary.fact_duplicates),
        ("negative facts", summary.negatives),
        ("negative facts that are observed too", summary.negatives_observed),
        ("predicates", summary.predicates),
        ("constants", summary.constants),
        *(row for table in summary.tables for row in _table_rows(table)),
        *(row for model, counts in models.items() for row in _prediction_rows(model, counts)),
    )
    return with_types(Listing("check", "Checked", _CHECKED, rows), summary.tables)


def _table_rows(table: TableCounts) -> tuple[tuple[str, int], ...]:
    return (f"{table.name}: rows", table.rows), (f"{table.name}: hidden targets", table.hidden)


def _prediction_rows(model: str, counts: PredictionCounts) -> Iterator[tuple[str, int]]:
    yield f"{model}: rows", counts.rows
    yield f"{model}: rows kept", counts.kept
    yield f"{model}: predictions", counts.distinct
    yield f"{model}: duplicates", counts.duplicates
    yield f"{model}: already observed", counts.already_observed
    if counts.hidden is not None and counts.covered is not None:
        yield f"{model}: hidden targets", counts.hidden
        yield f"{model}: hidden targets covered", counts.covered


def _written(tolerance: Tolerance) -> Cell:
    return f"{shown(tolerance.value, CellKind.VALUE)}%" if tolerance.relative else tolerance.value


def title_cells(rule: RuleInfo, title: Callable[[RuleInfo], str] = titled) -> tuple[str, str, str]:
    return title(rule), rule.name, rule.text
