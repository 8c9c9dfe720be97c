"""Tables with keys as a user describes them, in Python or in a project file, turned into those of a setting."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Place, Source, attempt, meant
from rulescore.language.attributes import parse_condition, parse_expression
from rulescore.readers.aligned import aligned_ids, labelled_ids, mask_of, masked_ids, plain_values, refuse_table_of_values
from rulescore.readers.arrays import array_values, is_array_file
from rulescore.readers.files import InputFile, is_pipe
from rulescore.readers.frames import column_values, is_frame, refuse_half_zoned, series_index, with_index
from rulescore.readers.sources import file_format
from rulescore.readers.table_rows import file_rows, frame_rows, value_type
from rulescore.setting.choices import FileFormat
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
)
from rulescore.setting.request import ColumnType, chosen
from rulescore.values.types import ValueType

PREDICTION = "prediction"
"""The column of predictions beside the ids that they are for."""

Found = TypeVar("Found")
Placer = Callable[[tuple[str, ...]], Place]
"""Where a part of a description stands, by the keys that lead to it."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose rows have a key.

    `rows`: a path, a frame, a mapping from names to columns, or a list of mappings; or `database` and `table` for a table of a
    DuckDB file that is read in place, `table` alone for one of the engine's own database. `hidden` says which rows have a hidden
    target: a condition on attributes as text, a mapping as in the project file (`{"column": …, "values": […]}`, `{"where": …}`,
    `{"path": …}`), the keys of those rows, or a mask with a truth value for each row; without it, the rows whose target is missing.
    `key`: columns, or the index of a frame. `types` are those of the columns of a text file; `derived` and `reached` map names of
    further attributes to their definitions."""

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
    """The tables of a setting. Everything wrong with their descriptions is raised together."""
    problems: list[Diagnostic] = []
    made = [_Description(name, table, place, problems).build() for name, table in tables.items()]
    if problems:
        raise InputError(problems)
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
        rows = self._attempt((), self._rows)
        hidden = None if table.hidden is None else self._attempt(("hidden",), partial(self._hidden, rows))
        reached = [self._attempt(("reached", name), partial(_reached, name, text)) for name, text in table.reached.items()]
        derived = [self._derived(name, text) for name, text in table.derived.items()]
        if table.target is not None and not _names(table.key):
            helps = ("give `key`, the column that names its rows",)
            message = f"table `{self._name}` has a target and no key"
            self._problems.append(Diagnostic("E332", message, self._place(("target",)), helps=helps))
        if table.target is not None and PREDICTION in _names(table.key):
            helps = ("rename the column: predictions have the key's columns beside one of that name",)
            message = f"the key of table `{self._name}` is called `{PREDICTION}`"
            self._problems.append(Diagnostic("E335", message, self._place(("key",)), helps=helps))
        if table.hidden is not None and table.target is None:
            helps = ("give `target`, the column whose values are hidden there",)
            message = f"table `{self._name}` has hidden rows and no target"
            self._problems.append(Diagnostic("E335", message, self._place(("hidden",)), helps=helps))
        if rows is None:
            return None
        return KeyedTable(
            self._name,
            rows,
            _names(table.key),
            table.target,
            hidden,
            tuple(one for one in reached if one is not None),
            tuple(one for one in derived if one is not None),
            self._place(()),
        )

    def _rows(self) -> RowStream | DatabaseTable:
        table = self._table
        if table.database is not None:
            if table.rows is not None or table.types:
                what = "`types`" if table.types else "a path"
                raise _wrong(f"table `{self._name}` has a database and {what}", "a table of a database has types of its own")
            if table.table is None:
                raise _wrong(f"table `{self._name}` does not say which table of the database it is", "give `table`")
            return _database(table.database, table.table, self._place(("table",)))
        if table.table is not None:
            if table.rows is not None or table.types:
                what = "`types`" if table.types else "a path"
                raise _wrong(f"table `{self._name}` has a table of a database and {what}", "give one of them alone")
            return DatabaseTable(None, table.table, place=self._place(("table",)))
        if table.rows is None:
            raise _wrong(f"table `{self._name}` has no rows", "give `path`, `database` and `table`, or `table` alone")
        form = chosen(FileFormat, table.format, "format")
        rows = with_index(table.rows, _names(table.key))
        return rows_of(rows, f"<table {self._name}>", _types(table.types), table.delimiter, form)

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
                return None  # E332 says what is missing.
            case mask if isinstance(rows, RowStream) and not self._of_truth_values(rows) and (chosen_rows := mask_of(mask)):
                ids = masked_ids(self._name, _names(self._table.key), rows, chosen_rows, series_index(mask))
                return HiddenIds(replace(frame_rows(ids, f"<hidden rows of {self._name}>"), text=rows.text), masked=True)
            case ids:
                return HiddenIds(_ids(ids, _names(self._table.key), f"<hidden rows of {self._name}>"))

    def _of_truth_values(self, rows: RowStream) -> bool:
        """Whether the key of the rows is a column of truth values."""
        key, schema = _names(self._table.key), rows.schema()
        return len(key) == 1 and key[0] in schema.names and value_type(schema.field(key[0]).type) is ValueType.BOOLEAN

    def _where(self, location: tuple[str, ...], text: str) -> HiddenWhere:
        return HiddenWhere(parse_condition(_source(self._place(location), text)))

    def _derived(self, name: str, text: str) -> Derived | None:
        location = ("derived", name)
        value = self._attempt(location, lambda: parse_expression(_source(self._place(location), text)))
        return None if value is None else Derived(name, value)

    def _attempt(self, location: tuple[str, ...], make: Callable[[], Found]) -> Found | None:
        """What `make` makes. We keep its problems, at the key they come from unless they have a place of their own."""
        return attempt(self._problems, make, None, lambda: self._place(location))


def _source(place: Place, text: str) -> Source:
    """A text of a description that keeps the line and column where it stands, so that problems in it point there."""
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
    """Anything a user may call rows, as a stream."""
    if isinstance(what, str | Path):
        return file_rows(Path(what), types=types, delimiter=delimiter, form=form, predictions=predictions)
    if types:
        note = "the columns of a frame have types of their own"
        raise InputError(Diagnostic("E320", "`types` is for text files", Place(origin), notes=(note,)))
    return frame_rows(what, origin)


def table_predictions(
    table: KeyedTable, what: object, origin: str, delimiter: str | None = None, form: FileFormat | None = None
) -> TablePredictions:
    """One model's predictions for a table: a path or a frame with ids and `prediction`, a mapping from ids to values, a pandas
    series whose index holds the ids or is that of the table's frame, or values alone in the order of the hidden rows, which may
    be in a file of NumPy."""
    if isinstance(what, str | Path) and (form is FileFormat.NUMPY or (form is None and is_array_file(what))):
        file_format(Path(what), FileFormat.NUMPY)
        file = InputFile(Path(what))
        found = table_predictions(table, array_values(file), str(what))
        return replace(found, rows=replace(cast(RowStream, found.rows), version=file.version))
    refuse_table_of_values(what, origin)
    if (pairs := _ids_and_values(what, table, origin)) is not None:
        ids, values = pairs
        what = _id_columns(ids, table.key, origin).append_column(PREDICTION, _array(values, origin))
    elif (plain := plain_values(what)) is not None:
        rows, places = aligned_ids(table, len(plain), origin)
        values = plain if places is None else [plain[place] for place in places]
        stream = frame_rows(rows.append_column(PREDICTION, _array(values, origin)), origin)
        # Ids that we took from a text file are read like those of one.
        return TablePredictions(table.name, replace(stream, text=table.rows.text if isinstance(table.rows, RowStream) else None))
    return TablePredictions(table.name, rows_of(what, origin, delimiter=delimiter, form=form, predictions=True))


def _ids_and_values(what: object, table: KeyedTable, origin: str) -> tuple[list[object], list[object]] | None:
    if isinstance(what, Mapping):
        return None if _has_columns(what) else (list(what), list(what.values()))
    index, values = series_index(what), column_values(what)
    if index is None or values is None:
        return None
    found = labelled_ids(table, what, origin)
    return (index if found is None else found), values


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
    """The problem with predictions of values that do not say of which table's rows they are."""
    targets = [table.name for table in tables if table.target is not None]
    helps = (
        f'say so: `table = "{targets[0]}"` in a project file, `{{"{targets[0]}": …}}` in Python'
        if targets
        else "give the table a `target`, the column that is predicted",
    )
    return Diagnostic("E333", f"`{model}` predicts values, and nothing says of which table's rows", helps=helps)


