"""Values of the types that rules know, as SQL: constants, keys of constants, moments, and comparisons by value."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Sequence
from operator import eq, ge, gt, le, lt, ne

from sqlglot import exp

from rulescore.logic.types import agree, type_of_value
from rulescore.sql.moments import counted_microseconds, span_of, written
from rulescore.sql.names import name
from rulescore.sql.query import Select, select, union_all
from rulescore.sql.words import FALSE, NULL, TRUE, Sql, all_of, any_of, call, collated, concatenated, sql, substring, when
from rulescore.values import (
    DURATIONS,
    LETTERS,
    MARKER,
    MICROSECOND,
    MOMENTS,
    NUMBER_LETTER,
    NUMBERS,
    ValueType,
    equals_double,
    is_of_days,
    key_of,
    microseconds,
)

NUMBER = NUMBER_LETTER
"""The letter of numbers' keys."""
DOUBLE_TEXT = name("double_text")
DECIMAL_TEXT = name("decimal_text")


def key(value: Sql, kind: ValueType) -> Sql:
    """The key of a value, which must be finite and not missing."""
    match kind:
        case ValueType.STRING:
            return when(call("LEFT", text(value), 1) == MARKER, _marked("s", text(value)), text(value))
        case ValueType.BOOLEAN:
            return when(value, key_of(True), key_of(False))
        case ValueType.DATE:
            return _marked("d", text(value))
        case ValueType.DATETIME:
            return _marked("t", written(value, zoned=False))
        case ValueType.INSTANT:
            return _marked("z", written(value, zoned=True))
        case ValueType.FLOAT:
            return _marked("n", call(DOUBLE_TEXT, value.cast("DOUBLE")))
        case ValueType.INTEGER | ValueType.DURATION | ValueType.SPAN:
            return _marked("n", text(value))
        case ValueType.MIXED:
            return value


def decimal_key(value: Sql) -> Sql:
    """The key of a decimal: the key of the integer it equals, or of the nearest double."""
    return _marked("n", call(DECIMAL_TEXT, value))


def text(value: Sql) -> Sql:
    """A value as text that compares by code points, whatever the collation of the user's column."""
    return collated(value.cast("TEXT"))


def _marked(letter: str, value: Sql) -> Sql:
    return concatenated(f"{MARKER}{letter}", value)


def is_no_integer(key: Sql) -> Sql:
    """Whether a number's key is not the key of a 64-bit integer. We compare its digits as text, since every engine handles casts
    that fail differently."""
    figures, longest = digits(key), len(str(2**63))
    size = length(figures)
    beyond = all_of(size == longest, figures > str(2**63 - 1), word(key) != str(-(2**63)))
    return any_of(is_fraction(key), size > longest, beyond).paren()


def is_fraction(key: Sql) -> Sql:
    """Whether a number's key is not written as an integer."""
    return any_of(*(Sql(exp.Like(this=key.node, expression=exp.Literal.string(f"%{c}%"))) for c in ".e")).paren()


def digits(key: Sql) -> Sql:
    return call("REPLACE", word(key), "-", "")


def length(written: Sql) -> Sql:
    return written.length().big()


def word(key: Sql) -> Sql:
    """A constant as we show it: its key without the mark of its type."""
    return when(_is_marked(key), substring(key, 3), key)


def _is_marked(key: Sql) -> Sql:
    return substring(key, 1, 1) == MARKER


def type_letter(key: Sql) -> Sql:
    return when(_is_marked(key), substring(key, 2, 1), "s")


SQL_TYPES = {
    ValueType.STRING: "VARCHAR",
    ValueType.INTEGER: "BIGINT",
    ValueType.FLOAT: "DOUBLE",
    ValueType.BOOLEAN: "BOOLEAN",
    ValueType.DATE: "DATE",
    ValueType.DATETIME: "BIGINT",
    ValueType.INSTANT: "BIGINT",
    ValueType.DURATION: "BIGINT",
    ValueType.SPAN: "BIGINT",
    ValueType.MIXED: "VARCHAR",
}
"""How values are stored; a duration is a number of days, a date-time and a time span one of microseconds, a mixed value the key of
a constant."""

# The greatest double below 2^63: no integer of 64 bits above it equals one.
_GREATEST_EXACT = 2**63 - 1024
_BEYOND = float(2**63)

