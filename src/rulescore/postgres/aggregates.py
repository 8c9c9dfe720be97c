"""Some statements ask for an aggregate about each row. We join the aggregates to the rows (0021), because PostgreSQL computes such
a query anew for each row and each mention of its value. DuckDB and Spark turn such queries into joins by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from sqlglot import exp

from rulescore.sql.dialect import conjuncts, innermost_first, nodes, tables_read_by
from rulescore.sql.names import name
from rulescore.sql.query import Row, alias, name_of
from rulescore.sql.words import TRUE, Sql, all_of, identifier, when


def is_aggregate_query(node: exp.Expr) -> bool:
    """Whether a node is a query of some rows whose value is an aggregate."""
    if not isinstance(node, exp.Subquery) or not isinstance(node.this, exp.Select):
        return False
    return bool(node.this.args.get("from_") and node.this.expressions[0].find(exp.AggFunc))


def join_aggregates(statement: exp.Expr) -> exp.Expr:
    numbers = count()
    for node in innermost_first(statement, exp.Subquery):
        rows, query = node.parent_select, node.this
        if is_aggregate_query(node) and rows is not None and _takes_joins(rows, node) and _depends_on(rows, query):
            _read_own_columns(query)
            joined = alias(name(f"aggregate_{next(numbers)}"))
            value = _join_groups(rows, query, joined) if _is_of_groups(query) else _join_values(rows, query, joined)
            node.replace(value.node.copy())
    return statement


def _takes_joins(rows: exp.Select, node: exp.Expr) -> bool:
    """Whether a query that asks for an aggregate keeps its rows and fields if we join one more row to each row that it reads."""
    if rows.args.get("group") or any(isinstance(field, exp.Star) for field in rows.expressions):
        return False
    own = (part.parent_select is rows for field in rows.expressions for part in field.find_all(exp.AggFunc))
    return not any(own) and not isinstance(node.find_ancestor(exp.From, exp.Join, exp.Select), exp.From | exp.Join)


def _depends_on(rows: exp.Select, query: exp.Select) -> bool:
    """Whether a query reads columns of these rows, and of no others around it."""
    tables = {column.table for column in _outer_columns(query, query)}
    return bool(tables) and tables <= tables_read_by(rows)


def _outer_columns(part: exp.Expr, query: exp.Select) -> Iterator[exp.Column]:
    """The columns in a part of a query that belong to rows around it."""
    for column in nodes(part):
        if isinstance(column, exp.Column) and not _is_within(column, query):
            yield column


def _is_within(column: exp.Column, query: exp.Select) -> bool:
    reading = column.parent_select
    while reading is not None and column.table not in tables_read_by(reading):
        if reading is query:
            return False
        reading = reading.parent_select
    return True


def _read_own_columns(query: exp.Select) -> None:
    """Let the conditions of a query read its own column if an equation says that another row's column is the same."""
    for equation in _conditions(query):
        sides = _sides(equation, query)
        if sides is not None and isinstance(sides[0], exp.Column) and isinstance(sides[1], exp.Column):
            for condition in _conditions(query):
                for column in [] if condition is equation else list(_outer_columns(condition, query)):
                    if column == sides[1]:
                        column.replace(sides[0].copy())


def _is_of_groups(query: exp.Select) -> bool:
    """Whether only equations tie a query to the query around it, each between a value of its rows and a value of the other's."""
    if any(
        any(_outer_columns(part, query)) for part in (*query.expressions, query.args["from_"], *(query.args.get("joins") or ()))
    ):
        return False
    return all(_sides(condition, query) for condition in _conditions(query) if any(_outer_columns(condition, query)))


def _sides(condition: exp.Expr, query: exp.Select) -> tuple[exp.Expr, exp.Expr] | None:
    """The value of a query's own rows and the value of others that a condition equates; None for any other condition."""
    if not isinstance(condition, exp.EQ) or condition.find(exp.Select):
        return None
    for own, other in ((condition.this, condition.expression), (condition.expression, condition.this)):
        outer, columns = set(map(id, _outer_columns(other, query))), set(map(id, other.find_all(exp.Column)))
        if columns and outer == columns and own.find(exp.Column) and not any(_outer_columns(own, query)):
            return own, other
    return None


def _conditions(query: exp.Select) -> list[exp.Expr]:
    where = query.args.get("where")
    return conjuncts(where.this) if where else []


def _join_groups(rows: exp.Select, query: exp.Select, joined: Row) -> Sql:
    """Join the aggregates of all groups that the equations can ask for. Over no rows, a count is 0, and all other aggregates are
    missing."""
    equations = [condition for condition in _conditions(query) if any(_outer_columns(condition, query))]
    own = [Sql(condition.copy()) for condition in _conditions(query) if condition not in equations]
    sides = [pair for equation in equations if (pair := _sides(equation, query)) is not None]
    value, keys = query.expressions[0].unalias(), [f"k{i}" for i in range(len(sides))]
    grouped = query.copy()
    grouped.set("where", exp.Where(this=all_of(*own).node) if own else None)
    fields = [Sql(key.copy()).named(alias) for alias, (key, _) in zip(keys, sides, strict=True)]
    grouped.set("expressions", [field.node for field in (*fields, Sql(value.copy()).named("value"))])
    grouped.set("group", exp.Group(expressions=[key.copy() for key, _ in sides]))
    same = all_of(*(joined[alias] == Sql(other.copy()) for alias, (_, other) in zip(keys, sides, strict=True)))
    _join(rows, exp.Subquery(this=grouped), joined, same)
    nothing = value.transform(_over_nothing)
    return joined.value if isinstance(nothing, exp.Null) else when(joined.k0.is_null(), Sql(nothing), joined.value).paren()


def _over_nothing(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Count):
        return exp.Literal.number(0)
    return exp.null() if isinstance(node, exp.AggFunc) else node


def _join_values(rows: exp.Select, query: exp.Select, joined: Row) -> Sql:
    """Join the value of the query about each row. The server keeps the values that it has found for the columns that differ."""
    asked = query.copy()
    asked.set("expressions", [Sql(asked.expressions[0].unalias()).named("value").node])
    _join(rows, exp.Lateral(this=exp.Subquery(this=asked)), joined, TRUE)
    return joined.value


def _join(rows: exp.Select, source: exp.Expr, joined: Row, condition: Sql) -> None:
    source.set("alias", exp.TableAlias(this=identifier(name_of(joined))))
    rows.append("joins", exp.Join(this=source, on=condition.node, side="LEFT"))
