"""Values as keys of constants, written by the engine: the same keys as `values.keys.key_of` gives.

Each engine has its own way to write a double as Python does: statements call it `DOUBLE_TEXT` and, for decimals, which only some
engines need, `DECIMAL_TEXT`.
"""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.build import all_of, any_of, different, equal, identifier, name, number
from rulescore.sql.moments import written
from rulescore.values.keys import MARKER, key_of
from rulescore.values.types import NUMBER_LETTER, ValueType

NUMBER = NUMBER_LETTER
"""The letter of numbers' keys."""
DOUBLE_TEXT = name("double_text")
DECIMAL_TEXT = name("decimal_text")


def key(value: exp.Expr, kind: ValueType) -> exp.Expr:
    """The key of a value, which must be finite and not missing."""
    match kind:
        case ValueType.STRING:
            is_marked = equal(exp.Anonymous(this="LEFT", expressions=[text(value), number(1)]), exp.Literal.string(MARKER))
            return exp.Case(ifs=[exp.If(this=is_marked, true=_marked("s", text(value.copy())))], default=text(value.copy()))
        case ValueType.BOOLEAN:
            truth = exp.If(this=value, true=exp.Literal.string(key_of(True)))
            return exp.Case(ifs=[truth], default=exp.Literal.string(key_of(False)))
        case ValueType.DATE:
            return _marked("d", text(value))
        case ValueType.DATETIME:
            return _marked("t", written(value, zoned=False))
        case ValueType.INSTANT:
            return _marked("z", written(value, zoned=True))
        case ValueType.FLOAT:
            return _marked("n", exp.Anonymous(this=DOUBLE_TEXT, expressions=[exp.cast(value, "DOUBLE", copy=False)]))
        case ValueType.INTEGER | ValueType.DURATION | ValueType.SPAN:
            return _marked("n", text(value))
        case ValueType.MIXED:
            return value


def decimal_key(value: exp.Expr) -> exp.Expr:
    """The key of a decimal: that of the integer it equals, or of the nearest double."""
    return _marked("n", exp.Anonymous(this=DECIMAL_TEXT, expressions=[value]))


def text(value: exp.Expr) -> exp.Expr:
    """A value as text that compares by code points, whatever the collation of the user's column."""
    return exp.Collate(this=exp.cast(value, "TEXT", copy=False), expression=identifier("C"))


def _marked(letter: str, value: exp.Expr) -> exp.Expr:
    return exp.DPipe(this=exp.Literal.string(f"{MARKER}{letter}"), expression=value)


def is_no_integer(key: exp.Expr) -> exp.Expr:
    """Whether a number's key is not that of an integer of 64 bits. We compare its digits as text, since every engine handles casts
    that fail differently."""
    figures = digits(key)
    size = length(figures)
    longest = len(str(2**63))
    beyond = exp.GT(this=figures.copy(), expression=exp.Literal.string(str(2**63 - 1)))
    lowest = different(word(key.copy()), exp.Literal.string(str(-(2**63))))
    too_long = exp.GT(this=size, expression=number(longest))
    as_long = equal(size.copy(), number(longest))
    return exp.Paren(this=any_of([is_fraction(key.copy()), too_long, all_of([as_long, beyond, lowest])]))


def is_fraction(key: exp.Expr) -> exp.Expr:
    """Whether a number's key is not written as an integer."""
    return exp.Paren(this=any_of([exp.Like(this=key.copy(), expression=exp.Literal.string(f"%{c}%")) for c in ".e"]))


def digits(key: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="REPLACE", expressions=[word(key), exp.Literal.string("-"), exp.Literal.string("")])


def length(written: exp.Expr) -> exp.Expr:
    return exp.cast(exp.Length(this=written), "BIGINT", copy=False)


def word(key: exp.Expr) -> exp.Expr:
    """A constant as it is shown: its key without the mark of its type."""
    marked = exp.If(this=_is_marked(key), true=exp.func("substr", key.copy(), number(3)))
    return exp.Case(ifs=[marked], default=key.copy())


def _is_marked(key: exp.Expr) -> exp.Expr:
    return equal(exp.func("substr", key, number(1), number(1)), exp.Literal.string(MARKER))


def type_letter(key: exp.Expr) -> exp.Expr:
    letter = exp.If(this=_is_marked(key), true=exp.func("substr", key.copy(), number(2), number(1)))
    return exp.Case(ifs=[letter], default=exp.Literal.string("s"))
