"""Values: their types, the text keys that stand for constants, and date-times."""

from __future__ import annotations

import datetime
import math
import re
from enum import StrEnum
from typing import Any

Value = str | int | float | bool | datetime.date | datetime.timedelta
"""A duration (`30 days`) is a value of expressions only: no fact holds one."""


class ValueType(StrEnum):
    """Types of values. A DATETIME is the time on a wall clock; an INSTANT has a zone. A DURATION is of whole days, a SPAN of any
    length; only expressions have such values. MIXED values are of several types, or floats together with integers that no double
    equals: we keep them as keys of constants, and rules cannot compute with them."""

    STRING = "string"
    INTEGER = "integer"
    FLOAT = "float"
    BOOLEAN = "boolean"
    DATE = "date"
    DATETIME = "date-time"
    INSTANT = "instant"
    DURATION = "duration"
    SPAN = "time span"
    MIXED = "value of several types"


LETTERS = {
    ValueType.STRING: "s",
    ValueType.BOOLEAN: "b",
    ValueType.DATE: "d",
    ValueType.DATETIME: "t",
    ValueType.INSTANT: "z",
}
"""The letter that marks the key of a constant of each type; numbers of all types share one letter, `NUMBER_LETTER`."""
NUMBER_LETTER = "n"

NUMBERS = frozenset({ValueType.INTEGER, ValueType.FLOAT})
DURATIONS = frozenset({ValueType.DURATION, ValueType.SPAN})
MOMENTS = frozenset({ValueType.DATETIME, ValueType.INSTANT})


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
        moment = _EPOCH + datetime.timedelta(microseconds=count)
    except OverflowError:
        return None
    return moment.replace(tzinfo=datetime.UTC) if zoned else moment


FIRST, LAST = microseconds(datetime.datetime.min), microseconds(datetime.datetime.max)
"""The microseconds of the first and the last date-time that there is."""


def is_of_days(duration: datetime.timedelta) -> bool:
    """Whether a duration is a number of whole days."""
    return not duration.seconds and not duration.microseconds


def write_duration(duration: datetime.timedelta) -> str:
    """A duration in the largest unit, at most days, of which it is a whole number."""
    count = duration // MICROSECOND
    unit = next(name for name, size in UNITS.items() if name != "week" and count % size == 0)
    number = count // UNITS[unit]
    return f"{number} {unit}{'' if abs(number) == 1 else 's'}"


def spell_duration(duration: datetime.timedelta) -> str:
    """A duration in the words of people: 2 h 5 min."""
    rest = abs(duration) // MICROSECOND
    parts = []
    for unit, size in (("d", DAY), ("h", UNITS["hour"]), ("min", UNITS["minute"])):
        number, rest = divmod(rest, size)
        parts += [f"{number:,} {unit}"] if number else []
    if rest or not parts:
        seconds = f"{rest / 1_000_000:.6f}".rstrip("0").rstrip(".")
        parts.append(f"{seconds} s")
    return " ".join(parts)


MARKER = "\x01"
_SURROGATE = re.compile("[\ud800-\udfff]")


class ConstantType(StrEnum):
    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    DATETIME = "date-time"
    INSTANT = "instant"


_BY_LETTER = {letter: ConstantType(kind) for kind, letter in LETTERS.items()} | {NUMBER_LETTER: ConstantType.NUMBER}


def key_of(value: Value) -> str:
    """The key of a constant. NaN, infinity, lone surrogates, integers of thousands of digits and instants
    outside the years 1 to 9999 have none: ValueError."""
    match value:
        case str():
            if has_lone_surrogate(value):
                raise ValueError("a lone surrogate is not a character")
            return f"{MARKER}s{value}" if value.startswith(MARKER) else value
        case bool():
            return f"{MARKER}b{str(value).lower()}"
        case int():
            # Integers and whole floats share a key: 1 and 1.0 are one constant, "1" is another (0005).
            return f"{MARKER}n{value}"
        case float():
            if not math.isfinite(value):
                raise ValueError(f"{value} is not a constant")
            return f"{MARKER}n{int(value) if value.is_integer() else repr(value)}"
        case datetime.datetime():
            return f"{MARKER}{'t' if value.tzinfo is None else 'z'}{write_moment(value)}"
        case datetime.date():
            return f"{MARKER}d{value.isoformat()}"
        case _:
            raise TypeError(f"{type(value).__name__} is not a type of constants")


def has_lone_surrogate(text: str) -> bool:
    """Whether a text cannot be written as UTF-8."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def equals_double(value: int) -> bool:
    """Whether some double is exactly this integer."""
    try:
        return int(float(value)) == value
    except OverflowError:
        return False


def type_of(key: str) -> ConstantType:
    return _BY_LETTER[key[1]] if key.startswith(MARKER) else ConstantType.STRING


def value_of(key: str) -> Value:
    """The constant behind a key (a number that has an integer value comes back as an integer)."""
    if not key.startswith(MARKER):
        return key
    text = key[2:]
    match type_of(key):
        case ConstantType.STRING:
            return text
        case ConstantType.BOOLEAN:
            return text == "true"
        case ConstantType.DATE:
            return datetime.date.fromisoformat(text)
        case ConstantType.DATETIME | ConstantType.INSTANT:
            return parse_moment(text)
        case ConstantType.NUMBER:
            return float(text) if any(c in text for c in ".en") else int(text)


def text_of(key: str) -> str:
    """A constant in the form for tables: strings unchanged, other types as in rules."""
    return key[2:] if key.startswith(MARKER) else key


# Turns values that an engine returns into the types that rules know.


def restored(value: Any, kind: ValueType | None) -> Any:
    """An engine's value as a Python value of type `kind`. Engines give keys for values of several types, microseconds for
    date-times and time spans, days for durations. None if Python has no such value."""
    match value, kind:
        case None, _:
            return None
        case str(), ValueType.MIXED:
            return value_of(value)
        case int(), ValueType.DATETIME | ValueType.INSTANT:
            return moment_at(value, zoned=kind is ValueType.INSTANT)
        case int(), ValueType.SPAN:
            return datetime.timedelta(microseconds=value)
        case int(), ValueType.DURATION:
            return datetime.timedelta(days=value) if abs(value) < 10**9 else None
        case _:
            return value
