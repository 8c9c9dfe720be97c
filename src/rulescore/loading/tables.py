"""Tables with keys in an engine: their observed rows, and the predictions of their targets. We read predictions in the types of the
tables (0017) and check them against the rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, EngineError, InputError, Place, refuse, ticked
from rulescore.language.syntax import Attribute
from rulescore.loading.stored import Offenders, offenders, stored_rows
from rulescore.loading.table_rows import TableLoader, TableRows
from rulescore.loading.table_values import SCORE, Columns, Inference, prediction_columns
from rulescore.readers.table_rows import ARROW_TYPES
from rulescore.reporting.listing import counted
from rulescore.setting.choices import EVERY_ANSWER
from rulescore.setting.model import ModelPredictions, RowStream, Setting, TablePredictions
from rulescore.sql import tables as sql
from rulescore.sql.query import Select, create, drop, insert, union_all
from rulescore.sql.tables import Attributes
from rulescore.sql.values import inexact_integer
from rulescore.values import ValueType, equals_double, key_of


@dataclass(frozen=True, slots=True)
class TableColumn:
    """An attribute in the database: the field that holds it, and its type."""

    name: str
    type: ValueType


@dataclass(frozen=True, slots=True)
class LoadedTable:
    """A table in the database. `columns`: the loaded attributes, `attributes` all that it has (None: a type that has no values).
    `observed`: the table of its rows, in which hidden targets and attributes computed from them are NULL. `predicted`: the table
    with one row per distinct prediction of its target, and its number; `staged`: the table of the predictions of each model, which
    `facts.load` drops. `from_target`: the attributes that change with the target. `made`: how many predictions each model makes, by
    its number. `covered`: for how many hidden rows. Both are empty if no model predicts the target. `inexact`: an integer of the
    target that no float equals, if the target is mixed. `inferred`: the columns of a text file whose types nobody declares, with
    the types that we gave them."""

    name: str
    key: tuple[str, ...]
    target: str | None
    columns: Mapping[str, TableColumn]
    rows: int
    hidden: int
    observed: str
    from_target: frozenset[str]
    attributes: Mapping[str, ValueType | None]
    predicted: str | None = None
    staged: str | None = None
    made: Mapping[int, int] = field(default_factory=dict)
    covered: Mapping[int, int] = field(default_factory=dict)
    inexact: int | None = None
    inferred: Mapping[str, ValueType] = field(default_factory=dict)
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def predicate(self) -> str:
        """The predicate of its predictions."""
        return f"{self.name}.{self.target}"

    def constants(self) -> Iterator[Select]:
        """The keys of the constants in each loaded attribute."""
        for column in self.columns.values():
            yield sql.keys_in(self.observed, column.name, column.type)

    @property
    def arguments(self) -> list[tuple[str, ValueType]]:
        """The fields of a prediction's arguments, the key and the target, with their types."""
        return [(column.name, column.type) for column in map(self.columns.__getitem__, (*self.key, str(self.target)))]


def load_tables(
    engine: Engine, setting: Setting, used: Mapping[str, Collection[str]], inference: Inference | None = None
) -> dict[str, LoadedTable]:
    """Reads and checks every table with a key, and the predictions of its target. `used` are the attributes that rules name; we
    load those, the key and the target. The checks of rules report an attribute that a table does not have. `inference` finds the
    types of columns of text files."""
    if not setting.tables:
        return {}
    inference = inference or Inference()
    tables = TableLoader(engine, setting, used, inference).load()
    staged = stage_predictions(engine, setting, tables)
    loaded_tables: dict[str, LoadedTable] = {}
    for name, rows in tables.items():
        loaded = _loaded(engine, rows, staged.get(name), first=predictions_made(loaded_tables.values()))
        loaded_tables[name] = replace(loaded, inferred=inference.found.get(name, {}))
    return loaded_tables


def predictions_made(tables: Iterable[LoadedTable]) -> int:
    """How many predictions of tables' targets all models make. None of them has a higher number."""
    return sum(sum(table.made.values()) for table in tables)


