"""Rows of tables with keys, from files and frames, in the few types that values have."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.errors import Diagnostic, InputError, Place
from rulescore.readers import frames
from rulescore.readers.columns import CellError, dates, decoded, is_text, moment_counts, parse_value
from rulescore.readers.files import InputFile, Opening, damaged, is_pipe
from rulescore.readers.json_lines import JsonRows
from rulescore.readers.layout import Layout, refuse_other_types
from rulescore.readers.rdf import SYNTAXES
from rulescore.readers.sources import file_format
from rulescore.readers.text import QuotingError, TextDialect, find_dialect, find_problems, stream
from rulescore.setting.choices import ColumnType, FileFormat
from rulescore.setting.model import FactFile, NativeSource, Request, RowStream, TextColumns
from rulescore.values import FIRST, LAST, MOMENTS, Value, ValueType, equals_double, microseconds

_MOMENTS = {ValueType.DATETIME: pa.timestamp("us"), ValueType.INSTANT: pa.timestamp("us", "UTC")}
_INFERRED = (ValueType.INTEGER, ValueType.FLOAT, ValueType.BOOLEAN, ValueType.DATE, *_MOMENTS)
# Doubles represent every integer below this.
_EXACT = 2**53
# Arrow would also accept dates without a time of day, and hours without minutes.
_SHORTEST_MOMENT = len("2024-05-31T12:30")


class MisfitError(Exception):
    """A text that is not of the type that the first rows of its column have."""


def read_as(column: pa.Array, kind: ValueType) -> pa.Array | None:
    """A column of text as values of a type, empty texts as null. None if a text is no such value, or if we must not take it for a
    number: it begins with a zero or a plus sign, or has more digits than we can hold."""
    texts = pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
    try:
        match kind:
            case ValueType.INTEGER:
                values = texts.cast(pa.int64())
                return values if _all(pc.equal(values.cast(pa.string()), texts)) else None
            case ValueType.FLOAT:
                values = texts.cast(pa.float64())
                return values if _all(pc.is_finite(values)) and _all_written_plainly(texts, values) else None
            case ValueType.BOOLEAN:
                words = pc.utf8_lower(texts)
                return pc.equal(words, "true") if _all(pc.is_in(words, pa.array(["true", "false", None]))) else None
            case ValueType.DATE:
                return texts.cast(pa.date32())
            case ValueType.DATETIME | ValueType.INSTANT:
                counts = texts.cast(_MOMENTS[kind]).cast(pa.int64())
                whole = pc.greater_equal(pc.binary_length(texts), _SHORTEST_MOMENT)
                return (
                    counts if _all(whole) and _all(pc.and_(pc.greater_equal(counts, FIRST), pc.less_equal(counts, LAST))) else None
                )
            case _:
                return texts
    except pa.ArrowInvalid:
        return None


def _all(truths: pa.Array) -> bool:
    return bool(pc.all(truths, min_count=0).as_py())


def _any(truths: pa.Array) -> bool:
    return bool(pc.any(truths, min_count=0).as_py())


def _all_written_plainly(texts: pa.Array, values: pa.Array) -> bool:
    """Whether texts of floats have no plus sign, no leading zero, and no integer that no double equals."""
    odd = texts.filter(pc.or_(pc.starts_with(texts, "0"), pc.or_(pc.starts_with(texts, "-0"), pc.starts_with(texts, "+"))))
    if not _all(pc.invert(pc.match_substring_regex(odd, r"^(\+|-?0[0-9])"))):
        return False
    large = texts.filter(pc.greater_equal(pc.abs(values), float(_EXACT)))
    whole = [int(text) for text in large.to_pylist() if text.lstrip("-").isdigit()]
    return all(-(2**63) <= value < 2**63 and equals_double(value) for value in whole)


class Guess:
    """The type of all values of a column so far; None if there are none yet."""

    def __init__(self) -> None:
        self.kind: ValueType | None = None
        self._exact = True

    @classmethod
    def of(cls, column: pa.Array) -> ValueType | None:
        """The type of one whole column."""
        guess = cls()
        guess.look(column)
        return guess.kind

    def look(self, column: pa.Array) -> None:
        """Look at some rows."""
        if self.kind is ValueType.STRING or (first := pc.index(pc.not_equal(column, ""), True).as_py()) < 0:
            return
        possible = _INFERRED if self.kind is None else (self.kind,)
        if self.kind is ValueType.INTEGER and self._exact:
            # If later values are floats, an integer that no double equals must not become another number.
            possible = (ValueType.INTEGER, ValueType.FLOAT)
        kinds = [kind for kind in possible if read_as(column[first : first + 1], kind) is not None]
        self.kind = next((kind for kind in kinds if self._holds(column, kind)), ValueType.STRING)

    def _holds(self, column: pa.Array, kind: ValueType) -> bool:
        values = read_as(column, kind)
        if values is not None and kind is ValueType.INTEGER:
            large = values.filter(pc.or_(pc.greater(values, _EXACT), pc.less(values, -_EXACT)))
            self._exact = self._exact and all(equals_double(value) for value in large.to_pylist())
        return values is not None


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

SOURCE_TYPES = ARROW_TYPES | _MOMENTS
"""How a source says of which types its columns are."""

# Small enough that the strings of one batch stay far below the 2 GiB that a string column can address.
_BATCH_ROWS = 1 << 17

_NOT_FINITE = frozenset({"nan", "inf", "infinity"})


def value_type(kind: pa.DataType) -> ValueType | None:
    """Our type for the values of an Arrow column; None if we have none for them. A column of nothing but nulls could hold anything:
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
    """The rows of a text, JSON Lines or Parquet file. Raises InputError now if there is no file, and on reading for wrong rows."""
    file = FactFile(path, form, delimiter=delimiter, header=True, predicate="rows")
    request = Request(str(path), file, predictions, rows=True)
    input_file = InputFile(path)
    match file_format(path, form):
        case FileFormat.TEXT:
            return _TextRows(input_file, request, types or {}).stream()
        case FileFormat.PARQUET:
            if types:
                note = "the columns of this file have types of their own"
                raise InputError(Diagnostic("E320", "`types` is for text files", Place(str(path)), notes=(note,)))
            parts = (partial(_parquet_schema, input_file, request), partial(_read_parquet, input_file, request))
            native = None if is_pipe(path) else NativeSource(request)
            return RowStream(str(path), *parts, native=native, version=input_file.version)
        case FileFormat.JSONL:
            return JsonRows(input_file, request, types or {}, _normal_batches).stream()
        case other:
            notes = ("files of tables are delimited text, JSON Lines and Parquet",)
            name = SYNTAXES.get(other, f"a file of the format `{other}`")
            raise InputError(Diagnostic("E305", f"{name} is no table", Place(str(path)), notes=notes))


