"""Dates, date-times and durations as SQL. A date-time is the microseconds since 1970, of UTC or of the clock on the wall: the same
number on every engine, whatever the time zone of its session."""

from __future__ import annotations

from sqlglot import exp

from rulescore.language.moments import DAY, UNITS
from rulescore.sql.build import identifier, name, number

MICROSECONDS = name("microseconds")
"""What statements call the microseconds of a timestamp of the user's; missing outside the years 1 to 9999."""
NANOSECONDS = name("whole_microseconds")
"""The same of one with nanoseconds; missing if these are no whole microseconds."""


def days(later: exp.Expr, earlier: exp.Expr) -> exp.Expr:
    """The days between two dates, marked: to some engines a difference of dates is no number, or one of 32 bits."""
    difference = exp.Sub(this=later, expression=earlier)
    difference.meta["days"] = True
    return _big(difference)


def later_day(operation: type[exp.Binary], date: exp.Expr, duration: exp.Expr) -> exp.Expr:
    """A date and days, which are added as 32-bit integers, marked: some engines do not say if a date is beyond all they have."""
    found = operation(this=date, expression=exp.cast(duration, "INT", copy=False))
    found.meta["date"] = True
    return found


def first_day() -> exp.Expr:
    return exp.cast(exp.Literal.string("1970-01-01"), "DATE", copy=False)


def stamped(timestamp: exp.Expr, *, zoned: bool, fine: bool = False) -> exp.Expr:
    """The microseconds of a timestamp of the user's, marked. `fine`: it has nanoseconds."""
    found = exp.Anonymous(this=NANOSECONDS if fine else MICROSECONDS, expressions=[timestamp])
    found.meta["zoned"] = zoned
    return found


def span_of(days_of_it: exp.Expr) -> exp.Expr:
    """A duration of days in microseconds."""
    return exp.Mul(this=exp.Paren(this=days_of_it), expression=number(DAY))


def length_of(duration: exp.Expr, unit: int, *, of_days: bool) -> exp.Expr:
    """How many units of so many microseconds a duration is."""
    if of_days:
        return exp.Mul(this=exp.Paren(this=duration), expression=number(DAY // unit))
    size = exp.cast(number(unit), "DOUBLE", copy=False)
    return exp.Div(this=exp.cast(duration, "DOUBLE", copy=False), expression=size, typed=True, safe=False)


def day_of(moment: exp.Expr) -> exp.Expr:
    """The date of a date-time."""
    rest = _time_of(moment)
    return exp.Paren(this=later_day(exp.Add, first_day(), _quotient(exp.Sub(this=_paren(moment), expression=rest), DAY)))


def counted(text: exp.Expr) -> exp.Expr:
    """The microseconds of a date-time that is written as in the key of a constant."""
    day = days(exp.cast(_part(text, 1, 10), "DATE", copy=False), first_day())
    found: exp.Expr = exp.Mul(this=exp.Paren(this=day), expression=number(DAY))
    for unit, place in (("hour", 12), ("minute", 15), ("second", 18)):
        found = exp.Add(this=found, expression=exp.Mul(this=_big(_part(text, place, 2)), expression=number(UNITS[unit])))
    has_fraction = exp.GT(this=exp.Length(this=text.copy()), expression=number(20))
    fraction = exp.Case(ifs=[exp.If(this=has_fraction, true=_big(_part(text, 21, 6)))], default=number(0))
    return exp.Paren(this=exp.Add(this=found, expression=fraction))


def written(moment: exp.Expr, *, zoned: bool) -> exp.Expr:
    """A date-time as in the key of a constant."""
    time = _time_of(moment)
    found: exp.Expr = exp.Collate(this=exp.cast(day_of(moment), "TEXT", copy=False), expression=identifier("C"))
    for mark, unit, modulus in (("T", "hour", 24), (":", "minute", 60), (":", "second", 60)):
        size = UNITS[unit]
        rest = exp.Mod(this=time.copy(), expression=number(size))
        many = exp.Mod(this=_quotient(exp.Sub(this=time.copy(), expression=rest), size), expression=number(modulus))
        found = _joined(found, exp.Literal.string(mark), _digits(many, 2))
    fraction = exp.Paren(this=exp.Mod(this=time.copy(), expression=number(UNITS["second"])))
    none = exp.If(this=exp.EQ(this=fraction, expression=number(0)), true=exp.Literal.string(""))
    more = exp.Case(ifs=[none], default=_joined(exp.Literal.string("."), _digits(fraction.copy(), 6)))
    return _joined(found, exp.Paren(this=more), exp.Literal.string("Z" if zoned else ""))


def _time_of(moment: exp.Expr) -> exp.Expr:
    """The microseconds since the day began, before 1970 too."""
    rest = exp.Mod(this=_paren(moment), expression=number(DAY))
    return exp.Paren(this=exp.Mod(this=exp.Paren(this=exp.Add(this=rest, expression=number(DAY))), expression=number(DAY)))


def _quotient(multiple: exp.Expr, size: int) -> exp.Expr:
    """A multiple of a number of microseconds, divided by it. Doubles hold both: the last 13 bits of a day's are zeros."""
    sides = [exp.cast(one, "DOUBLE", copy=False) for one in (multiple, number(size))]
    return _big(exp.Div(this=sides[0], expression=sides[1], typed=True, safe=False))


def _part(text: exp.Expr, start: int, size: int) -> exp.Expr:
    return exp.func("substr", text.copy(), number(start), number(size))


def _digits(value: exp.Expr, width: int) -> exp.Expr:
    return exp.Anonymous(this="LPAD", expressions=[exp.cast(value, "TEXT", copy=False), number(width), exp.Literal.string("0")])


def _joined(first: exp.Expr, *others: exp.Expr) -> exp.Expr:
    for one in others:
        first = exp.DPipe(this=first, expression=one)
    return first


def _big(value: exp.Expr) -> exp.Expr:
    return exp.cast(value, "BIGINT", copy=False)


def _paren(value: exp.Expr) -> exp.Expr:
    return exp.Paren(this=value.copy())
