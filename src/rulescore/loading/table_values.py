"""Finds the types of the columns of text files, and converts ids and values that the user gives for a table to them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, InputError, Place, suggestion, ticked
from rulescore.language.syntax import Program
from rulescore.loading.stored import StoredRows, offenders, shown_value
from rulescore.logic.places import ColumnPlace, EquatedPlaces
from rulescore.logic.tables import named_type, needs, untyped_shapes
from rulescore.readers.columns import is_text
from rulescore.readers.layout import PREDICTION, key_columns, names_score, prediction_column
from rulescore.readers.table_rows import ARROW_TYPES, fitted, value_type
from rulescore.reporting.listing import counted
from rulescore.setting.model import HiddenIds, KeyedTable, ModelPredictions, RowStream
from rulescore.sql import tables as sql
from rulescore.sql.query import Select
from rulescore.values import ValueType

SCORE = "score"

Given = RowStream | StoredRows
Columns: TypeAlias = pa.Table | Select
"""Rows that we have read, or a query for rows that stay in the engine."""

_NUMBERS = frozenset({ValueType.INTEGER, ValueType.FLOAT})


def id_columns(engine: Engine, rows: Given, table: KeyedTable, types: Sequence[ValueType]) -> tuple[Columns, list[Diagnostic]]:
    """Ids as columns `k0`, `k1`, … in the types of a table's key, and the problems with them."""
    schema = rows.schema()
    names = _key_names(schema, table, rows, listed=True)
    columns, problems = typed_columns(engine, rows, names, types, [f"k{i}" for i in range(len(names))])
    return columns, problems or list(_first_id(rows, names, table, types))


def _first_id(rows: Given, names: Sequence[str], table: KeyedTable, types: Sequence[ValueType]) -> Iterator[Diagnostic]:
    """Refuses a text file whose header reads as a number or a date: it probably has no header, and would lose its first id."""
    (first, *more) = names
    plain = types[0] not in (ValueType.STRING, ValueType.BOOLEAN)
    if rows.text and not more and first not in (*table.key, "id") and plain and fitted(pa.array([first]), types[0]).null_count == 0:
        message = f"the first line, `{first}`, is read as the name of the column, and looks like an id"
        yield Diagnostic("E320", message, Place(rows.origin), helps=(f"put a line with `{table.key[0]}` before it",))


def prediction_columns(
    engine: Engine, rows: Given, table: KeyedTable, types: Sequence[ValueType], target: ValueType
) -> tuple[Columns, list[Diagnostic]]:
    """Predictions as `k0`, …, `value`, in the types of a table's key and target, and `score`, their confidence if they have one.
    Predictions of a target of whole numbers may be fractions."""
    schema = rows.schema()
    names = _key_names(schema, table, rows)
    value = prediction_column(schema.names, table.target)
    if schema.names.count(value) != 1:
        raise _columns_problem(rows, schema, PREDICTION, "predictions have the columns of the key, and `prediction`")

    scores = [name for name in schema.names if name not in {*names, value} and names_score(name)]
    if len(scores) > 1:
        both = " and ".join(f"`{name}`" for name in scores)
        raise InputError(Diagnostic("E320", f"columns {both} both mean score", Place(rows.origin), helps=("rename all but one",)))

    def read_as(wanted: ValueType) -> tuple[Columns, list[Diagnostic]]:
        fields = [*(f"k{i}" for i in range(len(names))), "value"]
        kinds = [*types, wanted, *(ValueType.FLOAT for _ in scores)]
        columns, problems = typed_columns(engine, rows, [*names, value, *scores], kinds, [*fields, *(SCORE for _ in scores)])
        return columns if scores else _unscored(columns, fields), problems

    if target is not ValueType.INTEGER:
        return read_as(target)
    kind = value_type(schema.field(value).type)
    if rows.text or kind is not ValueType.FLOAT:  # a float does not hold every integer
        columns, problems = read_as(ValueType.INTEGER)
        if not problems or not (rows.text or kind is ValueType.INTEGER):
            return columns, problems
    return read_as(ValueType.FLOAT)


