"""The user's own tables in an engine's database, and how their columns hold constants."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Place, refuse, ticked
from rulescore.readers.columns import holds_floats
from rulescore.readers.layout import column_problem, is_published, model_column, resolve
from rulescore.setting.model import ColumnIn, FactTable
from rulescore.sql.stored import StoredFacts, StoredType

TablePath = tuple[str, ...]

_MOST_LISTED = 20

_NAMES = frozenset({StoredType.TEXT, StoredType.INTEGER})
_NUMBERS = frozenset({StoredType.INTEGER, StoredType.FLOAT, StoredType.DECIMAL})


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """A user's column: its database type, and our type for it (None if unsupported)."""

    named: str
    type: StoredType | None
    scale: int | None = None

    @property
    def arrow(self) -> pa.DataType:
        """The Arrow type that tables with keys use for the column. If we cannot read the column: binary, which has no values for
        us."""
        match self.type:
            case StoredType.TEXT:
                return pa.string()
            case StoredType.INTEGER:
                return pa.int64()
            case StoredType.FLOAT:
                return pa.float64()
            case StoredType.DECIMAL:
                return pa.decimal128(38, 0 if self.scale == 0 else 6)
            case StoredType.BOOLEAN:
                return pa.bool_()
            case StoredType.DATE:
                return pa.date32()
            case StoredType.TIMESTAMP:
                return pa.timestamp("us")
            case StoredType.INSTANT:
                return pa.timestamp("us", "UTC")
            case None:
                return pa.binary()


class Catalogue(ABC):
    """The tables and views that an engine's session can read."""

    @abstractmethod
    def find(self, table: str) -> TablePath:
        """The parts of a table's name, for statements. InputError if there is no such table."""

    @abstractmethod
    def columns(self, path: TablePath) -> dict[str, StoredColumn]:
        """The columns of a table, in their order."""

    def schema(self, path: TablePath) -> pa.Schema:
        return pa.schema([(name, column.arrow) for name, column in self.columns(path).items()])

    def stored(self, facts: FactTable) -> StoredFacts:
        """The roles of the columns of a fact table. InputError if a column cannot be read in its role."""
        path = facts.path or self.find(facts.table)
        columns = self.columns(path)
        if facts.request.stored and is_published(list(columns)) and not facts.request.file.columns:
            helps = ("name its schema with `database_schema`, or its arguments with `columns`",)
            notes = ("some of its rows are facts, and others are predictions: its columns `tag` and `model` say which",)
            raise column_problem(facts.request, f"`{facts.table}` is a table of the published layout", notes=notes, helps=helps)
        of_model = None if facts.model is None else model_column(list(columns))
        names = [name for name in columns if name != of_model]
        layout = resolve(names, len(names), facts.request)
        only = facts.only if of_model is None else (*facts.only, ColumnIn(of_model, (str(facts.model),)))
        if of_model is not None:
            refuse_unreadable(of_model, columns[of_model], facts.table, facts.origin)
        problems = [
            _of_no_type(facts.table, names[i], columns[names[i]], note, facts.origin)
            for indices, fits, note in (
                (layout.arguments, frozenset(StoredType), "text, numbers, booleans, dates, timestamps and uuids can be read"),
                ((layout.relation,), _NAMES, "the relation column is text, or whole numbers"),
                ((layout.score,), _NUMBERS, "scores are numbers"),
                ((layout.rank,), frozenset({StoredType.INTEGER}), "ranks are whole numbers"),
            )
            for i in indices
            if i is not None and columns[names[i]].type not in fits
        ]
        refuse(problems)
        return StoredFacts(
            path,
            tuple(names[i] for i in layout.arguments),
            {name: column.type for name, column in columns.items() if column.type is not None},
            None if layout.relation is None else names[layout.relation],
            layout.predicate,
            None if layout.score is None else names[layout.score],
            None if layout.rank is None else names[layout.rank],
            tuple(names[i] for i in layout.query),
            only,
            facts.keys,
            tuple(place for place, i in enumerate(layout.arguments) if holds_floats(columns[names[i]].arrow)),
            layout.guess,
        )


def refuse_unreadable(name: str, column: StoredColumn, table: str, origin: str) -> None:
    """Raises InputError if the type of a column that tells rows apart, such as `model`, holds no constants."""
    if column.type is None:
        note = "text, numbers, booleans, dates, timestamps and uuids can tell rows apart"
        raise InputError(_of_no_type(table, name, column, note, origin))


def _of_no_type(table: str, name: str, stored: StoredColumn, note: str, origin: str) -> Diagnostic:
    message = f"column `{name}` of `{table}` is of type {stored.named}"
    helps = ("convert it in a view",)
    return Diagnostic("E321", message, Place(origin), notes=(note,), helps=helps)


@dataclass(frozen=True, slots=True)
class StoredRelation:
    """A table or view of a schema: whether the role may read it, and what its comment says."""

    schema: str
    name: str
    readable: bool
    comment: str

    @property
    def full(self) -> str:
        return f"{self.schema}.{self.name}"


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A primary key; or, if another table is named, a foreign key and the columns of that table that it refers to."""

    table: TablePath
    columns: tuple[str, ...]
    other: TablePath | None = None
    others: tuple[str, ...] = ()


class SchemaCatalogue(Catalogue):
    """A catalogue that lists its schemas and their tables, as the published layout needs it."""

    @property
    @abstractmethod
    def relations(self) -> list[StoredRelation]:
        """Every table and view."""

    @abstractmethod
    def schemas(self) -> list[str]:
        """The names of the schemas."""

    @abstractmethod
    def keys(self) -> list[StoredKey]:
        """The primary and foreign keys of all tables."""

    @abstractmethod
    def tables_of(self, schema: str) -> dict[str, dict[str, StoredColumn]]:
        """The columns of every readable table of a schema."""


def listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_LISTED:,} more" if len(names) > _MOST_LISTED else ""
    return (ticked(names[:_MOST_LISTED]) or "none") + more
