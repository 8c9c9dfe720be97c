"""The functions and tests of values that are built in: what each takes and gives."""

from __future__ import annotations

from dataclasses import dataclass

from rulescore.values.moments import UNITS
from rulescore.values.types import DURATIONS, MOMENTS, NUMBERS, ValueType

_STRING, _INTEGER, _FLOAT = ValueType.STRING, ValueType.INTEGER, ValueType.FLOAT
_BOOLEAN, _DATE = ValueType.BOOLEAN, ValueType.DATE
ORDERED = frozenset({_INTEGER, _FLOAT, _DATE, *MOMENTS, *DURATIONS, _STRING})


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes: the types of each argument, whether the last may repeat, how many may be left out, and the type
    of its value (`result` None: that of its arguments)."""

    arguments: tuple[frozenset[ValueType], ...]
    result: ValueType | None
    repeats: bool = False
    optional: int = 0

    @property
    def least(self) -> int:
        """The least number of arguments."""
        return len(self.arguments) - self.optional

    @property
    def most(self) -> int | None:
        """The greatest number of arguments; None if there is no limit."""
        return None if self.repeats else len(self.arguments)

    def takes(self, count: int) -> bool:
        return self.least <= count and (self.most is None or count <= self.most)

    def argument(self, index: int) -> frozenset[ValueType]:
        return self.arguments[min(index, len(self.arguments) - 1)]


_TEXT = frozenset({_STRING})
_DAY = frozenset({_DATE, *MOMENTS})
MEASURES = NUMBERS | DURATIONS
LENGTHS = {"days": UNITS["day"], "hours": UNITS["hour"], "minutes": UNITS["minute"], "seconds": UNITS["second"]}
"""How long a duration is, in a unit of so many microseconds: a float, an integer if the duration is of days."""
FUNCTIONS = {
    "abs": Signature((MEASURES,), None),
    "min": Signature((ORDERED, ORDERED), None, repeats=True),
    "max": Signature((ORDERED, ORDERED), None, repeats=True),
    "round": Signature((NUMBERS, frozenset({_INTEGER})), _INTEGER, optional=1),
    "floor": Signature((NUMBERS,), _INTEGER),
    "ceil": Signature((NUMBERS,), _INTEGER),
    "ln": Signature((NUMBERS,), _FLOAT),
    "exp": Signature((NUMBERS,), _FLOAT),
    "sqrt": Signature((NUMBERS,), _FLOAT),
    "power": Signature((NUMBERS, NUMBERS), _FLOAT),
    "length": Signature((_TEXT,), _INTEGER),
    "lower": Signature((_TEXT,), _STRING),
    "upper": Signature((_TEXT,), _STRING),
    "year": Signature((_DAY,), _INTEGER),
    "month": Signature((_DAY,), _INTEGER),
    "day": Signature((_DAY,), _INTEGER),
    "date": Signature((MOMENTS,), _DATE),
    **dict.fromkeys(LENGTHS, Signature((DURATIONS,), _FLOAT)),
}
TESTS = {
    "starts_with": Signature((_TEXT, _TEXT), _BOOLEAN),
    "ends_with": Signature((_TEXT, _TEXT), _BOOLEAN),
    "contains": Signature((_TEXT, _TEXT), _BOOLEAN),
}
"""Built-in tests of values. `within` is not among them: it becomes a comparison before the check of types."""
