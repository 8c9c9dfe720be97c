"""Values of the types that rules know, as SQL, and comparisons by value, whatever the types."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Sequence

from sqlglot import exp

from rulescore.logic.types import agree, type_of_value
from rulescore.sql import build
from rulescore.sql.build import Select, all_of, any_of, column, equal, named, negation, number, select, union_all
from rulescore.sql.keys import is_no_integer, key, type_letter, word
from rulescore.sql.moments import counted, span_of
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

Comparing = type[exp.Binary]


def constant(value: object) -> exp.Expr:
    """A constant with its exact type: `0.1` alone would be a decimal to some engines."""
    match value:
        case bool():
            return exp.true() if value else exp.false()
        case int():
            if value == -(2**63):  # without its sign it has more than 64 bits
                return cast(exp.Literal.string(str(value)), ValueType.INTEGER)
            return number(value) if value >= 0 else exp.Paren(this=exp.Neg(this=number(-value)))
        case float():
            return cast(exp.Literal.string(repr(value)), ValueType.FLOAT)
        case datetime.timedelta():
            return constant(value.days if is_of_days(value) else value // MICROSECOND)
        case datetime.datetime():
            return constant(microseconds(value))
        case datetime.date():
            return cast(exp.Literal.string(value.isoformat()), ValueType.DATE)
        case _:
            return exp.Literal.string(str(value))


def cast(value: exp.Expr, wanted: ValueType) -> exp.Expr:
    return build.cast(value, SQL_TYPES[wanted])


def try_cast(value: exp.Expr, wanted: ValueType) -> exp.Expr:
    """The value in the wanted type; NULL if it does not fit."""
    return exp.TryCast(this=value, to=exp.DataType.build(SQL_TYPES[wanted]))


def call(function: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=function, expressions=list(arguments))


def constant_in(value: object, kind: ValueType) -> exp.Expr | None:
    """A constant as a value of a type; None if no value of that type equals it."""
    match kind, value:
        case ValueType.MIXED, str() | bool() | int() | float() | datetime.date():
            return exp.Literal.string(key_of(value))
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


def decoded(mixed: exp.Expr, wanted: ValueType, inexact: Collection[str] = ()) -> exp.Expr:
    """The value of a type behind the key of a constant; NULL if no value of that type equals the constant. `inexact`: the keys of
    integers beyond 64 bits that no double equals."""
    letter, written = type_letter(mixed), word(mixed.copy())
    fits = [equal(letter, exp.Literal.string(_LETTERS[wanted]))]
    if wanted is ValueType.INTEGER:
        fits.append(negation(is_no_integer(mixed.copy())))
    if wanted is ValueType.FLOAT:
        if inexact:
            fits.append(negation(exp.In(this=mixed.copy(), expressions=[exp.Literal.string(one) for one in sorted(inexact)])))
        whole = decoded(mixed.copy(), ValueType.INTEGER)
        fits.append(exp.Coalesce(this=exp.Paren(this=is_exact(whole)), expressions=[exp.true()]))
    found = exp.Case(ifs=[exp.If(this=all_of(fits), true=written)])
    return typed_text(found, wanted)


def typed_text(text: exp.Expr, wanted: ValueType) -> exp.Expr:
    """The value of a type that the text of a constant's key stands for."""
    if wanted in MOMENTS:
        return counted(text)
    return text if wanted is ValueType.STRING else cast(text, wanted)


def same(left: exp.Expr, left_type: ValueType, right: exp.Expr, right_type: ValueType, inexact: Collection[str] = ()) -> exp.Expr:
    """Whether two values that are not missing are the same constant. A condition for joins, which may be NULL instead of false."""
    match left_type, right_type:
        case one, other if one is other:
            return equal(left, right)
        case ValueType.INTEGER, ValueType.FLOAT:
            return all_of([equal(cast(left.copy(), ValueType.FLOAT), right), is_exact(left)])
        case ValueType.FLOAT, ValueType.INTEGER:
            return same(right, right_type, left, left_type)
        case ValueType.DURATION, ValueType.SPAN:
            return equal(span_of(left), right)
        case ValueType.SPAN, ValueType.DURATION:
            return equal(left, span_of(right))
        case ValueType.MIXED, other if other not in DURATIONS:
            return equal(decoded(left, other, inexact), right)
        case other, ValueType.MIXED if other not in DURATIONS:
            return equal(left, decoded(right, other, inexact))
        case _:
            return exp.false()


