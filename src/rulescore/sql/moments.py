"""Dates, date-times and durations as SQL. A date-time is the microseconds since 1970, of UTC or of the clock on the wall: the same
number on every engine, whatever the time zone of its session."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.build import identifier, name, number
from rulescore.values.moments import DAY, UNITS

MICROSECONDS = name("microseconds")
"""The function in statements for the microseconds of a user's timestamp; NULL outside the years 1 to 9999."""
NANOSECONDS = name("whole_microseconds")
"""The same for a timestamp with nanoseconds; NULL if they are not whole microseconds."""


def days(later: exp.Expr, earlier: exp.Expr) -> exp.Expr:
    """The days between two dates. In some engines a difference of dates is not a number: see `is_days`."""
    return _big(_of_type(exp.Sub(this=later, expression=earlier), exp.DType.INT))


def is_days(node: exp.Expr) -> bool:
    """Whether a node is a difference of dates: only those have a type of 32 bits."""
    return isinstance(node, exp.Sub) and node.is_type(exp.DType.INT)


def later_day(operation: type[exp.Binary], date: exp.Expr, duration: exp.Expr) -> exp.Expr:
    """A date plus or minus days, which are 32-bit integers. Some engines raise no error for a date beyond their range."""
    return _of_type(operation(this=date, expression=exp.cast(duration, "INT", copy=False)), exp.DType.DATE)


def is_date(node: exp.Expr) -> bool:
    """Whether a sum or difference is a date."""
    return isinstance(node, exp.Add | exp.Sub) and node.is_type(exp.DType.DATE)


def first_day() -> exp.Expr:
    return exp.cast(exp.Literal.string("1970-01-01"), "DATE", copy=False)


def stamped(timestamp: exp.Expr, *, zoned: bool, fine: bool = False) -> exp.Expr:
    """The microseconds of a user's timestamp. `fine`: it has nanoseconds."""
    typed = _of_type(timestamp.copy(), exp.DType.TIMESTAMPTZ if zoned else exp.DType.TIMESTAMP)
    return exp.Anonymous(this=NANOSECONDS if fine else MICROSECONDS, expressions=[typed])


def has_zone(timestamp: exp.Expr) -> bool:
    return timestamp.is_type(exp.DType.TIMESTAMPTZ)


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


def _of_type(value: exp.Expr, kind: exp.DType) -> exp.Expr:
    """Marks a new node with its type, for engines that need another operation for that type."""
    value.type = kind
    return value


def _time_of(moment: exp.Expr) -> exp.Expr:
    """The microseconds since the day began, also for days before 1970."""
    rest = exp.Mod(this=_paren(moment), expression=number(DAY))
    return exp.Paren(this=exp.Mod(this=exp.Paren(this=exp.Add(this=rest, expression=number(DAY))), expression=number(DAY)))


def _quotient(multiple: exp.Expr, size: int) -> exp.Expr:
    """A multiple of `size` microseconds divided by `size`. Doubles hold both: the last 13 bits of the size of a day are zeros."""
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
