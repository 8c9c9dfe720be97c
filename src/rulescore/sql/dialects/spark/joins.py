"""Spark allows no subqueries in the conditions of joins: for inner joins we move such conditions into WHERE."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.dialects.rewriting import conjuncts, nodes
from rulescore.sql.words import Sql, all_of


def ask_after_joins(statement: exp.Expr) -> exp.Expr:
    for join in nodes(statement):
        condition = join.args.get("on")
        if not isinstance(join, exp.Join) or condition is None or join.side or not condition.find(exp.Subquery, exp.Exists):
            continue
        parts = conjuncts(condition)
        later = [part for part in parts if part.find(exp.Subquery, exp.Exists)]
        join.set("on", all_of(*(Sql(part) for part in parts if part not in later)).node.copy())
        query = join.parent
        assert isinstance(query, exp.Select)
        query.where(*later, copy=False)
    return statement