def _loaded(engine: Engine, rows: TableRows, staged: Staged | None, *, first: int) -> LoadedTable:
    """The table; its predictions are numbered from `first` on."""
    shape = rows.shape
    attributes = _observed_attributes(rows, staged)
    kinds = [cast(ValueType, attributes.type(Attribute(name))) for name in rows.need.kept]
    columns = {name: TableColumn(f"c{i}", kind) for i, (name, kind) in enumerate(zip(rows.need.kept, kinds, strict=True))}
    fields = {name: column.name for name, column in columns.items()}
    observed = f"{rows.stem}_observed"
    with _named_in_errors(rows):
        engine.run(sql.create_observed(observed, rows.table, fields, attributes))
        predicted = None if staged is None else _predicted(engine, rows, staged, fields, first)
    engine.run(drop(rows.table))
    return LoadedTable(
        name=shape.table.name,
        key=shape.table.key,
        target=shape.table.target,
        columns=columns,
        rows=rows.rows,
        hidden=rows.hidden,
        observed=observed,
        from_target=shape.from_target,
        attributes=shape.attributes,
        predicted=predicted,
        staged=None if staged is None else rows.staged,
        made={} if staged is None else staged.made,
        covered={} if staged is None else staged.covered,
        inexact=None if staged is None else staged.inexact,
        warnings=rows.warnings,
    )


def _predicted(engine: Engine, rows: TableRows, staged: Staged, fields: Mapping[str, str], first: int) -> str:
    predicted = f"{rows.stem}_predicted"
    attributes = Attributes(rows.shape, rows.fields, sql.predicted_value, target_type=staged.target_type)
    engine.run(sql.create_predicted(predicted, rows.table, rows.staged, rows.keys, fields, attributes, first))
    return predicted


def _observed_attributes(rows: TableRows, staged: Staged | None) -> Attributes:
    target, observed = rows.shape.table.target, rows.target_type
    if target is None or observed is None:
        return Attributes(rows.shape, rows.fields)
    held = observed if staged is None else staged.target_type
    return Attributes(rows.shape, rows.fields, lambda: sql.observed_target(rows.fields[target], observed, held), target_type=held)


@contextmanager
def _named_in_errors(rows: TableRows) -> Iterator[None]:
    """Context manager: a database error says which attributes were being computed."""
    try:
        yield
    except EngineError as error:
        shown = ticked(name for name in rows.need.kept if name in rows.shape.derived)
        if not shown:
            raise
        raise EngineError(f"{error}\nwhile computing {shown} of table `{rows.shape.table.name}`") from error


# Predictions of the targets of tables.


@dataclass(frozen=True, slots=True)
class Staged:
    """The predictions of a table's target: for each model's number, how many predictions it makes and how many rows it covers; and
    a type that fits both predictions and observed values. Integers mixed with fractions become floats. If no float equals one of
    the integers (`inexact`), all become keys of constants."""

    made: Mapping[int, int]
    covered: Mapping[int, int]
    target_type: ValueType
    inexact: int | None


def stage_predictions(engine: Engine, setting: Setting, tables: Mapping[str, TableRows]) -> dict[str, Staged]:
    """Reads the predictions of every table that has some. Raises one InputError for all their problems."""
    problems = [problem for model in setting.predictions for problem in _top_k_problems(model)]
    stages = [_Stage(engine, rows, setting.predictions) for rows in tables.values()]
    loaded = [(stage, checked) for stage in stages if (checked := stage.load()) is not None]
    counts: list[dict[str, int]] = []
    if loaded:
        findings = engine.query(sql.prediction_findings([checked for _, checked in loaded]))
        counts = findings.sort_by([("place", "ascending"), ("model", "ascending")]).to_pylist()
    by_table = {
        stage.table.name: stage.check(checked, [row for row in counts if row["place"] == place])
        for place, (stage, checked) in enumerate(loaded)
    }
    problems += [problem for stage in stages for problem in stage.problems]
    refuse(problems)
    return {name: staged for name, staged in by_table.items() if staged.made}


def _top_k_problems(model: ModelPredictions) -> Iterator[Diagnostic]:
    if model.tables and not model.streams and model.top_k is not None:
        asked = "a curve over ranks is asked for" if model.top_k == EVERY_ANSWER else "top_k is asked for"
        message = f"{asked}, but the predictions of `{model.model}` are values of a table's rows"
        notes = ("a row has one prediction, and there is nothing to choose from",)
        yield Diagnostic("E330", message, Place(model.tables[0].rows.origin), notes=notes, helps=("leave it out",))


