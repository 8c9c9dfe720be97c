"""Predictions of the targets of tables: read in the types of the tables, and checked against their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, InputError, Place
from rulescore.loading.samples import Offenders, counted, offenders
from rulescore.loading.stored import stored_rows
from rulescore.loading.tables.ids import Columns, prediction_columns
from rulescore.loading.tables.rows import TableRows
from rulescore.readers.table_rows import ARROW_TYPES
from rulescore.setting.choices import EVERY_ANSWER
from rulescore.setting.model import ModelPredictions, RowStream, Setting, TablePredictions
from rulescore.sql.query import Query, create, insert, union_all
from rulescore.sql.tables import predictions as sql
from rulescore.sql.tables.rows import Attributes
from rulescore.sql.values import inexact_integer
from rulescore.values.keys import equals_double, key_of
from rulescore.values.types import ValueType


@dataclass(frozen=True, slots=True)
class Staged:
    """The predictions of a table's target: how many each model makes and how many rows it covers, by its number, and the type that
    holds both them and the observed values. That is float for integers beside fractions or, if no float equals one of the integers,
    `inexact`, keys of constants."""

    made: Mapping[int, int]
    covered: Mapping[int, int]
    target_type: ValueType
    inexact: int | None


def stage_predictions(engine: Engine, setting: Setting, tables: Mapping[str, TableRows]) -> dict[str, Staged]:
    """Reads the predictions of every table that has some. Raises one InputError for all their problems."""
    problems = [problem for model in setting.predictions for problem in _top_k_problems(model)]
    stages = [_Stage(engine, rows, setting.predictions) for rows in tables.values()]
    loaded = [(stage, checked) for stage in stages if (checked := stage.load()) is not None]
    counts = _counts(engine, [checked for _, checked in loaded]) if loaded else []
    found = {
        stage.table.name: stage.check(checked, [row for row in counts if row["place"] == place])
        for place, (stage, checked) in enumerate(loaded)
    }
    problems += [problem for stage in stages for problem in stage.problems]
    if problems:
        raise InputError(problems)
    return {name: staged for name, staged in found.items() if staged.made}


def _counts(engine: Engine, tables: Sequence[sql.CheckedPredictions]) -> list[dict[str, int]]:
    """The findings on all tables, by one statement."""
    found = engine.query(sql.findings(tables)).sort_by([("place", "ascending"), ("model", "ascending")])
    counts: list[dict[str, int]] = found.to_pylist()
    return counts


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
            for part in self._read(source, model.model, target)
        ]
        if not parts or self.problems:
            return None
        rows = self._rows
        held = self._held_as(target, [part for _, part in parts])
        attributes = Attributes(rows.shape, rows.fields, target_type=held)
        if uncomputed := [one for one in rows.need.kept if one in rows.shape.from_target and not attributes.can_compute(one)]:
            self.problems.append(self._not_whole(uncomputed))
            return None
        self._stage(parts, held)
        return sql.CheckedPredictions(rows.staged, rows.table, rows.keys, held)

    def _held_as(self, target: ValueType, parts: Sequence[Columns]) -> ValueType:
        if target is not ValueType.INTEGER or all(self._is_whole(part) for part in parts):
            return target
        self._inexact = self._inexact_integer(parts) if all(self._is_finite(part) for part in parts) else None
        return ValueType.FLOAT if self._inexact is None else ValueType.MIXED

    def _stage(self, parts: Sequence[tuple[int, Columns]], held: ValueType) -> None:
        staged, width = self._rows.staged, len(self.table.key)
        here = [_of_model(part, number, held) for number, part in parts if isinstance(part, pa.Table)]
        there = [
            sql.of_model(part, width, number, self._type_of(part, held), held)
            for number, part in parts
            if not isinstance(part, pa.Table)
        ]
        if here:
            self._engine.load(staged, pa.concat_tables(here))
        if there:
            query = union_all(there)
            self._engine.run(insert(staged, query) if here else create(staged, query))

    def _type_of(self, part: Query, held: ValueType) -> ValueType:
        """The type of stored predictions."""
        if held is not ValueType.MIXED:
            return held
        return ValueType.INTEGER if self._is_whole(part) else ValueType.FLOAT

    def _is_whole(self, part: Columns) -> bool:
        """Whether predicted numbers fit into a column of whole numbers."""
        if isinstance(part, pa.Table):
            return _is_whole(part["value"])
        return not self._engine.query(sql.not_all_whole(part)).num_rows

    def _is_finite(self, part: Columns) -> bool:
        if isinstance(part, pa.Table):
            return bool(pc.all(pc.is_finite(part["value"]), min_count=0).as_py())
        return not self._engine.query(sql.not_all_finite(part)).num_rows

    def check(self, checked: sql.CheckedPredictions, counts: Sequence[Mapping[str, int]]) -> Staged:
        """Checks the predictions. `counts`: the findings on each model."""
        for row in counts:
            self._check_faults(checked, row)
        for row in counts:
            if row["several"]:
                self._check_conflicts(checked, row)
        made, covered = ({row["model"]: row[what] for row in counts} for what in ("rows", "ids"))
        return Staged(made, covered, checked.target_type, self._inexact)

    def _read(self, source: TablePredictions, model: str, target: ValueType) -> Iterator[Columns]:
        try:
            given = source.rows if isinstance(source.rows, RowStream) else stored_rows(self._engine, source.rows, model)
            found, problems = prediction_columns(self._engine, given, self.table, self._rows.key_types(), target)
        except InputError as error:
            self.problems += error.problems
            return
        self.problems += problems
        yield found

    def _not_whole(self, derived: list[str]) -> Diagnostic:
        shown = ", ".join(f"`{one}`" for one in derived)
        message = f"`{self.table.target}` of table `{self.table.name}` is an integer, and some predictions of it are not"
        beside = "" if self._inexact is None else f" beside the integer {self._inexact}, which no float equals"
        notes = (f"{shown} cannot be computed from them{beside}",)
        return Diagnostic("E351", message, notes=notes, helps=("round the predictions, or the target where it is used",))

    def _inexact_integer(self, parts: Sequence[Columns]) -> int | None:
        """An integer that would become another number as a float."""
        target = str(self.table.target)
        observed = sql.observed_values(self._rows.table, self._rows.fields[target])
        stored = [sql.integers_of(part) for part in parts if not isinstance(part, pa.Table) and self._is_whole(part)]
        found: int | None = self._engine.query(inexact_integer([observed, *stored]))["value"][0].as_py()
        given = [_inexact(part["value"]) for part in parts if isinstance(part, pa.Table)]
        return next((one for one in (found, *given) if one is not None), None)

    def _check_faults(self, checked: sql.CheckedPredictions, row: Mapping[str, int]) -> None:
        for fault in sql.FAULTS:
            if row[fault]:
                found = offenders(self._engine, sql.faulty(checked, row["model"], fault), self._rows.key_types())
                assert found is not None
                self.problems.append(self._fault(fault, row["model"], row[fault], found))

    def _fault(self, fault: str, model: int, count: int, found: Offenders) -> Diagnostic:
        who = f"`{self._models[model].model}`"
        table, target = f"`{self.table.name}`", f"`{self.table.target}`"
        ids = counted(found.total, "id")
        place = self._place(model)
        match fault:
            case "no_id":
                return Diagnostic("E355", f"{who} has {counted(count, 'prediction')} without id", place)
            case "no_value":
                helps = ("leave out the rows of ids that are not predicted",)
                return Diagnostic("E355", f"{who} has no prediction for {ids} that it lists: {found}", place, helps=helps)
            case "not_finite":
                helps = ("leave out the rows of ids that are not predicted",)
                return Diagnostic("E355", f"{who} predicts NaN or infinity for {ids}: {found}", place, helps=helps)
            case "unknown":
                helps = ("leave them out, or correct them",)
                return Diagnostic("E352", f"{who} predicts {ids} that table {table} does not have: {found}", place, helps=helps)
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
                message = f"{who} predicts {ids} of table {table} whose {target} is not hidden: {found}"
                return Diagnostic("E353", message, place, notes=notes, helps=helps)

    def _check_conflicts(self, checked: sql.CheckedPredictions, row: Mapping[str, int]) -> None:
        query = sql.conflicting(self._rows.staged, len(self.table.key), row["model"], checked.target_type)
        found = offenders(self._engine, query, self._rows.key_types())
        who = f"`{self._models[row['model']].model}`"
        message = f"{who} predicts different values for {counted(row['several'], 'id')}: {found}"
        helps = ("give one prediction for each id; equal ones count once",)
        self.problems.append(Diagnostic("E354", message, self._place(row["model"]), helps=helps))

    def _place(self, model: int) -> Place:
        return Place(next(one.rows.origin for one in self._models[model].tables if one.table == self.table.name))


def _is_whole(values: pa.ChunkedArray) -> bool:
    if pa.types.is_integer(values.type):
        return True
    whole = pc.and_(pc.equal(values, pc.floor(values)), pc.less(pc.abs(values), 2.0**63))
    return bool(pc.all(whole, min_count=0).as_py())


def _inexact(values: pa.ChunkedArray) -> int | None:
    if not pa.types.is_integer(values.type):
        return None
    return next((one for one in pc.unique(values).to_pylist() if one is not None and not equals_double(one)), None)


def _of_model(part: pa.Table, model: int, held: ValueType) -> pa.Table:
    """Predictions as they are staged."""
    place = part.schema.get_field_index("value")
    values = part["value"]
    if held is ValueType.MIXED:
        typed = pa.array([None if one is None else key_of(one) for one in values.to_pylist()], pa.string())
    else:
        typed = values.cast(ARROW_TYPES[held], safe=False)
    return part.set_column(place, "value", typed).append_column("model", pa.repeat(pa.scalar(model, pa.int32()), part.num_rows))