def _unscored(columns: Columns, fields: Sequence[str]) -> Columns:
    """Predictions with an unknown score."""
    if isinstance(columns, pa.Table):
        return columns.append_column(SCORE, pa.nulls(columns.num_rows, pa.float64()))
    return sql.unscored(columns, fields)


def _key_names(schema: pa.Schema, table: KeyedTable, rows: Given, *, listed: bool = False) -> tuple[str, ...]:
    """The columns that hold the key. Raises InputError if one is missing, or there twice."""
    names = key_columns(schema.names, table.key, listed=listed)
    for attribute in names:
        if schema.names.count(attribute) != 1:
            note = f"rows of `{table.name}` are named by {' and '.join(f'`{key}`' for key in table.key)}"
            raise _columns_problem(
                rows, schema, attribute, note + (", here also by `id`" if len(table.key) == 1 and attribute != "id" else "")
            )
    return names


def _columns_problem(rows: Given, schema: pa.Schema, column: str, note: str) -> InputError:
    times = schema.names.count(column)
    listed = ticked(schema.names)
    close = suggestion(column, schema.names)
    return InputError(
        Diagnostic(
            "E320",
            f"there is no column `{column}`" if not times else f"there are {times} columns `{column}`",
            Place(rows.origin),
            notes=(f"the columns are {listed}", note),
            helps=(f"is `{close}` meant? rename it to `{column}`",) if close and not times else (),
        )
    )


def typed_columns(
    engine: Engine, rows: Given, names: Sequence[str], types: Sequence[ValueType], fields: Sequence[str]
) -> tuple[Columns, list[Diagnostic]]:
    """Columns in these types and under these names, and a problem for each column with values of another type."""
    schema = rows.schema()
    wanted = list(zip(names, types, strict=True))
    problems = []
    for name, kind in wanted if not rows.text else ():
        given = value_type(schema.field(name).type)
        # A column without values may have any type.
        if given is not kind and not {given, kind} <= _NUMBERS and not pa.types.is_null(schema.field(name).type):
            problems.append(_type_problem(rows, name, given, kind))
    target = pa.schema([(field, ARROW_TYPES[kind]) for field, kind in zip(fields, types, strict=True)])
    if problems:
        return target.empty_table(), problems
    if isinstance(rows, RowStream):
        return _fitted_stream(rows, wanted, target)
    query = sql.fitted(rows.table, dict(zip(fields, wanted, strict=True)))
    return query, [problem for field, kind in wanted for problem in _unfit(engine, rows, field, kind)]


def _fitted_stream(
    stream: RowStream, wanted: Sequence[tuple[str, ValueType]], target: pa.Schema
) -> tuple[pa.Table, list[Diagnostic]]:
    batches, wrong = [target.empty_table()], [_Wrong(field, kind, wanted[0][1]) for field, kind in wanted]
    for batch in stream.open([name for name, _ in wanted]):
        columns = [_converted(batch.column(i), kind, stream, wrong[i], batch) for i, (_, kind) in enumerate(wanted)]
        batches.append(pa.table(columns, schema=target))
    return pa.concat_tables(batches), [field.problem(stream) for field in wrong if field.count]


def _unfit(engine: Engine, rows: StoredRows, column: str, wanted: ValueType) -> Iterator[Diagnostic]:
    """Values of a stored column that do not fit its type, or the wanted type."""
    if rows.table.may_lose(column) and (unfit := offenders(engine, sql.lost_values(rows.table, column))):
        yield Diagnostic("E314", f"`{column}` {lost(rows.columns.field(column).type)}: {unfit}", Place(rows.origin))
    broken = wanted is ValueType.INTEGER and value_type(rows.columns.field(column).type) is ValueType.FLOAT
    if broken and (unfit := offenders(engine, sql.not_whole(rows.table, column))):
        what = f"{counted(unfit.total, 'value')} of `{column}` {'are' if unfit.total > 1 else 'is'} not {_A[wanted]}"
        yield Diagnostic("E351", f"{what}: {unfit}", Place(rows.origin))


