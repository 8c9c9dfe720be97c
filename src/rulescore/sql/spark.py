"""What Spark wants said otherwise. Its FLOOR and CEIL give whole numbers of 64 bits, its TRUNC cuts dates, its days are intervals.

Statements are built for every engine alike. `adapted` rewrites what Spark has no words for; `careful` adds up counts in 128 bits, at
a price, for statements in which 64 bits were not enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from rulescore.sql.build import Select, identifier, name, named, number
from rulescore.sql.expressions import call

_WIDE = "DECIMAL(38, 0)"

# Where a row stands among all rows: the number of its task in the upper bits, its place there in the lower 33.
PLACE = name("place")
_BITS = 33


def adapted(statement: exp.Expr) -> exp.Expr:
    """A statement as Spark understands it, changed in place."""
    for step in statement.find_all(exp.CTE):
        step.set("materialized", None)
    for cast in statement.find_all(exp.TryCast):
        cast.set("safe", True)  # else the printer takes it for a cast of a Spark that had no other
    for node in list(statement.find_all(exp.Anonymous, exp.Floor, exp.ArrayAgg, exp.Unnest, exp.Sub))[::-1]:
        found = _otherwise(node)
        if found is not None:
            node.replace(found)
    return statement


def _otherwise(node: exp.Expr) -> exp.Expr | None:
    match node:
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
        case exp.Sub() if node.meta.get("days"):
            return exp.cast(call("DATEDIFF", node.this, node.expression), "BIGINT", copy=False)
    return None


def _floor(value: exp.Expr) -> exp.Expr:
    """The whole number below a double, as a double: the nearest one, or the one before it."""
    nearest = call("RINT", value)
    above = exp.GT(this=nearest.copy(), expression=exp.Paren(this=value.copy()))
    step = exp.Case(ifs=[exp.If(this=above, true=_double(1))], default=_double(0))
    return exp.Paren(this=exp.Sub(this=nearest, expression=step))


def _double(value: int) -> exp.Expr:
    return exp.cast(number(value), "DOUBLE", copy=False)


def careful(statement: exp.Expr) -> exp.Expr:
    """A statement, changed in place, that adds up whole numbers in 128 bits. Sums of doubles are marked as such."""
    for node in list(statement.find_all(exp.Sum))[::-1]:
        if node.meta.get("doubles"):
            continue
        factor = node.this.this if isinstance(node.this, exp.Mul) else node.this
        factor.replace(exp.cast(factor.copy(), _WIDE, copy=False))
    return statement


@dataclass(frozen=True, slots=True)
class Numbering:
    """A query one of whose columns numbers its rows. `rows`: the query without it, with the `keys` that give the order as further
    columns. `field` is the number's column and `value` what it holds, with a placeholder for the number that counts from 1."""

    rows: Select
    fields: tuple[str, ...]
    keys: tuple[str, ...]
    field: str
    value: exp.Expr


def numbering(query: exp.Expr) -> Numbering | None:
    """A query that numbers its rows by a window over all of them, which would take them through one task."""
    if not isinstance(query, Select):
        return None
    for projection in query.expressions:
        window = projection.find(exp.Window)
        if window is None or not isinstance(window.this, exp.RowNumber) or window.args.get("partition_by"):
            continue
        fields = tuple(one.alias_or_name for one in query.expressions)
        order = window.args.get("order")
        keys = [one.this.copy() for one in order.expressions] if order is not None else []
        window.replace(exp.Placeholder())
        names = tuple(name(f"key_{i}") for i in range(len(keys)))
        query.set("expressions", [one for one in query.expressions if one is not projection])
        query.select(*(named(key, alias) for key, alias in zip(keys, names, strict=True)))
        return Numbering(query, fields, names, projection.alias, exp.Paren(this=projection.this))
    return None


def task() -> exp.Expr:
    """The task that made a row, from its place."""
    return exp.cast(call("SHIFTRIGHT", _place(), number(_BITS)), "INT", copy=False)


def numbered(found: Numbering, starts: Sequence[int]) -> list[exp.Expr]:
    """The columns of rows whose number follows from their place: `starts` has the number of rows before those of each task."""
    before = call("ELEMENT_AT", exp.Array(expressions=[_big(number(one)) for one in starts]), _sum(task(), number(1)))
    within = exp.Paren(this=exp.BitwiseAnd(this=_place(), expression=number((1 << _BITS) - 1)))
    for gap in list(found.value.find_all(exp.Placeholder)):
        gap.replace(exp.Paren(this=_sum(_sum(before, within), number(1))))
    return [named(found.value.this, one) if one == found.field else exp.column(identifier(one)) for one in found.fields]


def _place() -> exp.Expr:
    return exp.column(identifier(PLACE))


def _sum(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Add(this=left, expression=right)


def _big(value: exp.Expr) -> exp.Expr:
    return exp.cast(value, "BIGINT", copy=False)
