"""Small pieces that statements are made of. Identifiers are always quoted; every table of ours has the reserved prefix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

PREFIX = "__rulescore__"


def name(stem: str) -> str:
    return PREFIX + stem


def fact_table(arity: int) -> str:
    return name(f"fact_{arity}")


def candidate_table(arity: int) -> str:
    return name(f"candidate_{arity}")


def tuple_table(arity: int) -> str:
    return name(f"tuple_{arity}")


def argument(index: int) -> str:
    return f"a{index}"


def arguments(arity: int) -> list[str]:
    return [argument(i) for i in range(arity)]


def identifier(text: str) -> exp.Identifier:
    return exp.to_identifier(text, quoted=True)


def column(table: str, field: str) -> exp.Column:
    return exp.column(identifier(field), table=identifier(table))


def table(source: str, alias: str | None = None) -> exp.Table:
    found = exp.Table(this=identifier(source))
    if alias is not None:
        found.set("alias", exp.TableAlias(this=identifier(alias)))
    return found


def subquery(query: exp.Query, alias: str) -> exp.Subquery:
    return exp.Subquery(this=query, alias=exp.TableAlias(this=identifier(alias)))


def named(expression: exp.Expression, alias: str) -> exp.Expression:
    return exp.alias_(expression, identifier(alias), quoted=True)


def number(value: int) -> exp.Literal:
    return exp.Literal.number(value)


def equal(left: exp.Expression, right: exp.Expression) -> exp.Expression:
    return exp.EQ(this=left, expression=right)


def different(left: exp.Expression, right: exp.Expression) -> exp.Expression:
    return exp.NEQ(this=left, expression=right)


def all_of(conditions: Iterable[exp.Expression]) -> exp.Expression:
    found = list(conditions)
    return exp.and_(*found) if found else exp.true()


def any_of(conditions: Iterable[exp.Expression]) -> exp.Expression:
    found = list(conditions)
    return exp.or_(*found) if found else exp.false()


def negation(condition: exp.Expression) -> exp.Expression:
    return exp.Not(this=exp.Paren(this=condition))


def one_if(condition: exp.Expression) -> exp.Expression:
    return exp.Case(ifs=[exp.If(this=condition, true=number(1))], default=number(0))


def count_rows() -> exp.Expression:
    return exp.Count(this=exp.Star())


def total(expression: exp.Expression) -> exp.Expression:
    return exp.Sum(this=expression)


def product(left: exp.Expression, right: exp.Expression) -> exp.Expression:
    return exp.Mul(this=left, expression=right)


def integer(expression: exp.Expression) -> exp.Expression:
    return exp.cast(expression, "INT")


def big(expression: exp.Expression) -> exp.Expression:
    return exp.cast(expression, "BIGINT")


def union_all(queries: Sequence[exp.Query]) -> exp.Query:
    """All rows of all queries; a balanced tree, since deep ones exhaust the printer's stack."""
    if len(queries) == 1:
        return queries[0]
    middle = len(queries) // 2
    return exp.union(union_all(queries[:middle]), union_all(queries[middle:]), distinct=False)


def create(table_name: str, query: exp.Query) -> exp.Create:
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    return exp.Create(this=table(table_name), kind="TABLE", properties=temporary, expression=query)


def drop(table_name: str) -> exp.Drop:
    return exp.Drop(tables=[table(table_name)], kind="TABLE", exists=True)


def exists(query: exp.Query) -> exp.Expression:
    return exp.Exists(this=query)
