"""Violations as sentences for people, and as a table for programs."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from rulescore.language.terms import write_value
from rulescore.reporting.html import render_html
from rulescore.reporting.json import VERSION
from rulescore.reporting.listing import Cell, CellKind, Column, Listing, counted, render_table_csv, shown
from rulescore.reporting.wording import listed
from rulescore.scoring.evaluation import pandas_frame, polars_frame
from rulescore.scoring.labels import Labels
from rulescore.scoring.violation import (
    Aggregated,
    ComparedValues,
    CountedViolations,
    Fact,
    Refuter,
    ShapeResult,
    Violation,
    Violations,
)
from rulescore.values import equals_double, key_of, spell_duration, text_of

_MOST_ABSENT = 3
_COUNTS = re.compile(r"(?P<count>count\([^:]* : (?P<what>.*)\)) (?P<operator>>=|<=|=) (?P<bound>[0-9]+)")
_BOUNDS = {">=": "at least", "<=": "at most", "=": "exactly"}
_NO_LABELS = Labels()

# Sentences leave out the quotes that rules need, except around text that looks like a number, a date or a truth value.
_QUOTED = re.compile(r'"(?![+-]?\.?[0-9][0-9.eE+-]*"|(?i:true|false)")([\w.-]+)"')


def sentence(violation: Violation) -> str:
    """A sentence about a grounding: which model predicts what, what follows, and the facts against it; or that the head holds."""
    said = unquoted(_sentence(violation))
    message = violation.result and violation.result.message
    return f"{said}: {message}" if message else said


def unquoted(text: str) -> str:
    """Facts in the form for sentences, without quotes that a reader does not miss."""
    return _QUOTED.sub(r"\1", text)


def _sentence(violation: Violation) -> str:
    prediction = None if violation.prediction is None else str(violation.prediction)
    condition = _given(_others(violation.facts, prediction), violation.absent)
    said = (condition or _subject(violation)) if prediction is None else f"{violation.model} predicts {prediction}"
    with_facts = f"{said}, and {condition}" if prediction is not None and condition else said
    if violation.confirmed:
        return _met(violation, said, with_facts, prediction)
    if violation.head == "false":
        return _forbidden(violation, said, condition if prediction is not None else "")
    if not violation.body:
        return f"{said}: {violation.head}"
    if violation.roles == ("refuter",):
        return f"{said}, but {violation.head} follows from {listed(violation.body)}"
    if violation.head == prediction:
        return f"{said}, but {_why(violation, prediction)}"
    # A fact that refutes the head, or the head's absence, explains enough. To show why a comparison fails, we show everything that
    # it compares.
    known = said if any(refuter.facts or refuter.absent for refuter in violation.refuters[:1]) else with_facts
    return _miscounted(violation, known) or f"{known}, so {violation.head} should hold, but {_why(violation, prediction)}"


def _miscounted(violation: Violation, known: str) -> str | None:
    """What the data have too few or too many of, if the head only counts."""
    match violation.aggregated, violation.compared:
        case ([Aggregated(text=text, value=int() as number)], [ComparedValues(right=int() as bound)]):
            counts = _COUNTS.fullmatch(violation.head)
        case _:
            return None
    if counts is None or counts["count"] != text or counts["bound"] != str(bound):
        return None
    what = counts["what"]
    if number == 0 and counts["operator"] in {">=", "="} and bound == 1:
        return f"{known}, but there is no {what}"
    are = "is" if number == 1 else "are"
    wanted = f"{_BOUNDS[counts['operator']]} {bound}" if bound else "no"
    return f"{known}, so there should be {wanted} {what}, but there {are} {number or 'none'}"


def _subject(violation: Violation) -> str:
    """The subject of a violation without facts: a constant of a shape, or the data as a whole."""
    focus = violation.result.focus if violation.result is not None else None
    return "the data" if focus is None else write_value(focus)


def _given(facts: Sequence[str], absent: Sequence[Fact]) -> str:
    """The facts that hold in addition to the prediction, and the facts that are absent."""
    parts = [_observed(facts)] if facts else []
    missing = list(dict.fromkeys(map(str, absent)))
    if len(missing) > _MOST_ABSENT:
        missing = [*missing[:2], f"one of {len(missing) - 2} others"]
    if missing:
        neither = f"neither {', '.join(missing[:-1])} nor" if len(missing) > 1 else "no"
        parts.append(f"there is {neither} {missing[-1]}")
    return " and ".join(parts)


def _met(violation: Violation, said: str, with_facts: str, prediction: str | None) -> str:
    if not violation.body:
        return f"{said}: {violation.head}"
    if violation.head == prediction:
        return f"{said}, which follows from {listed(violation.body)}"
    return f"{with_facts}, so {violation.head} should hold, and it does"


def _forbidden(violation: Violation, said: str, against: str) -> str:
    texts = [*(values.text for values in violation.compared), *violation.tested]
    compared = "".join(f", and {text}" for text in dict.fromkeys(texts))
    if not violation.facts and not violation.absent and texts and violation.prediction is None:
        return f"{' and '.join(dict.fromkeys(texts))}, which the rule forbids"
    return f"{said}, but {against}{compared}" if against else f"{said}{compared}, which the rule forbids"


def _why(violation: Violation, prediction: str | None) -> str:
    against = [_against(refuter, prediction) for refuter in violation.refuters[:1]]
    reasons = against or [_missed(values, violation.head) for values in violation.compared]
    return listed(reasons) if reasons else "it does not"


def _against(refuter: Refuter, prediction: str | None) -> str:
    if refuter.declared is not None:
        is_clause = refuter.declared == "closed" or refuter.declared.endswith(("is true", "is false"))
        return str(refuter) if is_clause else f"`{refuter}` refutes it"
    if any(fact.negative for fact in refuter.facts):
        return f"{listed([str(fact).removeprefix('negative ') for fact in refuter.facts])} is known to be false"
    facts = _others(refuter.facts, prediction)
    absent = list(map(str, refuter.absent))
    if not facts and not absent:
        return "it is refuted by the prediction itself" if refuter.facts else f"{refuter} refute it"
    missing = f"{listed(absent)} {'is' if len(absent) == 1 else 'are'} not" if absent else ""
    if not facts:
        return f"{missing} observed"
    return f"{_observed(facts)}, and {missing}" if missing else _observed(facts)


def _others(facts: Sequence[Fact], prediction: str | None) -> list[str]:
    """The facts other than the prediction."""
    return [text for text in dict.fromkeys(str(fact) for fact in facts if not fact.predicted) if text != prediction]


def _missed(compared: ComparedValues, head: str) -> str:
    """By how much a comparison is missed. If the comparison is the head, we do not repeat its text."""
    what = "it" if compared.text == head else compared.text
    if not compared.margin:
        return f"{what} holds" if compared.holds else f"{what} does not"
    margin = shown_margin(compared)
    return f"{what} holds by {margin}" if compared.holds else f"{what} is missed by {margin}"


def shown_margin(compared: ComparedValues) -> str:
    """The margin with its unit. For date-times and durations it is written as 2 h 5 min."""
    if compared.distance is not None and type(compared.left) is not datetime.date:
        return spell_duration(compared.distance)
    number = shown(compared.margin, CellKind.VALUE)
    unit = compared.unit
    return number if unit is None else f"{number} {unit.removesuffix('s') if number == '1' else unit}"


def _observed(facts: Sequence[str]) -> str:
    return f"{listed(facts)} {'is' if len(facts) == 1 else 'are'} observed"


Keys = Mapping[str, tuple[str, ...]]
"""The key columns of tables, by the predicate of their predictions."""


@dataclass(frozen=True, slots=True, repr=False)
class ResultTable:
    """An Arrow `table` that a notebook shows as people read it. All else that an Arrow table has, it has too: `schema`, `column`,
    `select`."""

    table: Any

    def to_pandas(self) -> Any:
        """The rows as a pandas frame of nullable types."""
        return pandas_frame(self.table)

    def to_polars(self) -> Any:
        """The rows as a Polars frame."""
        return polars_frame(self.table)

    def to_pylist(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.table.to_pylist()
        return rows

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'row')} of {counted(self.table.num_columns, 'column')}>"

    def __getattr__(self, name: str) -> Any:
        return getattr(self.table, name)

    def __getitem__(self, column: int | str) -> Any:
        return self.table[column]

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        return render_html([self._listing()])

    def _columns_with_values(self) -> list[str]:
        return [name for name in self.table.column_names if self.table[name].null_count < len(self)]

    def _listing(self) -> Listing:
        """The first rows, without empty columns."""
        rows = self.table.select(self._columns_with_values()).slice(0, _MOST_IN_NOTEBOOKS)
        columns = tuple(Column(name, name, _kind_of(rows[name].type)) for name in rows.column_names)
        cells = zip(*([_cell(value) for value in column.to_pylist()] for column in rows.columns), strict=True)
        left = max(0, len(self) - _MOST_IN_NOTEBOOKS)
        notes = (f"{left:,} more: `.to_pandas()` has all {len(self):,} rows and all columns",) if left else ()
        return Listing("rows", repr(self).strip("<>"), columns, tuple(cells), notes=notes)


@dataclass(frozen=True, slots=True, repr=False)
class ViolationTable(ResultTable):
    """Violations, or counts of them, as an Arrow `table`; `total`: how many there are, however many are listed. `what`: a word for
    the rows, if they are not violations."""

    total: int
    says_nothing: str | None = None
    counts: Mapping[tuple[str, str | None], int] = field(default_factory=dict)
    what: str = "violation"

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'row')} of {counted(self.total, self.what)}>"

    def _columns_with_values(self) -> list[str]:
        """For violations only the sentences, since they say what the other columns hold."""
        names = ResultTable._columns_with_values(self)
        return [name for name in names if name in _IN_NOTEBOOKS] if "sentence" in names else names


@dataclass(frozen=True, slots=True, repr=False)
class PrintedTable(ResultTable):
    """A table that a notebook shows as `score` prints it; `printed` makes that as HTML."""

    printed: Callable[[], str] = field(compare=False)

    def _repr_html_(self) -> str:
        return self.printed()

    def __reduce__(self) -> tuple[Any, ...]:
        # `printed` knows the whole result, which may be large. A copy shows its own rows.
        return ResultTable, (self.table,)


_IN_NOTEBOOKS = ("rule", "model", "score", "rank", "sentence")
_MOST_IN_NOTEBOOKS = 20


def _kind_of(kind: pa.DataType) -> CellKind:
    return CellKind.COUNT if pa.types.is_integer(kind) else CellKind.SCORE if pa.types.is_floating(kind) else CellKind.TEXT


def _cell(value: Any) -> Cell:
    return value if value is None or isinstance(value, int | float) else str(value)


def violation_table(violations: Violations, labels: Labels = _NO_LABELS) -> ViolationTable:
    """The rows as they can be joined with data: programs see ids. Only the IRIs of sentences have the prefixes of the `labels`."""
    columns, prefixes = _columns(violations.rows, violations.keys), Labels(prefixes=labels.prefixes)
    columns["sentence"] = pa.array([prefixes.of_text(sentence(row)) for row in violations.rows], pa.string())
    table = pa.table(columns)
    return ViolationTable(table, violations.total, violations.says_nothing, violations.counts)


def confirmation_table(violations: Violations) -> ViolationTable:
    """Groundings whose head is confirmed: the columns of violations, without the columns about the refutation."""
    table = pa.table(_columns(violations.rows, violations.keys)).drop_columns(list(_OF_REFUTATION))
    return ViolationTable(table, violations.total, counts=violations.counts, what="confirmation")


def count_table(by: str, counts: Sequence[CountedViolations], keys: Keys, total: int, limit: int | None = None) -> ViolationTable:
    """The number of violations for each value that they are counted by; the column of these values is named `by`."""
    rows = counts[:limit]
    columns: dict[str, Any] = {by: typed([row.what for row in rows])} if by != "pattern" else _of_patterns(rows)
    columns["model"] = typed([row.model for row in rows])
    if by == "prediction":
        columns |= _of_predictions([row.prediction for row in rows], keys, columns)
        columns |= {
            "score": pa.array([row.score for row in rows], pa.float64()),
            "rank": pa.array([row.rank for row in rows], pa.int64()),
        }
    columns["violations"] = pa.array([row.violations for row in rows], pa.int64())
    if by in {"predicate", "entity"}:
        columns["predictions"] = pa.array([row.predictions for row in rows], pa.int64())
    return ViolationTable(pa.table(columns), total)


def _of_patterns(rows: Sequence[CountedViolations]) -> dict[str, Any]:
    patterns = [row.pattern for row in rows if row.pattern is not None]
    return {
        "should": typed([pattern.should or None for pattern in patterns]),
        "against": typed([pattern.against for pattern in patterns]),
    }


def _columns(rows: Sequence[Violation], keys: Keys) -> dict[str, Any]:
    """First columns about each violation, then the values of variables, then the facts behind it."""
    before: dict[str, Any] = {
        "rule": pa.array([row.rule for row in rows], pa.string()),
        "model": pa.array([row.model for row in rows], pa.string()),
        "prediction": pa.array([None if row.prediction is None else str(row.prediction) for row in rows], pa.string()),
    }
    reserved = {*before, *_FIXED, "score", "rank", "roles", "head", "relation", "tail", "value"}
    before |= _of_predictions([row.prediction for row in rows], keys, reserved)
    before |= {
        "score": pa.array([row.score for row in rows], pa.float64()),
        "rank": pa.array([row.rank for row in rows], pa.int64()),
        "roles": _texts([row.roles for row in rows]),
    }
    taken = {*before, *_FIXED, *_SHAPE_COLUMNS}
    variables = dict.fromkeys(name for row in rows for name in row.binding)
    values = {_free(name, "binding", taken): typed([row.binding.get(name) for row in rows]) for name in variables}
    after = {name: make(rows) for name, make in _FIXED.items()}
    return {**before, **values, **_of_shapes(rows), **after}


def _of_shapes(rows: Sequence[Violation]) -> dict[str, Any]:
    """The result that a validator of SHACL gives for the same violation, if a rule was made from a shape."""
    results = [row.result for row in rows]
    if not any(results):
        return {}
    return {name: typed([None if result is None else part(result) for result in results]) for name, part in _SHAPE_COLUMNS.items()}


def _of_predictions(facts: Sequence[Fact | None], keys: Keys, taken: Iterable[str]) -> dict[str, Any]:
    """The columns by which users join violations with predictions: head, relation and tail; or the key of a table and the value; or
    each argument."""
    columns: dict[str, list[Any]] = {"relation": [None] * len(facts)}
    for index, fact in enumerate(facts):
        if fact is None:
            continue
        columns["relation"][index] = fact.predicate
        names = _names(fact, keys, set(taken))
        for name, value in zip(names, fact.values, strict=True):
            columns.setdefault(name, [None] * len(facts))[index] = value
    return {name: typed(values) for name, values in columns.items()}


def _names(fact: Fact, keys: Keys, taken: set[str]) -> Sequence[str]:
    if fact.predicate in keys:
        table = fact.predicate.rpartition(".")[0]
        return [*(_free(key, table, taken) for key in keys[fact.predicate]), "value"]
    return ("head", "tail") if len(fact.values) == 2 else [f"argument_{i + 1}" for i in range(len(fact.values))]


def _free(name: str, prefix: str, taken: Iterable[str]) -> str:
    """A name for a column of the user's that no column of ours has."""
    return f"{prefix}.{name}" if name in taken else name


