"""Counts added up in 128 bits, which is slower, for statements in which 64 bits overflowed."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.dialects.rewriting import innermost_first
from rulescore.sql.expressions import is_of_doubles

_WIDE = "DECIMAL(38, 0)"


def widen_sums(statement: exp.Expr) -> exp.Expr:
    for node in innermost_first(statement, exp.Sum):
        if is_of_doubles(node):
            continue
        factor = node.this.this if isinstance(node.this, exp.Mul) else node.this
        factor.replace(exp.cast(factor.copy(), _WIDE, copy=False))
    return statement
