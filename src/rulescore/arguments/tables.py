"""Tables with keys as a user describes them, in Python or in a project file, turned into tables of a setting."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Place, Source, attempt, meant, refuse
from rulescore.language.attributes import parse_condition, parse_expression
from rulescore.readers import arrays
from rulescore.readers.files import InputFile, is_pipe
from rulescore.readers.frames import column_values, is_frame, refuse_half_zoned, series_index, with_index
from rulescore.readers.layout import PREDICTION
from rulescore.readers.row_streams import ROW, files_of, numbered, together
from rulescore.readers.sources import file_format
from rulescore.readers.sqlite import is_sqlite, sqlite_rows
from rulescore.readers.table_rows import file_rows, frame_rows, value_type
from rulescore.setting.choices import ColumnType, FileFormat
from rulescore.setting.model import (
    DatabaseTable,
    Derived,
    HiddenColumn,
    HiddenIds,
    HiddenWhere,
    Hop,
    KeyedTable,
    Reached,
    RowStream,
    TablePredictions,
    chosen,
)
from rulescore.values import ValueType

Found = TypeVar("Found")
Placer = Callable[[tuple[str, ...]], Place]
"""Where a part of a description stands, by the keys that lead to it."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose rows have a key.

    Args:
        rows: A path, a frame, a mapping from names to columns, or a list of mappings; None if `table` names a table.
        key: Columns, the index of a frame, or "row", which is the number of a row from 0 if no column has that name.
        target: The column whose values models predict.
        hidden: Which rows have a hidden target: a condition on attributes as text, a mapping as in the project file
            (`{"column": …, "values": […]}`, `{"where": …}`, `{"path": …}`), the keys of these rows, or a mask with a truth value
            for each row. None: the rows whose target is missing.
        derived: Attributes computed from others of a row: expressions by name.
        reached: Attributes that lie in other tables: paths of joins by name.
        types: Types of the columns of a text file, by column.
        database: A DuckDB file whose `table` is read in place.
        table: A table of `database` or, without one, of the engine's own database.
        delimiter: The delimiter of a text file. None: as it looks.
        format: The format of a file. None: as it looks.
    """

    rows: object = None
    _: KW_ONLY
    key: str | Sequence[str] = ()
    target: str | None = None
    hidden: object = None
    derived: Mapping[str, str] = field(default_factory=dict)
    reached: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    database: str | Path | None = None
    table: str | None = None
    delimiter: str | None = None
    format: FileFormat | str | None = None


def in_python(location: tuple[str, ...]) -> Place:
    return Place(f"<{'.'.join(location)}>")


def keyed_tables(tables: Mapping[str, Table], place: Placer = in_python) -> tuple[KeyedTable, ...]:
    """The tables of a setting. One error names everything that is wrong with their descriptions."""
    problems: list[Diagnostic] = []
    made = [_Description(name, table, place, problems).build() for name, table in tables.items()]
    refuse(problems)
    return tuple(table for table in made if table is not None)


class _Description:
    """One table's description, with its problems gathered."""

    def __init__(self, name: str, table: Table, place: Placer, problems: list[Diagnostic]) -> None:
        self._name, self._table, self._placer, self._problems = name, table, place, problems

    def _place(self, location: tuple[str, ...]) -> Place:
        return self._placer(("tables", self._name, *location))

    def build(self) -> KeyedTable | None:
        table = self._table
        if not isinstance(table, Table):
            helps = ("write `rulescore.Table(rows, key=…)`",)
            self._problems.append(Diagnostic("E322", f"table `{self._name}` is a {type(table).__name__}", helps=helps))
            return None
        rows = self._attempt((), self._opened_rows)
        hidden = None if table.hidden is None else self._attempt(("hidden",), partial(self._hidden, rows))
        reached = [self._attempt(("reached", name), partial(_reached, name, text)) for name, text in table.reached.items()]
        derived = [self._attempt(("derived", name), partial(self._derived, name, text)) for name, text in table.derived.items()]
        if table.target is not None and not _names(table.key):
            self._refuse("target", f"table `{self._name}` has a target and no key", "give `key`, the column that names its rows")
        if table.target is not None and PREDICTION in _names(table.key):
            cure = "rename the column: predictions have the key's columns beside one of that name"
            self._refuse("key", f"the key of table `{self._name}` is called `{PREDICTION}`", cure)
        if table.hidden is not None and table.target is None:
            cure = "give `target`, the column whose values are hidden there"
            self._refuse("hidden", f"table `{self._name}` has hidden rows and no target", cure)
        if rows is None:
            return None
        return KeyedTable(
            self._name,
            rows,
            _names(table.key),
            table.target,
            hidden,
            tuple(attribute for attribute in reached if attribute is not None),
            tuple(attribute for attribute in derived if attribute is not None),
            self._place(()),
        )

    def _refuse(self, key: str, message: str, cure: str) -> None:
        self._problems.append(Diagnostic("E335", message, self._place((key,)), helps=(cure,)))

    def _opened_rows(self) -> RowStream | DatabaseTable:
        table = self._table
        what = "`types`" if table.types else None if table.rows is None else "a path"
        if table.database is not None:
            if what is not None:
                raise _wrong(f"table `{self._name}` has a database and {what}", "a table of a database has types of its own")
            if table.table is None:
                raise _wrong(f"table `{self._name}` does not say which table of the database it is", "give `table`")
            if is_sqlite(Path(table.database)):
                return self._named_rows(sqlite_rows(Path(table.database), table.table))
            return _database(table.database, table.table, self._place(("table",)))
        if table.table is not None:
            if what is not None:
                raise _wrong(f"table `{self._name}` has a table of a database and {what}", "give one of them alone")
            return DatabaseTable(None, table.table, place=self._place(("table",)))
        if table.rows is None:
            raise _wrong(f"table `{self._name}` has no rows", "give `path`, `database` and `table`, or `table` alone")
        form = chosen(FileFormat, table.format, "format")
        rows = with_index(table.rows, _names(table.key))
        return self._named_rows(rows_of(rows, f"<table {self._name}>", _types(table.types), table.delimiter, form))

    def _named_rows(self, rows: RowStream) -> RowStream:
        """The rows, with their numbers if these are the key."""
        return numbered(rows) if _names(self._table.key) == (ROW,) and ROW not in rows.schema().names else rows

    def _hidden(self, rows: RowStream | DatabaseTable | None) -> HiddenColumn | HiddenWhere | HiddenIds | None:
        match self._table.hidden:
            case str() as text:
                return self._where(("hidden",), text)
            case {"column": str() as column, "values": values, **rest} if not rest and isinstance(
                values, Sequence | frozenset | set
            ):
                return _hidden_column(column, [values] if isinstance(values, str) else list(values))
            case {"where": str() as text, **rest} if not rest:
                return self._where(("hidden", "where"), text)
            case {"path": (str() | Path()) as path, **rest} if not rest:
                return HiddenIds(file_rows(Path(path)))
            case {"database": (str() | Path()) as database, "table": str() as table, **rest} if not rest:
                return HiddenIds(_database(database, table, self._place(("hidden",))))
            case {"table": str() as table, **rest} if not rest:
                return HiddenIds(DatabaseTable(None, table, place=self._place(("hidden",))))
            case Mapping():
                raise _wrong(f"`hidden` of table `{self._name}` is not understood", _HIDDEN_FORMS)
            case Path() as path:
                return HiddenIds(file_rows(path))
            case _ if not _names(self._table.key):
                return None  # E335 says what is missing.
            case mask if isinstance(rows, RowStream) and not self._of_truth_values(rows) and (chosen_rows := arrays.mask_of(mask)):
                ids = arrays.masked_ids(self._name, _names(self._table.key), rows, chosen_rows, series_index(mask))
                return HiddenIds(replace(frame_rows(ids, f"<hidden rows of {self._name}>"), text=rows.text), masked=True)
            case ids:
                return HiddenIds(_ids(ids, _names(self._table.key), f"<hidden rows of {self._name}>"))

    def _of_truth_values(self, rows: RowStream) -> bool:
        """Whether the key of the rows is a column of truth values."""
        key, schema = _names(self._table.key), rows.schema()
        return len(key) == 1 and key[0] in schema.names and value_type(schema.field(key[0]).type) is ValueType.BOOLEAN

    def _derived(self, name: str, text: str) -> Derived:
        return Derived(name, parse_expression(_source(self._place(("derived", name)), text)))

    def _where(self, location: tuple[str, ...], text: str) -> HiddenWhere:
        return HiddenWhere(parse_condition(_source(self._place(location), text)))

    def _attempt(self, location: tuple[str, ...], make: Callable[[], Found]) -> Found | None:
        """What `make` makes. We keep its problems. A problem without a place gets the place of its key."""
        return attempt(self._problems, make, None, lambda: self._place(location))


