"""Values as keys of constants, written by the engine: the same keys as `values.keys.key_of` gives.

Each engine has its own way to write a double as Python does: statements call it `DOUBLE_TEXT` and, for decimals, which only some
engines need, `DECIMAL_TEXT`.
"""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.moments import written
from rulescore.sql.names import name
from rulescore.sql.words import Sql, all_of, any_of, call, collated, concatenated, substring, when
from rulescore.values.keys import MARKER, key_of
from rulescore.values.types import NUMBER_LETTER, ValueType

NUMBER = NUMBER_LETTER
"""The letter of numbers' keys."""
DOUBLE_TEXT = name("double_text")
DECIMAL_TEXT = name("decimal_text")


def key(value: Sql, kind: ValueType) -> Sql:
    """The key of a value, which must be finite and not missing."""
    match kind:
        case ValueType.STRING:
            return when(call("LEFT", text(value), 1) == MARKER, _marked("s", text(value)), text(value))
        case ValueType.BOOLEAN:
            return when(value, key_of(True), key_of(False))
        case ValueType.DATE:
            return _marked("d", text(value))
        case ValueType.DATETIME:
            return _marked("t", written(value, zoned=False))
        case ValueType.INSTANT:
            return _marked("z", written(value, zoned=True))
        case ValueType.FLOAT:
            return _marked("n", call(DOUBLE_TEXT, value.cast("DOUBLE")))
        case ValueType.INTEGER | ValueType.DURATION | ValueType.SPAN:
            return _marked("n", text(value))
        case ValueType.MIXED:
            return value


def decimal_key(value: Sql) -> Sql:
    """The key of a decimal: that of the integer it equals, or of the nearest double."""
    return _marked("n", call(DECIMAL_TEXT, value))


def text(value: Sql) -> Sql:
    """A value as text that compares by code points, whatever the collation of the user's column."""
    return collated(value.cast("TEXT"))


def _marked(letter: str, value: Sql) -> Sql:
    return concatenated(f"{MARKER}{letter}", value)


def is_no_integer(key: Sql) -> Sql:
    """Whether a number's key is not that of an integer of 64 bits. We compare its digits as text, since every engine handles casts
    that fail differently."""
    figures, longest = digits(key), len(str(2**63))
    size = length(figures)
    beyond = all_of(size == longest, figures > str(2**63 - 1), word(key) != str(-(2**63)))
    return any_of(is_fraction(key), size > longest, beyond).paren()


def is_fraction(key: Sql) -> Sql:
    """Whether a number's key is not written as an integer."""
    return any_of(*(Sql(exp.Like(this=key.node, expression=exp.Literal.string(f"%{c}%"))) for c in ".e")).paren()


def digits(key: Sql) -> Sql:
    return call("REPLACE", word(key), "-", "")


def length(written: Sql) -> Sql:
    return written.length().big()


def word(key: Sql) -> Sql:
    """A constant as it is shown: its key without the mark of its type."""
    return when(_is_marked(key), substring(key, 3), key)


def _is_marked(key: Sql) -> Sql:
    return substring(key, 1, 1) == MARKER


def type_letter(key: Sql) -> Sql:
    return when(_is_marked(key), substring(key, 2, 1), "s")