def typed(values: Sequence[Any]) -> Any:
    """An array of one type, if the values have one; else of texts."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {str}:
        return pa.array(values, pa.string())
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {datetime.date}:
        return pa.array(values, pa.date32())
    if kinds == {datetime.datetime} and len(zones := {value.tzinfo for value in values if value is not None}) == 1:
        return pa.array(values, pa.timestamp("us", None if zones == {None} else "UTC"))
    if kinds == {datetime.timedelta}:
        return pa.array(values, pa.duration("us"))
    if kinds == {int} and all(value is None or -(2**63) <= value < 2**63 for value in values):
        return pa.array(values, pa.int64())
    if kinds <= {int, float} and all(not isinstance(value, int) or equals_double(value) for value in values):
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    return pa.array([None if value is None else value_text(value) for value in values], pa.string())


def value_text(value: Any) -> str:
    """A value of a grounding as text."""
    if isinstance(value, datetime.timedelta):
        return write_value(value)
    try:
        return text_of(key_of(value))
    except (TypeError, ValueError):  # a column of a rule in SQL may hold anything
        return str(value)


def _texts(values: Sequence[tuple[str, ...]]) -> Any:
    return pa.array([list(value) for value in values], pa.list_(pa.string()))


def _first_refuter(row: Violation, part: Callable[[Fact], Any]) -> Any:
    """Head, relation or tail of the first refuting fact, if it is a triple."""
    fact = next((fact for refuter in row.refuters for fact in refuter.facts), None)
    return None if fact is None or fact.names or len(fact.values) != 2 else part(fact)


def _first(members: Sequence[Any], part: Callable[[Any], Any]) -> Any:
    return part(members[0]) if members else None


_FIXED: dict[str, Callable[[Sequence[Violation]], Any]] = {
    "body": lambda rows: _texts([row.body for row in rows]),
    "rule_head": lambda rows: pa.array([row.head for row in rows], pa.string()),
    "refuted_by": lambda rows: _texts([row.refuted_by for row in rows]),
    "refuter_head": lambda rows: typed([_first_refuter(row, lambda fact: fact.values[0]) for row in rows]),
    "refuter_relation": lambda rows: typed([_first_refuter(row, lambda fact: fact.predicate) for row in rows]),
    "refuter_tail": lambda rows: typed([_first_refuter(row, lambda fact: fact.values[1]) for row in rows]),
    "comparison": lambda rows: typed([_first(row.compared, lambda values: values.text) for row in rows]),
    "left": lambda rows: typed([_first(row.compared, lambda values: values.left) for row in rows]),
    "right": lambda rows: typed([_first(row.compared, lambda values: values.right) for row in rows]),
    "margin": lambda rows: typed([_first(row.compared, lambda values: values.margin) for row in rows]),
    "margin_unit": lambda rows: typed([_first(row.compared, lambda values: values.unit) for row in rows]),
    "aggregate": lambda rows: typed([_first(row.aggregated, lambda aggregate: aggregate.text) for row in rows]),
    "aggregate_value": lambda rows: typed([_first(row.aggregated, lambda aggregate: aggregate.value) for row in rows]),
    "aggregate_before": lambda rows: typed([_first(row.aggregated, lambda aggregate: aggregate.before) for row in rows]),
    "sentence": lambda rows: pa.array([sentence(row) for row in rows], pa.string()),
}


_SHAPE_COLUMNS: dict[str, Callable[[ShapeResult], Any]] = {
    "constraint": lambda result: result.constraint,
    "focus_node": lambda result: result.focus,
    "result_path": lambda result: result.path,
    "result_value": lambda result: result.value,
    "result_message": lambda result: result.message,
}


_OF_REFUTATION = (
    *("refuted_by", "refuter_head", "refuter_relation", "refuter_tail"),
    *("comparison", "left", "right", "margin", "margin_unit"),
)


def render_violations_csv(table: ViolationTable, *, spreadsheet: bool = False) -> str:
    """Lists in one field, separated by semicolons; truths, dates, date-times and durations as in rules."""
    columns = {name: _csv_column(table.table[name]) for name in table.table.column_names}
    return render_table_csv(pa.table(columns), spreadsheet=spreadsheet)


def _csv_column(column: Any) -> Any:
    if pa.types.is_list(column.type):
        return pa.array([None if texts is None else "; ".join(texts) for texts in column.to_pylist()], pa.string())
    if pa.types.is_timestamp(column.type) or pa.types.is_duration(column.type):
        return pa.array([None if value is None else write_value(value) for value in column.to_pylist()], pa.string())
    return column.cast(pa.string()) if pa.types.is_boolean(column.type) else column


def render_violations_json(table: ViolationTable, by: str | None = None) -> str:
    rows = [{name: _json_value(value) for name, value in row.items()} for row in table.to_pylist()]
    figures = {"by": by} if by is not None else {"says_nothing": table.says_nothing}
    document = {"version": VERSION, "listing": "violations", "total": table.total, "shown": len(rows), **figures, "rows": rows}
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _json_value(value: Any) -> Any:
    return write_value(value) if isinstance(value, datetime.date | datetime.timedelta) else value