def _source(place: Place, text: str) -> Source:
    """A text of a description that keeps the line and column where it stands, so problems in it point there."""
    if place.line is None or place.text is None:
        return Source(place.name, text)
    return Source(place.name, "\n" * (place.line - 1) + " " * max(0, place.text.find(text)) + text)


_HIDDEN_FORMS = (
    'write `{ column = "split", values = ["test"] }`, `{ where = "year >= 2019" }`, `{ path = "ids.csv" }`, '
    "`{ database = …, table = … }` or `{ table = … }`"
)


def rows_of(
    what: object,
    origin: str,
    types: Mapping[str, ColumnType] | None = None,
    delimiter: str | None = None,
    form: FileFormat | None = None,
    predictions: bool = False,
) -> RowStream:
    """Rows in any form that a user may give them, as a stream."""
    if isinstance(what, str | Path):
        files = files_of(Path(what))
        rows = partial(file_rows, types=types, delimiter=delimiter, form=form, predictions=predictions)
        return rows(Path(what)) if files is None else together(str(what), [rows(file) for file in files])
    if types:
        note = "the columns of a frame have types of their own"
        raise InputError(Diagnostic("E320", "`types` is for text files", Place(origin), notes=(note,)))
    return frame_rows(what, origin)


def table_predictions(
    table: KeyedTable, what: object, origin: str, delimiter: str | None = None, form: FileFormat | None = None
) -> TablePredictions:
    """One model's predictions for a table: a path or a frame with ids and `prediction`, a mapping from ids to values, a pandas
    series whose index holds the ids or is the index of the table's frame, or values alone in the order of the hidden rows, which
    may be in a file of NumPy."""
    if isinstance(what, str | Path) and (form is FileFormat.NUMPY or (form is None and arrays.is_array_file(what))):
        file_format(Path(what), FileFormat.NUMPY)
        file = InputFile(Path(what))
        predicted = table_predictions(table, arrays.array_values(file), str(what))
        return replace(predicted, rows=replace(cast(RowStream, predicted.rows), version=file.version))
    arrays.refuse_table_of_values(what, origin)
    if (pairs := _ids_and_values(what, table, origin)) is not None:
        ids, values = pairs
        what = _id_columns(ids, table.key, origin).append_column(PREDICTION, _array(values, origin))
    elif (plain := arrays.plain_values(what)) is not None:
        rows, places = arrays.aligned_ids(table, len(plain), origin)
        values = plain if places is None else [plain[place] for place in places]
        stream = frame_rows(rows.append_column(PREDICTION, _array(values, origin)), origin)
        # We took these ids from a text file, so we read them like the ids of a text file.
        return TablePredictions(table.name, replace(stream, text=table.rows.text if isinstance(table.rows, RowStream) else None))
    return TablePredictions(table.name, rows_of(what, origin, delimiter=delimiter, form=form, predictions=True))


