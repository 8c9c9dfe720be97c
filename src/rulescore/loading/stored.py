"""Data that stay in the engine: the user's own tables in its database, and files and frames that it reads by itself. Finds samples
of faulty rows for messages.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from rulescore.engines.base import Engine
from rulescore.engines.catalogue import Catalogue, TablePath, listed, refuse_unreadable
from rulescore.errors import Diagnostic, InputError, Place, located, meant, place_of, refuse, ticked
from rulescore.language.syntax import Program, Test
from rulescore.language.terms import write_value
from rulescore.logic.tolerances import data_tolerance
from rulescore.readers.frames import refuse_spark_frame
from rulescore.readers.inputs import with_sources
from rulescore.readers.layout import model_column, resolve
from rulescore.readers.selection import unranked
from rulescore.reporting.listing import counted
from rulescore.setting.model import (
    ColumnIn,
    DatabaseTable,
    FactSource,
    FactStream,
    FactTable,
    Guess,
    HiddenIds,
    Request,
    RowStream,
    Setting,
)
from rulescore.sql import stored as sql
from rulescore.sql.query import Query, Select, select
from rulescore.sql.stored import StoredFacts, StoredType
from rulescore.sql.tables import StoredTable, any_row
from rulescore.sql.words import count_rows
from rulescore.values import ValueType, restored


@dataclass(frozen=True, slots=True)
class InPlace:
    """Rows of a user's table, and a query for them: `rows` is how many there are, `kept` how many of them the query returns.
    `predicate`: their predicate, if all have the same."""

    arity: int
    rows: int
    kept: int
    query: Query
    floats: frozenset[tuple[str, int]] = frozenset()
    """Predicates with the numbers of the arguments that are columns of floats."""
    predicate: str | None = None
    guess: Guess | None = None


def observed_in_place(engine: Engine, facts: FactTable) -> InPlace:
    stored = _stored(engine, facts)
    counts = _checked(engine, facts, stored)
    rows, floats = counts["rows"], _floats(engine, stored)
    return InPlace(len(stored.arguments), rows, rows, sql.observed_rows(stored), floats, stored.predicate, stored.guess)


def predicted_in_place(engine: Engine, facts: FactTable, model: int, name: str, top_k: int | None) -> InPlace:
    """The predictions of the model with a number. `top_k` chooses among them as `PredictionReader` does."""
    stored = _stored(engine, facts)
    counts = _checked(engine, facts, stored)
    rows = counts["rows"]
    for part in ("rank", "query"):
        if 0 < counts.get(part, 0) < rows:
            notes = ("the answers of one source are all chosen by rank, or all by query and score, or all kept",)
            message = f"some rows of `{facts.table}` have a {part} and others have none"
            raise InputError(Diagnostic("E330", message, Place(facts.origin), notes=notes))
    best = 1 if top_k is None else top_k
    by_rank, by_query = rows and counts.get("rank") == rows, rows and counts.get("query") == rows
    if by_query and not by_rank and counts.get("score", 0) < rows:
        helps = ("add a `rank` or `score` column, or leave `query` out",)
        message = f"neither rank nor score says which answers of `{facts.table}` are best"
        raise InputError(Diagnostic("E330", message, Place(facts.origin), helps=helps))
    if rows and top_k is not None and not by_rank and not by_query:
        raise InputError(unranked(name, top_k, facts.origin))

    chosen = sql.predicted_rows(
        stored, model, best_rank=best if by_rank else None, best_of_query=best if by_query and not by_rank else None
    )
    kept = rows
    if by_rank or by_query:
        counting = select(n=count_rows()).from_(chosen.as_("k"))
        kept = engine.query(counting)["n"][0].as_py()
    floats = _floats(engine, stored)
    return InPlace(len(stored.arguments), rows, kept, chosen, floats, stored.predicate, stored.guess)


def _floats(engine: Engine, stored: StoredFacts) -> frozenset[tuple[str, int]]:
    if not stored.floats:
        return frozenset()
    names = [str(stored.predicate)]
    if stored.relation is not None:
        names = engine.query(sql.different_values(stored.path, stored.relation))[stored.relation].to_pylist()
    return frozenset((name, place) for name in names for place in stored.floats)


def refuse_unknown_model(engine: Engine, name: str, tables: Sequence[FactTable]) -> None:
    """Called if tables have no predictions of a model. Raises InputError if they have a column that tells models apart."""
    for facts in tables:
        stored = _stored(engine, facts)
        for told in (column_values.column for column_values in stored.only if column_values.values == (facts.model,)):
            raise InputError(_no_rows_of(engine, stored.path, told, name, facts.origin))


def _no_rows_of(engine: Engine, path: TablePath, told: str, name: str, origin: str) -> Diagnostic:
    rows = engine.query(sql.different_values(path, told))
    known = sorted(type_name for type_name in rows[told].to_pylist() if type_name is not None)
    helps = meant(name, known) or ("leave the source out if that is meant",)
    notes = (f"models in its column `{told}` are {listed(known)}", "capital letters count")
    return Diagnostic("E304", f"there are no predictions of `{name}`", Place(origin), notes=notes, helps=helps)


def catalogue_of(engine: Engine, what: str) -> Catalogue:
    """The tables of the engine's own database. InputError if the engine has no such tables. The message names `what` we look
    for."""
    catalogue = engine.catalogue()
    if catalogue is None:
        helps = ("give `--engine postgresql://…` or `--engine spark://…`, or `url` in the section `engine` of the project file",)
        message = f"{what} lies in the engine's own database, and this engine has none"
        raise InputError(Diagnostic("E347", message, helps=helps))
    return catalogue


def _stored(engine: Engine, facts: FactTable) -> StoredFacts:
    with located(facts.place):
        return catalogue_of(engine, f"table `{facts.table}`").stored(facts)


def _checked(engine: Engine, facts: FactTable, stored: StoredFacts) -> dict[str, int]:
    """The `fault_counts` of a table. Raises one InputError for all rows that are not facts."""
    counts: dict[str, int] = engine.query(sql.fault_counts(stored)).to_pylist()[0]
    problems = []

    def add(code: str, name: str, what: str, count: int, *notes: str) -> None:
        message = f"`{name}` of `{facts.table}` {what} in {counted(count, 'row')}"
        problems.append(Diagnostic(code, message, Place(facts.origin), notes=notes))

    for i, name in enumerate(stored.arguments):
        if counts[f"m_{i}"]:
            add("E312", name, "is missing", counts[f"m_{i}"])
        if counts[f"w_{i}"]:
            timed = stored.types[name] in {StoredType.DATE, StoredType.TIMESTAMP, StoredType.INSTANT}
            what = "is in no year from 1 to 9999" if timed else "is not a constant"
            add("E314", name, what, counts[f"w_{i}"], "NaN and infinite values are not constants")
    if stored.relation is not None and counts["m_relation"]:
        add("E312", stored.relation, "is missing", counts["m_relation"])
    if counts.get("w_score"):
        add("E314", str(stored.score), "is not a finite number", counts["w_score"])
    if counts.get("w_rank"):
        add("E314", str(stored.rank), "is less than 1", counts["w_rank"], "ranks count from 1")
    refuse(problems)
    return counts


@dataclass(frozen=True, slots=True)
class StoredRows:
    """Ids or predictions that the engine reads in place. `columns`: their names and types in statements."""

    origin: str
    columns: pa.Schema
    table: StoredTable
    text = False

    def schema(self) -> pa.Schema:
        return self.columns


def stored_rows(engine: Engine, table: DatabaseTable, model: str | None = None) -> StoredRows:
    """Ids or predictions in a table of the engine's database. If a column of the table distinguishes models, only the rows of
    `model`."""
    catalogue = catalogue_of(engine, f"table `{table.table}`")
    with located(table.place):
        path = catalogue.find(table.table)
    schema = catalogue.schema(path)
    told = None if model is None or table.native_origin is not None else model_column(schema.names)
    if told is not None:
        refuse_unreadable(told, catalogue.columns(path)[told], table.table, table.origin)
    only = () if model is None or told is None else (ColumnIn(told, (model,)),)
    rows = StoredRows(table.origin, schema, stored_table(path, schema, only))
    if model is not None and told is not None and not engine.query(any_row(rows.table)).num_rows:
        raise InputError(_no_rows_of(engine, path, told, model, table.origin))
    return rows


def stored_table(path: TablePath, schema: pa.Schema, only: tuple[ColumnIn, ...] = ()) -> StoredTable:
    """A table of the user's with all its columns."""
    return StoredTable(path, {name: name for name in schema.names}, dict(zip(schema.names, schema.types, strict=True)), only)


