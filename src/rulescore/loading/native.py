"""Sources that an engine reads by itself: their rows never pass through Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from rulescore.engines.base import Engine
from rulescore.errors import InputError
from rulescore.readers.frames import refuse_spark_frame
from rulescore.readers.layout import resolve
from rulescore.setting.model import (
    DatabaseTable,
    FactSource,
    FactStream,
    FactTable,
    HiddenIds,
    KeyedTable,
    ModelPredictions,
    RowStream,
    Setting,
)
from rulescore.setting.request import Request


def read_natively(engine: Engine, setting: Setting) -> Setting:
    """The setting, with every source that the engine can read by itself replaced by a table of the engine's."""
    return replace(
        setting,
        observed=_facts(engine, setting.observed),
        negatives=_facts(engine, setting.negatives),
        predictions=tuple(_predictions(engine, one) for one in setting.predictions),
        tables=tuple(_table(engine, table) for table in setting.tables),
    )


def _predictions(engine: Engine, model: ModelPredictions) -> ModelPredictions:
    tables = tuple(replace(one, rows=_rows(engine, one.rows)) for one in model.tables)
    return replace(model, streams=_facts(engine, model.streams), tables=tables)


def _table(engine: Engine, table: KeyedTable) -> KeyedTable:
    hidden = HiddenIds(_rows(engine, table.hidden.ids)) if isinstance(table.hidden, HiddenIds) else table.hidden
    return replace(table, rows=_rows(engine, table.rows), hidden=hidden)


def _rows(engine: Engine, rows: RowStream | DatabaseTable) -> RowStream | DatabaseTable:
    if not isinstance(rows, RowStream) or rows.native is None:
        return rows
    given = rows.native
    if given.frame is not None:
        return DatabaseTable(None, _frame(engine, given.frame, rows.origin), rows.origin)
    _pin(rows)
    name = engine.read_natively([given.request.path])
    if name is None or not all(map(_is_coarse, rows.schema().types)):
        return rows
    return DatabaseTable(None, name, rows.origin)


def _frame(engine: Engine, frame: object, origin: str) -> str:
    name = engine.read_natively(frame)
    if name is None:
        refuse_spark_frame(origin)
    return name


def _facts(engine: Engine, sources: Sequence[FactSource]) -> tuple[FactSource, ...]:
    """As `read_natively`, for sources of facts: the engine reads all files of one form as one table."""
    found: list[FactSource] = []
    files: dict[object, list[FactStream]] = {}
    for source in sources:
        given = source.native if isinstance(source, FactStream) else None
        if given is None or not isinstance(source, FactStream):
            found.append(source)
        elif given.frame is not None:
            found.append(FactTable(_frame(engine, given.frame, source.origin), given.request))
        elif not engine.capabilities.reads_parquet or (form := _form(given.request)) is None:
            found.append(source)
        else:
            files.setdefault(form, []).append(source)
    for streams in files.values():
        for stream in streams:
            _pin(stream)
        requests = [stream.native.request for stream in streams if stream.native is not None]
        name = engine.read_natively([request.path for request in requests])
        found.extend(streams if name is None else [FactTable(name, requests[0])])
    return tuple(found)


def _pin(source: FactStream | RowStream) -> None:
    """Remembers the version of a file before an engine reads it: `Inputs` compares it afterwards."""
    if source.version is not None:
        source.version()


def _form(request: Request) -> object | None:
    """The form of a file: the engine can read files of equal forms as one table. None if we must read the file ourselves: to report
    which file is damaged or empty, or because the engine would convert a column differently."""
    from pyarrow import parquet

    try:
        # Python opens files of any name, Arrow only those whose name is UTF-8.
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
    return any(one(kind) for one in (*known, pa.types.is_float32, pa.types.is_float64, pa.types.is_decimal128))


def _is_coarse(kind: pa.DataType) -> bool:
    """Whether an engine reads every date-time of a column as we do: not if the unit is nanoseconds, which engines lack and which an
    old form of files uses for all date-times."""
    return not pa.types.is_timestamp(kind) or kind.unit != "ns"
