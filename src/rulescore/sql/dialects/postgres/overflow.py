"""Slower arithmetic of doubles as in IEEE 754, for statements in which plain arithmetic has failed: PostgreSQL raises an error if a
double becomes infinite or vanishes."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from rulescore.sql.build import all_of, any_of, constant, infinity, number, scaled_sum
from rulescore.sql.dialects.postgres.operands import cases, of_operands, x, y
from rulescore.sql.dialects.rewriting import nodes, rewritten
from rulescore.sql.expressions import is_of_doubles

# Beyond these the exponential function is infinite, or 0; so is a product when the logarithms of its factors add up to them.
_HIGHEST, _LOWEST = 709.7827128, -745.1332191


def computes_doubles(statement: exp.Expr) -> bool:
    """Whether a statement computes with doubles at all."""
    return any(_is_double(one) for one in nodes(statement) if isinstance(one, exp.Binary | exp.Exp | exp.Sum))


def scale_sums(statement: exp.Expr) -> exp.Expr:
    """Sums that no double holds are NULL."""
    return rewritten(statement, lambda node: exp.Paren(this=scaled_sum(node.this)) if _is_double(node) else None, exp.Sum)


def bound_arithmetic(statement: exp.Expr) -> exp.Expr:
    """Results beyond the range of doubles become infinite, or 0."""
    return rewritten(statement, _bounded, exp.Binary, exp.Exp)


def _is_double(node: exp.Expr) -> bool:
    return isinstance(node, exp.Exp | exp.Pow) or is_of_doubles(node)


def _bounded(node: exp.Expr) -> exp.Expr | None:
    if not _is_double(node):
        return None
    match node:
        case exp.Exp():
            ways = [(_above(x(), _HIGHEST), infinity()), (_below(x(), _LOWEST), constant(0.0))]
            return of_operands(cases(ways, exp.Exp(this=x())), node.this)
        case exp.Pow():
            value = _power()
        case exp.Mul():
            value = _scaled(exp.Mul, exp.Add)
        case exp.Div():
            value = _scaled(lambda **sides: exp.Div(**sides, typed=True, safe=False), exp.Sub)
        case _:
            value = _sum(type(node))
    return of_operands(value, node.this, node.expression)


def _scaled(operation: Callable[..., exp.Expr], logarithms: type[exp.Binary]) -> exp.Expr:
    """A product or a quotient. With 0, infinity or NaN on a side PostgreSQL computes as IEEE 754 does."""
    plain = operation(this=x(), expression=y())
    size = logarithms(this=_log(x()), expression=_log(y()))
    signed = exp.Mul(this=exp.Mul(this=_sign(x()), expression=_sign(y())), expression=infinity())
    inner = cases([(_above(size, _HIGHEST), signed), (_below(size.copy(), _LOWEST), constant(0.0))], plain)
    return cases([(any_of([*_special(x()), *_special(y())]), plain.copy())], inner)


def _power() -> exp.Expr:
    plain = exp.Pow(this=x(), expression=y())
    one = exp.EQ(this=exp.Abs(this=x()), expression=number(1))
    size = exp.Mul(this=_log(x()), expression=y())
    half = exp.Div(this=y(), expression=constant(2.0), typed=True, safe=False)
    odd = exp.NEQ(this=exp.Floor(this=half), expression=half.copy())
    negative = all_of([exp.LT(this=x(), expression=number(0)), odd])
    infinite = cases([(negative, exp.Neg(this=infinity()))], infinity())
    # With an exponent so far from 0, any base but 1 leaves the range; so might the product of exponent and logarithm.
    grows = exp.EQ(
        this=exp.Paren(this=_above(exp.Abs(this=x()), 1.0)), expression=exp.Paren(this=exp.GT(this=y(), expression=number(0)))
    )
    far = cases([(grows, infinite)], constant(0.0))
    near = cases([(_above(size, _HIGHEST), infinite.copy()), (_below(size.copy(), _LOWEST), constant(0.0))], plain)
    special = any_of([*_special(x()), *_special(y()), one])
    return cases([(special, plain.copy()), (_above(exp.Abs(this=y()), 1e20), far)], near)


def _sum(operation: type[exp.Expr]) -> exp.Expr:
    """A sum or a difference, which leaves the range only between two very large numbers."""
    quarters = [exp.Div(this=one, expression=constant(4.0), typed=True, safe=False) for one in (x(), y())]
    quarter = operation(this=quarters[0], expression=quarters[1])
    large = exp.GT(this=exp.Least(this=exp.Abs(this=x()), expressions=[exp.Abs(this=y())]), expression=constant(1e200))
    finite = exp.LT(this=exp.Greatest(this=exp.Abs(this=x()), expressions=[exp.Abs(this=y())]), expression=infinity())
    beyond = exp.GTE(this=exp.Abs(this=quarter), expression=constant(2.0**1022))
    plain = operation(this=x(), expression=y())
    signed = exp.Mul(this=_sign(x()), expression=infinity())
    return cases([(all_of([large, finite]), cases([(beyond, signed)], plain))], plain.copy())


def _special(value: exp.Expr) -> list[exp.Expr]:
    """0, infinity or NaN. NaN is above infinity to PostgreSQL."""
    infinite = exp.GTE(this=exp.Abs(this=value.copy()), expression=infinity())
    return [exp.EQ(this=value, expression=number(0)), infinite]


def _log(value: exp.Expr) -> exp.Expr:
    return exp.Ln(this=exp.Abs(this=value))


def _sign(value: exp.Expr) -> exp.Expr:
    return exp.Sign(this=value)


def _above(value: exp.Expr, limit: float) -> exp.Expr:
    return exp.GT(this=value, expression=constant(limit))


def _below(value: exp.Expr, limit: float) -> exp.Expr:
    return exp.LT(this=value, expression=constant(limit))
