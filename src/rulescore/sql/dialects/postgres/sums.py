"""In PostgreSQL an infinite sum of doubles is an error, so we need not test whether a sum is infinite."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.dialects.rewriting import rewritten
from rulescore.sql.expressions import plain_sum


def keep_plain_sums(statement: exp.Expr) -> exp.Expr:
    return rewritten(statement, _plain, exp.Case)


def _plain(node: exp.Expr) -> exp.Expr | None:
    assert isinstance(node, exp.Case)
    return plain_sum(node)