def frame_rows(frame: object, origin: str) -> RowStream:
    """The rows of a frame, of a mapping from names to columns, or of a list of mappings."""
    if frames.is_spark_frame(frame):
        refused = partial(frames.refuse_spark_frame, origin)
        request = Request(origin, FactFile(origin), rows=True)
        return RowStream(origin, refused, lambda _: refused(), native=NativeSource(request, frame))
    table = frames.arrow_table(frames.lasting(frame), origin) if frames.is_frame(frame) else _python_table(frame, origin)
    return RowStream(
        origin,
        lambda: table.schema,
        lambda names: _normal_batches(table.select(list(names)).to_batches(), origin),
        labels=None if frames.frame_index(frame) is None else lambda: frames.frame_index(frame) or [],
    )


def _python_table(what: object, origin: str) -> pa.Table:
    notes = ("rows come from a path, a frame, a mapping from names to columns, or a list of mappings",)
    try:
        if isinstance(what, Mapping):
            listed = {str(name): list(values) for name, values in what.items()}
            for values in listed.values():
                frames.refuse_half_zoned(values)
            return pa.table({name: pa.array(values) for name, values in listed.items()})
        if isinstance(what, Sequence) and all(isinstance(row, Mapping) for row in what):
            for name in dict.fromkeys(name for row in what for name in row):
                frames.refuse_half_zoned(row.get(name) for row in what)
            return pa.Table.from_pylist([dict(row) for row in what])
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        notes = (str(error),)
    raise InputError(Diagnostic("E322", f"a {type(what).__name__} cannot be read as rows", Place(origin), notes=notes))


def fitted(column: pa.Array, wanted: ValueType) -> pa.Array:
    """A column of text as values of a type: null if a text is not written like one. Words for NaN and infinity become these, so
    callers can tell them from a slip of the keyboard."""
    if (read := read_as(column, wanted)) is not None:
        return read
    # Arrow does not say which text it could not convert, so we find it by a pass in Python.
    values = [_value_or_none(text, wanted) for text in column.to_pylist()]
    plain = [microseconds(value) if isinstance(value, datetime.datetime) else value for value in values]
    return pa.array(plain, ARROW_TYPES[wanted])


def _value_or_none(text: str | None, wanted: ValueType) -> Value | None:
    if not text:
        return None
    if wanted is ValueType.FLOAT and text.lower().lstrip("+-") in _NOT_FINITE:
        return float(text)
    try:
        value = parse_value(text, ColumnType[wanted.name])
    except ValueError:
        return None
    return None if isinstance(value, int) and not -(2**63) <= value < 2**63 else value


