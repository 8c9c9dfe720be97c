"""Small pieces that statements are made of. Identifiers are always quoted; every table of ours has the reserved prefix."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, reduce
from typing import Literal

from sqlglot import exp

PREFIX = "__rulescore__"
_ANSWERS = f"{PREFIX}answers_"


class Query(ABC):
    """A query that we are writing, from which we make trees. Nothing changes a tree, so trees may share parts."""

    __slots__ = ()

    @abstractmethod
    def tree(self) -> exp.Query:
        """The query as the printer takes it."""

    def subquery(self, alias: str | None = None) -> exp.Subquery:
        return exp.Subquery(this=self.tree(), alias=None if alias is None else _bare(alias))


Statement = exp.Expr | Query
Create = exp.Create


@dataclass(frozen=True, slots=True)
class Select(Query):
    """A select. Each method gives a new one that shares its parts with this one; the library's own copy all parts, which takes
    longer than running the statement.

    `as_written`: the engine must run its joins in the order written: the optimiser's choice is now and then ten times slower."""

    fields: tuple[exp.Expr, ...] = ()
    source: exp.Expr | None = None
    joins: tuple[exp.Join, ...] = ()
    condition: exp.Expr | None = None
    groups: tuple[exp.Expr, ...] = ()
    group_condition: exp.Expr | None = None
    order: tuple[exp.Expr, ...] = ()
    steps: tuple[exp.CTE, ...] = ()
    is_distinct: bool = False
    most_rows: int | None = None
    rows_skipped: int | None = None
    as_written: bool = False

    def select(self, *fields: exp.Expr | Literal["*"]) -> Select:
        return replace(self, fields=(*self.fields, *(exp.Star() if one == "*" else one for one in fields)))

    def from_(self, source: exp.Expr) -> Select:
        return replace(self, source=source)

    def join(self, source: exp.Expr, on: exp.Expr | None = None, join_type: Literal["left", "cross"] | None = None) -> Select:
        how = {} if join_type is None else {"kind" if join_type == "cross" else "side": join_type.upper()}
        return replace(self, joins=(*self.joins, exp.Join(this=source, on=on, **how)))

    def where(self, *conditions: exp.Expr) -> Select:
        if not conditions:
            return self
        return replace(self, condition=all_of(conditions if self.condition is None else (self.condition, *conditions)))

    def group_by(self, *groups: exp.Expr) -> Select:
        return replace(self, groups=(*self.groups, *groups))

    def having(self, condition: exp.Expr) -> Select:
        return replace(self, group_condition=condition)

    def order_by(self, *order: exp.Expr) -> Select:
        return replace(self, order=(*self.order, *order))

    def distinct(self) -> Select:
        return replace(self, is_distinct=True)

    def limit(self, rows: int) -> Select:
        return replace(self, most_rows=rows)

    def offset(self, rows: int) -> Select:
        return replace(self, rows_skipped=rows)

    def with_step(self, alias: str, query: Query) -> Select:
        """A named step that the engine computes once, whatever its optimiser prefers: steps are small, and it often errs."""
        return replace(self, steps=(*self.steps, exp.CTE(this=query.tree(), alias=_bare(alias), materialized=True)))

    def with_named(self, alias: str, query: Query) -> Select:
        """A step that has a name for the reader. The optimiser may merge it with what reads it."""
        return replace(self, steps=(*self.steps, exp.CTE(this=query.tree(), alias=_bare(alias))))

    def keeping_order(self) -> Select:
        return replace(self, as_written=True)

    def tree(self) -> exp.Select:
        parts = {
            "with_": exp.With(expressions=list(self.steps)) if self.steps else None,
            "expressions": list(self.fields),
            "distinct": exp.Distinct() if self.is_distinct else None,
            "from_": None if self.source is None else exp.From(this=self.source),
            "joins": list(self.joins),
            "where": None if self.condition is None else exp.Where(this=self.condition),
            "group": exp.Group(expressions=list(self.groups)) if self.groups else None,
            "having": None if self.group_condition is None else exp.Having(this=self.group_condition),
            "order": exp.Order(expressions=list(self.order)) if self.order else None,
            "limit": None if self.most_rows is None else exp.Limit(expression=number(self.most_rows)),
            "offset": None if self.rows_skipped is None else exp.Offset(expression=number(self.rows_skipped)),
        }
        return exp.Select(**{part: value for part, value in parts.items() if value})


@dataclass(frozen=True, slots=True)
class Union(Query):
    """All rows of two queries, or each row once."""

    left: Query
    right: Query
    is_distinct: bool

    def tree(self) -> exp.Union:
        return exp.Union(this=self.left.tree(), expression=self.right.tree(), distinct=self.is_distinct)


def select(*fields: exp.Expr | Literal["*"]) -> Select:
    return Select().select(*fields)


def tree(statement: Statement) -> exp.Expr:
    return statement.tree() if isinstance(statement, Query) else statement


def text(statement: Statement, dialect: str, *, pretty: bool = False) -> str:
    """A statement in a dialect, word for word."""
    return tree(statement).sql(dialect=dialect, pretty=pretty, copy=False)


