"""Functions and operators with other names or meanings in Spark: FLOOR and CEIL give whole numbers of 64 bits, TRUNC cuts dates,
days are intervals."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.build import big, call, constant, named, number
from rulescore.sql.dialects.letters import translated
from rulescore.sql.dialects.rewriting import rewritten
from rulescore.sql.dialects.spark.texts import decimal_text, double_text
from rulescore.sql.keys import DECIMAL_TEXT, DOUBLE_TEXT
from rulescore.sql.moments import MICROSECONDS, has_zone, is_date, is_days
from rulescore.values.moments import DAY, FIRST, LAST, UNITS

_FRACTIONS = "DECIMAL(8, 6)"
_OTHERWISE = (exp.Anonymous, exp.TryCast, exp.Floor, exp.ArrayAgg, exp.Unnest, exp.Add, exp.Sub, exp.Collate, exp.Lower, exp.Upper)


def spell(statement: exp.Expr) -> exp.Expr:
    return rewritten(statement, _otherwise, *_OTHERWISE)


def _otherwise(node: exp.Expr) -> exp.Expr | None:
    match node:
        case exp.TryCast():  # else the printer writes a plain cast, as for an old Spark that had no other
            return exp.TryCast(this=node.this, to=node.to, safe=True)
        case exp.Floor():
            return _floor(node.this)
        case exp.Anonymous(this="FLOOR"):
            return _floor(node.expressions[0])
        case exp.Anonymous(this="CEIL"):
            return exp.Neg(this=exp.Paren(this=_floor(exp.Neg(this=exp.Paren(this=node.expressions[0])))))
        case exp.Anonymous(this="TRUNC"):
            value = node.expressions[0]
            return exp.Mul(this=call("SIGN", value), expression=_floor(exp.Abs(this=value.copy())))
        case exp.ArrayAgg() if isinstance(node.this, exp.Order):
            return call("SORT_ARRAY", exp.ArrayAgg(this=node.this.this))
        case exp.Unnest():
            return named(call("EXPLODE", node.expressions[0]), node.alias)
        case exp.Lower() | exp.Upper():
            return translated(node, node.this, call(node.key.upper(), node.this.copy()))
        case exp.Collate(this=exp.Expr() as value):  # strings are in the order of their code points already
            return value
        case exp.Anonymous() if node.name == DOUBLE_TEXT:
            return double_text(node.expressions[0])
        case exp.Anonymous() if node.name == MICROSECONDS:
            return _microseconds(node.expressions[0])
        case exp.Anonymous() if node.name == DECIMAL_TEXT:
            return decimal_text(node.expressions[0])
        case exp.Sub() if is_days(node):
            return exp.Paren(this=exp.Sub(this=_day(node.this), expression=_day(node.expression)))
        case exp.Add() | exp.Sub() if is_date(node):
            moved = type(node)(this=_day(node.this), expression=big(node.expression))
            return call("DATE_FROM_UNIX_DATE", exp.cast(moved, "INT", copy=False))
    return None


def _day(date: exp.Expr) -> exp.Expr:
    """The number of a day, in 64 bits: Spark's own date arithmetic wraps around at 32 bits."""
    return big(call("UNIX_DATE", date))


def _microseconds(timestamp: exp.Expr) -> exp.Expr:
    """The microseconds of a timestamp. We add up the parts of a timestamp without a zone: Spark would assume the session's zone."""
    found = call("UNIX_MICROS", timestamp)
    if not has_zone(timestamp):
        day = _day(exp.cast(timestamp.copy(), "DATE", copy=False))
        found = exp.Mul(this=day, expression=number(DAY))
        for unit in ("hour", "minute", "second"):
            part = exp.Extract(this=exp.var(unit.upper()), expression=timestamp.copy())
            exact = exp.cast(part, _FRACTIONS, copy=False)  # of seconds; small integers would have 32 bits
            found = exp.Add(this=found, expression=big(exp.Mul(this=exact, expression=number(UNITS[unit]))))
    fits = exp.Between(this=exp.Paren(this=found), low=constant(FIRST), high=constant(LAST))
    return exp.Case(ifs=[exp.If(this=fits, true=found.copy())])


def _floor(value: exp.Expr) -> exp.Expr:
    """The whole number below a double, as a double: the nearest one, or the one before it."""
    nearest = call("RINT", value)
    above = exp.GT(this=nearest.copy(), expression=exp.Paren(this=value.copy()))
    step = exp.Case(ifs=[exp.If(this=above, true=_double(1))], default=_double(0))
    return exp.Paren(this=exp.Sub(this=nearest, expression=step))


def _double(value: int) -> exp.Expr:
    return exp.cast(number(value), "DOUBLE", copy=False)
