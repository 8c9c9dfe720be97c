"""Reads rows of tables with keys into an engine, checks them, and marks hidden rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, EngineError, InputError, Place, Severity, located, meant, refuse, ticked
from rulescore.language.syntax import Attribute
from rulescore.loading.stored import Offenders, StoredRows, catalogue_of, offenders, stored_rows, stored_table
from rulescore.loading.table_values import Columns, Inference, id_columns, lost
from rulescore.logic.tables import Need, TableShape, needs, table_shapes
from rulescore.readers.row_streams import ROW
from rulescore.readers.table_rows import ARROW_TYPES, MisfitError
from rulescore.reporting.listing import counted
from rulescore.setting.model import DatabaseTable, HiddenColumn, HiddenIds, KeyedTable, RowStream, Setting
from rulescore.sql import tables as sql
from rulescore.sql.names import name
from rulescore.sql.query import create, drop
from rulescore.values import ValueType

# The number of rows that we hand over at a time.
_LOADED_ROWS = 1_000_000


@dataclass(frozen=True, slots=True)
class TableRows:
    """A table whose rows are checked: `fields` hold its base attributes."""

    shape: TableShape
    need: Need
    stem: str
    fields: Mapping[str, str]
    rows: int
    hidden: int
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def table(self) -> str:
        return f"{self.stem}_rows"

    @property
    def staged(self) -> str:
        """The name of the table of its target's predictions, once we have read them."""
        return f"{self.stem}_staged"

    @property
    def keys(self) -> list[str]:
        return [self.fields[attribute] for attribute in self.shape.table.key]

    def key_types(self) -> list[ValueType]:
        return [_known(self.shape.attributes[attribute]) for attribute in self.shape.table.key]

    @property
    def target_type(self) -> ValueType | None:
        """The type of the target in the rows; None if there is no target."""
        target = self.shape.table.target
        return None if target is None else self.shape.attributes[target]


def _known(kind: ValueType | None) -> ValueType:
    assert kind is not None
    return kind


@dataclass(frozen=True, slots=True)
class _Made:
    """Rows that are not checked yet, with the tables they were made from: of reached attributes, and of hidden ids."""

    rows: TableRows
    reached: Mapping[str, str]
    ids: str | None


