"""Date-times and time spans: how rules write them, and the microseconds by which engines know them.

A date-time with a zone is an instant, which we hold in UTC; a date-time without a zone is what a clock on a wall shows."""

from __future__ import annotations

import datetime
import re

MICROSECOND = datetime.timedelta(microseconds=1)
DAY = 86_400_000_000
"""Microseconds of a day."""

UNITS = {
    "week": 7 * DAY,
    "day": DAY,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1_000,
    "microsecond": 1,
}
"""Units of durations, in microseconds."""

_EPOCH = datetime.datetime(1970, 1, 1)
_WRITTEN = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?(Z|[+-][0-9]{2}(?::?[0-9]{2})?)?"
)


def parse_moment(text: str) -> datetime.datetime:
    """A date-time by ISO 8601, with a `T` or a blank in the middle; ValueError says why a text is not one."""
    match = _WRITTEN.fullmatch(text)
    if match is None:
        raise ValueError("it is not written as one")
    day, minute, second, fraction, zone = match.groups()
    digits = fraction or ""
    if digits[6:].strip("0"):
        raise ValueError("it is finer than a microsecond")
    if zone is not None and zone != "Z" and len(zone) == 5:
        zone = f"{zone[:3]}:{zone[3:]}"
    written = f"{day}T{minute}:{second or '00'}.{digits[:6]:0<6}{zone or ''}"
    try:
        return normal(datetime.datetime.fromisoformat(written))
    except OverflowError:
        raise ValueError("its instant is in no year from 1 to 9999") from None
    except ValueError:
        raise ValueError("there is no such day or time") from None


def normal(moment: datetime.datetime) -> datetime.datetime:
    """A plain date-time of Python's, in UTC if it has a zone. OverflowError if it is outside the years 1 to 9999."""
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC)
    parts = (moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second, moment.microsecond)
    return datetime.datetime(*parts, tzinfo=None if moment.tzinfo is None else datetime.UTC)


def write_moment(moment: datetime.datetime) -> str:
    """As in a rule: seconds have six digits behind the point, or none; an instant is in UTC."""
    if moment.tzinfo is None:
        return normal(moment).isoformat()
    return f"{normal(moment).replace(tzinfo=None).isoformat()}Z"


def microseconds(moment: datetime.datetime) -> int:
    """Microseconds since 1970, in UTC or by the clock on the wall."""
    return (normal(moment).replace(tzinfo=None) - _EPOCH) // MICROSECOND


def moment_at(count: int, *, zoned: bool) -> datetime.datetime | None:
    """The date-time `count` microseconds after 1970; None if it is outside the years 1 to 9999."""
    try:
        found = _EPOCH + datetime.timedelta(microseconds=count)
    except OverflowError:
        return None
    return found.replace(tzinfo=datetime.UTC) if zoned else found


FIRST, LAST = microseconds(datetime.datetime.min), microseconds(datetime.datetime.max)
"""The microseconds of the first and the last date-time that there is."""


def is_of_days(duration: datetime.timedelta) -> bool:
    """Whether a duration is a number of whole days."""
    return not duration.seconds and not duration.microseconds


def write_duration(duration: datetime.timedelta) -> str:
    """In the largest unit of which it is a whole number, from days down."""
    count = duration // MICROSECOND
    unit = next(one for one, size in UNITS.items() if one != "week" and count % size == 0)
    number = count // UNITS[unit]
    return f"{number} {unit}{'' if abs(number) == 1 else 's'}"


def spell_duration(duration: datetime.timedelta) -> str:
    """As people say it: 2 h 5 min."""
    rest = abs(duration) // MICROSECOND
    parts = []
    for unit, size in (("d", DAY), ("h", UNITS["hour"]), ("min", UNITS["minute"])):
        number, rest = divmod(rest, size)
        parts += [f"{number:,} {unit}"] if number else []
    if rest or not parts:
        seconds = f"{rest / 1_000_000:.6f}".rstrip("0").rstrip(".")
        parts.append(f"{seconds} s")
    return " ".join(parts)
