"""The passes for PostgreSQL: a module for each."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.expressions import is_of_doubles
from rulescore.sql.names import PREFIX


def concerns(node: exp.Expr) -> bool:
    """Whether any pass rewrites a node."""
    if isinstance(node, exp.Anonymous):
        return node.name.startswith(PREFIX)
    if isinstance(node, exp.Sum):
        return is_of_doubles(node)
    return isinstance(node, exp.TryCast | exp.Lower | exp.Upper | exp.ApproxDistinct)
