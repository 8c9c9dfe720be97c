"""The pass for DuckDB: it halves the time of ordered lists."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.dialects.rewriting import rewritten


def is_ordered_list(node: exp.Expr) -> bool:
    return isinstance(node, exp.ArrayAgg) and isinstance(node.this, exp.Order)


def sort_made_lists(statement: exp.Expr) -> exp.Expr:
    """Sorts lists after they are made, instead of making them in order."""
    return rewritten(statement, _sorted, exp.ArrayAgg)


def _sorted(node: exp.Expr) -> exp.Expr | None:
    if not is_ordered_list(node):
        return None
    return exp.Anonymous(this="LIST_SORT", expressions=[exp.ArrayAgg(this=node.this.this)])
