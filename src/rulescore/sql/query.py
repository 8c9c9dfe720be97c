"""Builds statements in code that reads like SQL: `y = row(RANK, y)`, then `select(p.a0, y.rank).from_(p).join(y, y.a0 == p.a1)`.
Also makes statements readable.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal, overload

import pyarrow as pa
from sqlglot import exp

from rulescore.logic.formula import Relation
from rulescore.sql.names import PREFIX, arguments, fact_table
from rulescore.sql.words import Field, Operand, Sql, all_of, column, connected, count_rows, identifier, node, sql


class Row:
    """Any row of what a query reads, under the name that it has there. `y.rank` is a column, `y[fields]` has several."""

    __slots__ = ("_alias", "_source")
    __iter__ = None

    def __init__(self, alias: str, source: exp.Expr) -> None:
        self._alias, self._source = alias, source

    def __getattr__(self, field: str) -> Sql:
        if field[0] == "_":  # Python asks for these
            raise AttributeError(field)
        return Sql(column(self._alias, field))

    @overload
    def __getitem__(self, field: str) -> Sql: ...  # type: ignore[overload-overlap]  # a text is never a list of fields

    @overload
    def __getitem__(self, field: Sequence[str]) -> list[Sql]: ...

    def __getitem__(self, field: str | Sequence[str]) -> Sql | list[Sql]:
        if isinstance(field, str):
            return Sql(column(self._alias, field))
        return [Sql(column(self._alias, name)) for name in field]


def row(source: str, alias: str) -> Row:
    """A row of a table, or of a step."""
    return Row(alias, exp.Table(this=identifier(source), alias=exp.TableAlias(this=identifier(alias))))


def name_of(row: Row) -> str:
    return row._alias


def alias(name: str) -> Row:
    """A row that another part of the statement reads under this name."""
    return row(name, name)


def stored_row(path: Sequence[str], alias: str) -> Row:
    """A row of a user's table by the parts of its name."""
    parts = dict(zip(("this", "db", "catalog"), map(identifier, reversed(path)), strict=False))
    return Row(alias, exp.Table(**parts, alias=exp.TableAlias(this=identifier(alias))))


def same(left: Row, right: Row, fields: Iterable[str]) -> list[Sql]:
    """Two rows have the same values in some fields."""
    return [left[field] == right[field] for field in fields]


class Query(ABC):
    """A query in the making, which gives trees. Nothing changes a tree, so trees may share parts."""

    __slots__ = ()

    @abstractmethod
    def tree(self) -> exp.Query:
        """The query in the form that the printer needs."""

    def subquery(self, alias: str | None = None) -> exp.Subquery:
        return exp.Subquery(this=self.tree(), alias=None if alias is None else _bare(alias))

    def as_(self, alias: str) -> Row:
        """A row of the query as part of another."""
        return Row(alias, self.subquery(alias))

    def value(self) -> Sql:
        """The only value of the query."""
        return Sql(self.subquery())


Statement = exp.Expr | Query
Create = exp.Create


@dataclass(frozen=True, slots=True)
class Select(Query):
    """A select. Each method gives a new one that shares its parts with this one; the library's own copy all parts, which takes
    longer than running the statement (0018).

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

    def select(self, /, *fields: Field, **named: Operand) -> Select:
        """Further fields, those with new names last."""
        plain = (exp.Star() if isinstance(field, str) else node(field) for field in fields)
        renamed = (exp.Alias(this=node(value), alias=identifier(alias)) for alias, value in named.items())
        return replace(self, fields=(*self.fields, *plain, *renamed))

    def from_(self, source: Row | exp.Expr) -> Select:
        return replace(self, source=_source(source))

    def join(
        self, source: Row | exp.Expr, *conditions: Sql, on: Operand | None = None, join_type: Literal["left"] | None = None
    ) -> Select:
        how = {} if join_type is None else {"side": join_type.upper()}
        met = all_of(*conditions).node if on is None else node(on)
        return replace(self, joins=(*self.joins, exp.Join(this=_source(source), on=met, **how)))

    def left_join(self, source: Row, *conditions: Sql) -> Select:
        return self.join(source, *conditions, join_type="left")

    def cross_join(self, source: Row) -> Select:
        return replace(self, joins=(*self.joins, exp.Join(this=_source(source), kind="CROSS")))

    def where(self, *conditions: Sql | exp.Expr) -> Select:
        if not conditions:
            return self
        joined = conditions if self.condition is None else (self.condition, *conditions)
        return replace(self, condition=connected(exp.And, joined))

    def group_by(self, *groups: Sql | exp.Expr) -> Select:
        return replace(self, groups=(*self.groups, *map(node, groups)))

    def having(self, condition: Sql | exp.Expr) -> Select:
        return replace(self, group_condition=node(condition))

    def order_by(self, *order: Sql | exp.Expr) -> Select:
        return replace(self, order=(*self.order, *map(node, order)))

    def distinct(self) -> Select:
        return replace(self, is_distinct=True)

    def limit(self, rows: int) -> Select:
        return replace(self, most_rows=rows)

    def offset(self, rows: int) -> Select:
        return replace(self, rows_skipped=rows)

    def with_step(self, alias: str, query: Query) -> Select:
        """A named step that the engine computes once, even against its optimiser, because steps are small and the optimiser often
        errs."""
        return replace(self, steps=(*self.steps, exp.CTE(this=query.tree(), alias=_bare(alias), materialized=True)))

    def with_named(self, alias: str, query: Query) -> Select:
        """A step that has a name for the reader. The optimiser may merge the step with the query that reads it."""
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
            "limit": None if self.most_rows is None else exp.Limit(expression=node(self.most_rows)),
            "offset": None if self.rows_skipped is None else exp.Offset(expression=node(self.rows_skipped)),
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


TitledStatement = tuple[str, Select]
"""What a statement counts, in words, and the statement."""


def _source(source: Row | exp.Expr) -> exp.Expr:
    return source._source if isinstance(source, Row) else source


def _bare(alias: str) -> exp.TableAlias:
    """The name of a step or of rows. It is one of our own names, so it needs no quotes."""
    return exp.TableAlias(this=exp.Identifier(this=alias, quoted=False))


def select(*fields: Field, **named: Operand) -> Select:
    return Select().select(*fields, **named)


def union_all(queries: Sequence[Query]) -> Query:
    """All rows of all queries; a balanced tree, since deep ones exhaust the printer's stack."""
    if len(queries) == 1:
        return queries[0]
    middle = len(queries) // 2
    return Union(union_all(queries[:middle]), union_all(queries[middle:]), is_distinct=False)


