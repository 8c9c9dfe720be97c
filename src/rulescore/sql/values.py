"""Values of the types that rules know, as SQL, and comparisons by value, whatever the types."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Sequence
from operator import eq, ge, gt, le, lt, ne

from rulescore.logic.types import agree, type_of_value
from rulescore.sql.keys import is_no_integer, key, type_letter, word
from rulescore.sql.moments import counted, span_of
from rulescore.sql.query import Select, select, union_all
from rulescore.sql.words import FALSE, NULL, TRUE, Sql, all_of, any_of, call, sql, when
from rulescore.values.keys import equals_double, key_of
from rulescore.values.moments import MICROSECOND, is_of_days, microseconds
from rulescore.values.types import DURATIONS, LETTERS, MOMENTS, NUMBER_LETTER, NUMBERS, ValueType

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
            if value == -(2**63):  # without its sign it has more than 64 bits
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
        return counted(text)
    return text if wanted is ValueType.STRING else cast(text, wanted)


def same(left: Sql, left_type: ValueType, right: Sql, right_type: ValueType, inexact: Collection[str] = ()) -> Sql:
    """Whether two values that are not missing are the same constant. A condition for joins, which may be NULL instead of false."""
    match left_type, right_type:
        case one, other if one is other:
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
        found = same(left, left_type, right, right_type, inexact).paren().or_else(FALSE)
        return when(all_of(~left.is_null(), ~right.is_null()), found if kind is eq else ~found)
    return never(kind, left, right)


def compared_with(kind: Comparing, value: Sql, value_type: ValueType, literal: object) -> Sql:
    """A value compared with a constant."""
    found = constant_in(literal, value_type)
    if found is not None:
        return kind(value, found)
    if value_type in DURATIONS and type_of_value(literal) in DURATIONS:
        return compared(kind, value, value_type, constant(literal), type_of_value(literal))
    if kind in (eq, ne) or value_type not in NUMBERS or type_of_value(literal) not in NUMBERS:
        return never(kind, value)
    if value_type is ValueType.INTEGER and isinstance(literal, float) and abs(literal) < _BEYOND:
        # Of the integers around a fraction, the lower one is less and the upper one greater than it.
        return kind(value, constant(int(literal // 1) + (1 if kind in (lt, ge) else 0)))
    return compared(kind, value, value_type, constant(literal), type_of_value(literal))


def never(kind: Comparing, *values: Sql) -> Sql:
    """The result of comparing values that are never equal: unknown if one of them is missing."""
    if kind is ne:
        return all_of(*(value == value for value in values)).paren()
    return any_of(*(value != value for value in values)).paren()


def converted(value: Sql, found: ValueType, wanted: ValueType, inexact: Collection[str] = ()) -> Sql:
    """A value as one of another type; NULL if that type has no such value."""
    if found is wanted:
        return value
    if not agree(found, wanted):
        return cast(NULL, wanted)
    if {found, wanted} == DURATIONS:
        # No variable that is a duration of days in the whole rule is a time span in a part of it.
        return span_of(value)
    if wanted is ValueType.MIXED:
        return key(value, found)
    if found is ValueType.MIXED:
        return decoded(value, wanted, inexact)
    return when(is_whole(value), cast(value, wanted)) if wanted is ValueType.INTEGER else cast(value, wanted)


TURNED: dict[Comparing, Comparing] = {eq: eq, ne: ne, lt: gt, le: ge, gt: lt, ge: le}


def _exactly(kind: Comparing, whole: Sql, double: Sql) -> Sql:
    """An integer compared with a double by value. As doubles they are in the same order, or equal; then the integer decides."""
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
