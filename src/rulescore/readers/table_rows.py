"""Rows of tables with keys, from files and frames, in the few types that values have."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.errors import Diagnostic, InputError, Place, meant
from rulescore.readers.batches import no_facts
from rulescore.readers.constant_columns import CellError, dates, decoded, is_text, moment_counts, parse_value
from rulescore.readers.files import InputFile, Opening, is_pipe
from rulescore.readers.frames import (
    arrow_table,
    frame_index,
    is_frame,
    is_spark_frame,
    lasting,
    refuse_half_zoned,
    refuse_spark_frame,
)
from rulescore.readers.inferred import Guess, MisfitError, read_as
from rulescore.readers.layout import Layout
from rulescore.readers.lines import damaged
from rulescore.readers.rdf import SYNTAXES
from rulescore.readers.sources import file_format
from rulescore.readers.text import QuotingError, TextDialect, find_dialect, stream
from rulescore.readers.text_problems import find_problems
from rulescore.setting.choices import FileFormat
from rulescore.setting.model import NativeSource, RowStream, TextColumns
from rulescore.setting.request import ColumnType, FactFile, Request
from rulescore.values.moments import microseconds
from rulescore.values.types import MOMENTS, Value, ValueType

ARROW_TYPES: dict[ValueType, pa.DataType] = {
    ValueType.STRING: pa.string(),
    ValueType.INTEGER: pa.int64(),
    ValueType.FLOAT: pa.float64(),
    ValueType.BOOLEAN: pa.bool_(),
    ValueType.DATE: pa.date32(),
    ValueType.DATETIME: pa.int64(),
    ValueType.INSTANT: pa.int64(),
    ValueType.MIXED: pa.string(),
}
"""How values of each type arrive: date-times as microseconds since 1970, values of several types as keys of constants."""

_DECLARED = ARROW_TYPES | {ValueType.DATETIME: pa.timestamp("us"), ValueType.INSTANT: pa.timestamp("us", "UTC")}

# Small enough that the strings of one batch stay far below the 2 GiB that a string column can address.
_BATCH_ROWS = 1 << 17

_NOT_FINITE = frozenset({"nan", "inf", "infinity"})


def value_type(kind: pa.DataType) -> ValueType | None:
    """The type of the values of an Arrow column; None if no value can have it. A column of nothing but nulls could hold anything:
    we take it for text."""
    if pa.types.is_dictionary(kind):
        return value_type(kind.value_type)
    if is_text(kind) or pa.types.is_null(kind):
        return ValueType.STRING
    if pa.types.is_integer(kind):
        return ValueType.INTEGER
    if pa.types.is_decimal(kind):
        return ValueType.INTEGER if kind.scale <= 0 else ValueType.FLOAT
    if pa.types.is_floating(kind):
        return ValueType.FLOAT
    if pa.types.is_boolean(kind):
        return ValueType.BOOLEAN
    if pa.types.is_timestamp(kind):
        return ValueType.INSTANT if kind.tz else ValueType.DATETIME
    return ValueType.DATE if pa.types.is_date(kind) else None


def file_rows(
    path: Path,
    *,
    types: Mapping[str, ColumnType] | None = None,
    delimiter: str | None = None,
    form: FileFormat | None = None,
    predictions: bool = False,
) -> RowStream:
    """The rows of a text or Parquet file. Raises InputError now if there is no file, and on reading for what is wrong in it."""
    file = FactFile(path, form, delimiter=delimiter, header=True, predicate="rows")
    request = Request(str(path), file, predictions, rows=True)
    input_file = InputFile(path)
    match file_format(path, form):
        case FileFormat.TEXT:
            text = _TextRows(input_file, request, types or {})
            return text.stream()
        case FileFormat.PARQUET:
            if types:
                note = "the columns of this file have types of their own"
                raise InputError(Diagnostic("E320", "`types` is for text files", Place(str(path)), notes=(note,)))
            parts = (partial(_parquet_schema, input_file, request), partial(_read_parquet, input_file, request))
            native = None if is_pipe(path) else NativeSource(request)
            return RowStream(str(path), *parts, native=native, version=input_file.version)
        case other:
            notes = ("files of tables are delimited text and Parquet",)
            name = SYNTAXES.get(other, f"a file of the format `{other}`")
            raise InputError(Diagnostic("E305", f"{name} is no table", Place(str(path)), notes=notes))


def frame_rows(frame: object, origin: str) -> RowStream:
    """The rows of a frame, of a mapping from names to columns, or of a list of mappings."""
    if is_spark_frame(frame):
        refused = partial(refuse_spark_frame, origin)
        request = Request(origin, FactFile(origin), rows=True)
        return RowStream(origin, refused, lambda _: refused(), native=NativeSource(request, frame))
    table = arrow_table(lasting(frame), origin) if is_frame(frame) else _python_table(frame, origin)
    return RowStream(
        origin,
        lambda: table.schema,
        lambda names: _normal_batches(table.select(list(names)).to_batches(), origin),
        labels=None if frame_index(frame) is None else lambda: frame_index(frame) or [],
    )


def _python_table(what: object, origin: str) -> pa.Table:
    notes = ("rows come from a path, a frame, a mapping from names to columns, or a list of mappings",)
    try:
        if isinstance(what, Mapping):
            return pa.table({str(name): _column(values) for name, values in what.items()})
        if isinstance(what, Sequence) and all(isinstance(row, Mapping) for row in what):
            for name in dict.fromkeys(name for row in what for name in row):
                refuse_half_zoned(row.get(name) for row in what)
            return pa.Table.from_pylist([dict(row) for row in what])
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        notes = (str(error),)
    raise InputError(Diagnostic("E322", f"a {type(what).__name__} cannot be read as rows", Place(origin), notes=notes))


def _column(values: Iterable[object]) -> pa.Array:
    known = list(values)
    refuse_half_zoned(known)
    return pa.array(known)


def fitted(column: pa.Array, wanted: ValueType) -> pa.Array:
    """A column of text as values of a type: null if a text is not written like one. Words for NaN and infinity become these, so
    that callers can tell them from a slip of the keyboard."""
    column = pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
    if wanted is ValueType.STRING:
        return column
    if wanted is ValueType.BOOLEAN:
        word = pc.utf8_lower(column)
        return pc.if_else(pc.is_in(word, pa.array(["true", "false"])), pc.equal(word, "true"), pa.scalar(None, pa.bool_()))
    if wanted in MOMENTS:
        found = [_value_or_none(text, wanted) for text in column.to_pylist()]
        return pa.array([microseconds(one) if isinstance(one, datetime.datetime) else None for one in found], pa.int64())
    try:
        # Arrow would also read hexadecimal numbers.
        if wanted is not ValueType.INTEGER or not any(_occurs(mark, column) for mark in "xX"):
            return column.cast(ARROW_TYPES[wanted])
    except pa.ArrowInvalid:
        pass
    # Arrow does not say which text it could not convert; one pass in Python does.
    return pa.array([_value_or_none(text, wanted) for text in column.to_pylist()], ARROW_TYPES[wanted])


def _occurs(mark: str, column: pa.Array) -> bool:
    return bool(pc.any(pc.match_substring(column, mark), min_count=0).as_py())


def _value_or_none(text: str | None, wanted: ValueType) -> Value | None:
    if text is None:
        return None
    if wanted is ValueType.FLOAT and text.lower().lstrip("+-") in _NOT_FINITE:
        return float(text)
    try:
        value = parse_value(text, ColumnType[wanted.name])
    except ValueError:
        return None
    return None if isinstance(value, int) and not -(2**63) <= value < 2**63 else value


class _TextRows:
    """A text file whose first line names its columns. We find out once how it is written. `types` are declared, `inferred` those
    that values seem to have."""

    def __init__(
        self,
        file: InputFile,
        request: Request,
        types: Mapping[str, ColumnType],
        inferred: Mapping[str, ValueType] | None = None,
        dialect: TextDialect | None = None,
    ) -> None:
        self._file, self._request, self._types, self._inferred = file, request, types, inferred or {}
        self._dialect = dialect

    def stream(self) -> RowStream:
        return RowStream(
            self._request.origin,
            self.schema,
            self.read,
            text=TextColumns(self._types.keys(), self._infer, self._typed_by),
            version=self._file.version,
        )

    def _typed_by(self, inferred: Mapping[str, ValueType]) -> RowStream:
        return _TextRows(self._file, self._request, self._types, inferred, self._dialect).stream()

    def _infer(self, columns: Sequence[str], *, whole: bool) -> dict[str, ValueType | None]:
        guesses = {name: Guess() for name in columns}
        try:
            with self._file.opened() as file:
                dialect, names = self._found(file)
                for rows in stream(file, dialect, [names.index(name) for name in columns]):
                    for guess, column in zip(guesses.values(), rows.columns, strict=True):
                        guess.look(column)
                    if not whole:
                        break
        except (pa.ArrowInvalid, QuotingError, OSError):
            pass  # reading the rows will say where the file is wrong
        return {name: guess.kind for name, guess in guesses.items()}

    def _found(self, file: Opening) -> tuple[TextDialect, tuple[str, ...]]:
        if self._dialect is None:
            self._dialect = find_dialect(file, self._request)
        return self._dialect, cast(tuple[str, ...], self._dialect.header)

    def schema(self) -> pa.Schema:
        with self._file.opened() as file:
            _, names = self._found(file)
        for name in self._types:
            if name not in names:
                raise InputError(
                    Diagnostic(
                        "E320",
                        f"`types` speaks of `{name}`, which is not a column",
                        Place(self._request.origin),
                        notes=(f"the columns are {', '.join(f'`{known}`' for known in names)}",),
                        helps=meant(name, names),
                    )
                )
        return pa.schema([(name, _DECLARED[self._type(name)]) for name in names])

    def _type(self, name: str) -> ValueType:
        return ValueType[self._types[name].name] if name in self._types else self._inferred.get(name, ValueType.STRING)

    def read(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with self._file.opened() as file:
            yield from self._read(file, columns)

    def _read(self, file: Opening, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        dialect, names = self._found(file)
        indices = tuple(names.index(name) for name in columns)
        blank = False
        try:
            for rows in stream(file, dialect, indices):
                blank = blank or _has_blank_row(rows)
                yield pa.RecordBatch.from_arrays(
                    [self._typed(rows.column(place), name) for place, name in enumerate(columns)], list(columns)
                )
        except (pa.ArrowInvalid, CellError, QuotingError) as error:
            problems = self._problems(file, columns)
            if not problems and isinstance(error, CellError):
                problems = (_too_large(error, self._request),)
            raise InputError(problems) if problems else damaged(self._request.origin, str(error)) from None
        except OSError as error:
            raise damaged(self._request.origin, str(error)) from None
        # An empty line looks like a row whose requested columns are all missing.
        if blank and (problems := self._problems(file, columns)):
            raise InputError(problems)

    def _problems(self, file: Opening, columns: Sequence[str]) -> tuple[Diagnostic, ...]:
        dialect, names = self._found(file)
        types = tuple(self._types.get(name, ColumnType.STRING) for name in columns)
        layout = Layout(names, tuple(names.index(name) for name in columns), types, predicate="rows", may_be_empty=True)
        return find_problems(file, self._request, dialect.delimiter, dialect.quoted, True, dialect.width, layout)

    def _typed(self, column: pa.Array, name: str) -> pa.Array:
        """A column in its type. An empty field is a missing value; if any other is not a value of that type, CellError, or
        MisfitError if the type is inferred."""
        if name not in self._types:
            if (found := read_as(column, self._type(name))) is None:
                raise MisfitError
            return found
        values = fitted(column, self._type(name))
        lost = pc.and_(pc.is_null(values), pc.not_equal(column, ""))
        wrong = pc.or_kleene(lost, pc.invert(pc.is_finite(values))) if self._type(name) is ValueType.FLOAT else lost
        if (row := pc.index(wrong, True).as_py()) >= 0:
            raise CellError(row, "E314", f"is `{column[row].as_py()}` in column `{name}`")
        return values


def _too_large(error: CellError, request: Request) -> Diagnostic:
    """The problem of an integer that is written well but does not fit into its column."""
    helps = ("integers of tables have 64 bits; declare the column `float` or `string`",)
    return Diagnostic("E314", f"the value {error}, which is too large for an integer", Place(request.origin), helps=helps)


def _has_blank_row(rows: pa.RecordBatch) -> bool:
    empty = [pc.equal(column, "") for column in rows.columns]
    return bool(pc.any(reduce(pc.and_, empty), min_count=0).as_py())


def _parquet_schema(file: InputFile, request: Request) -> pa.Schema:
    from pyarrow import parquet

    try:
        with file.opened() as opening, parquet.ParquetFile(opening.reader()) as rows:
            if not rows.metadata.num_rows:
                raise no_facts(request)
            return rows.schema_arrow
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError) as error:
        raise damaged(request.origin, str(error)) from None


def _read_parquet(file: InputFile, request: Request, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    from pyarrow import parquet

    from rulescore.readers.parquet import valid

    try:
        with file.opened() as opening, parquet.ParquetFile(opening.reader()) as rows:
            batches = (valid(batch) for batch in rows.iter_batches(batch_size=_BATCH_ROWS, columns=list(columns)))
            for batch in _normal_batches(batches, request.origin):
                yield batch.select(list(columns))
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError) as error:
        raise damaged(request.origin, str(error)) from None


def _normal_batches(batches: Iterable[pa.RecordBatch], origin: str) -> Iterator[pa.RecordBatch]:
    first_row = 0
    for batch in batches:
        for start in range(0, batch.num_rows, _BATCH_ROWS):
            rows = batch.slice(start, _BATCH_ROWS)
            columns = [
                _normal(column, name, origin, first_row) for name, column in zip(rows.schema.names, rows.columns, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(columns, rows.schema.names)
            first_row += rows.num_rows


def _normal(column: pa.Array, name: str, origin: str, first_row: int) -> pa.Array:
    """A column in the Arrow type that we use for its values."""
    plain = decoded(column)
    wanted = value_type(plain.type)
    assert wanted is not None
    try:
        if wanted is ValueType.DATE:
            plain = dates(plain)
        return moment_counts(plain) if wanted in MOMENTS else plain.cast(ARROW_TYPES[wanted])
    except CellError as problem:
        row, reason = problem.row, problem.reason
    except pa.ArrowInvalid:
        # Only whole numbers can be too great: look for the first.
        row = next(i for i, one in enumerate(plain.to_pylist()) if one is not None and not -(2**63) <= one < 2**63)
        reason = f"is `{plain[row].as_py()}`, which does not fit into 64 bits"
    message = f"`{name}` {reason} in row {first_row + row:,}"
    raise InputError(Diagnostic("E314", message, Place(origin), notes=("rows are counted from 0",)))