_LETTERS = LETTERS | dict.fromkeys(NUMBERS, NUMBER_LETTER)

Comparing = Callable[[Sql, Sql], Sql]


def constant(value: object) -> Sql:
    """A constant with its exact type: `0.1` alone would be a decimal to some engines."""
    match value:
        case bool():
            return TRUE if value else FALSE
        case int():
            if value == -(2**63):  # the least integer of 64 bits: without its sign it would need 65
                return cast(sql(str(value)), ValueType.INTEGER)
            return sql(value) if value >= 0 else (-sql(-value)).paren()
        case float():
            return cast(sql(repr(value)), ValueType.FLOAT)
        case datetime.timedelta():
            return constant(value.days if is_of_days(value) else value // MICROSECOND)
        case datetime.datetime():
            return constant(microseconds(value))
        case datetime.date():
            return cast(sql(value.isoformat()), ValueType.DATE)
        case _:
            return sql(str(value))


def cast(value: Sql, wanted: ValueType) -> Sql:
    return value.cast(SQL_TYPES[wanted])


def try_cast(value: Sql, wanted: ValueType) -> Sql:
    """The value in the wanted type; NULL if it does not fit."""
    return value.try_cast(SQL_TYPES[wanted])


def constant_in(value: object, kind: ValueType) -> Sql | None:
    """A constant as a value of a type; None if no value of that type equals it."""
    match kind, value:
        case ValueType.MIXED, str() | bool() | int() | float() | datetime.date():
            return sql(key_of(value))
        case ValueType.SPAN, datetime.timedelta():
            return constant(value // MICROSECOND)
        case ValueType.INTEGER, float() if value.is_integer():
            return constant_in(int(value), kind)
        case ValueType.FLOAT, int() if not isinstance(value, bool):
            return constant(float(value)) if equals_double(value) else None
        case ValueType.INTEGER, int() if not -(2**63) <= value < 2**63:
            return None
        case _:
            return constant(value) if type_of_value(value) is kind else None


def decoded(mixed: Sql, wanted: ValueType, inexact: Collection[str] = ()) -> Sql:
    """The value of a type behind the key of a constant; NULL if no value of that type equals the constant. `inexact`: the keys of
    integers beyond 64 bits that no double equals."""
    fits = [type_letter(mixed) == _LETTERS[wanted]]
    if wanted is ValueType.INTEGER:
        fits.append(~is_no_integer(mixed))
    if wanted is ValueType.FLOAT:
        if inexact:
            fits.append(~mixed.is_in(sorted(inexact)))
        fits.append(is_exact(decoded(mixed, ValueType.INTEGER)).paren().or_else(TRUE))
    return typed_text(when(all_of(*fits), word(mixed)), wanted)


def typed_text(text: Sql, wanted: ValueType) -> Sql:
    """The value of a type that the text of a constant's key stands for."""
    if wanted in MOMENTS:
        return counted_microseconds(text)
    return text if wanted is ValueType.STRING else cast(text, wanted)


def same(left: Sql, left_type: ValueType, right: Sql, right_type: ValueType, inexact: Collection[str] = ()) -> Sql:
    """Whether two values that are not missing are the same constant. A condition for joins, which may be NULL instead of false."""
    match left_type, right_type:
        case one_type, other if one_type is other:
            return left == right
        case ValueType.INTEGER, ValueType.FLOAT:
            return all_of(cast(left, ValueType.FLOAT) == right, is_exact(left))
        case ValueType.FLOAT, ValueType.INTEGER:
            return same(right, right_type, left, left_type)
        case ValueType.DURATION, ValueType.SPAN:
            return span_of(left) == right
        case ValueType.SPAN, ValueType.DURATION:
            return left == span_of(right)
        case ValueType.MIXED, other if other not in DURATIONS:
            return decoded(left, other, inexact) == right
        case other, ValueType.MIXED if other not in DURATIONS:
            return left == decoded(right, other, inexact)
        case _:
            return FALSE


def compared(
    kind: Comparing, left: Sql, left_type: ValueType, right: Sql, right_type: ValueType, inexact: Collection[str] = ()
) -> Sql:
    """Two values compared; unknown if one of them is missing."""
    if left_type is right_type:
        return kind(left, right)
    if left_type is ValueType.INTEGER and right_type is ValueType.FLOAT:
        return _exactly(kind, left, right)
    if left_type is ValueType.FLOAT and right_type is ValueType.INTEGER:
        return _exactly(TURNED[kind], right, left)
    if {left_type, right_type} == DURATIONS:
        return kind(converted(left, left_type, ValueType.SPAN), converted(right, right_type, ValueType.SPAN))
    if agree(left_type, right_type):
        equal = same(left, left_type, right, right_type, inexact).paren().or_else(FALSE)
        return when(all_of(~left.is_null(), ~right.is_null()), equal if kind is eq else ~equal)
    return never(kind, left, right)


def compared_with(kind: Comparing, value: Sql, value_type: ValueType, literal: object) -> Sql:
    """A value compared with a constant."""
    written = constant_in(literal, value_type)
    if written is not None:
        return kind(value, written)
    if value_type in DURATIONS and type_of_value(literal) in DURATIONS:
        return compared(kind, value, value_type, constant(literal), type_of_value(literal))
    if kind in (eq, ne) or value_type not in NUMBERS or type_of_value(literal) not in NUMBERS:
        return never(kind, value)
    if value_type is ValueType.INTEGER and isinstance(literal, float) and abs(literal) < _BEYOND:
        # We compare an integer with a fraction by the integer below or above the fraction.
        return kind(value, constant(int(literal // 1) + (1 if kind in (lt, ge) else 0)))
    return compared(kind, value, value_type, constant(literal), type_of_value(literal))


def never(kind: Comparing, *values: Sql) -> Sql:
    """The result of comparing values that are never equal: unknown if one of them is missing."""
    if kind is ne:
        return all_of(*(value == value for value in values)).paren()
    return any_of(*(value != value for value in values)).paren()


def converted(value: Sql, type_: ValueType, wanted: ValueType, inexact: Collection[str] = ()) -> Sql:
    """A value as one of another type; NULL if that type has no such value."""
    if type_ is wanted:
        return value
    if not agree(type_, wanted):
        return cast(NULL, wanted)
    if {type_, wanted} == DURATIONS:
        # A variable that is a duration of days in the rule is never a time span in one of its parts.
        return span_of(value)
    if wanted is ValueType.MIXED:
        return key(value, type_)
    if type_ is ValueType.MIXED:
        return decoded(value, wanted, inexact)
    return when(is_whole(value), cast(value, wanted)) if wanted is ValueType.INTEGER else cast(value, wanted)


TURNED: dict[Comparing, Comparing] = {eq: eq, ne: ne, lt: gt, le: ge, gt: lt, ge: le}


def _exactly(kind: Comparing, whole: Sql, double: Sql) -> Sql:
    """An integer compared with a double by value. As doubles they have the same order, or are equal. If they are equal, the integer
    decides."""
    near = cast(whole, ValueType.FLOAT)
    less = TRUE if kind in (lt, le, ne) else FALSE
    tied = when(near >= constant(_BEYOND), less, kind(whole, cast(near, ValueType.INTEGER)))
    return when(near == double, tied, kind(near, double))


def is_whole(double: Sql) -> Sql:
    """Whether a double is a whole number of 64 bits. NaN and infinite values are not."""
    return all_of(double == double.floor(), double.abs() < constant(_BEYOND))


def extremes(values: Sequence[Select]) -> Select:
    """The least and the greatest of the columns `value` of some queries."""
    r = union_all(values).as_("r")
    return select(least=r.value.min(), greatest=r.value.max()).from_(r)


def distinct_values(values: Sequence[Select]) -> Select:
    r = union_all(values).as_("r")
    return select(r.value).distinct().from_(r)


def inexact_integer(values: Sequence[Select]) -> Select:
    """An integer that no double equals, of the columns `value` of some queries."""
    r = union_all(values).as_("r")
    return select(value=r.value.min()).from_(r).where(~is_exact(r.value))


def is_exact(whole: Sql) -> Sql:
    """Whether an integer equals a double."""
    near = cast(call("LEAST", whole, constant(_GREATEST_EXACT)), ValueType.FLOAT)
    return cast(near, ValueType.INTEGER) == whole
