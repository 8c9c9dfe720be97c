"""PostgreSQL has no function that nearly counts different values: it counts them."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.dialects.rewriting import rewritten


def count_exactly(statement: exp.Expr) -> exp.Expr:
    return rewritten(statement, _exact, exp.ApproxDistinct)


def _exact(node: exp.Expr) -> exp.Expr:
    return exp.Count(this=exp.Distinct(expressions=[node.this.copy()]))