def lost(kind: pa.DataType) -> str:
    """The words for values of a stored column that our types cannot hold."""
    if not pa.types.is_timestamp(kind):
        return "does not fit into 64 bits"
    return "has nanoseconds, and date-times have microseconds" if kind.unit == "ns" else "is in no year from 1 to 9999"


class _Wrong:
    """The values of a column that are not of its type: the first few with their ids, and how many."""

    def __init__(self, name: str, wanted: ValueType, of_ids: ValueType) -> None:
        self._name, self._wanted, self._of_ids, self.count = name, wanted, of_ids, 0
        self._shown: list[str] = []

    def add(self, lost: pa.Array, column: pa.Array, batch: pa.RecordBatch) -> None:
        rows = pc.indices_nonzero(lost)
        self.count += len(rows)
        for row in rows[: 5 - len(self._shown)].to_pylist():
            own = shown_value(batch.column(0)[row].as_py(), self._of_ids)
            behind = "" if self._name == batch.schema.names[0] else f" for `{own}`"
            self._shown.append(f"`{column[row].as_py()}`{behind}")

    def problem(self, stream: RowStream) -> Diagnostic:
        more = f" and {self.count - len(self._shown):,} more" if self.count > len(self._shown) else ""
        message = f"{counted(self.count, 'value')} of `{self._name}` {'are' if self.count > 1 else 'is'} not {_A[self._wanted]}"
        return Diagnostic("E351", f"{message}: {', '.join(self._shown)}{more}", Place(stream.origin))


_A = {
    ValueType.STRING: "text",
    ValueType.INTEGER: "a whole number",
    ValueType.FLOAT: "a number",
    ValueType.BOOLEAN: "`true` or `false`",
    ValueType.DATE: "a date like 2024-05-31",
    ValueType.DATETIME: "a date-time without a zone, like 2024-05-31T12:30:00",
    ValueType.INSTANT: "a date-time with a zone, like 2024-05-31T12:30:00Z",
}

_TO = {
    ValueType.INTEGER: 'whole numbers: in pandas `.astype("Int64")`',
    ValueType.FLOAT: 'numbers: in pandas `.astype("Float64")`',
    ValueType.BOOLEAN: 'true and false: in pandas `.astype("boolean")`',
    ValueType.DATE: "dates: in pandas `pandas.to_datetime(…).dt.date`",
    ValueType.DATETIME: "date-times without a zone: in pandas `pandas.to_datetime(…).dt.tz_localize(None)`",
    ValueType.INSTANT: "date-times with a zone: in pandas `pandas.to_datetime(…, utc=True)`",
}


def _type_problem(rows: Given, column: str, type_: ValueType | None, wanted: ValueType) -> Diagnostic:
    message = f"`{column}` is {named_type(type_)}, and the table's column {named_type(wanted)}"
    helps = (
        f"convert it to {_TO[wanted]}"
        if wanted is not ValueType.STRING
        else "convert it to text, or declare the type of the table's column if that comes from a text file",
    )
    return Diagnostic("E351", message, Place(rows.origin), helps=helps)


def _converted(column: pa.Array, wanted: ValueType, stream: RowStream, wrong: _Wrong, batch: pa.RecordBatch) -> pa.Array:
    if stream.text and is_text(column.type):
        result = fitted(column, wanted)
        lost = pc.and_(pc.is_null(result), pc.not_equal(pc.fill_null(column, ""), ""))
    elif wanted is ValueType.INTEGER and pa.types.is_floating(column.type):
        whole = pc.and_(pc.equal(column, pc.floor(column)), pc.less(pc.abs(column), 2.0**63))
        lost = pc.invert(pc.fill_null(whole, True))
        result = pc.if_else(whole, column, pa.scalar(None, pa.float64())).cast(pa.int64())
    else:
        return column.cast(ARROW_TYPES[wanted], safe=False)
    if pc.any(lost, min_count=0).as_py():
        wrong.add(lost, column, batch)
    return result


