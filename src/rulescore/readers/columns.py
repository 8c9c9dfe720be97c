"""Columns of any table as columns of constant keys, and its rows as a batch of facts."""

from __future__ import annotations

import datetime
import decimal
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.errors import Diagnostic, InputError, Place
from rulescore.readers.layout import Layout
from rulescore.setting.choices import ColumnType
from rulescore.setting.model import FactBatch, Request
from rulescore.values import FIRST, LAST, MARKER, Value, key_of, parse_moment

_INTEGER = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1}


class CellError(Exception):
    """A value that cannot be a constant, with its row counted from 0 within the column."""

    def __init__(self, row: int, code: str, reason: str) -> None:
        super().__init__(reason)
        self.row, self.code, self.reason = row, code, reason


class ColumnTypeError(Exception):
    """A column has a type that its values cannot have. The message says which types they have."""


def parse_value(text: str, column_type: ColumnType) -> Value:
    """The constant a text stands for. ValueError if the text is no constant of that type."""
    match column_type:
        case ColumnType.STRING:
            return text
        case ColumnType.INTEGER if _INTEGER.fullmatch(text):
            return int(text)
        case ColumnType.FLOAT:
            return parse_number(text)
        case ColumnType.BOOLEAN if text.lower() in ("true", "false"):
            return text.lower() == "true"
        case ColumnType.DATE if _DATE.fullmatch(text):
            return datetime.date.fromisoformat(text)
        case ColumnType.DATETIME | ColumnType.INSTANT:
            moment = parse_moment(text)
            if (moment.tzinfo is None) is (column_type is ColumnType.INSTANT):
                raise ValueError("it has no zone" if moment.tzinfo is None else "it has a zone")
            return moment
        case _:
            raise ValueError(text)


def parse_number(text: str) -> float:
    """A finite number. ValueError for any other text, also `nan` and `inf`."""
    if not _FLOAT.fullmatch(text) or not math.isfinite(number := float(text)):
        raise ValueError(text)
    return number


def parse_rank(text: str) -> int:
    """A whole number from 1. ValueError for anything else."""
    if not _INTEGER.fullmatch(text) or not 1 <= (rank := int(text)) < 2**63:
        raise ValueError(text)
    return rank


def text_keys(column: pa.Array) -> pa.Array:
    """Keys of strings: the strings themselves, unless they begin with the marker (decision 0005)."""
    marked = pc.starts_with(column, MARKER)
    if not pc.any(marked, min_count=0).as_py():
        return column
    return pc.if_else(marked, pc.binary_join_element_wise(f"{MARKER}s", column, ""), column)


def typed_text_keys(column: pa.Array, column_type: ColumnType) -> pa.Array:
    """Keys of a text column whose type is declared."""
    if column_type is ColumnType.STRING:
        return text_keys(column)
    return _by_distinct(column, lambda text: key_of(parse_value(text, column_type)))


def keys(column: pa.Array) -> pa.Array:
    """Keys of a typed column. Raises CellError for null, NaN, infinity and nanoseconds, ColumnTypeError for other types."""
    if pa.types.is_dictionary(column.type):
        return keys(decoded(column))
    if column.null_count:
        raise CellError(pc.index(pc.is_null(column), True).as_py(), "E312", "is missing")
    kind = column.type
    if is_text(kind):
        return text_keys(column.cast(pa.string()))
    if pa.types.is_integer(kind):
        return pc.binary_join_element_wise(f"{MARKER}n", column.cast(pa.string()), "")
    if pa.types.is_boolean(kind):
        return pc.if_else(column, key_of(True), key_of(False))
    if pa.types.is_timestamp(kind):
        return _moment_keys(column)
    if pa.types.is_floating(kind):
        return _float_keys(column.cast(pa.float64()))
    if pa.types.is_date(kind):
        return _by_distinct(dates(column), key_of)
    if pa.types.is_decimal(kind):
        return _by_distinct(column, lambda number: key_of(decimal_value(number)))
    raise ColumnTypeError("columns hold text, numbers, booleans, dates or date-times")