def _has_columns(what: Mapping[object, object]) -> bool:
    """Whether a mapping holds columns, rather than one value for each id."""
    values = what.get("prediction")
    return hasattr(values, "__len__") and not isinstance(values, str)


def the_target_table(tables: Iterable[KeyedTable]) -> KeyedTable | None:
    """The one table with a target, if there is exactly one."""
    with_target = [table for table in tables if table.target is not None]
    return with_target[0] if len(with_target) == 1 else None


def target_table(name: str, tables: Sequence[KeyedTable]) -> KeyedTable:
    """The table of that name, which must have a target."""
    found = next((table for table in tables if table.name == name), None)
    if found is None:
        helps = meant(name, [table.name for table in tables])
        raise InputError(Diagnostic("E333", f"predictions are for table `{name}`, but there is no such table", helps=helps))
    if found.target is None:
        helps = ("give the table a `target`, the column that is predicted",)
        raise InputError(Diagnostic("E333", f"predictions are for table `{name}`, which has no target", helps=helps))
    return found


def _ids(what: object, key: tuple[str, ...], origin: str) -> RowStream:
    if (values := column_values(what)) is not None:
        what = values
    if is_frame(what):
        return frame_rows(what, origin)
    if isinstance(what, Iterable):
        return frame_rows(_id_columns(list(what), key, origin), origin)
    raise _wrong(f"`hidden` is a {type(what).__name__}", _HIDDEN_FORMS)