Arguments = Collection[tuple[str, int]]


@dataclass
class Inference:
    """Finds these types. `of_text`: the arguments of predicates that hold only text. `whole`: the tables whose first rows do not
    tell the types of all others. `found`: the types of the last call of `typed`, text included, by table and column."""

    program: Program = field(default_factory=lambda: Program(()))
    predictions: tuple[ModelPredictions, ...] = ()
    of_text: Callable[[Arguments], Collection[tuple[str, int]]] = lambda _: set()
    whole: set[str] = field(default_factory=set)
    found: dict[str, dict[str, ValueType]] = field(default_factory=dict)

    def typed(
        self, tables: tuple[KeyedTable, ...], schemas: Mapping[str, pa.Schema], used: Mapping[str, Collection[str]]
    ) -> tuple[KeyedTable, ...]:
        """The tables, with types for the columns that rules and tables need."""
        shapes = untyped_shapes(tables, schemas)
        wanted = needs(shapes, used)
        self.found = {}
        for table in tables:
            if isinstance(table.rows, RowStream) and table.rows.text is not None and table.name in wanted:
                declared = {*table.rows.text.declared}
                stored = shapes[table.name].stored
                columns = [name for name in wanted[table.name].columns if name in stored and name not in declared]
                self.found[table.name] = self._kinds(table.name, table.rows, columns) if columns else {}
        if any(kind is not ValueType.STRING for kinds in self.found.values() for kind in kinds.values()):
            self._give_way(EquatedPlaces(self.program, shapes), tables, schemas)
        return tuple(
            replace(table, rows=table.rows.text.typed(self.found[table.name]))
            if isinstance(table.rows, RowStream) and table.rows.text is not None and table.name in self.found
            else table
            for table in tables
        )

    def _kinds(self, table: str, rows: RowStream, columns: list[str]) -> dict[str, ValueType]:
        assert rows.text is not None
        kinds = rows.text.infer(columns, whole=table in self.whole)
        if None in kinds.values() and table not in self.whole:
            self.whole.add(table)
            kinds = rows.text.infer(columns, whole=True)
        return {name: kind or ValueType.STRING for name, kind in kinds.items()}

    def _give_way(self, equated: EquatedPlaces, tables: Iterable[KeyedTable], schemas: Mapping[str, pa.Schema]) -> None:
        """Turn types into text where rules equate their columns with text."""
        for table in tables:
            schema = schemas[table.name]
            kinds = {name: value_type(kind) for name, kind in zip(schema.names, schema.types, strict=True)}
            known = kinds | self.found.get(table.name, {})
            equated.give_text((table.name, column) for column, kind in known.items() if kind is ValueType.STRING)
            equated.give_text((table.name, column) for column in self._given_as_text(table))
        inferred: list[ColumnPlace] = [
            (table, column) for table, kinds in self.found.items() for column, kind in kinds.items() if kind is not ValueType.STRING
        ]
        if arguments := equated.arguments(inferred):
            equated.give_text(self.of_text(arguments))
        for table_name, column in equated.with_text(inferred):
            self.found[table_name][str(column)] = ValueType.STRING

    def _given_as_text(self, table: KeyedTable) -> Iterator[str]:
        """The columns of key and target for which Python ids or predictions are texts."""
        hidden = (table.hidden.ids,) if isinstance(table.hidden, HiddenIds) else ()
        predicted = (predicted.rows for model in self.predictions for predicted in model.tables if predicted.table == table.name)
        for rows in (*hidden, *predicted):
            if isinstance(rows, RowStream) and rows.text is None:
                schema = rows.schema()
                names = {
                    **dict(zip(table.key, ("id",), strict=False)),
                    **{attribute: attribute for attribute in table.key if attribute in schema.names},
                }
                target = {} if table.target is None else {table.target: PREDICTION}
                for column, name in (names | target).items():
                    if schema.names.count(name) == 1 and value_type(schema.field(name).type) is ValueType.STRING:
                        yield column