@dataclass
class _TextRows:
    """A text file whose first line names its columns. We find out once how it is written. `types` are declared, `inferred` those
    that values seem to have."""

    _file: InputFile
    _request: Request
    _types: Mapping[str, ColumnType]
    _inferred: Mapping[str, ValueType] = field(default_factory=dict)
    _dialect: TextDialect | None = None

    def stream(self) -> RowStream:
        return RowStream(
            self._request.origin,
            self.schema,
            self.batches,
            text=TextColumns(self._types.keys(), self._infer, lambda inferred: replace(self, _inferred=inferred).stream()),
            version=self._file.version,
        )

    def _infer(self, columns: Sequence[str], *, whole: bool) -> dict[str, ValueType | None]:
        guesses = {name: Guess() for name in columns}
        try:
            with self._file.opened() as file:
                dialect, names = self._dialect_and_names(file)
                for rows in stream(file, dialect, [names.index(name) for name in columns]):
                    for guess, column in zip(guesses.values(), rows.columns, strict=True):
                        guess.look(column)
                    if not whole:
                        break
        except (pa.ArrowInvalid, QuotingError, OSError):
            pass  # we report the fault with its place when we read the rows
        return {name: guess.kind for name, guess in guesses.items()}

    def _dialect_and_names(self, file: Opening) -> tuple[TextDialect, tuple[str, ...]]:
        if self._dialect is None:
            self._dialect = find_dialect(file, self._request)
        return self._dialect, cast(tuple[str, ...], self._dialect.header)

    def schema(self) -> pa.Schema:
        with self._file.opened() as file:
            _, names = self._dialect_and_names(file)
        refuse_other_types(self._types, names, self._request.origin)
        return pa.schema([(name, SOURCE_TYPES[self._type(name)]) for name in names])

    def _type(self, name: str) -> ValueType:
        return ValueType[self._types[name].name] if name in self._types else self._inferred.get(name, ValueType.STRING)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with self._file.opened() as file:
            yield from self._typed_batches(file, columns)

    def _typed_batches(self, file: Opening, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        dialect, names = self._dialect_and_names(file)
        indices = tuple(names.index(name) for name in columns)
        blank = False
        try:
            for rows in stream(file, dialect, indices):
                blank = blank or _any(reduce(pc.and_, [pc.equal(column, "") for column in rows.columns]))
                typed = [self._typed(rows.column(place), name) for place, name in enumerate(columns)]
                yield pa.RecordBatch.from_arrays(typed, list(columns))
        except (pa.ArrowInvalid, CellError, QuotingError) as error:
            problems = self._problems(file, columns)
            if not problems and isinstance(error, CellError):
                helps = ("integers of tables have 64 bits; declare the column `float` or `string`",)
                message = f"the value {error}, which is too large for an integer"
                problems = (Diagnostic("E314", message, Place(self._request.origin), helps=helps),)
            raise InputError(problems) if problems else damaged(self._request.origin, str(error)) from None
        except OSError as error:
            raise damaged(self._request.origin, str(error)) from None
        # To Arrow, an empty line looks like a row in which every requested column is missing.
        if blank and (problems := self._problems(file, columns)):
            raise InputError(problems)

    def _problems(self, file: Opening, columns: Sequence[str]) -> tuple[Diagnostic, ...]:
        dialect, names = self._dialect_and_names(file)
        types = tuple(self._types.get(name, ColumnType.STRING) for name in columns)
        layout = Layout(names, tuple(names.index(name) for name in columns), types, predicate="rows", may_be_empty=True)
        return find_problems(file, self._request, dialect, layout)

    def _typed(self, column: pa.Array, name: str) -> pa.Array:
        """A column in its type. An empty field is a missing value; if any other is not a value of that type, CellError, or
        MisfitError if the type is inferred."""
        if name not in self._types:
            if (values := read_as(column, self._type(name))) is None:
                raise MisfitError
            return values
        values = fitted(column, self._type(name))
        lost = pc.and_(pc.is_null(values), pc.not_equal(column, ""))
        wrong = pc.or_kleene(lost, pc.invert(pc.is_finite(values))) if self._type(name) is ValueType.FLOAT else lost
        if (row := pc.index(wrong, True).as_py()) >= 0:
            raise CellError(row, "E314", f"is `{column[row].as_py()}` in column `{name}`")
        return values


def _parquet_schema(file: InputFile, request: Request) -> pa.Schema:
    with frames.opened_parquet(file, request) as rows:
        return rows.schema_arrow


def _read_parquet(file: InputFile, request: Request, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    with frames.opened_parquet(file, request) as rows:
        for batch in _normal_batches(frames.parquet_batches(rows, list(columns)), request.origin):
            yield batch.select(list(columns))


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
        # Only whole numbers can be too great, so we look for the first of them.
        row = next(i for i, value in enumerate(plain.to_pylist()) if value is not None and not -(2**63) <= value < 2**63)
        reason = f"is `{plain[row].as_py()}`, which does not fit into 64 bits"
    message = f"`{name}` {reason} in row {first_row + row:,}"
    raise InputError(Diagnostic("E314", message, Place(origin), notes=("rows are counted from 0",)))
