"""Values that are computed once and mentioned often."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.build import column, named, select

_X, _Y = "x", "y"


def of_operands(value: exp.Expr, *operands: exp.Expr) -> exp.Expr:
    """A value of `x` and `y`, which are computed once: the fence keeps the planner from copying them to every mention."""
    names = (_X, _Y)[: len(operands)]
    inner = select(*(named(one, name) for one, name in zip(operands, names, strict=True))).offset(0)
    return select(value).from_(inner.subquery("d")).subquery()


def x() -> exp.Expr:
    return column("d", _X)


def y() -> exp.Expr:
    return column("d", _Y)


def cases(ways: list[tuple[exp.Expr, exp.Expr]], default: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition, true=value) for condition, value in ways], default=default)