class _Stage:
    """The predictions of one table's target."""

    def __init__(self, engine: Engine, rows: TableRows, models: tuple[ModelPredictions, ...]) -> None:
        self._engine, self._rows, self._models = engine, rows, models
        self.table = rows.shape.table
        self.problems: list[Diagnostic] = []
        self._inexact: int | None = None

    def load(self) -> sql.CheckedPredictions | None:
        """The staged predictions to be checked; None if there are none, or if we could not read them."""
        target = self._rows.target_type
        if target is None:
            return None
        parts = [
            (number, part)
            for number, model in enumerate(self._models)
            for source in model.tables
            if source.table == self.table.name
            for part in self._columns_of_source(source, model.model, target)
        ]
        if not parts or self.problems:
            return None
        rows = self._rows
        held, columns = target, [part for _, part in parts]
        if target is ValueType.INTEGER and not all(map(self._is_whole, columns)):
            self._inexact = self._inexact_integer(columns) if all(map(self._is_finite, columns)) else None
            held = ValueType.FLOAT if self._inexact is None else ValueType.MIXED
        attributes = Attributes(rows.shape, rows.fields, target_type=held)
        if uncomputed := [
            attribute
            for attribute in rows.need.kept
            if attribute in rows.shape.from_target and not attributes.can_compute(attribute)
        ]:
            self.problems.append(self._not_whole(uncomputed))
            return None
        self._stage(parts, held)
        return sql.CheckedPredictions(rows.staged, rows.table, rows.keys, held)

    def _stage(self, parts: Sequence[tuple[int, Columns]], held: ValueType) -> None:
        staged, width = self._rows.staged, len(self.table.key)
        here = [_of_model(part, number, held) for number, part in parts if isinstance(part, pa.Table)]
        there = []
        for number, part in parts:
            if not isinstance(part, pa.Table):
                whole = held is ValueType.MIXED and self._is_whole(part)
                kind = ValueType.INTEGER if whole else ValueType.FLOAT if held is ValueType.MIXED else held
                there.append(sql.of_model(part, width, number, kind, held))
        if here:
            self._engine.load(staged, pa.concat_tables(here))
        if there:
            query = union_all(there)
            self._engine.run(insert(staged, query) if here else create(staged, query))

    def _is_whole(self, part: Columns) -> bool:
        """Whether predicted numbers fit into a column of whole numbers."""
        if isinstance(part, pa.Table):
            return _is_whole(part["value"])
        return not self._engine.query(sql.not_all_whole(part)).num_rows

    def _is_finite(self, part: Columns, field: str = "value") -> bool:
        if isinstance(part, pa.Table):
            return bool(pc.all(pc.is_finite(part[field]), min_count=0).as_py())
        return not self._engine.query(sql.not_all_finite(part, field)).num_rows

    def check(self, checked: sql.CheckedPredictions, counts: Sequence[Mapping[str, int]]) -> Staged:
        """Checks the predictions. `counts`: the findings on each model."""
        types = self._rows.key_types()
        for row in counts:
            for fault in (fault for fault in sql.FAULTS if row[fault]):
                faulty = offenders(self._engine, sql.faulty(checked, row["model"], fault), types)
                assert faulty is not None
                self.problems.append(self._fault(fault, row["model"], row[fault], faulty))
        for row in (row for row in counts if row["several"]):
            query = sql.conflicting(self._rows.staged, len(self.table.key), row["model"], checked.target_type)
            who, ids = f"`{self._models[row['model']].model}`", counted(row["several"], "id")
            message = f"{who} predicts different values for {ids}: {offenders(self._engine, query, types)}"
            helps = ("give one prediction for each id; equal ones count once",)
            self.problems.append(Diagnostic("E345", message, self._place(row["model"]), helps=helps))
        made, covered = ({row["model"]: row[what] for row in counts} for what in ("rows", "ids"))
        return Staged(made, covered, checked.target_type, self._inexact)

    def _columns_of_source(self, source: TablePredictions, model: str, target: ValueType) -> Iterator[Columns]:
        try:
            source_rows = source.rows if isinstance(source.rows, RowStream) else stored_rows(self._engine, source.rows, model)
            columns, problems = prediction_columns(self._engine, source_rows, self.table, self._rows.key_types(), target)
        except InputError as error:
            self.problems += error.problems
            return
        self.problems += problems
        if not problems and not self._is_finite(columns, SCORE):
            message = f"some scores of the predictions of `{model}` are NaN or infinite"
            helps = ("leave the score of these rows empty, or rename the column if it holds something else",)
            self.problems.append(Diagnostic("E314", message, Place(source.rows.origin), helps=helps))
        yield columns

    def _not_whole(self, derived: list[str]) -> Diagnostic:
        shown = ticked(derived)
        message = f"`{self.table.target}` of table `{self.table.name}` is an integer, and some predictions of it are not"
        beside = "" if self._inexact is None else f" beside the integer {self._inexact}, which no float equals"
        notes = (f"{shown} cannot be computed from them{beside}",)
        return Diagnostic("E351", message, notes=notes, helps=("round the predictions, or the target where it is used",))

    def _inexact_integer(self, parts: Sequence[Columns]) -> int | None:
        """An integer that would become another number as a float."""
        target = str(self.table.target)
        observed = sql.observed_values(self._rows.table, self._rows.fields[target])
        stored = [sql.integers_of(part) for part in parts if not isinstance(part, pa.Table) and self._is_whole(part)]
        integer: int | None = self._engine.query(inexact_integer([observed, *stored]))["value"][0].as_py()
        inexact = [_inexact(part["value"]) for part in parts if isinstance(part, pa.Table)]
        return next((number for number in (integer, *inexact) if number is not None), None)

    def _fault(self, fault: str, model: int, count: int, faulty: Offenders) -> Diagnostic:
        who = f"`{self._models[model].model}`"
        table, target = f"`{self.table.name}`", f"`{self.table.target}`"
        ids = counted(faulty.total, "id")
        place = self._place(model)
        match fault:
            case "no_id":
                return Diagnostic("E351", f"{who} has {counted(count, 'prediction')} without id", place)
            case "no_value":
                helps = ("leave out the rows of ids that are not predicted",)
                return Diagnostic("E351", f"{who} has no prediction for {ids} that it lists: {faulty}", place, helps=helps)
            case "not_finite":
                helps = ("leave out the rows of ids that are not predicted",)
                return Diagnostic("E351", f"{who} predicts NaN or infinity for {ids}: {faulty}", place, helps=helps)
            case "unknown":
                helps = ("leave them out, or correct them",)
                return Diagnostic("E352", f"{who} predicts {ids} that table {table} does not have: {faulty}", place, helps=helps)
            case _:
                notes = (
                    f"only a hidden {target} can be predicted: an observed one stands already",
                    *(note for warning in self._rows.warnings for note in (warning.message, *warning.notes)),
                )
                helps = (
                    ("say with `hidden` which rows are hidden",)
                    if self.table.hidden is None
                    else ("leave them out, or see that `hidden` of the table speaks of them",)
                )
                message = f"{who} predicts {ids} of table {table} whose {target} is not hidden: {faulty}"
                return Diagnostic("E353", message, place, notes=notes, helps=helps)

    def _place(self, model: int) -> Place:
        return Place(next(table.rows.origin for table in self._models[model].tables if table.table == self.table.name))


def _is_whole(values: pa.ChunkedArray) -> bool:
    if pa.types.is_integer(values.type):
        return True
    whole = pc.and_(pc.equal(values, pc.floor(values)), pc.less(pc.abs(values), 2.0**63))
    return bool(pc.all(whole, min_count=0).as_py())


def _inexact(values: pa.ChunkedArray) -> int | None:
    if not pa.types.is_integer(values.type):
        return None
    return next((value for value in pc.unique(values).to_pylist() if value is not None and not equals_double(value)), None)


def _of_model(part: pa.Table, model: int, held: ValueType) -> pa.Table:
    """Predictions as they are staged."""
    place = part.schema.get_field_index("value")
    values = part["value"]
    if held is ValueType.MIXED:
        typed = pa.array([None if value is None else key_of(value) for value in values.to_pylist()], pa.string())
    else:
        typed = values.cast(ARROW_TYPES[held], safe=False)
    return part.set_column(place, "value", typed).append_column("model", pa.repeat(pa.scalar(model, pa.int32()), part.num_rows))
