"""Values that are computed once and mentioned often."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.query import alias, select
from rulescore.sql.words import Sql

x, y = alias("d").x, alias("d").y


def of_operands(value: Sql, *operands: exp.Expr) -> Sql:
    """A value of `x` and `y`, which are computed once: the fence keeps the planner from copying them to every mention."""
    inner = select(**dict(zip("xy", operands, strict=False))).offset(0)
    return select(value).from_(inner.as_("d")).value()
