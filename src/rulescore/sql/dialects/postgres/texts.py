"""Our functions that PostgreSQL lacks: numbers as text, and the microseconds of a timestamp."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.build import all_of, call, cast, constant, equal, integer, number, written
from rulescore.sql.dialects.postgres.operands import cases
from rulescore.sql.dialects.rewriting import rewritten
from rulescore.sql.keys import DECIMAL_TEXT, DOUBLE_TEXT
from rulescore.sql.moments import MICROSECONDS
from rulescore.values.moments import FIRST, LAST, UNITS


def spell(statement: exp.Expr) -> exp.Expr:
    return rewritten(statement, _spelt, exp.Anonymous)


def _spelt(node: exp.Expr) -> exp.Expr | None:
    match node.name:
        case found if found == DOUBLE_TEXT:
            return _double_text(node.expressions[0])
        case found if found == DECIMAL_TEXT:
            return _decimal_text(node.expressions[0])
        case found if found == MICROSECONDS:
            return _microseconds(node.expressions[0])
    return None


def _double_text(value: exp.Expr) -> exp.Expr:
    """A double as Python writes it; a whole one as the integer it is, to the last digit."""
    size = exp.Abs(this=value.copy())
    is_whole = equal(value.copy(), call("FLOOR", value.copy()))
    fits = exp.LT(this=size, expression=constant(2.0**63))
    # PostgreSQL turns to exponents one digit before Python does.
    long = exp.GTE(this=size.copy(), expression=constant(1e15))
    ways = [
        (all_of([is_whole, fits]), written(exp.cast(value.copy(), "BIGINT", copy=False))),
        (is_whole.copy(), written(_all_digits(value))),
        (long, written(exp.cast(written(value.copy()), "DECIMAL", copy=False))),
    ]
    return cases(ways, written(value.copy()))


def _all_digits(value: exp.Expr) -> exp.Expr:
    """A whole double beyond 64 bits as a decimal. PostgreSQL's own cast keeps 15 digits, so we take the double apart: its digits
    fit into 64 bits, and the power of two that is left is exact."""
    logarithm = exp.Div(this=exp.Ln(this=exp.Abs(this=value.copy())), expression=exp.Ln(this=constant(2.0)), typed=True, safe=False)
    power = exp.Paren(this=exp.Sub(this=integer(call("FLOOR", logarithm)), expression=number(55)))
    digits = exp.Div(this=value.copy(), expression=call("POWER", constant(2.0), power), typed=True, safe=False)
    whole = exp.cast(exp.cast(digits, "BIGINT", copy=False), "DECIMAL", copy=False)
    scale = call("POWER", exp.cast(number(2), "DECIMAL", copy=False), power.copy())
    return call("TRUNC", exp.Mul(this=whole, expression=scale))


def _decimal_text(value: exp.Expr) -> exp.Expr:
    whole = call("TRUNC", value.copy())
    return cases([(equal(value.copy(), whole), written(whole.copy()))], _double_text(cast(value, "DOUBLE")))


def _microseconds(timestamp: exp.Expr) -> exp.Expr:
    """The microseconds of a timestamp, computed as a numeric: its fraction of a second is exact, and it may be `infinity`."""
    size = exp.Mul(this=exp.Extract(this=exp.var("EPOCH"), expression=timestamp), expression=number(UNITS["second"]))
    fits = exp.Between(this=exp.Paren(this=size), low=constant(FIRST), high=constant(LAST))
    return cases([(fits, exp.cast(size.copy(), "BIGINT", copy=False))], exp.null())
