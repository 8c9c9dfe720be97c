"""Words for the statements of wedges and chains, which do not yet use the rows of `query`. They make nodes of sqlglot."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from rulescore.sql import words
from rulescore.sql.names import candidate_table, fact_table, name, tuple_table
from rulescore.sql.query import Query, Select, create, select, union_all
from rulescore.sql.words import Operand, Sql, identifier, node

__all__ = [
    "Query",
    "Select",
    "candidate_table",
    "create",
    "fact_table",
    "name",
    "select",
    "tuple_table",
    "union_all",
]


def column(table: str, field: str) -> exp.Column:
    return exp.Column(this=identifier(field), table=identifier(table))


def table(source: str, alias: str | None = None) -> exp.Table:
    return exp.Table(this=identifier(source), alias=None if alias is None else exp.TableAlias(this=identifier(alias)))


def named(expression: Operand, alias: str) -> exp.Expr:
    return exp.Alias(this=node(expression), alias=identifier(alias))


def number(value: int) -> exp.Expr:
    return exp.Literal.number(value)


def equal(left: Operand, right: Operand) -> exp.Expr:
    return exp.EQ(this=node(left), expression=node(right))


def different(left: Operand, right: Operand) -> exp.Expr:
    return exp.NEQ(this=node(left), expression=node(right))


def all_of(conditions: Iterable[Sql | exp.Expr]) -> exp.Expr:
    return words.all_of(*map(words.sql, conditions)).node


def any_of(conditions: Iterable[Sql | exp.Expr]) -> exp.Expr:
    return words.any_of(*map(words.sql, conditions)).node


def negation(condition: Operand) -> exp.Expr:
    return exp.Not(this=exp.Paren(this=node(condition)))


def one_if(condition: Operand) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=node(condition), true=number(1))], default=number(0))


def count_rows() -> exp.Expr:
    return exp.Count(this=exp.Star())


def total(expression: Operand) -> exp.Expr:
    return exp.Sum(this=node(expression))


def product(left: Operand, right: Operand) -> exp.Expr:
    return exp.Mul(this=node(left), expression=node(right))


def cast(expression: Operand, kind: str) -> exp.Expr:
    return words.sql(expression).cast(kind).node


def integer(expression: Operand) -> exp.Expr:
    return cast(expression, "INT")


def big(expression: Operand) -> exp.Expr:
    return cast(expression, "BIGINT")


def exists(found: Query) -> exp.Expr:
    return exp.Exists(this=found.tree())
