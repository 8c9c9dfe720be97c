"""PostgreSQL has only casts that raise an error for a value that does not fit. So we test before whether a number fits."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.build import all_of, number
from rulescore.sql.dialects.postgres.operands import of_operands, x
from rulescore.sql.dialects.rewriting import rewritten


def fit_casts(statement: exp.Expr) -> exp.Expr:
    return rewritten(statement, _fitting, exp.TryCast)


def _fitting(node: exp.Expr) -> exp.Expr:
    """A cast to a whole number, NULL if it has more than 64 bits; any other cast as it is."""
    assert isinstance(node, exp.TryCast)
    if not node.to.is_type(exp.DType.BIGINT):
        return exp.Cast(this=node.this, to=node.to)
    low, high = exp.Neg(this=number(2**63)), number(2**63)
    fits = all_of([exp.GTE(this=x(), expression=low), exp.LT(this=x(), expression=high)])
    return of_operands(exp.Case(ifs=[exp.If(this=fits, true=exp.Cast(this=x(), to=node.to))]), node.this)