class TableLoader:
    """Reads the tables of a setting into an engine. `used` are the attributes that rules name; `inference` finds types of columns
    of text files."""

    def __init__(self, engine: Engine, setting: Setting, used: Mapping[str, Collection[str]], inference: Inference) -> None:
        self._engine, self._tables, self._used = engine, setting.tables, used
        self._inference = inference
        self._predicted = {table.table for model in setting.predictions for table in model.tables}
        self._databases: dict[Path, str] = {}
        self._stored: dict[str, sql.StoredTable] = {}
        self._problems: list[Diagnostic] = []

    def load(self) -> dict[str, TableRows]:
        """Every table with a key, checked. Drops the tables that it is made from."""
        hidden = [table.hidden.ids for table in self._tables if isinstance(table.hidden, HiddenIds)]
        for rows in (*(table.rows for table in self._tables), *hidden):
            if isinstance(rows, DatabaseTable) and rows.database is not None:
                with located(rows.place):
                    self._attached(rows.database)
        schemas = {table.name: schema for table in self._tables if (schema := self._schema(table)) is not None}
        self._raise_problems()
        while (stored := self._stored_all(schemas)) is None:
            pass  # the first rows of the file made us guess a wrong type: now we look at all rows
        shapes, wanted = stored
        numbered = [(number, shape) for number, shape in enumerate(shapes.values()) if shape.table.key]
        made = [self._make(number, shape, wanted[shape.table.name]) for number, shape in numbered]
        checked = {table.shape.table.name: table for table in self._checked(made)}
        self._raise_problems()
        for source in self._stored.values():
            self._drop_source(source)
        return checked

    def _stored_all(self, schemas: Mapping[str, pa.Schema]) -> tuple[dict[str, TableShape], dict[str, Need]] | None:
        """Every table, stored, with the columns that we need. None if we inferred a type for a column that some value does not
        have."""
        tables = self._inference.typed(self._tables, schemas, self._used)
        read = {table.name: table.rows.schema() for table in tables if isinstance(table.rows, RowStream) and table.rows.text}
        typed = {**schemas, **read}
        shapes, problems = table_shapes(tables, typed)
        self._problems += problems
        self._raise_problems()
        wanted = needs(shapes, self._used)
        self._problems += _unusable(shapes, wanted)
        self._raise_problems()
        try:
            for number, (table, need) in enumerate(wanted.items()):
                self._store(number, shapes[table], need)
        except MisfitError:
            self._inference.whole.add(table)
            for stored in self._stored.values():
                self._drop_source(stored)
            self._stored.clear()
            return None
        self._raise_problems()
        return shapes, wanted

    def _drop_source(self, stored: sql.StoredTable) -> None:
        if len(stored.path) == 1:
            self._engine.run(drop(stored.path[0]))

    def _raise_problems(self) -> None:
        refuse(self._problems)

    def _problem(self, code: str, message: str, *helps: str, place: Place | None = None, notes: tuple[str, ...] = ()) -> None:
        self._problems.append(Diagnostic(code, message, place, notes=notes, helps=helps))

    def _schema(self, table: KeyedTable) -> pa.Schema | None:
        """The columns of a table in its source."""
        try:
            if isinstance(table.rows, RowStream):
                return table.rows.schema()
            if table.rows.database is None:
                path = self._in_place(table.rows).path
                return catalogue_of(self._engine, f"table `{table.rows.table}`").schema(path)
            return self._columns_of(table.rows)
        except InputError as error:
            self._problems += error.problems
            return None

    def _columns_of(self, table: DatabaseTable) -> pa.Schema:
        """The columns of a table of a database file. InputError for a view that reads other files."""
        stored = self._in_place(table)
        try:
            return self._engine.query(sql.stored_columns(stored)).schema
        except EngineError as error:
            if "disabled by configuration" not in str(error):
                raise
            notes = (str(error).splitlines()[0],)
            helps = ("a view of a database file may not read other files: make a table of what it shows",)
            message = f"`{table.table}` of `{table.database}` cannot be read"
            raise InputError(Diagnostic("E337", message, table.place, notes=notes, helps=helps)) from error

    def _in_place(self, table: DatabaseTable) -> sql.StoredTable:
        """A table of a database file, or of the engine's own database."""
        with located(table.place):
            return self._located(table)

    def _located(self, table: DatabaseTable) -> sql.StoredTable:
        if table.database is None:
            return sql.StoredTable(catalogue_of(self._engine, f"table `{table.table}`").find(table.table), {})
        database = self._attached(table.database)
        tables = self._engine.query(sql.schema_tables(database)).to_pylist()
        known = {f"{row['table_schema']}.{row['table_name']}": (row["table_schema"], row["table_name"]) for row in tables}
        full = table.table if table.table in known else f"main.{table.table}"
        if full not in known:
            shown = [name.removeprefix("main.") for name in known]
            listed = ticked(sorted(shown)[:20]) or "none"
            helps = meant(table.table, [*known, *shown])
            message = f"`{table.database}` has no table `{table.table}`"
            raise InputError(Diagnostic("E337", message, notes=(f"its tables are {listed}",), helps=helps))
        return sql.StoredTable((database, *known[full]), {})

    def _attached(self, path: Path) -> str:
        """The name under which we attach a database file. We attach it once."""
        database = self._databases.get(path)
        if database is None:
            database = name(f"database_{len(self._databases)}")
            try:
                self._engine.attach(path, database)
            except EngineError as error:
                notes = (str(error).splitlines()[0],)
                helps = ("a database that is being written to can be opened by one program only",)
                message = f"`{path}` cannot be read as a database"
                raise InputError(Diagnostic("E337", message, notes=notes, helps=helps)) from error
            self._databases[path] = database
        return database

    def _store(self, number: int, shape: TableShape, need: Need) -> None:
        """Makes the needed columns readable by statements: in a table of ours, or in place."""
        table = shape.table
        if isinstance(table.rows, RowStream):
            stored = sql.StoredTable((name(f"table_{number}_source"),), {column: f"s{i}" for i, column in enumerate(need.columns)})
            self._stored[table.name] = stored
            try:
                types = [_known(shape.attributes[column]) for column in need.columns]
                self._load_stream(table.rows, stored, need.columns, _empty(stored.fields.values(), types))
            except InputError as error:
                self._problems += error.problems
        else:
            path = self._in_place(table.rows).path
            kinds = {column: shape.stored[column] for column in need.columns}
            stored = sql.StoredTable(path, {column: column for column in need.columns}, kinds)
            for column in need.columns:
                if stored.may_lose(column) and (misfits := offenders(self._engine, sql.lost_values(stored, column))):
                    self._problem("E314", f"`{column}` of table `{table.name}` {lost(kinds[column])}: {misfits}")
        self._stored[table.name] = stored

    def _load_stream(self, stream: RowStream, stored: sql.StoredTable, columns: Sequence[str], empty: pa.Table) -> None:
        waiting, rows, hand_over = list[pa.RecordBatch](), 0, self._engine.load
        for batch in stream.open(columns):
            waiting.append(batch.rename_columns(list(stored.fields.values())))
            rows += batch.num_rows
            if rows >= _LOADED_ROWS:
                hand_over(stored.path[0], pa.Table.from_batches(waiting))
                waiting, rows, hand_over = [], 0, self._engine.append
        if waiting or hand_over == self._engine.load:
            hand_over(stored.path[0], pa.Table.from_batches(waiting) if waiting else empty)

    def _make(self, number: int, shape: TableShape, need: Need) -> _Made:
        stem = name(f"table_{number}")
        fields = {attribute: f"b{i}" for i, attribute in enumerate(need.base)}
        reached = {attribute: f"{stem}_reached_{fields[attribute]}" for attribute in need.base if attribute in shape.reached}
        for attribute, target in reached.items():
            self._engine.run(sql.create_reached(target, shape.reached[attribute], self._stored, shape.attributes[attribute]))
        ids = self._hidden_ids(shape, stem)
        rows = TableRows(shape, need, stem, fields, 0, 0)
        stored = self._stored[shape.table.name]
        try:
            self._engine.run(sql.create_rows(rows.table, shape, stored, sql.RowFields(fields, reached), ids))
        except EngineError as error:
            raise EngineError(f"{error}\nwhile reading the rows of table `{shape.table.name}`") from error
        return _Made(rows, reached, ids)

    def _checked(self, tables: Sequence[_Made]) -> Iterator[TableRows]:
        """The tables, after checks: one statement for all, and further ones to name the rows at fault."""
        if not tables:
            return
        query = sql.findings(
            [sql.CheckedRows(table.rows.table, table.rows.keys, list(_floats(table.rows).values())) for table in tables]
        )
        findings = {row["place"]: row for row in self._engine.query(query).to_pylist()}
        for place, made in enumerate(tables):
            yield self._check(made, findings[place])

    def _check(self, made: _Made, findings: Mapping[str, int]) -> TableRows:
        rows = replace(made.rows, rows=findings["rows"], hidden=findings["hidden"])
        self._check_keys(rows, findings["missing"], findings["repeated"])
        table, types = rows.shape.table, rows.key_types()
        for attribute, part in _floats(rows).items() if findings["not_finite"] else ():
            if infinite := offenders(self._engine, sql.not_finite(rows.table, part, rows.keys), types):
                message = f"`{attribute}` of table `{table.name}` is NaN or infinite in {_of(infinite)}"
                helps = ("write a missing value as null, or leave the field of a text file empty",)
                self._problem("E314", message, *helps, place=Place(table.origin))
        for attribute, target in made.reached.items():
            self._check_reached(rows, attribute, target)
            self._engine.run(drop(target))
        if made.ids is not None:
            if unknown := offenders(self._engine, sql.unknown_ids(made.ids, rows.table, rows.keys), types):
                message = f"{counted(unknown.total, 'hidden id')} that table `{table.name}` does not have: {unknown}"
                self._problem("E335", message)
            self._engine.run(drop(made.ids))
        return replace(rows, warnings=tuple(self._warnings(rows)))

    def _hidden_ids(self, shape: TableShape, stem: str) -> str | None:
        hidden = shape.table.hidden
        if not isinstance(hidden, HiddenIds):
            return None
        types = [_known(shape.attributes[attribute]) for attribute in shape.table.key]
        ids = f"{stem}_ids"
        hidden_rows: Columns = _empty([f"k{i}" for i in range(len(types))], types)
        try:
            id_rows = hidden.ids if isinstance(hidden.ids, RowStream) else self._stored_rows(hidden.ids)
            hidden_rows, problems = id_columns(self._engine, id_rows, shape.table, types)
        except InputError as error:
            problems = list(error.problems)
        self._problems += problems
        if isinstance(hidden_rows, pa.Table):
            self._engine.load(ids, hidden_rows)
        else:
            self._engine.run(create(ids, hidden_rows))
        return ids

    def _stored_rows(self, table: DatabaseTable) -> StoredRows:
        if table.database is None:
            return stored_rows(self._engine, table)
        path = self._in_place(table).path
        schema = self._columns_of(table)
        return StoredRows(table.origin, schema, stored_table(path, schema))

    def _check_keys(self, rows: TableRows, missing: int, repeated: int) -> None:
        table = rows.shape.table
        columns = " and ".join(f"`{attribute}`" for attribute in table.key)
        if missing:
            message = f"table `{table.name}` has {counted(missing, 'row')} without a value for {columns}, the key"
            self._problem("E345", message, place=Place(table.origin))
        if repeated:
            sample = offenders(self._engine, sql.repeated_keys(rows.table, rows.keys), rows.key_types())
            message = f"{counted(repeated, 'repeated key')} in table `{table.name}`: {sample}"
            helps = ("name all the columns that tell rows apart, or mend the rows",)
            self._problem("E345", message, *helps, place=Place(table.origin), notes=(f"the key is {columns}",))

    def _check_reached(self, rows: TableRows, attribute: str, target: str) -> None:
        table = rows.shape.table
        start = rows.shape.reached[attribute].hops[0].column
        query = sql.several_values(target, self._stored[table.name], start, table.key)
        if unreached := offenders(self._engine, query, rows.key_types()):
            message = f"`{attribute}` of table `{table.name}` has different values in {_of(unreached)}"
            self._problem("E341", message, "an attribute has one value: choose a path that leads to one row, or to equal values")

    def _warnings(self, rows: TableRows) -> Iterator[Diagnostic]:
        table = rows.shape.table
        if isinstance(table.rows, RowStream) and table.rows.numbered:
            message = f"the key of table `{table.name}` is `{ROW}`, the number of a row, counted from 0"
            helps = ("name the key if there is one: `--key`, or `key` in the project file",)
            yield Diagnostic("W345", message, Place(table.origin), helps=helps, severity=Severity.NOTE)
        if table.hidden is None and rows.hidden and table.name in self._predicted:
            missing = f"{counted(rows.hidden, 'row')} of table `{table.name}`"
            message = f"nothing says which rows are hidden, so we take those whose `{table.target}` is missing: {missing}"
            helps = ("say it with `hidden`",)
            yield Diagnostic("W331", message, table.place, helps=helps, severity=Severity.WARNING)
        if isinstance(table.hidden, HiddenColumn) and not rows.hidden:
            attribute = Attribute(table.hidden.column)
            attributes = sql.Attributes(rows.shape, rows.fields)
            value, kind = attributes.column(attribute), _known(attributes.type(attribute))
            wanted = ticked(table.hidden.values)
            known = offenders(self._engine, sql.values_of(rows.table, value), [kind])
            notes = (f"it has the values {known}",) if known else ("it has no values",)
            message = f"no row of table `{table.name}` is hidden: `{table.hidden.column}` is nowhere {wanted}"
            helps = ("correct the value, if there should be hidden rows",)
            yield Diagnostic("W331", message, notes=notes, helps=helps, severity=Severity.WARNING)


def _unusable(shapes: Mapping[str, TableShape], wanted: Mapping[str, Need]) -> Iterator[Diagnostic]:
    """Problems for columns that rules name and whose type has no values."""
    for table, need in wanted.items():
        for column in need.columns:
            if shapes[table].attributes[column] is None:
                kind = shapes[table].stored[column]
                notes = ("columns of text, whole numbers, floats, booleans, dates and date-times can be used",)
                yield Diagnostic("E321", f"column `{column}` of table `{table}` is of type {kind}", notes=notes)


def _floats(rows: TableRows) -> dict[str, str]:
    """The attributes that hold floats, and their fields."""
    return {attribute: part for attribute, part in rows.fields.items() if rows.shape.attributes[attribute] is ValueType.FLOAT}


def _empty(fields: Iterable[str], types: Sequence[ValueType]) -> pa.Table:
    return pa.schema([(field, ARROW_TYPES[kind]) for field, kind in zip(fields, types, strict=True)]).empty_table()


def _of(offending: Offenders) -> str:
    return f"{counted(offending.total, 'row')}: {offending}"
