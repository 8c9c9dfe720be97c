"""The words of statements that are not yet written with the rows of `query`. They make nodes of sqlglot."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from rulescore.sql import expressions, keys, values, words
from rulescore.sql.names import PREFIX as PREFIX
from rulescore.sql.names import answers_table as answers_table
from rulescore.sql.names import argument as argument
from rulescore.sql.names import arguments as arguments
from rulescore.sql.names import candidate_table as candidate_table
from rulescore.sql.names import fact_table as fact_table
from rulescore.sql.names import is_answers_table as is_answers_table
from rulescore.sql.names import name as name
from rulescore.sql.names import tuple_table as tuple_table
from rulescore.sql.query import Create as Create
from rulescore.sql.query import Query as Query
from rulescore.sql.query import Select as Select
from rulescore.sql.query import Statement as Statement
from rulescore.sql.query import commit as commit
from rulescore.sql.query import create as create
from rulescore.sql.query import drop as drop
from rulescore.sql.query import every_row as every_row
from rulescore.sql.query import select as select
from rulescore.sql.query import stored_row as stored_row
from rulescore.sql.query import tables_read as tables_read
from rulescore.sql.query import text as text
from rulescore.sql.query import tree as tree
from rulescore.sql.query import union_all as union_all
from rulescore.sql.query import union_distinct as union_distinct
from rulescore.sql.query import view as view
from rulescore.sql.words import Operand as Operand
from rulescore.sql.words import Sql as Sql
from rulescore.sql.words import identifier as identifier
from rulescore.sql.words import node as node


def column(table: str, field: str) -> exp.Column:
    return exp.Column(this=identifier(field), table=identifier(table))


def table(source: str, alias: str | None = None) -> exp.Table:
    return exp.Table(this=identifier(source), alias=None if alias is None else exp.TableAlias(this=identifier(alias)))


def stored_table(path: Iterable[str], alias: str) -> exp.Expr:
    return stored_row(list(path), alias)._source


def named(expression: Operand, alias: str) -> exp.Expr:
    return exp.Alias(this=node(expression), alias=identifier(alias))


def string(value: str) -> exp.Expr:
    return exp.Literal.string(value)


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


def call(function: str, *arguments: Operand) -> exp.Expr:
    return words.call(function, *arguments).node


def constant(value: object) -> exp.Expr:
    return values.constant(value).node


def infinity() -> exp.Expr:
    return expressions.infinity().node


def scaled_sum(value: exp.Expr) -> exp.Expr:
    return expressions.scaled_sum(Sql(value)).node.copy()


def written(value: exp.Expr) -> exp.Expr:
    return keys.text(Sql(value)).node