def name(stem: str) -> str:
    return PREFIX + stem


def fact_table(arity: int) -> str:
    return name(f"fact_{arity}")


def candidate_table(arity: int) -> str:
    return name(f"candidate_{arity}")


def tuple_table(arity: int) -> str:
    return name(f"tuple_{arity}")


def answers_table(number_of: int) -> str:
    """The table of a registered predicate's answers."""
    return f"{_ANSWERS}{number_of}"


def is_answers_table(table_name: str) -> bool:
    return table_name.startswith(_ANSWERS)


def argument(index: int) -> str:
    return f"a{index}"


def arguments(arity: int) -> list[str]:
    return [argument(i) for i in range(arity)]


def identifier(text: str) -> exp.Identifier:
    return exp.Identifier(this=text, quoted=True)


def _bare(alias: str) -> exp.TableAlias:
    """The name of a step or of rows. It is one of ours, and so needs no quotes."""
    return exp.TableAlias(this=exp.Identifier(this=alias, quoted=False))


def column(table: str, field: str) -> exp.Column:
    # The library's own function copies both names, and every statement has hundreds of columns.
    return exp.Column(this=identifier(field), table=identifier(table))


def table(source: str, alias: str | None = None) -> exp.Table:
    return exp.Table(this=identifier(source), alias=None if alias is None else exp.TableAlias(this=identifier(alias)))


def named(expression: exp.Expr, alias: str) -> exp.Expr:
    return exp.Alias(this=expression, alias=identifier(alias))


def string(value: str) -> exp.Expr:
    return exp.Literal.string(value)


def number(value: int) -> exp.Expr:
    return exp.Literal.number(value)


def equal(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.EQ(this=left, expression=right)


def different(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.NEQ(this=left, expression=right)


def all_of(conditions: Iterable[exp.Expr]) -> exp.Expr:
    return _connected(exp.And, list(conditions)) or exp.true()


def any_of(conditions: Iterable[exp.Expr]) -> exp.Expr:
    return _connected(exp.Or, list(conditions)) or exp.false()


def _connected(kind: type[exp.Connector], conditions: list[exp.Expr]) -> exp.Expr | None:
    """Conditions joined by AND or OR. A condition that is itself such a connection gets parentheses."""
    if len(conditions) > 1:
        conditions = [exp.Paren(this=one) if isinstance(one, exp.Connector) else one for one in conditions]
    return reduce(lambda left, right: kind(this=left, expression=right), conditions) if conditions else None


def negation(condition: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Paren(this=condition))


def one_if(condition: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition, true=number(1))], default=number(0))


def count_rows() -> exp.Expr:
    return exp.Count(this=exp.Star())


def total(expression: exp.Expr) -> exp.Expr:
    return exp.Sum(this=expression)


def product(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Mul(this=left, expression=right)


def cast(expression: exp.Expr, kind: str) -> exp.Expr:
    return exp.cast(expression, _data_type(kind), copy=False)


@cache
def _data_type(kind: str) -> exp.DataType:
    return exp.DataType.build(kind)  # which parses the word


def integer(expression: exp.Expr) -> exp.Expr:
    return cast(expression, "INT")


def big(expression: exp.Expr) -> exp.Expr:
    return cast(expression, "BIGINT")


def union_all(queries: Sequence[Query]) -> Query:
    """All rows of all queries; a balanced tree, since deep ones exhaust the printer's stack."""
    if len(queries) == 1:
        return queries[0]
    middle = len(queries) // 2
    return Union(union_all(queries[:middle]), union_all(queries[middle:]), is_distinct=False)


def union_distinct(queries: Sequence[Query]) -> Query:
    """Each row of all queries once."""
    return reduce(lambda left, right: Union(left, right, is_distinct=True), queries)


def create(table_name: str, query: Statement) -> exp.Create:
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    return exp.Create(this=table(table_name), kind="TABLE", properties=temporary, expression=tree(query))


def view(name: str, query: Query) -> exp.Create:
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    return exp.Create(
        this=exp.Table(this=identifier(name)), kind="VIEW", replace=True, properties=temporary, expression=query.tree()
    )


def stored_table(path: Sequence[str], alias: str) -> exp.Table:
    """A user's table by the parts of its name."""
    parts = dict(zip(("this", "db", "catalog"), map(identifier, reversed(path)), strict=False))
    return exp.Table(**parts, alias=exp.TableAlias(this=identifier(alias)))


def every_row(table_name: str) -> Select:
    return select("*").from_(table(table_name))


def tables_read(statement: Statement) -> set[str]:
    """The names of the tables and steps that a statement reads."""
    return {one.name for one in tree(statement).find_all(exp.Table)}


def commit() -> Statement:
    return exp.Commit()


def drop(table_name: str) -> exp.Drop:
    return exp.Drop(tables=[table(table_name)], kind="TABLE", exists=True)


def exists(query: Query) -> exp.Expr:
    return exp.Exists(this=query.tree())
