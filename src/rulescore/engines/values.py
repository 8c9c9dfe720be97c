"""Values as an engine gives them, in the types that rules know."""

from __future__ import annotations

import datetime
from typing import Any

from rulescore.data.constants import value_of
from rulescore.data.setting import ValueType
from rulescore.language.moments import moment_at


def restored(value: Any, kind: ValueType | None) -> Any:
    """The value of a type. The key of a constant stands for one of several types, microseconds for a date-time or a time span, days
    for a duration; None for those that are beyond all that Python has."""
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
