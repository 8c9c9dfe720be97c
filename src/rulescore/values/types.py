"""The types of values."""

from __future__ import annotations

import datetime
from enum import StrEnum

Value = str | int | float | bool | datetime.date | datetime.timedelta
"""A duration (`30 days`) is a value of expressions only: no fact holds one."""


class ValueType(StrEnum):
    """Types of values. A DATETIME is what a clock on a wall shows, an INSTANT has a zone. A DURATION is of whole days, a SPAN of
    any length; only expressions have such values. MIXED values are of several types, or floats beside integers that no double
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