def compared(
    kind: Comparing,
    left: exp.Expr,
    left_type: ValueType,
    right: exp.Expr,
    right_type: ValueType,
    inexact: Collection[str] = (),
) -> exp.Expr:
    """Two values compared; unknown if one of them is missing."""
    if left_type is right_type:
        return kind(this=left, expression=right)
    if left_type is ValueType.INTEGER and right_type is ValueType.FLOAT:
        return _exactly(kind, left, right)
    if left_type is ValueType.FLOAT and right_type is ValueType.INTEGER:
        return _exactly(TURNED[kind], right, left)
    if {left_type, right_type} == DURATIONS:
        sides = [converted(left, left_type, ValueType.SPAN), converted(right, right_type, ValueType.SPAN)]
        return kind(this=sides[0], expression=sides[1])
    if agree(left_type, right_type):
        found = exp.Coalesce(this=exp.Paren(this=same(left, left_type, right, right_type, inexact)), expressions=[exp.false()])
        known = [negation(exp.Is(this=one.copy(), expression=exp.null())) for one in (left, right)]
        return exp.Case(ifs=[exp.If(this=all_of(known), true=found if kind is exp.EQ else negation(found))])
    return never(kind, left, right)


def compared_with(kind: Comparing, value: exp.Expr, value_type: ValueType, literal: object) -> exp.Expr:
    """A value compared with a constant."""
    found = constant_in(literal, value_type)
    if found is not None:
        return kind(this=value, expression=found)
    if value_type in DURATIONS and type_of_value(literal) in DURATIONS:
        return compared(kind, value, value_type, constant(literal), type_of_value(literal))
    if kind in (exp.EQ, exp.NEQ) or value_type not in NUMBERS or type_of_value(literal) not in NUMBERS:
        return never(kind, value)
    if value_type is ValueType.INTEGER and isinstance(literal, float) and abs(literal) < _BEYOND:
        # Of the integers around a fraction, the lower one is less and the upper one greater than it.
        below = literal // 1
        return kind(this=value, expression=constant(int(below) + (1 if kind in (exp.LT, exp.GTE) else 0)))
    return compared(kind, value, value_type, constant(literal), type_of_value(literal))


def never(kind: Comparing, *values: exp.Expr) -> exp.Expr:
    """The result of comparing values that are never equal: unknown if one of them is missing."""
    if kind is exp.NEQ:
        return exp.Paren(this=all_of([exp.EQ(this=one, expression=one.copy()) for one in values]))
    return exp.Paren(this=any_of([exp.NEQ(this=one, expression=one.copy()) for one in values]))


def converted(value: exp.Expr, found: ValueType, wanted: ValueType, inexact: Collection[str] = ()) -> exp.Expr:
    """A value as one of another type; NULL if that type has no such value."""
    if found is wanted:
        return value
    if not agree(found, wanted):
        return cast(exp.null(), wanted)
    if {found, wanted} == DURATIONS:
        # No variable that is a duration of days in the whole rule is a time span in a part of it.
        return span_of(value)
    if wanted is ValueType.MIXED:
        return key(value, found)
    if found is ValueType.MIXED:
        return decoded(value, wanted, inexact)
    if wanted is ValueType.INTEGER:
        return exp.Case(ifs=[exp.If(this=is_whole(value), true=cast(value.copy(), wanted))])
    return cast(value, wanted)


TURNED: dict[Comparing, Comparing] = {
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}


def _exactly(kind: Comparing, whole: exp.Expr, double: exp.Expr) -> exp.Expr:
    """An integer compared with a double by value. As doubles they are in the same order, or equal; then the integer decides."""
    near = cast(whole, ValueType.FLOAT)
    beyond = exp.GTE(this=near.copy(), expression=constant(_BEYOND))
    less = exp.true() if kind in (exp.LT, exp.LTE, exp.NEQ) else exp.false()
    tied = exp.Case(
        ifs=[exp.If(this=beyond, true=less)],
        default=kind(this=whole.copy(), expression=cast(near.copy(), ValueType.INTEGER)),
    )
    is_tied = equal(near.copy(), double.copy())
    return exp.Case(ifs=[exp.If(this=is_tied, true=tied)], default=kind(this=near, expression=double))


def is_whole(double: exp.Expr) -> exp.Expr:
    """Whether a double is a whole number of 64 bits. NaN and infinite values are not."""
    fits = exp.LT(this=exp.Abs(this=double.copy()), expression=constant(_BEYOND))
    return all_of([equal(double.copy(), exp.Floor(this=double)), fits])


def extremes(values: Sequence[Select]) -> Select:
    """The least and the greatest of the columns `value` of some queries."""
    value = column("r", "value")
    rows = union_all(values).subquery("r")
    return select(named(exp.Min(this=value), "least"), named(exp.Max(this=value.copy()), "greatest")).from_(rows)


def distinct_values(values: Sequence[Select]) -> Select:
    return select(column("r", "value")).distinct().from_(union_all(values).subquery("r"))


def inexact_integer(values: Sequence[Select]) -> Select:
    """An integer that no double equals, of the columns `value` of some queries."""
    rows = union_all(values).subquery("r")
    value = column("r", "value")
    return select(named(exp.Min(this=value), "value")).from_(rows).where(negation(is_exact(value.copy())))


def is_exact(whole: exp.Expr) -> exp.Expr:
    """Whether an integer equals a double."""
    near = cast(call("LEAST", whole, constant(_GREATEST_EXACT)), ValueType.FLOAT)
    return equal(cast(near, ValueType.INTEGER), whole.copy())