def _ids_and_values(what: object, table: KeyedTable, origin: str) -> tuple[list[object], list[object]] | None:
    if isinstance(what, Mapping):
        # The mapping may go from names of columns to columns, not from ids to values.
        values = what.get(PREDICTION)
        columns = hasattr(values, "__len__") and not isinstance(values, str)
        return None if columns else (list(what), list(what.values()))
    index, predicted = series_index(what), column_values(what)
    if index is None or predicted is None:
        return None
    ids = arrays.labelled_ids(table, what, origin)
    return (index if ids is None else ids), predicted


def predicts_values(what: object) -> bool:
    """Whether something is a file or a frame of ids and predictions for the rows of a table. We do not look into a pipe."""
    if isinstance(what, str | Path) and is_pipe(Path(what)):
        return False
    try:
        names = rows_of(what, "", predictions=True).schema().names if isinstance(what, str | Path) or is_frame(what) else []
    except InputError:
        return False
    return PREDICTION in names


def unnamed_target(model: str, tables: Sequence[KeyedTable]) -> Diagnostic:
    """The problem of predicted values that do not say to which table's rows they belong."""
    targets = [table.name for table in tables if table.target is not None]
    helps = (
        f'say so: `table = "{targets[0]}"` in a project file, `{{"{targets[0]}": …}}` in Python'
        if targets
        else "give the table a `target`, the column that is predicted",
    )
    return Diagnostic("E333", f"`{model}` predicts values, but nothing says which table's rows they belong to", helps=helps)


