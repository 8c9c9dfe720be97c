"""Small pieces that statements are made of. Identifiers are always quoted; every table of ours has the reserved prefix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from sqlglot import exp

PREFIX = "__rulescore__"


class Select(exp.Select):
    """A select whose builders change it in place. The library's own copy the whole tree at every step, which takes longer than
    running the statement. `text` turns them into the library's own class before printing, which looks classes up by identity."""

    __slots__ = ()
    key = "select"

    def __new__(cls, **_: Any) -> Select:
        # Where the library is compiled (`sqlglot[c]`), nothing makes one of a class that is not, but one can become it.
        made = exp.Select.__new__(exp.Select)
        made.__class__ = cls
        return cast(Select, made)

    def select(self, *expressions: Any, **options: Any) -> Select:
        return cast(Select, super().select(*expressions, **{"copy": False, **options}))

    def from_(self, *expressions: Any, **options: Any) -> Select:
        return cast(Select, super().from_(*expressions, **{"copy": False, **options}))

    def join(self, *expressions: Any, join_type: str | None = None, **options: Any) -> Select:
        found = cast(Select, super().join(*expressions, **{"copy": False, **options}))
        if join_type is not None:  # which the library would parse every time
            found.args["joins"][-1].set("kind" if join_type == "cross" else "side", join_type.upper())
        return found

    def where(self, *expressions: Any, **options: Any) -> Select:
        return super().where(*expressions, **{"copy": False, **options}) if expressions else self

    def group_by(self, *expressions: Any, **options: Any) -> Select:
        return cast(Select, super().group_by(*expressions, **{"copy": False, **options}))

    def order_by(self, *expressions: Any, **options: Any) -> Select:
        return super().order_by(*expressions, **{"copy": False, **options})

    def distinct(self, *expressions: Any, **options: Any) -> Select:
        return cast(Select, super().distinct(*expressions, **{"copy": False, **options}))

    def limit(self, *expressions: Any, **options: Any) -> Select:
        return super().limit(*expressions, **{"copy": False, **options})

    def with_(self, *expressions: Any, **options: Any) -> Select:
        return super().with_(*expressions, **{"copy": False, **options})

    def with_step(self, alias: str, query: exp.Query) -> Select:
        """A named step that is computed once, whatever the optimiser thinks of it: steps are small, and it often thinks wrong."""
        return self.with_(alias, as_=query, materialized=True)


def keeping_order(query: Select) -> Select:
    """Mark a query whose joins are to run in the order written: the optimiser's choice for it is now and then ten times slower."""
    query.meta["as_written"] = True
    return query


def keeps_order(query: Select) -> bool:
    return bool(query.meta.get("as_written"))


def of_the_user(query: Select) -> Select:
    """Mark a query that has SQL of the user's in it, which may call any function."""
    query.meta["of_the_user"] = True
    return query


def is_of_the_user(query: exp.Expr) -> bool:
    return bool(query.meta.get("of_the_user"))


def select(*expressions: Any) -> Select:
    return Select().select(*expressions) if expressions else Select()


def text(statement: exp.Expr, dialect: str, *, pretty: bool = False) -> str:
    """A statement as the engine reads it."""
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        if node.__class__ is Select:
            node.__class__ = exp.Select  # type: ignore[assignment]  # the same layout: see Select
        waiting.extend(node.iter_expressions())
    return statement.sql(dialect=dialect, pretty=pretty, copy=False)


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
    # The library's own function copies both names, and every statement has hundreds of columns.
    return exp.Column(this=identifier(field), table=identifier(table))


def table(source: str, alias: str | None = None) -> exp.Table:
    found = exp.Table(this=identifier(source))
    if alias is not None:
        found.set("alias", exp.TableAlias(this=identifier(alias)))
    return found


def named(expression: exp.Expr, alias: str) -> exp.Expr:
    return exp.alias_(expression, identifier(alias), quoted=True, copy=False)


def number(value: int) -> exp.Expr:
    return exp.Literal.number(value)


def equal(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.EQ(this=left, expression=right)


def different(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.NEQ(this=left, expression=right)


def all_of(conditions: Iterable[exp.Expr]) -> exp.Expr:
    found = list(conditions)
    return exp.and_(*found, copy=False) if found else exp.true()


def any_of(conditions: Iterable[exp.Expr]) -> exp.Expr:
    found = list(conditions)
    return exp.or_(*found, copy=False) if found else exp.false()


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


def integer(expression: exp.Expr) -> exp.Expr:
    return exp.cast(expression, "INT", copy=False)


def big(expression: exp.Expr) -> exp.Expr:
    return exp.cast(expression, "BIGINT", copy=False)


def union_all(queries: Sequence[exp.Query]) -> exp.Query:
    """All rows of all queries; a balanced tree, since deep ones exhaust the printer's stack."""
    if len(queries) == 1:
        return queries[0]
    middle = len(queries) // 2
    return exp.union(union_all(queries[:middle]), union_all(queries[middle:]), distinct=False, copy=False)


def create(table_name: str, query: exp.Query) -> exp.Create:
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    return exp.Create(this=table(table_name), kind="TABLE", properties=temporary, expression=query)


def view(name: str, query: exp.Query) -> exp.Create:
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    return exp.Create(this=exp.Table(this=identifier(name)), kind="VIEW", replace=True, properties=temporary, expression=query)


def stored_table(path: Sequence[str], alias: str) -> exp.Table:
    """A table of the user's by the parts of its name."""
    parts = dict(zip(("this", "db", "catalog"), map(identifier, reversed(path)), strict=False))
    return exp.Table(**parts, alias=exp.TableAlias(this=identifier(alias)))


def drop(table_name: str) -> exp.Drop:
    return exp.Drop(tables=[table(table_name)], kind="TABLE", exists=True)


def exists(query: exp.Query) -> exp.Expr:
    return exp.Exists(this=query)
