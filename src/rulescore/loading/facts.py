"""Loads streams of facts into an engine: stages them as text keys, then numbers, deduplicates and sorts them once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, InputError, Place, Severity, refuse
from rulescore.loading.readings import (
    RowCounts,
    SourceReading,
    occurrences,
    predicate_arities,
    reading_problems,
    stream_reading,
    table_reading,
)
from rulescore.loading.stored import InPlace, observed_in_place, predicted_in_place, refuse_unknown_model
from rulescore.loading.tables import LoadedTable, predictions_made
from rulescore.logic.plan import LiteralName
from rulescore.logic.refutation import Orders
from rulescore.logic.rules import Wanted
from rulescore.logic.vocabulary import Predicate, Vocabulary
from rulescore.readers.selection import PredictionReader
from rulescore.scoring.results import DataSummary, PredictionCounts
from rulescore.setting.model import FactBatch, FactSource, FactStream, FactTable, Setting
from rulescore.sql import facts as sql
from rulescore.sql.facts import PredictedFacts, PredictedTargets, Predictions
from rulescore.sql.names import arguments, name
from rulescore.sql.query import create, drop, insert
from rulescore.sql.tables import target_predictions
from rulescore.values import LETTERS, ValueType

# The number of rows that we stage at a time, about two row groups of DuckDB. These rows take memory away from the engine.
_STAGED_ROWS = 250_000

_KEYS = name("key")

_KINDS = ("observed", "predicted", "negative")
_Rows = dict[str, list[dict[str, Any]]]

_NO_PREDICTIONS = {"distinct": 0, "already_observed": 0, "without_query": 0}


@dataclass
class Loaded:
    """The loaded data, and the numbers by which statements refer to them."""

    vocabulary: Vocabulary
    summary: DataSummary
    models: tuple[str, ...]
    predictions: dict[str, PredictionCounts]
    stride: int
    orders: Orders
    predicate_ids: dict[str, int]
    constant_ids: dict[str, int]
    types: frozenset[str]
    fact_arities: frozenset[int]
    prediction_arities: frozenset[int]
    predicted: tuple[Predictions, ...]
    """Where predictions are: predicted facts by arity, and the targets of tables."""
    any_observed_prediction: bool
    floats: frozenset[tuple[str, int]]
    """Predicates with the numbers of the arguments that a source gives as floats, even if all are whole."""
    declared_text: frozenset[tuple[str, int]]
    """Those whose type the user declares to be string, in some source."""
    warnings: tuple[Diagnostic, ...] = ()

    def fact_literal(self, predicate: str, *, negative: bool = False) -> int:
        """The number of a predicate's literal with the arguments as they are."""
        return (self.predicate_ids[predicate] + (len(self.predicate_ids) if negative else 0)) * self.stride

    def literal(self, literal: LiteralName) -> int:
        order = self.orders[len(literal.order)].index(literal.order)
        return self.fact_literal(literal.predicate, negative=literal.negative) + order

    @cached_property
    def _predicate_names(self) -> tuple[str, ...]:
        return tuple(self.predicate_ids)

    def predicate_name(self, literal: int) -> str:
        return self._predicate_names[literal // self.stride % len(self._predicate_names)]

    def literal_name(self, literal: int, arity: int) -> LiteralName:
        """The literal with this number."""
        number, order = divmod(literal, self.stride)
        names = self._predicate_names
        return LiteralName(names[number % len(names)], self.orders[arity][order], number >= len(names))


class Staging:
    """Collects batches by arity and hands them to the engine in large pieces."""

    def __init__(self, engine: Engine, kind: str, extra: Sequence[str] = ()) -> None:
        self._engine, self._kind, self._extra = engine, kind, extra
        self._waiting: dict[int, list[pa.Table]] = {}
        self._waiting_rows: Counter[int] = Counter()
        self._tables: set[int] = set()
        self.rows: Counter[int] = Counter()
        self.floats: set[tuple[str, int]] = set()
        self.declared_text: set[tuple[str, int]] = set()
        self.readings: list[SourceReading] = []

    @property
    def arities(self) -> list[int]:
        return sorted(self._tables)

    def table(self, arity: int) -> str | None:
        return sql.raw_table(self._kind, arity) if arity in self._tables else None

    def add(self, batch: FactBatch, model: int | None = None) -> None:
        if batch.rows.num_rows == 0:
            return
        rows = pa.Table.from_batches([batch.rows])
        if batch.predicate is not None:
            rows = rows.append_column("predicate", pa.repeat(pa.scalar(batch.predicate, pa.string()), rows.num_rows))
        if model is not None:
            rows = rows.append_column("model", pa.repeat(pa.scalar(model, pa.int32()), rows.num_rows))
        rows = rows.select(["predicate", *arguments(batch.arity), *self._extra])
        self.rows[batch.arity] += rows.num_rows
        self.floats |= batch.floats
        self.declared_text |= batch.declared_text
        self._waiting.setdefault(batch.arity, []).append(rows)
        self._waiting_rows[batch.arity] += rows.num_rows
        if self._waiting_rows[batch.arity] >= _STAGED_ROWS:
            self._flush(batch.arity)

    def take(self, counts: InPlace) -> None:
        """Adds rows that the engine has already, by a statement."""
        if not counts.kept:
            return
        self._flush(counts.arity)
        target = sql.raw_table(self._kind, counts.arity)
        if counts.arity in self._tables:
            self._engine.run(insert(target, counts.query))
        else:
            self._engine.run(create(target, counts.query))
            self._tables.add(counts.arity)
        self.rows[counts.arity] += counts.kept
        self.floats |= counts.floats

    def finish(self) -> None:
        for arity in list(self._waiting):
            self._flush(arity)

    def _flush(self, arity: int) -> None:
        self._waiting_rows[arity] = 0
        parts = self._waiting.pop(arity, [])
        if not parts:
            return
        rows = pa.concat_tables(parts)
        target = sql.raw_table(self._kind, arity)
        if arity in self._tables:
            self._engine.append(target, rows)
        else:
            self._engine.load(target, rows)
            self._tables.add(arity)


class StagedFacts:
    """The facts of a setting as rows of text keys. We read them when they are first asked for."""

    def __init__(self, engine: Engine, setting: Setting) -> None:
        self._engine, self._setting = engine, setting
        self.read: list[int] = []
        self.kept: list[int] = []

    @cached_property
    def stages(self) -> dict[str, Staging]:
        negative = Staging(self._engine, "negative")
        observed = stage(self._engine, "observed", self._setting.observed, negative)
        stage(self._engine, "negative", self._setting.negatives, into=negative)
        predicted, self.read, self.kept = stage_predictions(self._engine, self._setting)
        return {"observed": observed, "negative": negative, "predicted": predicted}

    def of_text(self, arguments: Collection[tuple[str, int]]) -> set[tuple[str, int]]:
        """The arguments of predicates whose constants are all text."""
        letters: dict[tuple[str, int], set[str]] = {}
        for number in sorted({number for _, number in arguments}):
            raw = [sql.raw_table(kind, n) for kind, stage in self.stages.items() for n in stage.arities if n > number]
            for row in self._engine.query(sql.raw_letters(raw, number)).to_pylist() if raw else ():
                letters.setdefault((row["predicate"], number), set()).add(row["letter"])
        return {place for place in arguments if letters.get(place) == {LETTERS[ValueType.STRING]}}


def load(
    engine: Engine,
    setting: Setting,
    wanted: Wanted,
    tables: Mapping[str, LoadedTable],
    staged: StagedFacts,
) -> Loaded:
    """Load every fact of a setting. `tables` have numbered the predictions of their targets. We note these as predictions of the
    models, like predicted facts."""
    targets = [table for table in tables.values() if table.predicted is not None]
    stages = staged.stages
    arities, warnings = _checked(engine, stages, tables, wanted.mentions)
    known_arities = {**wanted.predicates, **arities}
    names = sorted({*known_arities, *(table.predicate for table in targets)})
    ids = {predicate: i for i, predicate in enumerate(names)}
    constant_ids = _numbered(engine, stages, names, sorted(wanted.constants), tables)
    stride = max([2, *map(len, wanted.orders.values())])
    rows = _numbered_facts(engine, stages, wanted.orders, stride, len(names), targets)
    counts: dict[str, Counter[int]] = {kind: Counter() for kind in _KINDS}
    for row in rows.get("facts", ()):
        counts[row["kind"]][row["predicate"]] += row["n"]
    known = {
        predicate: Predicate(predicate, arity, *(counts[kind][ids[predicate]] for kind in _KINDS))
        for predicate, arity in sorted(known_arities.items())
    }
    predictions = _prediction_counts(rows, setting, staged, tables)
    types = {row["mark"]: row["n"] for row in rows["types"]}
    facts = counts["observed"].total()
    return Loaded(
        vocabulary=Vocabulary(known),
        summary=DataSummary(
            facts=facts,
            fact_duplicates=stages["observed"].rows.total() - facts,
            negatives=counts["negative"].total(),
            negatives_observed=sum(row["n"] for row in rows.get("overlaps", ())),
            constants=sum(types.values()),
            predicates=sum(1 for predicate in known.values() if predicate.observed),
        ),
        models=tuple(model.model for model in setting.predictions),
        predictions=predictions,
        stride=stride,
        warnings=warnings,
        orders=wanted.orders,
        predicate_ids=ids,
        constant_ids=constant_ids,
        types=frozenset(types),
        fact_arities=frozenset((*stages["observed"].arities, *stages["negative"].arities)),
        prediction_arities=frozenset(stages["predicted"].arities),
        predicted=(
            *(PredictedFacts(arity, stride) for arity in stages["predicted"].arities),
            *(PredictedTargets(str(table.predicted), table.arguments, ids[table.predicate] * stride) for table in targets),
        ),
        any_observed_prediction=any(counts.already_observed for counts in predictions.values()),
        floats=frozenset(place for stage in stages.values() for place in stage.floats),
        declared_text=frozenset(place for stage in stages.values() for place in stage.declared_text),
    )


def _checked(
    engine: Engine, stages: Mapping[str, Staging], tables: Mapping[str, LoadedTable], mentioned: Callable[[str], bool]
) -> tuple[dict[str, int], tuple[Diagnostic, ...]]:
    """The arity of every predicate in the data, and warnings about how we read its sources. Raises InputError if a source was
    probably misread."""
    rows = row_counts(engine, stages)
    arities = predicate_arities(rows)
    _refuse_clashes(rows, tables)
    readings = [reading for stage in stages.values() for reading in stage.readings]
    problems = tuple(reading_problems(engine, readings, occurrences(rows, mentioned)))
    if errors := [problem for problem in problems if problem.severity is Severity.ERROR]:
        raise InputError(errors)
    return arities, problems


def _numbered(
    engine: Engine, stages: Mapping[str, Staging], names: Sequence[str], keys: Sequence[str], tables: Mapping[str, LoadedTable]
) -> dict[str, int]:
    """Gives predicates and constants their numbers. `keys`: the constants of rules, whose numbers we return."""
    engine.load(sql.PREDICATE, pa.table({"name": pa.array(names, pa.string()), "id": pa.array(range(len(names)), pa.int32())}))
    engine.load(_KEYS, pa.table({"key": pa.array(keys, pa.string())}))
    raw = {kind: [(sql.raw_table(kind, n), n) for n in stage.arities] for kind, stage in stages.items()}
    in_tables = [query for table in tables.values() for query in table.constants()] if raw["predicted"] else []
    engine.run(sql.create_constants(raw["observed"], [*raw["negative"], *raw["predicted"]], _KEYS, in_tables))
    if not keys:
        return {}
    numbers = engine.query(sql.constants_by_key(_KEYS))
    return dict(zip(numbers["key"].to_pylist(), numbers["id"].to_pylist(), strict=True))


def _numbered_facts(
    engine: Engine,
    stages: Mapping[str, Staging],
    orders: Orders,
    stride: int,
    predicates: int,
    targets: Sequence[LoadedTable],
) -> _Rows:
    """Number the staged facts, count them, and drop what was staged. Returns the rows of each statement of `sql.summary`."""
    arities_of = {kind: stage.arities for kind, stage in stages.items()}
    in_tables = [
        target_predictions(str(table.staged), str(table.predicted), [name for name, _ in table.arguments]) for table in targets
    ]
    rows_of, offset = stages["predicted"].rows, predictions_made(targets)
    ordered = engine.capabilities.skips_rows
    for statement in sql.numbering(arities_of, rows_of, orders, stride, predicates, in_tables, offset, ordered=ordered):
        engine.run(statement)
    statements = sql.summary(arities_of, predicted=bool(in_tables or arities_of["predicted"]))
    rows = {what: engine.query(statement).to_pylist() for what, statement in statements.items()}
    left = [sql.base_table(kind, arity) for kind, arities in arities_of.items() for arity in arities]
    left += [sql.raw_table("predicted", arity) for arity in arities_of["predicted"]]
    for table in (*left, *(str(target.staged) for target in targets)):
        engine.run(drop(table))
    return rows


def _prediction_counts(
    rows: _Rows, setting: Setting, staged: StagedFacts, tables: Mapping[str, LoadedTable]
) -> dict[str, PredictionCounts]:
    """What each model predicts: facts, and values for the rows of tables."""
    totals = {row["model"]: row for row in rows.get("models", ())}
    queries = {row["model"]: row["queries"] for row in rows.get("queries", ())}
    counts = {}
    for number, model in enumerate(setting.predictions):
        made = sum(table.made.get(number, 0) for table in tables.values())
        covered = [table for table in tables.values() if number in table.covered]
        row, kept = totals.get(number, _NO_PREDICTIONS), staged.kept[number] + made
        counts[model.model] = PredictionCounts(
            staged.read[number] + made,
            kept,
            row["distinct"],
            kept - row["distinct"],
            row["already_observed"],
            sum(table.hidden for table in covered) if covered else None,
            sum(table.covered[number] for table in covered) if covered else None,
            # A prediction without a query is a query of its own.
            queries=queries.get(number, 0) + row["without_query"],
        )
    return counts


def _refuse_clashes(counts: RowCounts, tables: Mapping[str, LoadedTable]) -> None:
    """Raises InputError if a name is both a table (or attribute) and a predicate. Only negative facts may be about the target of a
    table."""
    attributes = {f"{name}.{attribute}" for name, table in tables.items() for attribute in table.attributes}
    targets = {(table.predicate, len(table.key) + 1) for table in tables.values()}
    problems = [
        Diagnostic(
            "E204", f"`{name}` is a predicate of the facts, and a table or an attribute", helps=("give the table another name",)
        )
        for name, uses in sorted(counts.items())
        if name in tables or name in attributes
        if any((name, arity) not in targets or kinds.keys() != {"negative"} for arity, kinds in uses.items())
    ]
    refuse(problems)


def stage(
    engine: Engine, kind: str, sources: Iterable[FactSource], negative: Staging | None = None, *, into: Staging | None = None
) -> Staging:
    """Stages facts as rows of text keys. Published sources are tables by now. `negative` takes the facts that a source marks as
    false. `into` takes the others; a caller may have begun it."""
    staging = into or Staging(engine, kind)
    for source in sources:
        if isinstance(source, FactTable):
            staged = observed_in_place(engine, source)
            staging.readings.append(table_reading(source, staged))
            staging.take(staged)
        elif isinstance(source, FactStream):
            reading = stream_reading(source)
            staging.readings.append(reading)
            for batch in source.open():
                reading.look(batch)
                if not batch.negative:
                    staging.add(batch)
                elif negative is None:
                    message = "this file marks some facts as false; only observed facts may do that"
                    helps = ("give the file to `score` or `audit` as facts: it says by itself which are false",)
                    raise InputError(Diagnostic("E363", message, Place(source.origin), helps=helps))
                else:
                    negative.add(batch)
    staging.finish()
    return staging


def stage_predictions(engine: Engine, setting: Setting) -> tuple[Staging, list[int], list[int]]:
    """The predicted facts of all models, with the numbers of rows that we read and kept for each."""
    staging = Staging(engine, "predicted", ("model", "score", "rank", "query"))
    read: list[int] = []
    kept: list[int] = []
    for number, prediction in enumerate(setting.predictions):
        before = staging.rows.total()
        rows_read = 0
        for stream in (source for source in prediction.streams if isinstance(source, FactStream)):
            reading, reader = stream_reading(stream, number), PredictionReader(replace(prediction, streams=(stream,)))
            staging.readings.append(reading)
            for batch in reader:
                reading.look(batch)
                staging.add(batch, number)
            rows_read += reader.rows_read
        stored = [source for source in prediction.streams if isinstance(source, FactTable)]
        staged = [predicted_in_place(engine, source, number, prediction.model, prediction.top_k) for source in stored]
        staging.readings += (table_reading(source, rows, number) for source, rows in zip(stored, staged, strict=True))
        for rows in staged:
            staging.take(rows)
            rows_read += rows.rows
        if not any(rows.rows for rows in staged):
            refuse_unknown_model(engine, prediction.model, stored)
        read.append(rows_read)
        kept.append(staging.rows.total() - before)
    staging.finish()
    return staging, read, kept


def row_counts(engine: Engine, stages: Mapping[str, Staging]) -> RowCounts:
    tables = {sql.raw_table(kind, n): (kind, n) for kind, stage in stages.items() for n in stage.arities}
    counts: RowCounts = {}
    for row in engine.query(sql.raw_counts(list(tables))).to_pylist() if tables else ():
        kind, arity = tables[row["source"]]
        counts.setdefault(row["predicate"], {}).setdefault(arity, Counter())[kind] += row["n"]
    return counts
