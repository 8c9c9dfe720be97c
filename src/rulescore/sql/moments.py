"""Dates, date-times and durations as SQL."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from rulescore.sql.names import name
from rulescore.sql.words import Sql, call, collated, concatenated, sql, substring, when
from rulescore.values import DAY, UNITS

MICROSECONDS = name("microseconds")
"""The function in statements for the microseconds of a user's timestamp; NULL outside the years 1 to 9999."""
NANOSECONDS = name("whole_microseconds")
"""The same for a timestamp with nanoseconds; NULL if they are not whole microseconds."""


def days(later: Sql, earlier: Sql) -> Sql:
    """The days between two dates. In some engines a difference of dates is not a number: see `is_days`."""
    return _of_type(later - earlier, exp.DType.INT).big()


def is_days(node: exp.Expr) -> bool:
    """Whether a node is a difference of dates: only those have a type of 32 bits."""
    return isinstance(node, exp.Sub) and node.is_type(exp.DType.INT)


def later_day(operation: Callable[[Sql, Sql], Sql], date: Sql, duration: Sql) -> Sql:
    """A date plus or minus days, which are 32-bit integers. Some engines raise no error for a date beyond their range."""
    return _of_type(operation(date, duration.integer()), exp.DType.DATE)


def is_date(node: exp.Expr) -> bool:
    """Whether a sum or difference is a date."""
    return isinstance(node, exp.Add | exp.Sub) and node.is_type(exp.DType.DATE)


def first_day() -> Sql:
    return sql("1970-01-01").cast("DATE")


def stamped(timestamp: Sql, *, zoned: bool, fine: bool = False) -> Sql:
    """The microseconds of a user's timestamp. `fine`: it has nanoseconds."""
    typed = _of_type(Sql(timestamp.node.copy()), exp.DType.TIMESTAMPTZ if zoned else exp.DType.TIMESTAMP)
    return call(NANOSECONDS if fine else MICROSECONDS, typed)


def has_zone(timestamp: exp.Expr) -> bool:
    return timestamp.is_type(exp.DType.TIMESTAMPTZ)


def span_of(days_of_it: Sql) -> Sql:
    """A duration of days in microseconds."""
    return days_of_it.paren() * DAY


def length_of(duration: Sql, unit: int, *, of_days: bool) -> Sql:
    """How many units of so many microseconds a duration is."""
    if of_days:
        return duration.paren() * (DAY // unit)
    return duration.cast("DOUBLE") / sql(unit).cast("DOUBLE")


def day_of(moment: Sql) -> Sql:
    """The date of a date-time."""
    return later_day(Sql.__add__, first_day(), _quotient(moment.paren() - _time_of(moment), DAY)).paren()


def counted_microseconds(text: Sql) -> Sql:
    """The microseconds of a date-time that is written as in the key of a constant."""
    microseconds = days(substring(text, 1, 10).cast("DATE"), first_day()).paren() * DAY
    for unit, place in (("hour", 12), ("minute", 15), ("second", 18)):
        microseconds = microseconds + substring(text, place, 2).big() * UNITS[unit]
    return (microseconds + when(text.length() > 20, substring(text, 21, 6).big(), 0)).paren()


def written(moment: Sql, *, zoned: bool) -> Sql:
    """A date-time as in the key of a constant."""
    time = _time_of(moment)
    parts = [collated(day_of(moment).cast("TEXT"))]
    for mark, unit, modulus in (("T", "hour", 24), (":", "minute", 60), (":", "second", 60)):
        size = UNITS[unit]
        parts += [sql(mark), _digits(_quotient(time - time % size, size) % modulus, 2)]
    fraction = (time % UNITS["second"]).paren()
    more = when(fraction == 0, "", concatenated(".", _digits(fraction, 6)))
    return concatenated(*parts, more.paren(), "Z" if zoned else "")


def _of_type(value: Sql, kind: exp.DType) -> Sql:
    """Marks a new node with its type, for engines that need another operation for that type."""
    value.node.type = kind
    return value


def _time_of(moment: Sql) -> Sql:
    """The microseconds since the day began, also for days before 1970."""
    return ((moment.paren() % DAY + DAY) % DAY).paren()


def _quotient(multiple: Sql, size: int) -> Sql:
    """A multiple of `size` microseconds divided by `size`. Doubles represent both numbers exactly, because the last 13 bits of the
    length of a day are zeros."""
    return (multiple.cast("DOUBLE") / sql(size).cast("DOUBLE")).big()


def _digits(value: Sql, width: int) -> Sql:
    return call("LPAD", value.cast("TEXT"), width, "0")