def _id_columns(ids: list[object], key: tuple[str, ...], origin: str) -> pa.Table:
    """Ids as columns named as the key is: plain values, or tuples if the key has several columns."""
    if len(key) == 1:
        return pa.table({key[0]: _array(ids, origin)})
    rows = [one for one in ids if isinstance(one, tuple) and len(one) == len(key)]
    if len(rows) < len(ids):
        message = f"an id is not a tuple of {len(key)} values, one for each column of the key"
        raise InputError(Diagnostic("E322", message, Place(origin)))
    return pa.table({name: _array([row[place] for row in rows], origin) for place, name in enumerate(key)})


def _array(values: list[object], origin: str) -> pa.Array:
    try:
        refuse_half_zoned(values)
        return pa.array([one.item() if hasattr(one, "item") and type(one).__name__ != "datetime64" else one for one in values])
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise InputError(Diagnostic("E322", "values are not of one type", Place(origin), notes=(str(error),))) from None


def _hidden_column(column: str, values: list[object]) -> HiddenColumn:
    kept = tuple(one for one in values if isinstance(one, str | int | float | datetime.date))
    if len(kept) < len(values) or not values:
        raise _wrong("`hidden.values` are not constants", "give a list of texts, numbers, booleans, dates or date-times")
    return HiddenColumn(column, kept)


def _database(path: str | Path, table: str, place: Place) -> DatabaseTable:
    # Refuses a folder; since we name a format, any ending will do.
    file_format(Path(path), FileFormat.PARQUET)
    return DatabaseTable(Path(path), table, place=place)


def _types(given: Mapping[str, str]) -> dict[str, ColumnType]:
    for name, word in given.items():
        if word not in set(ColumnType):
            helps = meant(word, list(ColumnType))
            note = f"types are {', '.join(ColumnType)}"
            raise InputError(Diagnostic("E402", f"`types.{name}` is `{word}`", notes=(note,), helps=helps))
    return {name: ColumnType(word) for name, word in given.items()}


def _names(key: str | Sequence[str]) -> tuple[str, ...]:
    return (key,) if isinstance(key, str) else tuple(key)


_NAME = r"(`[^`]+`|[^\s=.,`][^=.,`]*?)"
_HOP = re.compile(rf"\s*{_NAME}\s*=\s*{_NAME}\s*\.\s*{_NAME}\s*")
_END = re.compile(rf"\s*{_NAME}\s*")


def _reached(attribute: str, text: str) -> Reached:
    """`id = sale_address.sale, address = address.id, code`: joins, then a column of the last table."""
    *hops, end = re.findall(r"(?:`[^`]*`|[^,`])+", text) or [""]
    found = [_HOP.fullmatch(hop) for hop in hops]
    last = _END.fullmatch(end)
    if not found or last is None or None in found:
        helps = ("write `column = table.column`, once for each join, and a column of the last table: `address = address.id, code`",)
        raise InputError(Diagnostic("E334", f"the path `{text}` of `{attribute}` is not understood", helps=helps))
    parts = [[name.strip("`") for name in hop.groups()] for hop in found if hop is not None]
    return Reached(attribute, tuple(Hop(*names) for names in parts), last[1].strip("`"))


def _wrong(message: str, help_line: str) -> InputError:
    return InputError(Diagnostic("E335", message, helps=(help_line,)))
