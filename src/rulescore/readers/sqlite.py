"""Tables of SQLite files, read by Python's own module. A column has the type that all its values have, whatever it declares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Place, meant, ticked
from rulescore.readers.files import InputFile
from rulescore.readers.table_rows import ARROW_TYPES, SOURCE_TYPES, Guess, read_as
from rulescore.setting.model import RowStream
from rulescore.values import MOMENTS, ValueType, equals_double

if TYPE_CHECKING:
    import sqlite3

_HEADER = b"SQLite format 3\x00"
_BATCH_ROWS = 1 << 16
_TIMES = {ValueType.DATE, *MOMENTS}


def is_sqlite(path: Path) -> bool:
    """Whether a file is a SQLite database: by its first bytes, whatever its name."""
    try:
        with path.open("rb") as file:
            return file.read(len(_HEADER)) == _HEADER
    except (OSError, ValueError):
        return False


def sqlite_tables(path: Path) -> dict[str, tuple[str, ...]]:
    """The tables of a file, and the columns of the primary key of each."""
    with _opened(path) as database:
        names = [name for (name,) in database.execute(f"{_NAMES} AND type = 'table' ORDER BY name")]
        return {name: _primary_key(database, name) for name in names}


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns of a table that refer to columns `there`."""

    columns: tuple[str, ...]
    there: str
    others: tuple[str, ...]


def foreign_keys(path: Path, table: str) -> list[ForeignKey]:
    """The foreign keys of a table. A key that names no columns of the other table means its primary key."""
    with _opened(path) as database:
        query = 'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq'
        parts: dict[int, list[tuple[str, str, str | None]]] = {}
        for number, there, column, other in database.execute(query, (table,)):
            parts.setdefault(number, []).append((there, column, other))
        keys = []
        for columns in parts.values():
            there = columns[0][0]
            named = tuple(other for _, _, other in columns if other is not None)
            others = named if len(named) == len(columns) else _primary_key(database, there)
            keys.append(ForeignKey(tuple(column for _, column, _ in columns), there, others))
        return keys


def sqlite_rows(path: Path, table: str) -> RowStream:
    """The rows of a table or a view. InputError now if the file has none of that name."""
    with _opened(path) as database:
        names = [name for (name,) in database.execute(_NAMES)]
    if table not in names:
        listed = ticked(sorted(names)[:20]) or "none"
        message = f"`{path}` has no table `{table}`"
        raise InputError(Diagnostic("E337", message, notes=(f"its tables are {listed}",), helps=meant(table, names)))
    stored = _Stored(path, table)
    return RowStream(f"{path} ({table})", stored.schema, stored.batches, version=InputFile(path).version)


_NAMES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write."""
    import sqlite3

    try:
        with closing(sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True)) as database:
            yield database
    except sqlite3.Error as error:
        message = f"`{path}` cannot be read as a database of SQLite"
        raise InputError(Diagnostic("E337", message, notes=(str(error),))) from error


def _primary_key(database: sqlite3.Connection, table: str) -> tuple[str, ...]:
    columns = database.execute("SELECT name, pk FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", (table,)).fetchall()
    return tuple(name for name, _ in columns)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True, slots=True)
class _Stored:
    path: Path
    table: str

    def schema(self) -> pa.Schema:
        with _opened(self.path) as database:
            kinds = {name: self._kind(database, name, declared) for name, declared in self._columns(database)}
        return pa.schema([(name, _type(kind)) for name, kind in kinds.items()])

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with _opened(self.path) as database:
            kinds = {name: self._kind(database, name, declared) for name, declared in self._columns(database) if name in columns}
            listed = ", ".join(map(_quoted, columns))
            rows = database.execute(f"SELECT {listed} FROM {_quoted(self.table)}{self._order(database)}")
            first = 0
            while part := rows.fetchmany(_BATCH_ROWS):
                values = zip(*part, strict=True)
                arrays = [self._array(name, kinds[name], list(column), first) for name, column in zip(columns, values, strict=True)]
                yield pa.RecordBatch.from_arrays(arrays, list(columns))
                first += len(part)

    def _columns(self, database: sqlite3.Connection) -> list[tuple[str, str]]:
        return database.execute("SELECT name, type FROM pragma_table_info(?)", (self.table,)).fetchall()

    def _order(self, database: sqlite3.Connection) -> str:
        """Rows in the order in which they are stored. SQLite might read an index instead that has all the columns, in another
        order."""
        import sqlite3

        try:
            database.execute(f"SELECT rowid FROM {_quoted(self.table)} LIMIT 0")
            return " ORDER BY rowid"
        except sqlite3.OperationalError:
            key = _primary_key(database, self.table)
            return f" ORDER BY {', '.join(map(_quoted, key))}" if key else ""

    def _kind(self, database: sqlite3.Connection, name: str, declared: str) -> ValueType | None:
        """The type of a column; None if no type has all its values."""
        query = f"SELECT DISTINCT typeof({_quoted(name)}) FROM {_quoted(self.table)}"
        kinds = {kind for (kind,) in database.execute(query)} - {"null"}
        match sorted(kinds):
            case ["integer"]:
                return ValueType.INTEGER
            case ["real"] | ["integer", "real"]:
                return ValueType.FLOAT
            case ["text"] if any(word in declared.upper() for word in ("DATE", "TIME")):
                return self._time(database, name)
            case [] | ["text"]:
                return ValueType.STRING
            case _:
                return None

    def _time(self, database: sqlite3.Connection, name: str) -> ValueType:
        """SQLite has dates and date-times as text: a column that is declared as one is one if all its values are."""
        guess = Guess()
        rows = database.execute(f"SELECT {_quoted(name)} FROM {_quoted(self.table)} WHERE {_quoted(name)} IS NOT NULL")
        while part := rows.fetchmany(_BATCH_ROWS):
            guess.look(pa.array([value for (value,) in part], pa.string()))
        return guess.kind if guess.kind in _TIMES else ValueType.STRING

    def _array(self, name: str, kind: ValueType | None, values: list[Any], first: int) -> pa.Array:
        if kind is None:
            raise self._mixed(name, values, first)
        if kind is ValueType.FLOAT:
            for row, value in enumerate(values):
                if isinstance(value, int) and not equals_double(value):
                    message = f"`{name}` is `{value}` in row {first + row:,}, an integer that no float equals, among floats"
                    raise InputError(Diagnostic("E314", message, Place(f"{self.path} ({self.table})")))
        if kind in _TIMES:
            column = read_as(pa.array(values, pa.string()), kind)
            assert column is not None
            return column
        return pa.array(values, ARROW_TYPES[kind])

    def _mixed(self, name: str, values: list[Any], first: int) -> InputError:
        """The problem of a column that only rules ask for, with a value and its place."""
        row, value = next(((row, value) for row, value in enumerate(values) if value is not None), (0, None))
        shown = "bytes" if isinstance(value, bytes) else f"`{value}`, {'text' if isinstance(value, str) else 'a number'},"
        message = f"`{name}` has values of several types, or bytes: in row {first + row:,} it is {shown} elsewhere another"
        notes = ("rows are counted from 0",)
        helps = ("make a view that casts it to one type",)
        return InputError(Diagnostic("E314", message, Place(f"{self.path} ({self.table})"), notes=notes, helps=helps))


def _type(kind: ValueType | None) -> pa.DataType:
    return pa.string() if kind is None else SOURCE_TYPES[kind]
