"""Fetches the rows of tables with keys, and splits them into rows to search and rows held out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulescore.discovery.discovering import digest_of
from rulescore.engines.base import Engine, connect
from rulescore.errors import Diagnostic, InputError, ticked
from rulescore.loading.stored import read_natively
from rulescore.loading.table_values import Inference
from rulescore.loading.tables import LoadedTable, load_tables
from rulescore.readers.inputs import Inputs
from rulescore.readers.table_rows import frame_rows
from rulescore.setting.model import KeyedTable, Setting
from rulescore.sql.query import drop, row, select
from rulescore.values import ValueType

_MOMENTS = {ValueType.DATETIME: pa.timestamp("us"), ValueType.INSTANT: pa.timestamp("us", "UTC")}


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a table in the order of their keys, as Arrow columns named like the attributes. Hidden targets are missing, and
    so are attributes computed from them.

    `types`: the types of the attributes that have values. `digest`: the digest of the files of all tables; None if not all are
    files.
    """

    table: str
    key: tuple[str, ...]
    columns: pa.Table
    types: Mapping[str, ValueType]
    digest: str | None = None

    @property
    def count(self) -> int:
        return int(self.columns.num_rows)

    def values(self, attribute: str) -> pa.Array:
        return self.columns.column(attribute).combine_chunks()

    def keyed(self) -> KeyedTable:
        """The rows as a table of a setting: every attribute is a column of its own."""
        return KeyedTable(self.table, frame_rows(self.columns, f"<table {self.table}>"), self.key)


def rows_of_tables(setting: Setting) -> tuple[Rows, ...]:
    """All rows of the tables of a setting that have a key.

    Args:
        setting: The tables and the engine; its rules and predictions are ignored.

    Returns:
        The rows of each table, in the order of the setting.

    Raises:
        InputError: No table has a key, or one of them cannot be read.
    """
    named = replace(setting, rules=(), predictions=(), truth=None, sql_rules=())
    if not any(table.key for table in named.tables):
        raise InputError(_no_key(named))
    inputs = Inputs(named)
    engine = connect(named.engine)
    try:
        read = read_natively(engine, inputs.setting)
        attributes = {name: list(_usable(table)) for name, table in _loaded(engine, read, {}).items()}
        tables = [_rows(engine, table) for table in _loaded(engine, read, attributes).values()]
        digest = digest_of(inputs)
        return tuple(replace(rows, digest=digest) for rows in tables)
    finally:
        engine.close()


def split(rows: Rows, share: float, seed: int) -> tuple[Rows, Rows]:
    """The rows to search, and the rows held out: a random share of all."""
    order = np.random.default_rng(seed).permutation(rows.count)
    held_out = np.sort(order[: int(rows.count * share)])
    searched = np.sort(order[int(rows.count * share) :])
    return _taken(rows, searched), _taken(rows, held_out)


def _taken(rows: Rows, places: np.ndarray) -> Rows:
    return replace(rows, columns=rows.columns.take(pa.array(places, pa.int64())))


def _usable(table: LoadedTable) -> Iterator[str]:
    return (name for name, kind in table.attributes.items() if kind is not None)


def _loaded(engine: Engine, setting: Setting, attributes: Mapping[str, list[str]]) -> dict[str, LoadedTable]:
    tables = load_tables(engine, setting, attributes, Inference())
    if not attributes:
        for table in tables.values():
            engine.run(drop(table.observed))
    return tables


def _rows(engine: Engine, table: LoadedTable) -> Rows:
    stored = row(table.observed, "t")
    fields = {name: stored[column.name] for name, column in table.columns.items()}
    brought = engine.query(select(*fields.values()).from_(stored).order_by(*(fields[name] for name in table.key)))
    places = {name: place for place, name in enumerate(table.columns)}
    types = {name: table.columns[name].type for name in table.attributes if name in places}
    return Rows(
        table.name,
        table.key,
        pa.table({name: _column(brought.column(places[name]), kind) for name, kind in types.items()}),
        types,
    )


def _column(values: pa.ChunkedArray, kind: ValueType) -> pa.Array:
    whole = values.combine_chunks()
    if kind is ValueType.FLOAT:
        return pc.add(whole, 0.0)  # -0.0 becomes 0.0, and equal values are one value
    return whole.cast(_MOMENTS[kind]) if kind in _MOMENTS else whole


def _no_key(setting: Setting) -> Diagnostic:
    if not setting.tables:
        helps = ("describe one: `[tables.sale]` with `path` and `key` in a project file, `tables={…}` in Python",)
        return Diagnostic("E335", "there is no table to find rules of", helps=helps)
    names = ticked(table.name for table in setting.tables)
    helps = ('give `key`, the column that names its rows; in Python, `key="index"` takes the index of a pandas frame',)
    return Diagnostic("E335", f"no table has a key: {names}", helps=helps, notes=("rules speak of rows by their keys",))
