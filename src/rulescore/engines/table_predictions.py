"""Predictions of the targets of tables: read in the types of the tables, and checked against their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.data.setting import ModelPredictions, RowStream, Setting, TablePredictions, ValueType
from rulescore.engines.base import Engine
from rulescore.engines.in_place import row_stream
from rulescore.engines.offenders import Offenders, counted, offenders
from rulescore.engines.table_ids import prediction_columns
from rulescore.engines.table_rows import TableRows
from rulescore.errors import Diagnostic, InputError, Place
from rulescore.language.syntax import Attribute
from rulescore.sql import table_predictions as sql
from rulescore.sql.tables import Attributes

CODES = {
    "E352": "predictions for ids that the table does not have",
    "E353": "predictions for rows whose target is not hidden",
    "E354": "different predictions of one model for one id",
    "E355": "a prediction or its id is missing, or a prediction is NaN or infinite",
}


@dataclass(frozen=True, slots=True)
class Staged:
    """The predictions of a table's target: how many rows each model covers, by its number, and whether whole numbers are
    predicted by others."""

    covered: Mapping[int, int]
    floats: bool


def stage_predictions(engine: Engine, setting: Setting, tables: Mapping[str, TableRows]) -> dict[str, Staged]:
    """Reads the predictions of every table that has some. All that is wrong with them is raised together."""
    problems = [problem for model in setting.predictions for problem in _top_k_problems(model)]
    found: dict[str, Staged] = {}
    for name, rows in tables.items():
        stage = _Stage(engine, rows, setting.predictions)
        if (staged := stage.run()) is not None:
            found[name] = staged
        problems += stage.problems
    if problems:
        raise InputError(problems)
    return found


def _top_k_problems(model: ModelPredictions) -> Iterator[Diagnostic]:
    if model.tables and model.top_k is not None:
        message = f"top_k is asked for, but the predictions of `{model.model}` are values of a table's rows"
        notes = ("a row has one prediction, and there is nothing to choose from",)
        yield Diagnostic("E330", message, Place(model.tables[0].rows.origin), notes=notes, helps=("leave top_k out",))


class _Stage:
    """The predictions of one table's target."""

    def __init__(self, engine: Engine, rows: TableRows, models: tuple[ModelPredictions, ...]) -> None:
        self._engine, self._rows, self._models = engine, rows, models
        self._table = rows.shape.table
        self.problems: list[Diagnostic] = []

    def run(self) -> Staged | None:
        target = self._rows.shape.attributes[self._table.target] if self._table.target is not None else None
        parts = [
            part.append_column("model", pa.repeat(pa.scalar(number, pa.int32()), part.num_rows))
            for number, model in enumerate(self._models)
            for source in model.tables
            if source.table == self._table.name and target is not None
            for part in self._read(source, model.model, target)
        ]
        if not parts or self.problems or target is None:
            return None
        floats = target is ValueType.INTEGER and not all(_is_whole(part["value"]) for part in parts)
        kind = ValueType.FLOAT if floats else target
        if floats and (whole := self._for_integers()):
            self.problems.append(self._not_whole(whole))
            return None
        self._engine.load(self._rows.staged, pa.concat_tables([_cast(part, floats, target) for part in parts]))
        self._check_each(kind)
        return Staged(self._covered(), floats)

    def _read(self, source: TablePredictions, model: str, target: ValueType) -> Iterator[pa.Table]:
        try:
            rows = source.rows if isinstance(source.rows, RowStream) else row_stream(self._engine, source.rows, model)
            found, problems = prediction_columns(rows, self._table, self._rows.key_types(), target)
        except InputError as error:
            self.problems += error.problems
            return
        self.problems += problems
        yield found

    def _for_integers(self) -> list[str]:
        """Derived attributes that cannot be computed from a target that is not a whole number."""
        attributes = Attributes(self._rows.shape, self._rows.fields, floats=True)
        derived = [one for one in self._rows.need.kept if one in self._rows.shape.from_target]
        return [one for one in derived if attributes.type(Attribute(one)) is None]

    def _not_whole(self, derived: list[str]) -> Diagnostic:
        shown = ", ".join(f"`{one}`" for one in derived)
        message = f"`{self._table.target}` of table `{self._table.name}` is an integer, and some predictions of it are not"
        notes = (f"{shown} cannot be computed from them",)
        return Diagnostic("E351", message, notes=notes, helps=("round the predictions, or the target where it is used",))

    def _check_each(self, kind: ValueType) -> None:
        rows = self._rows
        for row in self._engine.query(sql.fault_counts(rows.staged, rows.table, rows.keys, kind)).to_pylist():
            for fault in sql.FAULTS:
                if row[fault]:
                    query = sql.faulty(rows.staged, rows.table, rows.keys, kind, row["model"], fault)
                    found = offenders(self._engine, query)
                    assert found is not None
                    self.problems.append(self._fault(fault, row["model"], row[fault], found))

    def _fault(self, fault: str, model: int, count: int, found: Offenders) -> Diagnostic:
        who = f"`{self._models[model].model}`"
        table, target = f"`{self._table.name}`", f"`{self._table.target}`"
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
                    if self._table.hidden is None
                    else ("leave them out, or see that `hidden` of the table speaks of them",)
                )
                message = f"{who} predicts {ids} of table {table} whose {target} is not hidden: {found}"
                return Diagnostic("E353", message, place, notes=notes, helps=helps)

    def _covered(self) -> dict[int, int]:
        covered = {}
        width = len(self._table.key)
        for row in self._engine.query(sql.covered_ids(self._rows.staged, width)).to_pylist():
            covered[row["model"]] = row["ids"]
            if row["several"]:
                found = offenders(self._engine, sql.conflicting(self._rows.staged, width, row["model"]))
                who = f"`{self._models[row['model']].model}`"
                message = f"{who} predicts different values for {counted(row['several'], 'id')}: {found}"
                helps = ("give one prediction for each id; equal ones count once",)
                self.problems.append(Diagnostic("E354", message, self._place(row["model"]), helps=helps))
        return covered

    def _place(self, model: int) -> Place:
        return Place(next(one.rows.origin for one in self._models[model].tables if one.table == self._table.name))


def _is_whole(values: pa.ChunkedArray) -> bool:
    """Whether numbers fit into a column of whole numbers."""
    if pa.types.is_integer(values.type):
        return True
    whole = pc.and_(pc.equal(values, pc.floor(values)), pc.less(pc.abs(values), 2.0**63))
    return bool(pc.all(whole, min_count=0).as_py())


def _cast(part: pa.Table, floats: bool, target: ValueType) -> pa.Table:
    if target is not ValueType.INTEGER:
        return part
    place = part.schema.get_field_index("value")
    return part.set_column(place, "value", part["value"].cast(pa.float64() if floats else pa.int64(), safe=False))