# Finds sources that an engine reads itself, and settings that it does not support.


def read_natively(engine: Engine, setting: Setting) -> Setting:
    """The setting. Each source that the engine can read without our help is replaced by a table of the engine."""
    return with_sources(setting, lambda _, __, facts: _native_facts(engine, facts), lambda _, __, rows: _native_rows(engine, rows))


def _native_rows(engine: Engine, rows: RowStream | DatabaseTable) -> RowStream | DatabaseTable:
    if not isinstance(rows, RowStream) or rows.native is None:
        return rows
    native = rows.native
    if native.frame is not None:
        return DatabaseTable(None, _frame(engine, native.frame, rows.origin), rows.origin)
    _pin(rows)
    name = engine.read_natively([native.request.path])
    if name is None or not all(map(_is_coarse, rows.schema().types)):
        return rows
    return DatabaseTable(None, name, rows.origin)


def _frame(engine: Engine, frame: object, origin: str) -> str:
    name = engine.read_natively(frame)
    if name is None:
        refuse_spark_frame(origin)
    return name


def _native_facts(engine: Engine, sources: Sequence[FactSource]) -> tuple[FactSource, ...]:
    """As `read_natively`, for sources of facts: the engine reads all files of one form as one table."""
    read: list[FactSource] = []
    files: dict[object, list[FactStream]] = {}
    for source in sources:
        native = source.native if isinstance(source, FactStream) else None
        if native is None or not isinstance(source, FactStream):
            read.append(source)
        elif native.frame is not None:
            read.append(FactTable(_frame(engine, native.frame, source.origin), native.request))
        elif not engine.capabilities.reads_parquet or (form := _form(native.request)) is None:
            read.append(source)
        else:
            files.setdefault(form, []).append(source)
    for streams in files.values():
        for stream in streams:
            _pin(stream)
        requests = [stream.native.request for stream in streams if stream.native is not None]
        name = engine.read_natively([request.path for request in requests])
        read.extend(streams if name is None else [FactTable(name, requests[0])])
    return tuple(read)


