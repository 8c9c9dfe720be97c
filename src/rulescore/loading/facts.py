"""Streams of facts into an engine: staged as text keys, then numbered, made distinct and sorted once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa

from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, InputError, Place, Severity
from rulescore.loading.readings import Occurrences, SourceReading, reading_problems, stream_reading, table_reading
from rulescore.loading.stored import InPlace, observed_in_place, predicted_in_place, refuse_unknown_model
from rulescore.loading.tables.loaded import LoadedTable, predictions_made
from rulescore.logic.plan import LiteralName
from rulescore.logic.refutation import Order, identity
from rulescore.logic.vocabulary import Predicate, Vocabulary
from rulescore.readers.selection import PredictionReader
from rulescore.scoring.summary import DataSummary, PredictionCounts
from rulescore.setting.model import FactBatch, FactSource, FactStream, FactTable, Setting
from rulescore.sql import facts as sql
from rulescore.sql.constant_types import constants_by_type
from rulescore.sql.names import arguments, name
from rulescore.sql.predictions import PredictedFacts, PredictedTargets, Predictions
from rulescore.sql.query import Select, create, drop, insert
from rulescore.sql.tables.predictions import answers as target_answers
from rulescore.values.types import LETTERS, ValueType

# Rows staged at a time: about two row groups of DuckDB. They take memory that the engine cannot have.
_STAGED_ROWS = 250_000

_KEYS = name("key")

_NO_PREDICTIONS = {"distinct": 0, "already_observed": 0, "without_query": 0}


@dataclass
class Loaded:
    """The loaded data, and the numbers by which statements refer to them."""

    vocabulary: Vocabulary
    summary: DataSummary
    models: tuple[str, ...]
    predictions: dict[str, PredictionCounts]
    stride: int
    orders: dict[int, tuple[Order, ...]]
    predicate_ids: dict[str, int]
    constant_ids: dict[str, int]
    types: frozenset[str]
    fact_arities: frozenset[int]
    candidate_arities: frozenset[int]
    predicted: tuple[Predictions, ...]
    """Where predictions are: predicted facts by arity, and the targets of tables."""
    any_observed_prediction: bool
    floats: frozenset[tuple[str, int]]
    """Predicates with the numbers of the arguments that a source gives as floats, even if all are whole."""
    declared_text: frozenset[tuple[str, int]]
    """Those whose type the user declares to be string, in some source."""
    warnings: tuple[Diagnostic, ...] = ()

    def literal(self, literal: LiteralName) -> int:
        shift = len(self.predicate_ids) if literal.negative else 0
        orders = self.orders_of(len(literal.order))
        return (self.predicate_ids[literal.predicate] + shift) * self.stride + orders.index(literal.order)

    @cached_property
    def _predicate_names(self) -> tuple[str, ...]:
        return tuple(self.predicate_ids)

    def predicate_name(self, literal: int) -> str:
        return self._predicate_names[literal // self.stride % len(self._predicate_names)]

    def literal_name(self, literal: int, arity: int) -> LiteralName:
        """The literal with this number."""
        number, order = divmod(literal, self.stride)
        names = self._predicate_names
        return LiteralName(names[number % len(names)], self.orders_of(arity)[order], number >= len(names))

    def orders_of(self, arity: int) -> tuple[Order, ...]:
        return self.orders.get(arity, (identity(arity),))


class Staging:
    """Collects batches by arity and hands them to the engine in large pieces."""

    def __init__(self, engine: Engine, kind: str, extra: Sequence[str] = ()) -> None:
        self._engine = engine
        self._kind = kind
        self._extra = extra
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

    def take(self, found: InPlace) -> None:
        """Adds rows that the engine has already, by a statement."""
        if not found.kept:
            return
        self._flush(found.arity)
        target = sql.raw_table(self._kind, found.arity)
        if found.arity in self._tables:
            self._engine.run(insert(target, found.query))
        else:
            self._engine.run(create(target, found.query))
            self._tables.add(found.arity)
        self.rows[found.arity] += found.kept
        self.floats |= found.floats

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
        """Those arguments of predicates whose constants are all text."""
        letters: dict[tuple[str, int], set[str]] = {}
        for number in sorted({number for _, number in arguments}):
            raw = [sql.raw_table(kind, n) for kind, one in self.stages.items() for n in one.arities if n > number]
            for row in self._engine.query(sql.raw_letters(raw, number)).to_pylist() if raw else ():
                letters.setdefault((row["predicate"], number), set()).add(row["letter"])
        return {place for place in arguments if letters.get(place) == {LETTERS[ValueType.STRING]}}


def load(
    engine: Engine,
    setting: Setting,
    orders: dict[int, tuple[Order, ...]],
    constants: Iterable[str],
    declared: Mapping[str, int],
    tables: Mapping[str, LoadedTable] | None = None,
    mentioned: Callable[[str], bool] = lambda _: True,
    staged: StagedFacts | None = None,
) -> Loaded:
    """Load every fact of a setting. `constants` are keys that rules mention, `declared` predicates with their arity. `tables` have
    numbers for the predictions of their targets, which we note as answers of the models like predicted facts. `mentioned`: whether
    a rule or a declaration mentions a predicate. `staged`: the facts, if the caller may have read them already."""
    tables = tables or {}
    targets = [table for table in tables.values() if table.predicted is not None]
    staged = staged or StagedFacts(engine, setting)
    stages = staged.stages
    observed, predicted = stages["observed"], stages["predicted"]
    of_tables = [sum(table.made.get(number, 0) for table in tables.values()) for number in range(len(setting.predictions))]
    rows = row_counts(engine, stages)
    arities = predicate_arities(rows)
    _refuse_clashes(rows, tables)
    problems = list(
        reading_problems(engine, [one for stage in stages.values() for one in stage.readings], occurrences(rows, mentioned))
    )
    if errors := [one for one in problems if one.severity is Severity.ERROR]:
        raise InputError(errors)
    known_arities = {**declared, **arities}
    names = sorted({*known_arities, *(table.predicate for table in targets)})
    ids = {predicate: i for i, predicate in enumerate(names)}
    engine.load(sql.PREDICATE, pa.table({"name": pa.array(names, pa.string()), "id": pa.array(range(len(names)), pa.int32())}))
    in_rules = sorted(set(constants))
    engine.load(_KEYS, pa.table({"key": pa.array(in_rules, pa.string())}))
    raw = {kind: [(sql.raw_table(kind, n), n) for n in stage.arities] for kind, stage in stages.items()}
    in_tables = [keys for table in tables.values() for keys in table.constants()] if predicted.arities else []
    engine.run(sql.create_constants(raw["observed"], [*raw["negative"], *raw["predicted"]], _KEYS, in_tables))
    stride = max([2, *(len(found) for found in orders.values())])
    loaded = _Bases(engine, stages, names, orders, stride)
    loaded.build(targets)
    known = {
        predicate: Predicate(
            predicate,
            arity,
            loaded.counts["observed"][ids[predicate]],
            loaded.counts["predicted"][ids[predicate]],
            loaded.counts["negative"][ids[predicate]],
        )
        for predicate, arity in sorted(known_arities.items())
    }
    models = tuple(one.model for one in setting.predictions)
    sources: tuple[Predictions, ...] = (
        *(PredictedFacts(arity, stride) for arity in predicted.arities),
        *(PredictedTargets(str(table.predicted), table.arguments, ids[table.predicate] * stride) for table in targets),
    )
    totals = {row["model"]: row for row in engine.query(sql.model_counts()).to_pylist()} if sources else {}
    predictions = {
        model: _prediction_counts(
            staged.read[i] + of_tables[i],
            staged.kept[i] + of_tables[i],
            totals.get(i, _NO_PREDICTIONS),
            loaded.queries.get(i, 0),
            _coverage(i, tables),
        )
        for i, model in enumerate(models)
    }
    facts = sum(loaded.counts["observed"].values())
    types = {row["mark"]: row["n"] for row in engine.query(constants_by_type()).to_pylist()}
    summary = DataSummary(
        facts=facts,
        fact_duplicates=observed.rows.total() - facts,
        negatives=sum(loaded.counts["negative"].values()),
        negatives_observed=loaded.overlap,
        constants=sum(types.values()),
        predicates=sum(1 for predicate in known.values() if predicate.observed),
    )
    keys = engine.query(sql.constants_by_key(_KEYS)) if in_rules else None
    return Loaded(
        vocabulary=Vocabulary(known),
        summary=summary,
        models=models,
        predictions=predictions,
        stride=stride,
        warnings=tuple(problems),
        orders=orders,
        predicate_ids=ids,
        constant_ids=dict(zip(keys["key"].to_pylist(), keys["id"].to_pylist(), strict=True)) if keys else {},
        types=frozenset(types),
        fact_arities=frozenset(loaded.fact_arities),
        candidate_arities=frozenset(predicted.arities),
        predicted=sources,
        any_observed_prediction=any(one.already_observed for one in predictions.values()),
        floats=frozenset(place for stage in stages.values() for place in stage.floats),
        declared_text=frozenset(place for stage in stages.values() for place in stage.declared_text),
    )


def _prediction_counts(
    read: int, kept: int, row: Mapping[str, int], known: int, coverage: tuple[int | None, int | None]
) -> PredictionCounts:
    """`known`: how many queries are known; a prediction without one is a query of its own."""
    queries = known + row["without_query"]
    return PredictionCounts(
        read, kept, row["distinct"], kept - row["distinct"], row["already_observed"], *coverage, queries=queries
    )


def _coverage(model: int, tables: Mapping[str, LoadedTable]) -> tuple[int | None, int | None]:
    """Hidden rows of the tables that a model predicts, and how many of them it predicts."""
    answered = [table for table in tables.values() if model in table.covered]
    if not answered:
        return None, None
    return sum(table.hidden for table in answered), sum(table.covered[model] for table in answered)


def _refuse_clashes(found: RowCounts, tables: Mapping[str, LoadedTable]) -> None:
    """Raises InputError for names of both: a name in a rule means either a table or a predicate of facts. Only negative facts may
    be about the target of a table."""
    attributes = {f"{name}.{one}" for name, table in tables.items() for one in table.attributes}
    targets = {(table.predicate, len(table.key) + 1) for table in tables.values()}
    problems = [
        Diagnostic(
            "E336", f"`{one}` is a predicate of the facts, and a table or an attribute", helps=("give the table another name",)
        )
        for one, uses in sorted(found.items())
        if one in tables or one in attributes
        if any((one, arity) not in targets or kinds.keys() != {"negative"} for arity, kinds in uses.items())
    ]
    if problems:
        raise InputError(problems)


def stage(
    engine: Engine, kind: str, sources: Iterable[FactSource], negative: Staging | None = None, *, into: Staging | None = None
) -> Staging:
    """Stages facts as rows of text keys. Published sources are tables by now. `negative` takes the facts that a source marks as
    false; `into` takes the others, if the caller has begun it already."""
    staging = into or Staging(engine, kind)
    for source in sources:
        if isinstance(source, FactTable):
            found = observed_in_place(engine, source)
            staging.readings.append(table_reading(source, found))
            staging.take(found)
        elif isinstance(source, FactStream):
            reading = stream_reading(source)
            staging.readings.append(reading)
            for batch in source.open():
                reading.look(batch)
                if not batch.negative:
                    staging.add(batch)
                elif negative is None:
                    raise InputError(_no_place_for_negatives(source.origin))
                else:
                    negative.add(batch)
    staging.finish()
    return staging


def _no_place_for_negatives(origin: str) -> Diagnostic:
    helps = ("give the file to `score` or `audit` as facts: it says by itself which are false",)
    return Diagnostic("E363", "the file has facts that it knows to be false, which have no place here", Place(origin), helps=helps)


def stage_predictions(engine: Engine, setting: Setting) -> tuple[Staging, list[int], list[int]]:
    """The predicted facts of all models, with how many rows of each were read, and kept."""
    staging = Staging(engine, "predicted", ("model", "score", "rank", "query"))
    read: list[int] = []
    kept: list[int] = []
    for number, one in enumerate(setting.predictions):
        before = staging.rows.total()
        rows_read = 0
        for stream in (source for source in one.streams if isinstance(source, FactStream)):
            reading, reader = stream_reading(stream, number), PredictionReader(replace(one, streams=(stream,)))
            staging.readings.append(reading)
            for batch in reader:
                reading.look(batch)
                staging.add(batch, number)
            rows_read += reader.rows_read
        stored = [source for source in one.streams if isinstance(source, FactTable)]
        found = [predicted_in_place(engine, source, number, one.model, one.top_k) for source in stored]
        staging.readings += (table_reading(source, rows, number) for source, rows in zip(stored, found, strict=True))
        for rows in found:
            staging.take(rows)
            rows_read += rows.rows
        if not any(rows.rows for rows in found):
            refuse_unknown_model(engine, one.model, stored)
        read.append(rows_read)
        kept.append(staging.rows.total() - before)
    staging.finish()
    return staging, read, kept


RowCounts = dict[str, dict[int, Counter[str]]]
"""How many rows every predicate has, by arity and by kind: observed, negative, predicted."""


def row_counts(engine: Engine, stages: Mapping[str, Staging]) -> RowCounts:
    tables = {sql.raw_table(kind, n): (kind, n) for kind, stage in stages.items() for n in stage.arities}
    found: RowCounts = {}
    for row in engine.query(sql.raw_counts(list(tables))).to_pylist() if tables else ():
        kind, arity = tables[row["source"]]
        found.setdefault(row["predicate"], {}).setdefault(arity, Counter())[kind] += row["n"]
    return found


def occurrences(found: RowCounts, mentioned: Callable[[str], bool]) -> Occurrences:
    rows = {predicate: sum(kinds.total() for kinds in uses.values()) for predicate, uses in found.items()}
    facts = {predicate for predicate, uses in found.items() for kinds in uses.values() if kinds["observed"] or kinds["negative"]}
    return Occurrences(rows, frozenset(facts), mentioned)


def predicate_arities(found: RowCounts) -> dict[str, int]:
    """The arity of every predicate in the data. InputError for predicates with two arities."""
    problems = [
        Diagnostic(
            "E324",
            f"`{predicate}` occurs with {' and '.join(str(n) for n in sorted(uses))} arguments",
            notes=tuple(
                f"{n} argument{'s' if n != 1 else ''}: " + ", ".join(f"{count:,} {kind} rows" for kind, count in kinds.items())
                for n, kinds in sorted(uses.items())
            ),
            helps=("give the two relations different names",),
        )
        for predicate, uses in sorted(found.items())
        if len(uses) > 1
    ]
    if problems:
        raise InputError(problems)
    return {predicate: next(iter(uses)) for predicate, uses in found.items()}


class _Bases:
    """Builds the numbered tables from the staged tables, and drops the latter."""

    def __init__(
        self,
        engine: Engine,
        stages: Mapping[str, Staging],
        names: Sequence[str],
        orders: dict[int, tuple[Order, ...]],
        stride: int,
    ) -> None:
        self._engine = engine
        self._stages = stages
        self._names = names
        self._orders = orders
        self._stride = stride
        self.counts: dict[str, Counter[int]] = {kind: Counter() for kind in stages}
        self.fact_arities: set[int] = set()
        self.overlap = 0
        self.queries: dict[int, int] = {}

    def build(self, targets: Sequence[LoadedTable]) -> None:
        """`targets`: the tables with predictions, which are numbered already; facts get the numbers after theirs."""
        for arity in sorted(set(self._stages["observed"].arities) | set(self._stages["negative"].arities)):
            self._facts(arity)
        answers = [target_answers(str(one.staged), str(one.predicted), [name for name, _ in one.arguments]) for one in targets]
        offset, predicted = predictions_made(targets), self._stages["predicted"]
        for arity in predicted.arities:
            answers.append(self._candidates(arity, offset))
            offset += predicted.rows[arity]
        if answers:
            self._engine.run(sql.create_answers(answers))
        if raw := [sql.raw_table("predicted", arity) for arity in predicted.arities]:
            self.queries = {row["model"]: row["queries"] for row in self._engine.query(sql.query_counts(raw)).to_pylist()}
        self._count()
        for kind, arity in self._each_stage():
            self._engine.run(drop(_base(kind, arity)))
        for staged in (*map(predicted.table, predicted.arities), *(one.staged for one in targets)):
            self._engine.run(drop(str(staged)))

    def _each_stage(self) -> Iterator[tuple[str, int]]:
        for kind, stage in self._stages.items():
            for arity in stage.arities:
                yield kind, arity

    def _facts(self, arity: int) -> None:
        bases: dict[str, str | None] = {"observed": None, "negative": None}
        for kind in bases:
            raw = self._stages[kind].table(arity)
            if raw is not None:
                bases[kind] = _base(kind, arity)
                self._engine.run(sql.create_base(_base(kind, arity), raw, arity))
                self._engine.run(drop(raw))
        if bases["observed"] and bases["negative"]:
            self.overlap += self._engine.query(sql.overlap(bases["negative"], bases["observed"], arity))["n"][0].as_py()
        orders = self._orders.get(arity, (identity(arity),))
        self._engine.run(sql.create_facts(arity, bases["observed"], bases["negative"], orders, self._stride, len(self._names)))
        self.fact_arities.add(arity)

    def _candidates(self, arity: int, offset: int) -> Select:
        raw = sql.raw_table("predicted", arity)
        base = _base("predicted", arity)
        observed = _base("observed", arity) if self._stages["observed"].table(arity) else None
        self._engine.run(sql.create_candidate_base(base, raw, arity, offset, observed))
        orders = self._orders.get(arity, (identity(arity),))
        self._engine.run(sql.create_candidates(arity, base, orders, self._stride))
        return sql.answers(raw, arity, base)

    def _count(self) -> None:
        stages = list(self._each_stage())
        if not stages:
            return
        for row in self._engine.query(sql.predicate_counts([_base(*one) for one in stages])).to_pylist():
            kind, _ = stages[row["place"]]
            self.counts[kind][row["predicate"]] += row["n"]


def _base(kind: str, arity: int) -> str:
    return name(f"base_{kind}_{arity}")
