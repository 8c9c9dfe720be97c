"""Functions and operators with other names or meanings in Spark: FLOOR and CEIL give whole numbers of 64 bits, TRUNC cuts dates,
days are intervals."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.dialects.letters import translated
from rulescore.sql.dialects.rewriting import rewritten
from rulescore.sql.dialects.spark.texts import decimal_text, double_text
from rulescore.sql.keys import DECIMAL_TEXT, DOUBLE_TEXT
from rulescore.sql.moments import MICROSECONDS, has_zone, is_date, is_days
from rulescore.sql.values import constant
from rulescore.sql.words import Sql, call, sql, when
from rulescore.values.moments import DAY, FIRST, LAST, UNITS

_FRACTIONS = "DECIMAL(8, 6)"
_OTHERWISE = (exp.Anonymous, exp.TryCast, exp.Floor, exp.ArrayAgg, exp.Unnest, exp.Add, exp.Sub, exp.Collate, exp.Lower, exp.Upper)


def spell(statement: exp.Expr) -> exp.Expr:
    return rewritten(statement, _otherwise, *_OTHERWISE)


def _otherwise(node: exp.Expr) -> Sql | exp.Expr | None:
    match node:
        case exp.TryCast():  # else the printer writes a plain cast, as for an old Spark that had no other
            return exp.TryCast(this=node.this, to=node.to, safe=True)
        case exp.Floor():
            return _floor(Sql(node.this))
        case exp.Anonymous(this="FLOOR"):
            return _floor(Sql(node.expressions[0]))
        case exp.Anonymous(this="CEIL"):
            return -_floor(-Sql(node.expressions[0]).paren()).paren()
        case exp.Anonymous(this="TRUNC"):
            value = Sql(node.expressions[0])
            return call("SIGN", value) * _floor(value.abs())
        case exp.ArrayAgg() if isinstance(node.this, exp.Order):
            return call("SORT_ARRAY", exp.ArrayAgg(this=node.this.this))
        case exp.Unnest():
            return call("EXPLODE", node.expressions[0]).named(node.alias)
        case exp.Lower() | exp.Upper():
            return translated(node, Sql(node.this), call(node.key.upper(), node.this))
        case exp.Collate(this=exp.Expr() as value):  # strings are in the order of their code points already
            return value
        case exp.Anonymous() if node.name == DOUBLE_TEXT:
            return double_text(Sql(node.expressions[0]))
        case exp.Anonymous() if node.name == MICROSECONDS:
            return _microseconds(Sql(node.expressions[0]))
        case exp.Anonymous() if node.name == DECIMAL_TEXT:
            return decimal_text(Sql(node.expressions[0]))
        case exp.Sub() if is_days(node):
            return (_day(node.this) - _day(node.expression)).paren()
        case exp.Add() | exp.Sub() if is_date(node):
            moved = type(node)(this=_day(node.this).node, expression=sql(node.expression).big().node)
            return call("DATE_FROM_UNIX_DATE", Sql(moved).integer())
    return None


def _day(date: Sql | exp.Expr) -> Sql:
    """The number of a day, in 64 bits: Spark's own date arithmetic wraps around at 32 bits."""
    return call("UNIX_DATE", date).big()


def _microseconds(timestamp: Sql) -> Sql:
    """The microseconds of a timestamp. We add up the parts of a timestamp without a zone: Spark would assume the session's zone."""
    found = call("UNIX_MICROS", timestamp)
    if not has_zone(timestamp.node):
        found = _day(timestamp.cast("DATE")) * DAY
        for unit in ("hour", "minute", "second"):
            part = Sql(exp.Extract(this=exp.var(unit.upper()), expression=timestamp.node))
            exact = part.cast(_FRACTIONS)  # of seconds; small integers would have 32 bits
            found = found + (exact * UNITS[unit]).big()
    return when(found.paren().between(constant(FIRST), constant(LAST)), found)


def _floor(value: Sql) -> Sql:
    """The whole number below a double, as a double: the nearest one, or the one before it."""
    nearest = call("RINT", value)
    step = when(nearest > value.paren(), sql(1).cast("DOUBLE"), sql(0).cast("DOUBLE"))
    return (nearest - step).paren()