def union_distinct(queries: Sequence[Query]) -> Query:
    """Each row of all queries once."""
    return reduce(lambda left, right: Union(left, right, is_distinct=True), queries)


def exists(source: Query | Row, *conditions: Sql) -> Sql:
    """A condition: a query has rows, or a table has a row that meets conditions."""
    query = source if isinstance(source, Query) else select(1).from_(source).where(*conditions)
    return Sql(exp.Exists(this=query.tree()))


def no_row(source: Query | Row, *conditions: Sql) -> Sql:
    return Sql(exp.Not(this=exists(source, *conditions).node))


def create(table_name: str, query: Statement) -> exp.Create:
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    return exp.Create(this=_table(table_name), kind="TABLE", properties=temporary, expression=tree(query))


def view(view_name: str, query: Query) -> exp.Create:
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    return exp.Create(this=_table(view_name), kind="VIEW", replace=True, properties=temporary, expression=query.tree())


def insert(table_name: str, query: Query) -> exp.Insert:
    return exp.Insert(this=_table(table_name), expression=query.tree())


def drop(table_name: str) -> exp.Drop:
    return exp.Drop(tables=[_table(table_name)], kind="TABLE", exists=True)


def commit() -> Statement:
    return exp.Commit()


def _table(table_name: str) -> exp.Table:
    return exp.Table(this=identifier(table_name))


def every_row(table_name: str) -> Select:
    return select("*").from_(_table(table_name))


def tables_read(statement: Statement) -> set[str]:
    """The names of the tables and steps that a statement reads."""
    return {table.name for table in tree(statement).find_all(exp.Table)}


def tree(statement: Statement) -> exp.Expr:
    return statement.tree() if isinstance(statement, Query) else statement


def text(statement: Statement, dialect: str, *, pretty: bool = False) -> str:
    """A statement in a dialect, word for word."""
    return tree(statement).sql(dialect=dialect, pretty=pretty, copy=False)


def relation_sizes(arity: int) -> Select:
    """Facts per literal and, nearly, how many different constants each of its positions holds: an exact count for 16 million facts
    takes 4.5 s, too long for an estimate."""
    f = row(fact_table(arity), "f")
    spreads = {name: exp.ApproxDistinct(this=f[name].node) for name in arguments(arity)}
    return select(f.literal, n=count_rows(), **spreads).from_(f).group_by(f.literal)


def stored_size(relation: Relation) -> Select:
    """The sizes of a relation with typed columns, in the same form."""
    r = row(relation.observed, "r")
    spreads = {f"a{i}": exp.ApproxDistinct(this=r[c.column].node) for i, c in enumerate(relation.columns.values())}
    return select(n=count_rows(), **spreads).from_(r)


def alone(statement: Select, parameters: Mapping[str, pa.Table], names: Mapping[int, str]) -> exp.Expr:
    """A statement with its parameter tables written in as common table expressions, each literal with its name in a comment."""
    short = {full: full.removeprefix(PREFIX).rsplit("_", 1)[0] for full in parameters}
    if len(set(short.values())) < len(short):
        short = {full: full.removeprefix(PREFIX) for full in parameters}
    written = [
        exp.CTE(this=_parameter_rows(rows, names).tree(), alias=exp.TableAlias(this=identifier(f"rule_{short[full]}")))
        for full, rows in parameters.items()
    ]
    statement_tree = replace(statement, steps=(*written, *statement.steps)).tree().copy()
    for table in statement_tree.find_all(exp.Table):
        if table.name in short:
            table.set("this", identifier(f"rule_{short[table.name]}"))
    return statement_tree


def _parameter_rows(rows: pa.Table, names: Mapping[int, str]) -> Query:
    return union_all([select(*(_value(field, value, names) for field, value in row.items())) for row in rows.to_pylist()])


def _value(field: str, value: int, names: Mapping[int, str]) -> Sql:
    literal = sql(value)
    if field[0] == "l" and value in names:
        literal.node.add_comments([names[value].replace("*/", "* /")])
    return literal.named(field)
