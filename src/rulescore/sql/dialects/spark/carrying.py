"""In Spark, a subquery in the condition of another subquery cannot read columns of the outermost query. So we add those columns to
the rows of the subquery between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from sqlglot import exp

from rulescore.sql.dialects.rewriting import nodes
from rulescore.sql.names import name
from rulescore.sql.query import select
from rulescore.sql.words import identifier


def carry_outer_columns(statement: exp.Expr) -> exp.Expr:
    numbers = count()
    while True:
        found: dict[int, tuple[exp.Select, list[exp.Column]]] = {}
        for one in nodes(statement):
            if isinstance(one, exp.Column) and len(crossed := _crossed(one)) > 1:
                asking = crossed[0].find_ancestor(exp.Select)
                assert asking is not None
                found.setdefault(id(asking), (asking, []))[1].append(one)
        if not found:
            return statement
        for asking, columns in found.values():
            _bring_along(asking, columns, numbers)


def _bring_along(query: exp.Select, columns: Sequence[exp.Column], numbers: Iterator[int]) -> None:
    """Add columns of an outer query to the first rows that a query reads, and let its subqueries read them there."""
    rows = query.args["from_"].this
    alias = rows.alias_or_name
    fields = {one.sql(): one for one in columns}
    names = {text: name(f"outer_{next(numbers)}") for text in fields}
    wider = select("*", **{names[text]: one.copy() for text, one in fields.items()}).from_(rows.copy())
    rows.replace(wider.subquery(alias))
    for one in columns:
        one.replace(exp.Column(this=identifier(names[one.sql()]), table=identifier(alias)))


def _crossed(one: exp.Column) -> list[exp.Expr]:
    """The subqueries in conditions that lie between a column and the query that reads its table, innermost first."""
    found: list[exp.Expr] = []
    node = one.parent
    while node is not None:
        if isinstance(node, exp.Select) and one.table in _read_by(node):
            return found
        if isinstance(node, exp.Exists | exp.Subquery) and not isinstance(node.parent, exp.From | exp.Join):
            found.append(node)
        node = node.parent
    return []


def _read_by(query: exp.Select) -> set[str]:
    joins = query.args.get("joins") or []
    first = query.args.get("from_")
    return {one.this.alias_or_name for one in ([first, *joins] if first is not None else joins)}
