"""The passes for PostgreSQL."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from rulescore.postgres.aggregates import is_aggregate_query, join_aggregates
from rulescore.sql.dialect import Dialect, nodes, rewritten, translated
from rulescore.sql.expressions import infinity, is_of_doubles, plain_sum, scaled_sum
from rulescore.sql.moments import MICROSECONDS
from rulescore.sql.names import PREFIX
from rulescore.sql.query import alias, select
from rulescore.sql.values import DECIMAL_TEXT, DOUBLE_TEXT, constant
from rulescore.sql.values import text as written
from rulescore.sql.words import NULL, Sql, all_of, any_of, call, case, collated, sql, when
from rulescore.values import FIRST, LAST, UNITS


def concerns(node: exp.Expr) -> bool:
    """Whether any pass rewrites a node, or sqlglot does: its printer finds the types below `UNNEST`, and notes them in the tree."""
    if isinstance(node, exp.Anonymous):
        return node.name.startswith(PREFIX)
    if isinstance(node, exp.Sum):
        return is_of_doubles(node)
    return isinstance(node, exp.TryCast | exp.Lower | exp.Upper | exp.ApproxDistinct | exp.Unnest) or is_aggregate_query(node)


# Replaces functions of ours that PostgreSQL lacks: numbers as text, and the microseconds of a timestamp.


def spell(statement: exp.Expr) -> exp.Expr:
    return rewritten(statement, _spelt, exp.Anonymous)


def _spelt(node: exp.Expr) -> Sql | None:
    match node.name:
        case spelling if spelling == DOUBLE_TEXT:
            return _double_text(Sql(node.expressions[0]))
        case spelling if spelling == DECIMAL_TEXT:
            return _decimal_text(Sql(node.expressions[0]))
        case spelling if spelling == MICROSECONDS:
            return _microseconds(node.expressions[0])
    return None


def _double_text(value: Sql) -> Sql:
    """A double in Python's notation. A whole double is written as an integer, to the last digit."""
    is_whole = value == call("FLOOR", value)
    return case(
        (all_of(is_whole, value.abs() < constant(2.0**63)), written(value.big())),
        (is_whole, written(_all_digits(value))),
        # PostgreSQL writes an exponent from one digit fewer on than Python.
        (value.abs() >= constant(1e15), written(written(value).cast("DECIMAL"))),
        default=written(value),
    )


def _all_digits(value: Sql) -> Sql:
    """A whole double beyond 64 bits as a decimal. PostgreSQL's own cast keeps 15 digits, so we take the double apart: its digits
    fit into 64 bits, and the power of two that is left is exact."""
    logarithm = value.abs().ln() / constant(2.0).ln()
    power = (call("FLOOR", logarithm).integer() - 55).paren()
    digits = (value / call("POWER", constant(2.0), power)).big().cast("DECIMAL")
    return call("TRUNC", digits * call("POWER", sql(2).cast("DECIMAL"), power))


def _decimal_text(value: Sql) -> Sql:
    whole = call("TRUNC", value)
    return when(value == whole, written(whole), _double_text(value.cast("DOUBLE")))


def _microseconds(timestamp: exp.Expr) -> Sql:
    """The microseconds of a timestamp, computed as a numeric: its fraction of a second is exact, and it may be `infinity`."""
    size = Sql(exp.Extract(this=exp.var("EPOCH"), expression=timestamp)) * UNITS["second"]
    return when(size.paren().between(constant(FIRST), constant(LAST)), size.big(), NULL)


# This collation knows the small and capital letters of all scripts. Others follow one language, or turn one letter into two.


COLLATION = "pg_c_utf8"
"""The collation that knows every small and capital letter, from version 17 on."""


def collate_letters(statement: exp.Expr) -> exp.Expr:
    return rewritten(statement, _by_collation, exp.Lower, exp.Upper)


def translate_letters(statement: exp.Expr) -> exp.Expr:
    """For servers that do not have the collation."""
    return rewritten(statement, _by_letter, exp.Lower, exp.Upper)


def _by_collation(node: exp.Expr) -> Sql:
    collated = Sql(type(node)(this=_collated(Sql(node.this), COLLATION).node))
    if isinstance(node, exp.Upper):
        collated = call("REPLACE", collated, "ß", "ẞ")
    return _collated(collated, "C").paren()


def _by_letter(node: exp.Expr) -> Sql:
    assert isinstance(node, exp.Lower | exp.Upper)
    plain = Sql(type(node)(this=_collated(x, "C").node))
    return _collated(of_operands(translated(node, x, plain), node.this), "C").paren()


def _collated(value: Sql, collation: str) -> Sql:
    return collated(value if isinstance(value.node, exp.Column | exp.Func) else value.paren(), collation)


# PostgreSQL has only casts that raise an error for a value that does not fit. So we first test whether a number fits.


def fit_casts(statement: exp.Expr) -> exp.Expr:
    return rewritten(statement, _fitting, exp.TryCast)


def _fitting(node: exp.Expr) -> Sql | exp.Expr:
    """A cast to a whole number, NULL if it has more than 64 bits. Other casts stay unchanged."""
    assert isinstance(node, exp.TryCast)
    if not node.to.is_type(exp.DType.BIGINT):
        return exp.Cast(this=node.this, to=node.to)
    fits = all_of(x >= -sql(2**63), x < 2**63)
    return of_operands(when(fits, Sql(exp.Cast(this=x.node, to=node.to))), node.this)


# We compute these values once, since the expression mentions them several times.


x, y = alias("d").x, alias("d").y


def of_operands(value: Sql, *operands: exp.Expr) -> Sql:
    """A value of `x` and `y`, which are computed once: the fence keeps the planner from copying them to every mention."""
    inner = select(**dict(zip("xy", operands, strict=False))).offset(0)
    return select(value).from_(inner.as_("d")).value()


# Slower arithmetic of doubles as in IEEE 754, for statements in which plain arithmetic has failed: PostgreSQL raises an error
# if a double becomes infinite or vanishes.


# Beyond these bounds the exponential function is infinite, or 0. So is a product if the logarithms of its factors add up to more.
_HIGHEST, _LOWEST = 709.7827128, -745.1332191


def computes_doubles(statement: exp.Expr) -> bool:
    """Whether a statement computes with doubles at all."""
    return any(_is_double(node) for node in nodes(statement) if isinstance(node, exp.Binary | exp.Exp | exp.Sum))


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
    # With an exponent so far from 0, a power of any base but 1 leaves the range of doubles. Even the product of exponent and
    # logarithm might.
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


# In PostgreSQL an infinite sum of doubles is an error, so we need not test whether a sum is infinite.


def keep_plain_sums(statement: exp.Expr) -> exp.Expr:
    return rewritten(statement, _plain, exp.Case)


def _plain(node: exp.Expr) -> exp.Expr | None:
    assert isinstance(node, exp.Case)
    return plain_sum(node)


# PostgreSQL has no function that estimates the number of different values, so we count exactly.


def count_exactly(statement: exp.Expr) -> exp.Expr:
    return rewritten(statement, _exact, exp.ApproxDistinct)


def _exact(node: exp.Expr) -> exp.Expr:
    return exp.Count(this=exp.Distinct(expressions=[node.this.copy()]))


POSTGRES = Dialect(
    "postgres",
    (fit_casts, keep_plain_sums, join_aggregates, count_exactly, spell, collate_letters),
    (keep_plain_sums, join_aggregates, scale_sums, bound_arithmetic),
    concerns,
)
POSTGRES_BEFORE_17 = replace(POSTGRES, passes=(*POSTGRES.passes[:-1], translate_letters))
