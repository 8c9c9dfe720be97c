"""The types of columns of text, from how their values are written."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.values.keys import equals_double
from rulescore.values.moments import FIRST, LAST
from rulescore.values.types import ValueType

_MOMENTS = {ValueType.DATETIME: pa.timestamp("us"), ValueType.INSTANT: pa.timestamp("us", "UTC")}
_INFERRED = (ValueType.INTEGER, ValueType.FLOAT, ValueType.BOOLEAN, ValueType.DATE, *_MOMENTS)
# Doubles below this hold every integer.
_EXACT = 2**53
# Arrow also reads dates without a time of day, and hours without minutes.
_SHORTEST_MOMENT = len("2024-05-31T12:30")


class MisfitError(Exception):
    """A text that is not of the type that the first rows of its column have."""


def read_as(column: pa.Array, kind: ValueType) -> pa.Array | None:
    """A column of text as values of a type, empty texts as null; None if a text is not a value of it, or one that we must not take
    for a number, because it begins with a zero or a plus sign or has more digits than we can hold."""
    texts = pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
    try:
        match kind:
            case ValueType.INTEGER:
                values = texts.cast(pa.int64())
                return values if _all(pc.equal(values.cast(pa.string()), texts)) else None
            case ValueType.FLOAT:
                values = texts.cast(pa.float64())
                return values if _all(pc.is_finite(values)) and _all_written_plainly(texts, values) else None
            case ValueType.BOOLEAN:
                words = pc.utf8_lower(texts)
                return pc.equal(words, "true") if _all(pc.is_in(words, pa.array(["true", "false", None]))) else None
            case ValueType.DATE:
                return texts.cast(pa.date32())
            case ValueType.DATETIME | ValueType.INSTANT:
                counts = texts.cast(_MOMENTS[kind]).cast(pa.int64())
                whole = pc.greater_equal(pc.binary_length(texts), _SHORTEST_MOMENT)
                return (
                    counts if _all(whole) and _all(pc.and_(pc.greater_equal(counts, FIRST), pc.less_equal(counts, LAST))) else None
                )
            case _:
                return texts
    except pa.ArrowInvalid:
        return None


def _all(truths: pa.Array) -> bool:
    return bool(pc.all(truths, min_count=0).as_py())


def _all_written_plainly(texts: pa.Array, values: pa.Array) -> bool:
    """Whether texts of floats have no plus sign, no leading zero, and no integer that no double equals."""
    odd = texts.filter(pc.or_(pc.starts_with(texts, "0"), pc.or_(pc.starts_with(texts, "-0"), pc.starts_with(texts, "+"))))
    if not _all(pc.invert(pc.match_substring_regex(odd, r"^(\+|-?0[0-9])"))):
        return False
    large = texts.filter(pc.greater_equal(pc.abs(values), float(_EXACT)))
    whole = [int(text) for text in large.to_pylist() if text.lstrip("-").isdigit()]
    return all(-(2**63) <= value < 2**63 and equals_double(value) for value in whole)


class Guess:
    """The type of all values of a column that we have seen; None if there are none yet."""

    def __init__(self) -> None:
        self.kind: ValueType | None = None
        self._exact = True

    def look(self, column: pa.Array) -> None:
        """Look at some rows."""
        if self.kind is ValueType.STRING or (first := pc.index(pc.not_equal(column, ""), True).as_py()) < 0:
            return
        kinds = [kind for kind in self._possible() if read_as(column[first : first + 1], kind) is not None]
        self.kind = next((kind for kind in kinds if self._holds(column, kind)), ValueType.STRING)

    def _possible(self) -> tuple[ValueType, ...]:
        if self.kind is None:
            return _INFERRED
        # An integer that no double equals must not become another number because of later floats.
        return (self.kind, ValueType.FLOAT) if self.kind is ValueType.INTEGER and self._exact else (self.kind,)

    def _holds(self, column: pa.Array, kind: ValueType) -> bool:
        values = read_as(column, kind)
        if values is not None and kind is ValueType.INTEGER:
            large = values.filter(pc.or_(pc.greater(values, _EXACT), pc.less(values, -_EXACT)))
            self._exact = self._exact and all(equals_double(value) for value in large.to_pylist())
        return values is not None