def decoded(column: pa.Array) -> pa.Array:
    """A column without its dictionary."""
    if not pa.types.is_dictionary(column.type):
        return column
    values = column.dictionary
    # Arrow cannot pick rows from views.
    return (values.cast(pa.string()) if pa.types.is_string_view(values.type) else values).take(column.indices)


def is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def holds_floats(kind: pa.DataType) -> bool:
    """Whether a column is of floats, even if all of its numbers are whole."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_floating(kind) or (pa.types.is_decimal(kind) and kind.scale > 0))


_MOST_DIGITS = 5_000
_NO_YEAR = "is in no year from 1 to 9999"


def decimal_value(number: decimal.Decimal) -> int | float:
    """A decimal as a constant: an integer if it is one, else the nearest double. A decimal with more digits than any
    constant becomes infinite: its integer would take minutes to write out."""
    if number.adjusted() > _MOST_DIGITS or number != number.to_integral_value():
        return float(number)
    return int(number)


def moment_counts(column: pa.Array) -> pa.Array:
    """Timestamps of any unit as microseconds since 1970 (decision 0014): in UTC if they have a zone, else by the wall clock."""
    count = column.cast(pa.int64())
    if column.type.unit == "ns":
        microseconds = pc.divide(count, 1_000)
        _refuse_cells(pc.not_equal(pc.multiply(microseconds, 1_000), count), "has nanoseconds, and date-times have microseconds")
        return microseconds
    size = _UNITS[column.type.unit]
    beyond = pc.or_(pc.less(count, -(-FIRST // size)), pc.greater(count, LAST // size))
    _refuse_cells(beyond, _NO_YEAR)
    return pc.multiply(count, size)


def dates(column: pa.Array) -> pa.Array:
    """A column of dates, after a check that each is one for Python too."""
    kind, size = (pa.int32(), 1) if pa.types.is_date32(column.type) else (pa.int64(), 24 * 60 * 60 * 1000)
    count = column.cast(kind)
    first, last = ((day - datetime.date(1970, 1, 1)).days * size for day in (datetime.date.min, datetime.date.max))
    _refuse_cells(pc.or_(pc.less(count, first), pc.greater(count, last)), _NO_YEAR)
    return column


def _refuse_cells(wrong: pa.Array, reason: str) -> None:
    if (row := pc.index(wrong, True).as_py()) >= 0:
        raise CellError(row, "E314", reason)


def _moment_keys(column: pa.Array) -> pa.Array:
    """Arrow writes date-times as Python does, except for a blank instead of `T`, and for fractions of nothing but zeros."""
    written = moment_counts(column).cast(pa.timestamp("us")).cast(pa.string())
    plain = pc.replace_substring_regex(pc.replace_substring(written, " ", "T"), r"\.0+$", "")
    letter, end = ("z", "Z") if column.type.tz else ("t", "")
    return pc.binary_join_element_wise(f"{MARKER}{letter}", plain, end, "")


def _float_keys(column: pa.Array) -> pa.Array:
    """Arrow writes whole numbers, and other numbers without an exponent, as Python does. Only the rest goes through Python."""
    if not pc.all(pc.is_finite(column), min_count=0).as_py():
        return _by_distinct(column, key_of)
    size = pc.abs(column)
    whole = pc.and_(pc.equal(column, pc.floor(column)), pc.less(size, 1e15))
    plain = pc.and_(pc.greater_equal(size, 1e-4), pc.less(size, 1e9))
    texts = pc.if_else(whole, pc.if_else(whole, column, 0.0).cast(pa.int64()).cast(pa.string()), column.cast(pa.string()))
    keyed = pc.binary_join_element_wise(f"{MARKER}n", texts, "")
    rest = pc.invert(pc.or_(whole, plain))
    return pc.replace_with_mask(keyed, rest, _by_distinct(column.filter(rest), key_of))


def _by_distinct(column: pa.Array, convert: Callable[..., str]) -> pa.Array:
    """Converts each distinct value once; CellError names the first row of a value that has no key."""
    encoded = column.dictionary_encode()
    converted = []
    for index, value in enumerate(encoded.dictionary.to_pylist()):
        try:
            converted.append(convert(value))
        except (ValueError, decimal.DecimalException):
            row = pc.index(encoded.indices, pa.scalar(index, encoded.indices.type)).as_py()
            raise CellError(row, "E314", f"is `{value}`, which is not a constant") from None
    return pa.array(converted, pa.string()).take(encoded.indices)


def no_facts(request: Request) -> InputError:
    what = "predictions" if request.predictions else "rows" if request.rows else "facts"
    return InputError(
        Diagnostic("E304", f"there are no {what}", Place(request.origin), helps=("leave the source out if that is meant",))
    )


def text_batch(rows: pa.RecordBatch, layout: Layout, request: Request) -> FactBatch:
    """Facts of a batch of text columns. An empty field is a missing value."""
    columns = [
        typed_text_keys(_filled(rows.column(index)), column_type)
        for index, column_type in zip(layout.arguments, layout.types, strict=True)
    ]
    relation = None if layout.relation is None else _filled(rows.column(layout.relation))
    ranking = (
        None if layout.score is None else _text_numbers(rows.column(layout.score), pa.float64(), _finite, parse_number),
        None if layout.rank is None else _text_numbers(rows.column(layout.rank), pa.int64(), _positive, parse_rank),
        _query([_emptied(rows.column(i)) for i in layout.query]),
    )
    floats = [place for place, kind in enumerate(layout.types) if kind is ColumnType.FLOAT]
    floats_given = places_of(relation, layout.predicate, floats)
    texts = [place for place in layout.declared if layout.types[place] is ColumnType.STRING]
    facts = assemble(columns, relation, layout.predicate, ranking if request.predictions else None, floats_given)
    return replace(facts, declared_text=places_of(relation, layout.predicate, texts)) if texts else facts


def table_batch(rows: pa.RecordBatch, layout: Layout, request: Request, first_row: int) -> FactBatch:
    """Facts of a batch of typed columns; problems name the row, counted from 0 in the whole table."""

    def read(index: int, convert: Callable[[pa.Array], pa.Array]) -> pa.Array:
        """A column. Its problems name it."""
        name, column = layout.names[index], decoded(rows.column(index))
        try:
            return convert(column)
        except CellError as problem:
            message, notes = f"`{name}` {problem.reason} in row {first_row + problem.row:,}", ("rows are counted from 0",)
            raise InputError(Diagnostic(problem.code, message, Place(request.origin), notes=notes)) from None
        except ColumnTypeError as problem:
            message = f"column `{name}` is of type {column.type}"
            raise InputError(Diagnostic("E321", message, Place(request.origin), notes=(str(problem),))) from None

    columns = [read(index, keys) for index in layout.arguments]
    relation = None if layout.relation is None else read(layout.relation, _typed_relation)
    ranking = (
        None if layout.score is None else read(layout.score, _typed_scores),
        None if layout.rank is None else read(layout.rank, _typed_ranks),
        _query([read(index, _typed_query) for index in layout.query]),
    )
    floats = [place for place, index in enumerate(layout.arguments) if holds_floats(rows.schema.types[index])]
    floats_given = places_of(relation, layout.predicate, floats)
    return assemble(columns, relation, layout.predicate, ranking if request.predictions else None, floats_given)


Ranking = tuple[pa.Array | None, pa.Array | None, pa.Array | None]


def places_of(relation: pa.Array | None, predicate: str | None, places: Iterable[int]) -> frozenset[tuple[str, int]]:
    """Some arguments of every predicate of a batch."""
    wanted = list(places)
    if not wanted:
        return frozenset()
    names = [str(predicate)] if relation is None else pc.unique(relation).to_pylist()
    return frozenset((name, place) for name in names for place in wanted)


def assemble(
    columns: list[pa.Array],
    relation: pa.Array | None,
    predicate: str | None,
    ranking: Ranking | None,
    floats: frozenset[tuple[str, int]] = frozenset(),
) -> FactBatch:
    """A batch of key columns, with score, rank and query when the facts are predictions."""
    length = len(columns[0])
    arrays = dict[str, pa.Array]() if relation is None else {"predicate": relation}
    arrays |= {f"a{place}": column for place, column in enumerate(columns)}
    if ranking is not None:
        for (name, kind), column in zip(RANKING_COLUMNS.items(), ranking, strict=True):
            arrays[name] = pa.nulls(length, kind) if column is None else column
    return FactBatch(len(columns), pa.RecordBatch.from_pydict(arrays), predicate if relation is None else None, floats)


RANKING_COLUMNS = {"score": pa.float64(), "rank": pa.int64(), "query": pa.string()}


def _filled(column: pa.Array) -> pa.Array:
    row = pc.index(pc.binary_length(column), pa.scalar(0, pa.int32())).as_py()
    if row >= 0:
        raise CellError(row, "E312", "is empty")
    return column


def _emptied(column: pa.Array) -> pa.Array:
    """Empty fields as null: a score, rank or query may be unknown."""
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)


def _text_numbers(
    column: pa.Array, kind: pa.DataType, check: Callable[[pa.Array], pa.Array], parse: Callable[[str], float]
) -> pa.Array:
    texts = _emptied(column)
    try:
        return check(texts.cast(kind))
    except pa.ArrowInvalid:
        pass
    # Arrow does not say which text it could not convert, so we find it by a pass in Python.
    values = []
    for row, text in enumerate(texts.to_pylist()):
        try:
            values.append(None if text is None else parse(text))
        except ValueError:
            raise CellError(row, "E314", f"is `{text}`") from None
    return pa.array(values, kind)


def _finite(column: pa.Array) -> pa.Array:
    row = pc.index(pc.is_finite(column), False).as_py()
    if row >= 0:
        raise CellError(row, "E314", f"is `{column[row].as_py()}`, which is not a finite number")
    return column


def _positive(column: pa.Array) -> pa.Array:
    row = pc.index(pc.greater(column, 0), False).as_py()
    if row >= 0:
        raise CellError(row, "E314", f"is `{column[row].as_py()}`, and ranks count from 1")
    return column


def _query(parts: list[pa.Array]) -> pa.Array | None:
    """One text for each query; null if any of its columns is."""
    return pc.binary_join_element_wise(*parts, " ") if parts else None


def _typed_relation(column: pa.Array) -> pa.Array:
    """Names of predicates; the digits of a relation number are its name."""
    if not is_text(column.type) and not pa.types.is_integer(column.type):
        raise ColumnTypeError("the relation column is text, or whole numbers")
    names = column.cast(pa.string())
    row = pc.index(pc.equal(pc.fill_null(names, ""), ""), True).as_py()
    if row >= 0:
        raise CellError(row, "E312", "is missing")
    return names


def _typed_query(column: pa.Array) -> pa.Array:
    if not is_text(column.type) and not pa.types.is_integer(column.type) and not pa.types.is_null(column.type):
        raise ColumnTypeError("a query is text, or a whole number")
    return column.cast(pa.string())


def _typed_scores(column: pa.Array) -> pa.Array:
    return _finite(_numeric(column).cast(pa.float64(), safe=False))


def _typed_ranks(column: pa.Array) -> pa.Array:
    try:
        return _positive(_numeric(column).cast(pa.int64()))
    except pa.ArrowInvalid:
        raise ColumnTypeError("ranks are whole numbers") from None


def _numeric(column: pa.Array) -> pa.Array:
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    if not any(is_kind(column.type) for is_kind in kinds):
        raise ColumnTypeError("scores and ranks are numbers")
    return column
