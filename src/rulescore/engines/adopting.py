"""Sources that an engine reads by itself: their rows never pass through here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
from pyarrow import parquet

from rulescore.data.frames import refuse_spark_frame
from rulescore.data.layout import resolve
from rulescore.data.request import Request
from rulescore.data.setting import (
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
from rulescore.engines.base import Engine, KeepingEngine
from rulescore.errors import InputError


def adopted(engine: Engine, setting: Setting) -> Setting:
    """The setting with sources that the engine reads by itself as tables of its own."""
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
    if not isinstance(rows, RowStream) or rows.adoptable is None:
        return rows
    given = rows.adoptable
    if given.frame is not None:
        return DatabaseTable(None, _frame(engine, given.frame, rows.origin), rows.origin)
    name = engine.adopt([given.request.path])
    if name is None or not all(map(_is_coarse, rows.schema().types)):
        return rows
    return DatabaseTable(None, name, rows.origin)


def _frame(engine: Engine, frame: object, origin: str) -> str:
    name = engine.adopt(frame)
    if name is None:
        refuse_spark_frame(origin)
    return name


def _facts(engine: Engine, sources: Sequence[FactSource]) -> tuple[FactSource, ...]:
    """Files of one form are read as one table."""
    found: list[FactSource] = []
    files: dict[object, list[FactStream]] = {}
    for source in sources:
        given = source.adoptable if isinstance(source, FactStream) else None
        if given is None or not isinstance(source, FactStream):
            found.append(source)
        elif given.frame is not None:
            found.append(FactTable(_frame(engine, given.frame, source.origin), given.request))
        elif not isinstance(engine, KeepingEngine) or (form := _form(given.request)) is None:
            found.append(source)
        else:
            files.setdefault(form, []).append(source)
    for streams in files.values():
        requests = [stream.adoptable.request for stream in streams if stream.adoptable is not None]
        name = engine.adopt([request.path for request in requests])
        found.extend(streams if name is None else [FactTable(name, requests[0])])
    return tuple(found)


def _form(request: Request) -> object | None:
    """What files have in common whose rows can be read as those of one table; None for a file that is better read here: damaged
    or empty, so that it is told which, or with columns that the engine does not read as we do."""
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
    """Whether an engine reads every moment of a column as we do: none has nanoseconds, by which an old form holds others too."""
    return not pa.types.is_timestamp(kind) or kind.unit != "ns"