def the_target_table(tables: Iterable[KeyedTable]) -> KeyedTable | None:
    """The one table with a target, if there is exactly one."""
    with_target = [table for table in tables if table.target is not None]
    return with_target[0] if len(with_target) == 1 else None


def target_table(name: str, tables: Sequence[KeyedTable]) -> KeyedTable:
    """The table of that name, which must have a target."""
    named = next((table for table in tables if table.name == name), None)
    if named is None:
        helps = meant(name, [table.name for table in tables])
        raise InputError(Diagnostic("E333", f"predictions are for table `{name}`, but there is no such table", helps=helps))
    if named.target is None:
        helps = ("give the table a `target`, the column that is predicted",)
        raise InputError(Diagnostic("E333", f"predictions are for table `{name}`, which has no target", helps=helps))
    return named


def _ids(what: object, key: tuple[str, ...], origin: str) -> RowStream:
    if (values := column_values(what)) is not None:
        what = values
    if is_frame(what):
        return frame_rows(what, origin)
    if isinstance(what, Iterable):
        return frame_rows(_id_columns(list(what), key, origin), origin)
    raise _wrong(f"`hidden` is a {type(what).__name__}", _HIDDEN_FORMS)


def _id_columns(ids: list[object], key: tuple[str, ...], origin: str) -> pa.Table:
    """Ids as columns with the names of the key. An id is a plain value, or a tuple if the key has several columns."""
    if len(key) == 1:
        return pa.table({key[0]: _array(ids, origin)})
    rows = [id for id in ids if isinstance(id, tuple) and len(id) == len(key)]
    if len(rows) < len(ids):
        message = f"an id is not a tuple of {len(key)} values, one for each column of the key"
        raise InputError(Diagnostic("E322", message, Place(origin)))
    return pa.table({name: _array([row[place] for row in rows], origin) for place, name in enumerate(key)})


def _array(values: list[object], origin: str) -> pa.Array:
    try:
        refuse_half_zoned(values)
        return pa.array(
            [value.item() if hasattr(value, "item") and type(value).__name__ != "datetime64" else value for value in values]
        )
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise InputError(Diagnostic("E322", "values are not of one type", Place(origin), notes=(str(error),))) from None


def _hidden_column(column: str, values: list[object]) -> HiddenColumn:
    kept = tuple(value for value in values if isinstance(value, str | int | float | datetime.date))
    if len(kept) < len(values) or not values:
        raise _wrong("`hidden.values` are not constants", "give a list of texts, numbers, booleans, dates or date-times")
    return HiddenColumn(column, kept)


def _database(path: str | Path, table: str, place: Place) -> DatabaseTable:
    # This refuses a folder. We name a format, so the file may have any ending.
    file_format(Path(path), FileFormat.PARQUET)
    return DatabaseTable(Path(path), table, place=place)


def _types(words: Mapping[str, str]) -> dict[str, ColumnType]:
    return {name: kind for name, word in words.items() if (kind := chosen(ColumnType, word, f"types.{name}")) is not None}


def _names(key: str | Sequence[str]) -> tuple[str, ...]:
    return (key,) if isinstance(key, str) else tuple(key)


_NAME = r"(`[^`]+`|[^\s=.,`][^=.,`]*?)"
_HOP = re.compile(rf"\s*{_NAME}\s*=\s*{_NAME}\s*\.\s*{_NAME}\s*")
_END = re.compile(rf"\s*{_NAME}\s*")


def _reached(attribute: str, text: str) -> Reached:
    """`id = sale_address.sale, address = address.id, code`: joins, then a column of the last table."""
    *hops, end = re.findall(r"(?:`[^`]*`|[^,`])+", text) or [""]
    matches = [_HOP.fullmatch(hop) for hop in hops]
    last = _END.fullmatch(end)
    if not matches or last is None or None in matches:
        helps = ("write `column = table.column`, once for each join, and a column of the last table: `address = address.id, code`",)
        raise InputError(Diagnostic("E335", f"the path `{text}` of `{attribute}` is not understood", helps=helps))
    parts = [[name.strip("`") for name in hop.groups()] for hop in matches if hop is not None]
    return Reached(attribute, tuple(Hop(*names) for names in parts), last[1].strip("`"))


def _wrong(message: str, help_line: str) -> InputError:
    return InputError(Diagnostic("E335", message, helps=(help_line,)))
