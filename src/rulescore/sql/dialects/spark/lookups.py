"""Answers of registered predicates, looked up by a membership in an uncorrelated query: Spark cannot plan a correlated query about
values that other queries find."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.dialects.rewriting import conjuncts, rewritten
from rulescore.sql.names import is_answers_table
from rulescore.sql.query import select


def look_up_answers(statement: exp.Expr) -> exp.Expr:
    return rewritten(statement, _membership, exp.Subquery)


def _membership(node: exp.Expr) -> exp.Expr | None:
    """The lookup of an answer as a test whether values are among those of a table; None for any other query."""
    query = node.this
    if not isinstance(query, exp.Select) or isinstance(node.parent, exp.From | exp.Join) or not _asks_for_answer(query):
        return None
    (answer,) = query.expressions
    conditions = conjuncts(query.args["where"].this)
    own, asked = [one.this for one in conditions], [one.expression for one in conditions]
    ways = [(answer, exp.true()), (exp.Not(this=answer.copy()), exp.false())]
    return exp.Case(ifs=[exp.If(this=_among(query, own, asked, one), true=value) for one, value in ways])


def _asks_for_answer(query: exp.Select) -> bool:
    source = query.args.get("from_")
    return source is not None and isinstance(source.this, exp.Table) and is_answers_table(source.this.name)


def _among(query: exp.Select, own: list[exp.Expr], asked: list[exp.Expr], only: exp.Expr) -> exp.Expr:
    known = [exp.Not(this=exp.Is(this=one.copy(), expression=exp.null())) for one in own]
    rows = select(*(one.copy() for one in own)).from_(query.args["from_"].this.copy()).where(*known, only.copy())
    values = [one.copy() for one in asked]
    left = values[0] if len(values) == 1 else exp.Tuple(expressions=values)
    return exp.In(this=left, query=rows.subquery())
