"""What PostgreSQL wants said otherwise. Its doubles refuse to become infinite or to vanish, and its casts refuse what does not fit.

Statements are built for every engine alike. `adapted` rewrites what PostgreSQL has no words for; `careful` computes doubles as
IEEE 754 does, at a price, for statements in which a plain one has failed.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from rulescore.data.setting import ValueType
from rulescore.language.moments import FIRST, LAST, UNITS
from rulescore.sql.build import all_of, any_of, column, equal, identifier, integer, named, number, select
from rulescore.sql.expressions import infinity, scaled_sum
from rulescore.sql.keys import DECIMAL_TEXT, DOUBLE_TEXT
from rulescore.sql.keys import text as written
from rulescore.sql.letters import translated
from rulescore.sql.moments import MICROSECONDS
from rulescore.sql.values import call, cast, constant

# Beyond these the exponential function is infinite, or 0; so is a product when the logarithms of its factors add up to them.
_HIGHEST, _LOWEST = 709.7827128, -745.1332191
_X, _Y = "x", "y"


def adapted(statement: exp.Expr, letters: str | None) -> exp.Expr:
    """A statement as PostgreSQL understands it, changed in place. `letters` is the collation that knows small and capital ones, if
    the server has it: others go by a language, or take one letter for two."""
    for node in _innermost_first(statement, exp.TryCast, exp.Lower, exp.Upper, exp.Anonymous, exp.Case):
        if isinstance(node, exp.TryCast):
            node.replace(_fitting(node))
        elif isinstance(node, exp.Case):
            if node.meta.get("sum"):  # which is no infinite one here: there is an error instead
                node.replace(node.args["ifs"][0].args["true"])
        elif isinstance(node, exp.Anonymous):
            if node.name in _TEXTS:
                node.replace(_TEXTS[node.name](node.expressions[0]))
        elif isinstance(node, exp.Lower | exp.Upper) and not isinstance(node.this, exp.Collate):
            node.replace(exp.Paren(this=_collated(_other_letters(node, letters), "C")))
    return statement


def _other_letters(node: exp.Lower | exp.Upper, letters: str | None) -> exp.Expr:
    of_kind = type(node)
    if letters is None:
        return _of_operands(translated(node, _x(), of_kind(this=_collated(_x(), "C"))), node.this)
    found = of_kind(this=_collated(node.this, letters))
    return found if of_kind is exp.Lower else call("REPLACE", found, exp.Literal.string("ß"), exp.Literal.string("ẞ"))


def computes_doubles(statement: exp.Expr) -> bool:
    """Whether a statement computes with doubles at all."""
    return any(map(_is_double, statement.find_all(exp.Binary, exp.Exp, exp.Sum)))


def careful(statement: exp.Expr) -> exp.Expr:
    """A statement, changed in place, that computes doubles as IEEE 754 does; sums that no double holds are NULL."""
    for node in _innermost_first(statement, exp.Sum):
        if _is_double(node):
            node.replace(exp.Paren(this=scaled_sum(node.this)))
    for node in _innermost_first(statement, exp.Binary, exp.Exp):
        if _is_double(node):
            node.replace(_exact(node))
    return statement


def _innermost_first(statement: exp.Expr, *kinds: type[exp.Expr]) -> list[exp.Expr]:
    return list(statement.find_all(*kinds))[::-1]


def _is_double(node: exp.Expr) -> bool:
    return isinstance(node, exp.Exp | exp.Pow) or bool(node.meta.get("doubles"))


def _collated(value: exp.Expr, collation: str) -> exp.Expr:
    operand = value if isinstance(value, exp.Column | exp.Func) else exp.Paren(this=value)
    return exp.Collate(this=operand, expression=identifier(collation))


def _of_operands(value: exp.Expr, *operands: exp.Expr) -> exp.Expr:
    """A value of `x` and `y`, which are computed once: the fence keeps the planner from copying them to every mention."""
    names = (_X, _Y)[: len(operands)]
    inner = select(*(named(one, name) for one, name in zip(operands, names, strict=True))).offset(0)
    return select(value).from_(inner.subquery(alias="d", copy=False)).subquery(copy=False)


def _x() -> exp.Expr:
    return column("d", _X)


def _y() -> exp.Expr:
    return column("d", _Y)


def _fitting(node: exp.TryCast) -> exp.Expr:
    """A cast to a whole number, NULL where it has more than 64 bits; any other cast as it is."""
    if not node.to.is_type(exp.DType.BIGINT):
        return exp.Cast(this=node.this, to=node.to)
    low, high = exp.Neg(this=number(2**63)), number(2**63)
    fits = all_of([exp.GTE(this=_x(), expression=low), exp.LT(this=_x(), expression=high)])
    return _of_operands(exp.Case(ifs=[exp.If(this=fits, true=exp.Cast(this=_x(), to=node.to))]), node.this)


def _exact(node: exp.Expr) -> exp.Expr:
    match node:
        case exp.Exp():
            cases = [(_above(_x(), _HIGHEST), infinity()), (_below(_x(), _LOWEST), constant(0.0))]
            return _of_operands(_cases(cases, exp.Exp(this=_x())), node.this)
        case exp.Pow():
            value = _power()
        case exp.Mul():
            value = _scaled(exp.Mul, exp.Add)
        case exp.Div():
            value = _scaled(lambda **sides: exp.Div(**sides, typed=True, safe=False), exp.Sub)
        case _:
            value = _sum(type(node))
    return _of_operands(value, node.this, node.expression)


def _scaled(operation: Callable[..., exp.Expr], logarithms: type[exp.Binary]) -> exp.Expr:
    """A product or a quotient. With 0, infinity or NaN on a side PostgreSQL computes as IEEE 754 does."""
    plain = operation(this=_x(), expression=_y())
    size = logarithms(this=_log(_x()), expression=_log(_y()))
    signed = exp.Mul(this=exp.Mul(this=_sign(_x()), expression=_sign(_y())), expression=infinity())
    inner = _cases([(_above(size, _HIGHEST), signed), (_below(size.copy(), _LOWEST), constant(0.0))], plain)
    return _cases([(any_of([*_special(_x()), *_special(_y())]), plain.copy())], inner)


def _power() -> exp.Expr:
    plain = exp.Pow(this=_x(), expression=_y())
    one = exp.EQ(this=exp.Abs(this=_x()), expression=number(1))
    size = exp.Mul(this=_log(_x()), expression=_y())
    half = exp.Div(this=_y(), expression=constant(2.0), typed=True, safe=False)
    odd = exp.NEQ(this=exp.Floor(this=half), expression=half.copy())
    negative = all_of([exp.LT(this=_x(), expression=number(0)), odd])
    infinite = _cases([(negative, exp.Neg(this=infinity()))], infinity())
    # A number so far from 0 leaves the range as an exponent of any base but 1; its product with the logarithm might, too.
    grows = exp.EQ(
        this=exp.Paren(this=_above(exp.Abs(this=_x()), 1.0)), expression=exp.Paren(this=exp.GT(this=_y(), expression=number(0)))
    )
    far = _cases([(grows, infinite)], constant(0.0))
    near = _cases([(_above(size, _HIGHEST), infinite.copy()), (_below(size.copy(), _LOWEST), constant(0.0))], plain)
    special = any_of([*_special(_x()), *_special(_y()), one])
    return _cases([(special, plain.copy()), (_above(exp.Abs(this=_y()), 1e20), far)], near)


def _sum(operation: type[exp.Expr]) -> exp.Expr:
    """A sum or a difference, which leaves the range only between two very large numbers."""
    quarters = [exp.Div(this=one, expression=constant(4.0), typed=True, safe=False) for one in (_x(), _y())]
    quarter = operation(this=quarters[0], expression=quarters[1])
    large = exp.GT(this=exp.Least(this=exp.Abs(this=_x()), expressions=[exp.Abs(this=_y())]), expression=constant(1e200))
    finite = exp.LT(this=exp.Greatest(this=exp.Abs(this=_x()), expressions=[exp.Abs(this=_y())]), expression=infinity())
    beyond = exp.GTE(this=exp.Abs(this=quarter), expression=constant(2.0**1022))
    plain = operation(this=_x(), expression=_y())
    signed = exp.Mul(this=_sign(_x()), expression=infinity())
    return _cases([(all_of([large, finite]), _cases([(beyond, signed)], plain))], plain.copy())


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


def _cases(cases: list[tuple[exp.Expr, exp.Expr]], default: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition, true=value) for condition, value in cases], default=default)


def _double_text(value: exp.Expr) -> exp.Expr:
    """A double as Python writes it; a whole one as the integer it is, to the last digit."""
    size = exp.Abs(this=value.copy())
    is_whole = equal(value.copy(), call("FLOOR", value.copy()))
    fits = exp.LT(this=size, expression=constant(2.0**63))
    # PostgreSQL turns to exponents one digit before Python does.
    long = exp.GTE(this=size.copy(), expression=constant(1e15))
    cases = [
        (all_of([is_whole, fits]), written(exp.cast(value.copy(), "BIGINT", copy=False))),
        (is_whole.copy(), written(_all_digits(value))),
        (long, written(exp.cast(written(value.copy()), "DECIMAL", copy=False))),
    ]
    return _cases(cases, written(value.copy()))


def _all_digits(value: exp.Expr) -> exp.Expr:
    """A whole double beyond 64 bits as a decimal. The engine's own cast keeps 15 digits, so it is taken apart: the digits that a
    double has fit into 64 bits, and the power of two that is left is exact."""
    logarithm = exp.Div(this=_log(value.copy()), expression=exp.Ln(this=constant(2.0)), typed=True, safe=False)
    power = exp.Paren(this=exp.Sub(this=integer(call("FLOOR", logarithm)), expression=number(55)))
    digits = exp.Div(this=value.copy(), expression=call("POWER", constant(2.0), power), typed=True, safe=False)
    whole = exp.cast(exp.cast(digits, "BIGINT", copy=False), "DECIMAL", copy=False)
    scale = call("POWER", exp.cast(number(2), "DECIMAL", copy=False), power.copy())
    return call("TRUNC", exp.Mul(this=whole, expression=scale))


def _decimal_text(value: exp.Expr) -> exp.Expr:
    whole = call("TRUNC", value.copy())
    return _cases([(equal(value.copy(), whole), written(whole.copy()))], _double_text(cast(value, ValueType.FLOAT)))


def _microseconds(timestamp: exp.Expr) -> exp.Expr:
    """Numerics, whose part of a second is exact; `infinity` is one, too."""
    size = exp.Mul(this=exp.Extract(this=exp.var("EPOCH"), expression=timestamp), expression=number(UNITS["second"]))
    fits = exp.Between(this=exp.Paren(this=size), low=constant(FIRST), high=constant(LAST))
    return _cases([(fits, exp.cast(size.copy(), "BIGINT", copy=False))], exp.null())


_TEXTS = {DOUBLE_TEXT: _double_text, DECIMAL_TEXT: _decimal_text, MICROSECONDS: _microseconds}
