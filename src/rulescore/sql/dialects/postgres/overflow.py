"""Slower arithmetic of doubles as in IEEE 754, for statements in which plain arithmetic has failed: PostgreSQL raises an error if a
double becomes infinite or vanishes."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.dialects.postgres.operands import of_operands, x, y
from rulescore.sql.dialects.rewriting import nodes, rewritten
from rulescore.sql.expressions import infinity, is_of_doubles, scaled_sum
from rulescore.sql.values import constant
from rulescore.sql.words import Sql, all_of, any_of, case, when

# Beyond these the exponential function is infinite, or 0; so is a product when the logarithms of its factors add up to them.
_HIGHEST, _LOWEST = 709.7827128, -745.1332191


def computes_doubles(statement: exp.Expr) -> bool:
    """Whether a statement computes with doubles at all."""
    return any(_is_double(one) for one in nodes(statement) if isinstance(one, exp.Binary | exp.Exp | exp.Sum))


def scale_sums(statement: exp.Expr) -> exp.Expr:
    """Sums that no double holds are NULL."""
    return rewritten(statement, lambda node: scaled_sum(Sql(node.this)).paren() if _is_double(node) else None, exp.Sum)


def bound_arithmetic(statement: exp.Expr) -> exp.Expr:
    """Results beyond the range of doubles become infinite, or 0."""
    return rewritten(statement, _bounded, exp.Binary, exp.Exp)


def _is_double(node: exp.Expr) -> bool:
    return isinstance(node, exp.Exp | exp.Pow) or is_of_doubles(node)


def _bounded(node: exp.Expr) -> Sql | None:
    if not _is_double(node):
        return None
    match node:
        case exp.Exp():
            ways = [(x > constant(_HIGHEST), infinity()), (x < constant(_LOWEST), constant(0.0))]
            return of_operands(case(*ways, default=Sql(exp.Exp(this=x.node))), node.this)
        case exp.Pow():
            value = _power()
        case exp.Mul():
            value = _scaled(x * y, _log(x) + _log(y))
        case exp.Div():
            value = _scaled(x / y, _log(x) - _log(y))
        case _:
            value = _sum(type(node))
    return of_operands(value, node.this, node.expression)


def _scaled(plain: Sql, size: Sql) -> Sql:
    """A product or a quotient. With 0, infinity or NaN on a side PostgreSQL computes as IEEE 754 does."""
    signed = _sign(x) * _sign(y) * infinity()
    return when(any_of(*_special(x), *_special(y)), plain, _within(size, signed, plain))


def _within(size: Sql, infinite: Sql, plain: Sql) -> Sql:
    """A result with this logarithm."""
    return case((size > constant(_HIGHEST), infinite), (size < constant(_LOWEST), constant(0.0)), default=plain)


def _power() -> Sql:
    plain = Sql(exp.Pow(this=x.node, expression=y.node))
    half = y / constant(2.0)
    infinite = when(all_of(x < 0, half.floor() != half), -infinity(), infinity())
    # With an exponent so far from 0, any base but 1 leaves the range; so might the product of exponent and logarithm.
    far = when((x.abs() > constant(1.0)).paren() == (y > 0).paren(), infinite, constant(0.0))
    special = any_of(*_special(x), *_special(y), x.abs() == 1)
    return case((special, plain), (y.abs() > constant(1e20), far), default=_within(_log(x) * y, infinite, plain))


def _sum(operation: type[exp.Expr]) -> Sql:
    """A sum or a difference, which leaves the range only between two very large numbers."""

    def added(left: Sql, right: Sql) -> Sql:
        return Sql(operation(this=left.node, expression=right.node))

    sizes = x.abs().node, y.abs().node
    large = Sql(exp.Least(this=sizes[0], expressions=[sizes[1]])) > constant(1e200)
    finite = Sql(exp.Greatest(this=sizes[0], expressions=[sizes[1]])) < infinity()
    beyond = added(x / constant(4.0), y / constant(4.0)).abs() >= constant(2.0**1022)
    return when(all_of(large, finite), when(beyond, _sign(x) * infinity(), added(x, y)), added(x, y))


def _special(value: Sql) -> list[Sql]:
    """0, infinity or NaN. NaN is above infinity to PostgreSQL."""
    return [value == 0, value.abs() >= infinity()]


def _log(value: Sql) -> Sql:
    return value.abs().ln()


def _sign(value: Sql) -> Sql:
    return Sql(exp.Sign(this=value.node))
