"""Values as keys of constants, written by the engine: what `data.constants.key_of` gives.

How a double is written as Python writes it is each engine's own affair: statements say `DOUBLE_TEXT`, and for decimals, which only
some engines are asked for, `DECIMAL_TEXT`.
"""

from __future__ import annotations

from sqlglot import exp

from rulescore.data.constants import MARKER, key_of
from rulescore.data.setting import ValueType
from rulescore.sql.build import equal, identifier, name, number
from rulescore.sql.expressions import call, cast

DOUBLE_TEXT = name("double_text")
DECIMAL_TEXT = name("decimal_text")


def key(value: exp.Expr, kind: ValueType) -> exp.Expr:
    """The key of a value that is not missing, and finite."""
    match kind:
        case ValueType.STRING:
            written = equal(call("LEFT", text(value), number(1)), exp.Literal.string(MARKER))
            return exp.Case(ifs=[exp.If(this=written, true=_marked("s", text(value.copy())))], default=text(value.copy()))
        case ValueType.BOOLEAN:
            truth = exp.If(this=value, true=exp.Literal.string(key_of(True)))
            return exp.Case(ifs=[truth], default=exp.Literal.string(key_of(False)))
        case ValueType.DATE:
            return _marked("d", text(value))
        case ValueType.FLOAT:
            return _marked("n", call(DOUBLE_TEXT, cast(value, ValueType.FLOAT)))
        case ValueType.INTEGER | ValueType.DURATION:
            return _marked("n", text(value))


def decimal_key(value: exp.Expr) -> exp.Expr:
    """That of the whole number that a decimal is, or of the nearest double."""
    return _marked("n", call(DECIMAL_TEXT, value))


def text(value: exp.Expr) -> exp.Expr:
    """A value as text that compares by code points, whatever the collation of the user's column."""
    return exp.Collate(this=exp.cast(value, "TEXT", copy=False), expression=identifier("C"))


def _marked(letter: str, value: exp.Expr) -> exp.Expr:
    return exp.DPipe(this=exp.Literal.string(f"{MARKER}{letter}"), expression=value)
