"""Values as an engine gives them, in the types that rules know."""

from __future__ import annotations

import datetime
from typing import Any

from rulescore.values.keys import value_of
from rulescore.values.moments import moment_at
from rulescore.values.types import ValueType


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
