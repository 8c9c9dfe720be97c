"""Columns of any Arrow type as columns of constant keys; the whole-column form of `values.keys.key_of`."""

from __future__ import annotations

import datetime
import decimal
import math
import re
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.setting.request import ColumnType
from rulescore.values.keys import MARKER, key_of
from rulescore.values.moments import FIRST, LAST, parse_moment
from rulescore.values.types import Value

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
    """A column type that no constant has."""


def parse_value(text: str, column_type: ColumnType) -> Value:
    """The constant a text stands for. ValueError if it is not one of that type."""
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
    """A finite number. ValueError for anything else, `nan` and `inf` included."""
    if not _FLOAT.fullmatch(text) or not math.isfinite(number := float(text)):
        raise ValueError(text)
    return number


def parse_rank(text: str) -> int:
    """A whole number from 1. ValueError for anything else."""
    if not _INTEGER.fullmatch(text) or not 1 <= (rank := int(text)) < 2**63:
        raise ValueError(text)
    return rank


def text_keys(column: pa.Array) -> pa.Array:
    """Keys of strings: the strings themselves, unless they begin with the marker."""
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
        return _by_distinct(column, _decimal_key)
    raise ColumnTypeError(str(kind))


def decoded(column: pa.Array) -> pa.Array:
    """A column without its dictionary."""
    if not pa.types.is_dictionary(column.type):
        return column
    values = column.dictionary
    # Arrow cannot take from views.
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


def _decimal_key(number: decimal.Decimal) -> str:
    return key_of(decimal_value(number))


def moment_counts(column: pa.Array) -> pa.Array:
    """Timestamps of any unit as microseconds since 1970: of UTC if they have a zone, else of the clock on the wall."""
    count = column.cast(pa.int64())
    if column.type.unit == "ns":
        found = pc.divide(count, 1_000)
        _refuse_cells(pc.not_equal(pc.multiply(found, 1_000), count), "has nanoseconds, and date-times have microseconds")
        return found
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
    """Arrow writes whole numbers, and others that need no exponent, as Python does: only the rest goes through Python."""
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
