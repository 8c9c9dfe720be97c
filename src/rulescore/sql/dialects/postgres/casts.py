"""PostgreSQL has only casts that raise an error for a value that does not fit. So we test before whether a number fits."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.dialects.postgres.operands import of_operands, x
from rulescore.sql.dialects.rewriting import rewritten
from rulescore.sql.words import Sql, all_of, sql, when


def fit_casts(statement: exp.Expr) -> exp.Expr:
    return rewritten(statement, _fitting, exp.TryCast)


def _fitting(node: exp.Expr) -> Sql | exp.Expr:
    """A cast to a whole number, NULL if it has more than 64 bits; any other cast as it is."""
    assert isinstance(node, exp.TryCast)
    if not node.to.is_type(exp.DType.BIGINT):
        return exp.Cast(this=node.this, to=node.to)
    fits = all_of(x >= -sql(2**63), x < 2**63)
    return of_operands(when(fits, Sql(exp.Cast(this=x.node, to=node.to))), node.this)