def _pin(source: FactStream | RowStream) -> None:
    """Remembers the version of a file before an engine reads it: `Inputs` compares it afterwards."""
    if source.version is not None:
        source.version()


def _form(request: Request) -> object | None:
    """The form of a file: the engine can read files of equal forms as one table. None if we must read the file ourselves: to report
    which file is damaged or empty, or because the engine would convert a column differently."""
    from pyarrow import parquet

    try:
        # Python opens files of any name, Arrow only files whose name is UTF-8.
        with request.path.open("rb") as handle, parquet.ParquetFile(handle) as file:
            schema, rows = file.schema_arrow, file.metadata.num_rows
        layout = resolve(schema.names, len(schema.names), request)
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError, InputError):
        return None
    used = [*layout.arguments, *(i for i in (layout.relation, layout.score, layout.rank) if i is not None), *layout.query]
    if not rows or request.file.types or not all(_is_plain(schema.types[i]) for i in used):
        return None
    if layout.rank is not None and not pa.types.is_integer(schema.types[layout.rank]):
        return None
    return (tuple(schema.names), tuple(map(str, schema.types)), layout.predicate, str(request.file.columns), request.predictions)


def _is_plain(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_timestamp(kind):
        return _is_coarse(kind)
    known = (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_boolean, pa.types.is_date32)
    return any(is_kind(kind) for is_kind in (*known, pa.types.is_float32, pa.types.is_float64, pa.types.is_decimal128))


def _is_coarse(kind: pa.DataType) -> bool:
    """Whether an engine reads every date-time of a column as we do. Engines have no nanoseconds, the unit of all date-times in an
    old form of files."""
    return not pa.types.is_timestamp(kind) or kind.unit != "ns"


_TOLERANCE = "this tolerance is taken from values of rows, which stay in this engine"
_HELPS = ("write the tolerance as a number, or take another engine",)


def refuse_unable(engine: Engine, setting: Setting, program: Program, *, grid: bool) -> None:
    """Raises InputError for every feature of the setting and its rules that this engine does not support. `grid`: the caller will
    ask for counts with other tolerances."""
    for table in _own_tables(setting):
        with located(table.place):
            catalogue_of(engine, f"table `{table.table}`")
    if grid:
        refuse_grid(engine)
    if engine.capabilities.fetches_rows:
        return
    problems = [
        Diagnostic("E264", _TOLERANCE, place_of(rule.head.span), helps=_HELPS)
        for rule in program.rules
        if isinstance(rule.head, Test) and data_tolerance(rule) is not None
    ]
    refuse(problems)


def refuse_grid(engine: Engine) -> None:
    """Raises InputError if the engine cannot count with other tolerances."""
    if not engine.capabilities.fetches_rows:
        message = "counts with other tolerances need the values of rows, which stay in this engine"
        raise InputError(Diagnostic("E264", message, helps=("take another engine",)))


def _own_tables(setting: Setting) -> Iterator[FactTable | DatabaseTable]:
    """The tables of the engine's own database that the setting reads."""
    streams = [stream for prediction in setting.predictions for stream in prediction.streams]
    yield from (table for table in (*setting.observed, *setting.negatives, *streams) if isinstance(table, FactTable))
    rows = [table.rows for table in setting.tables]
    rows += [table.hidden.ids for table in setting.tables if isinstance(table.hidden, HiddenIds)]
    rows += [table.rows for prediction in setting.predictions for table in prediction.tables]
    yield from (row for row in rows if isinstance(row, DatabaseTable) and row.database is None)


# Finds samples of faulty rows. Messages show a few of them, and how many there are.


@dataclass(frozen=True, slots=True)
class Offenders:
    ids: tuple[str, ...]
    total: int

    def __str__(self) -> str:
        more = self.total - len(self.ids)
        return ticked(self.ids) + (f" and {more:,} more" if more else "")


def offenders(engine: Engine, query: Select, types: Sequence[ValueType] = ()) -> Offenders | None:
    """The ids that a query made by `sql.tables.rows.shown` finds; None if there are none. `types`: the types of the ids' columns,
    if some may be date-times."""
    offending = engine.query(query)
    if not offending.num_rows:
        return None
    keys = offending.drop_columns(["n"]).to_pylist()
    rows = [tuple(map(restored, row.values(), types)) if types else tuple(row.values()) for row in keys]
    texts = [list(map(_value_text, row)) for row in rows]
    ids = tuple(text[0] if len(text) == 1 else f"({', '.join(text)})" for text in texts)
    return Offenders(ids, offending["n"][0].as_py())


def shown_value(value: object, kind: ValueType) -> str:
    """The text of a value that an engine returned."""
    return _value_text(restored(value, kind))


def _value_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return write_value(value) if isinstance(value, datetime.date) else str(value)
