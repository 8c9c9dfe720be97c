"""Constants as text keys: two constants are equal exactly when their keys are.

A string is its own key, so a text file needs no conversion. Any other type carries a marker that no ordinary string begins
with; a string that does begin with it is escaped. Integers and floats of one value share a key.
"""

from __future__ import annotations

import datetime
import math
import re
from enum import StrEnum
from typing import Any

from rulescore.values.moments import moment_at, parse_moment, write_moment
from rulescore.values.types import LETTERS, NUMBER_LETTER, Value, ValueType

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
    """A constant as tables show it: strings as they are, other types as rules write them."""
    return key[2:] if key.startswith(MARKER) else key


# Values as an engine gives them, in the types that rules know.


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
