"""Listings of the findings of all commands other than `score`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import pyarrow as pa

from rulescore.reporting.audit import shown_probability
from rulescore.reporting.listing import (
    Audience,
    Cell,
    CellKind,
    Column,
    Filled,
    Format,
    Listing,
    ListingLayout,
    counted,
    filled,
    shown,
)
from rulescore.reporting.tables import count_columns, titled, with_types
from rulescore.reporting.violations import ViolationTable, confirmation_table, sentence, shown_margin, value_text, violation_table
from rulescore.scoring.curve import CurveOver, CurvePoint
from rulescore.scoring.evaluation import pandas_frame, polars_frame
from rulescore.scoring.pairs import PairCount
from rulescore.scoring.results import DataSummary, GridRow, PredictionCounts, RuleInfo, TableCounts, Tolerance
from rulescore.scoring.violation import Aggregated, ComparedValues, CountedViolations, Explained, Violation, Violations
from rulescore.values import Value

_FOR_PROGRAMS = frozenset({Format.CSV, Format.JSON})
_LEADING = (1, 2, 5)


def curve_listing(points: Sequence[CurvePoint], over: CurveOver, form: Format) -> Listing:
    """One row for each cut and model. People see a few cuts of a long curve: 1, 2, 5, 10 and so on, and the last; programs see
    all."""
    by_rank = over is CurveOver.RANK
    shown = points if form in _FOR_PROGRAMS or not by_rank else _few(points)
    notes = ["k: the best k answers of each query count" if by_rank else "threshold: answers with that score or more count"]
    if len(shown) < len(points):
        notes.append(f"{len(shown):,} of {len(points):,} rows; `--format csv` has all of them")
    cut = Column("k", "k", CellKind.COUNT) if by_rank else Column("threshold", "threshold", CellKind.VALUE)
    columns, rows = filled(
        shown,
        (cut, lambda point: point.at),
        (Column("model", "model"), lambda point: point.model),
        (Column("violating", "violating", CellKind.COUNT), lambda point: point.violating),
        (Column("evaluable", "evaluable", CellKind.COUNT), lambda point: point.evaluable),
        (Column("hard_score", "RVS hard", CellKind.SCORE), lambda point: point.hard),
        (Column("soft_score", "RVS soft", CellKind.SCORE), lambda point: point.soft),
    )
    return Listing("curve", "Scores by number of answers" if by_rank else "Scores by threshold", columns, rows, notes=tuple(notes))


def _few(points: Sequence[CurvePoint]) -> list[CurvePoint]:
    last = max((int(point.at) for point in points), default=0)
    cuts = {*_series(last), last}
    return [point for point in points if point.at in cuts]


def _series(last: int) -> Iterable[int]:
    size = 1
    while size <= last:
        yield from (size * lead for lead in _LEADING)
        size *= 10


_MOST_SENTENCES = 10


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """`breaks`: the rules of which it violates some grounding; `meets`: the rules with evaluable groundings of it and no violation;
    `never_touches`: all others. `violations` and `confirmations`: the rows behind the first and the second, at most 1,000 of each;
    their `total` counts all. `table`: every rule with its counts."""

    prediction: str
    models: tuple[str, ...]
    breaks: tuple[str, ...]
    meets: tuple[str, ...]
    never_touches: tuple[str, ...]
    violations: ViolationTable
    confirmations: ViolationTable
    table: Any

    def to_pandas(self) -> Any:
        """Every rule with its counts, as a pandas frame."""
        return pandas_frame(self.table)

    def to_polars(self) -> Any:
        return polars_frame(self.table)

    def __repr__(self) -> str:
        parts = {"breaks": self.breaks, "meets": self.meets, "never touches": self.never_touches}
        return f"<{self.prediction}: {', '.join(f'{what} {len(rules):,}' for what, rules in parts.items())} rules>"

    def __str__(self) -> str:
        lines = [f"{self.prediction}, predicted by {', '.join(self.models)}"]
        lines += [f"breaks {', '.join(self.breaks)}", *_first_sentences(self.violations)] if self.breaks else ["breaks no rule"]
        lines += [f"meets {', '.join(self.meets)}", *_first_sentences(self.confirmations)] if self.meets else []
        return "\n".join([*lines, f"never touches {counted(len(self.never_touches), 'rule')}"])


def _first_sentences(table: ViolationTable) -> list[str]:
    """The first sentences, each once, and the number of groundings with other sentences."""
    sentences = Counter(table.table["sentence"].to_pylist())
    first = list(sentences)[:_MOST_SENTENCES]
    more = table.total - sum(sentences[sentence] for sentence in first)
    return [f"  {sentence}" for sentence in first] + ([f"  … and {more:,} more"] if more else [])


def explanation(explained: Explained, rules: list[str]) -> Explanation:
    """`rules`: the names of all, in their order."""
    counts = [explained.counts.get(rule, (0, 0, 0)) for rule in rules]
    effects = ["breaks" if v else "meets" if e else "never touches" for _, v, e in counts]
    table = {"rule": pa.array(rules, pa.string()), "effect": pa.array(effects, pa.string())}
    for index, name in enumerate(("confirmed", "refuted", "evaluable")):
        table[name] = pa.array([count[index] for count in counts], pa.int64())

    def those(effect: str) -> tuple[str, ...]:
        return tuple(rule for rule, effect_here in zip(rules, effects, strict=True) if effect_here == effect)

    return Explanation(
        prediction=str(explained.prediction),
        models=explained.models,
        breaks=those("breaks"),
        meets=those("meets"),
        never_touches=those("never touches"),
        violations=violation_table(explained.violations),
        confirmations=confirmation_table(explained.confirmations),
        table=pa.table(table),
    )


def tolerances_listing(rows: Sequence[GridRow]) -> Listing:
    """What rules that limit a distance would find in the data with other tolerances."""
    columns, cells = filled(
        rows,
        (Column("rule", "rule"), lambda row: row.rule.name),
        (Column("text", "text", audience=Audience.PROGRAMS), lambda row: row.rule.text),
        (Column("written", "tolerance", CellKind.VALUE, Audience.PEOPLE), lambda row: _written(row.tolerance)),
        (Column("tolerance", "tolerance", CellKind.VALUE, Audience.PROGRAMS), lambda row: row.tolerance.value),
        (Column("unit", "unit", audience=Audience.PROGRAMS), lambda row: "percent" if row.tolerance.relative else "absolute"),
        *count_columns(attrgetter("counts")),
    )
    return Listing("tolerances", "Rules over the observed facts, by tolerance", columns, cells)


def violations_listing(violations: Violations) -> Listing:
    """For people: a block for each rule, which begins with a sentence."""
    columns, rows = filled(
        violations.rows,
        (Column("sentence", "what"), sentence),
        (Column("rule", "rule"), lambda row: row.rule),
        (Column("binding", "grounding", CellKind.BINDING), lambda row: {k: value_text(v) for k, v in row.binding.items()}),
        (Column("ranked", "ranked"), _ranked),
        (Column("roles", "as", CellKind.TEXTS), lambda row: row.roles),
        (Column("body", "body", CellKind.TEXTS), lambda row: row.body),
        (Column("head", "head"), lambda row: row.head),
        (Column("refuted_by", "refuted by", CellKind.TEXTS), lambda row: row.refuted_by),
        (Column("compared", "compared", CellKind.TEXTS), lambda row: tuple(map(_compared, row.compared))),
        (Column("aggregated", "computed", CellKind.TEXTS), lambda row: tuple(map(_aggregated, row.aggregated))),
    )
    shown_of = f"{len(rows):,} of {counted(violations.total, 'violation')} shown"
    return Listing(
        "violations",
        "Violations",
        columns,
        rows,
        notes=(*_by_model(violations), shown_of, *((violations.says_nothing,) if violations.says_nothing else ())),
        layout=ListingLayout.BLOCKS,
    )


def _by_model(violations: Violations) -> Iterator[str]:
    """How many violations each model has, if there are several."""
    totals: dict[str, int] = {}
    for (_, model), n in violations.counts.items():
        if model is not None:
            totals[model] = totals.get(model, 0) + n
    if len(totals) > 1:
        yield ", ".join(f"{model} {n:,}" for model, n in totals.items())


def _ranked(row: Violation | CountedViolations) -> str | None:
    parts = [] if row.rank is None else [f"rank {row.rank:,}"]
    parts += [] if row.score is None else [f"score {shown(row.score, CellKind.VALUE)}"]
    return ", ".join(parts) or None


def _compared(compared: ComparedValues) -> str:
    mark = "%" if compared.percent else ""
    left, right = _number_text(compared.left), _number_text(compared.right)
    if left == right and compared.margin:  # Rounding hides the difference.
        left, right = value_text(compared.left), value_text(compared.right)
    sides = f"{compared.text}: {left}{mark} against {right}{mark}"
    return sides if not compared.margin else f"{sides}, {'by' if compared.holds else 'missed by'} {shown_margin(compared)}"


def _aggregated(aggregated: Aggregated) -> str:
    without = "" if aggregated.before == aggregated.value else f", {_number_text(aggregated.before)} without the prediction"
    return f"{aggregated.text} = {_number_text(aggregated.value)}{without}"


def _number_text(value: Value | None) -> str:
    if isinstance(value, int | float | None) and not isinstance(value, bool):
        return shown(value, CellKind.VALUE)
    return value_text(value)


def violation_counts_listing(
    by: str, counts: Sequence[CountedViolations], total: int, most: int | None, rules: Iterable[RuleInfo] = ()
) -> Listing:
    """The number of violations for each value that they are counted by, at most `most` rows. If that is a rule, its text stands in
    the row: a rule without a name has only its file and line."""
    left_out = len(counts) - len(counts[:most])
    counts = counts[:most]
    texts = {rule.name: rule.text for rule in rules}
    model: Filled[CountedViolations] = (Column("model", "model"), lambda count: count.model)
    predictions: Filled[CountedViolations] = (
        Column("predictions", "predictions", CellKind.COUNT),
        lambda count: count.predictions,
    )
    text: Filled[CountedViolations] = (Column("text", "text", CellKind.CODE), lambda count: texts[str(count.what)])
    predicted = any(count.predictions is not None for count in counts) and by != "prediction"
    columns, rows = filled(
        counts,
        (Column(by, by), lambda count: value_text(count.what)),
        *([model] if any(count.model is not None for count in counts) else ()),
        (Column("violations", "violations", CellKind.COUNT), lambda count: count.violations),
        *([predictions] if predicted else ()),
        *([(Column("ranked", "ranked"), _ranked)] if by == "prediction" else ()),
        *([text] if by == "rule" else ()),
    )
    notes = [counted(total, "violation")]
    notes += [f"{left_out:,} more rows are not shown; `--limit N` shows more"] if left_out else []
    return Listing("violations", f"Violations by {by}", columns, rows, notes=tuple(notes))


def incompatibilities_listing(pairs: Iterable[PairCount]) -> Listing:
    columns, rows = filled(
        pairs,
        (Column("left", "predicate"), lambda pair: pair.left),
        (Column("right", "predicate"), lambda pair: pair.right),
        (Column("together", "together", CellKind.COUNT), lambda pair: pair.together),
        (Column("expected", "expected", CellKind.SCORE), lambda pair: pair.expected),
        (Column("chance", "probability of so few", audience=Audience.PEOPLE), shown_probability),
        (Column("probability", "probability", CellKind.SCORE, Audience.PROGRAMS), lambda pair: pair.probability),
        (Column("surprise", "surprise", CellKind.SCORE, Audience.PROGRAMS), lambda pair: pair.surprise),
        (Column("left_facts", "facts of the first", CellKind.COUNT), lambda pair: pair.left_facts),
        (Column("right_facts", "facts of the second", CellKind.COUNT), lambda pair: pair.right_facts),
        (Column("tuples", "tuples", CellKind.COUNT, Audience.PROGRAMS), lambda pair: pair.tuples),
    )
    return Listing("incompatibilities", "Pairs of predicates", columns, rows)


def rules_listing(rules: Iterable[RuleInfo]) -> Listing:
    columns, rows = filled(
        rules,
        (Column("title", "rule", audience=Audience.PEOPLE), titled),
        (Column("rule", "rule", audience=Audience.PROGRAMS), lambda rule: rule.name),
        (Column("text", "text", audience=Audience.PROGRAMS), lambda rule: rule.text),
        (Column("declared_kind", "declared"), lambda rule: rule.declared_kind),
        (Column("weight", "weight", CellKind.WEIGHT), lambda rule: rule.weight),
        (Column("description", "description", audience=Audience.PROGRAMS), lambda rule: rule.description),
        (Column("tags", "tags", CellKind.TEXTS), lambda rule: rule.tags),
        (Column("confidence", "confidence", CellKind.RATE, Audience.PROGRAMS), lambda rule: rule.confidence),
        (Column("support", "support", CellKind.COUNT, Audience.PROGRAMS), lambda rule: rule.support),
        (Column("place", "place", audience=Audience.PROGRAMS), lambda rule: rule.place),
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
