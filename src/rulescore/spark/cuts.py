"""Joins cut in two before a large table: Spark estimates a join as the product of its inputs, so it would exchange all rows of the
large table. Once it knows how few rows meet them, it sends these to the large table instead (0022)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from sqlglot import exp

from rulescore.spark.steps import with_steps
from rulescore.sql.dialect import conjuncts, innermost_first, nodes, tables_read_by
from rulescore.sql.names import PREFIX, tuple_table
from rulescore.sql.query import select
from rulescore.sql.words import Sql, all_of, identifier, sql

UNKNOWN = 1 << 62
"""For tables whose size we do not know."""

Cut = tuple[exp.Expr, exp.Table]
"""Rows to compute first, as a query, and the table that stands for them in the statement. The caller names and makes that table
before it asks for the next cut."""

_EVIDENCE, _BODIES = tuple_table(0)[:-1], f"{PREFIX}body_"
_BEFORE = "before"


@dataclass(frozen=True, slots=True)
class Sizes:
    """The bytes of tables, as far as we know them, and from how many bytes on Spark exchanges a table's rows."""

    known: Mapping[str, int]
    large: int

    def is_large(self, source: exp.Expr) -> bool:
        return self.large < self._of(source) < UNKNOWN

    def are_few(self, sources: Sequence[exp.Expr]) -> bool:
        """Whether Spark takes the join of some tables for few rows."""
        return prod(map(self._of, sources)) <= self.large

    def _of(self, source: exp.Expr) -> int:
        return self.known.get(source.name, UNKNOWN) if isinstance(source, exp.Table) else UNKNOWN


def cuts(statement: exp.Expr, sizes: Sizes) -> Iterator[Cut]:
    """Cut the joins of a statement, which changes."""
    clause = statement.args.get("with_")
    inline = {} if clause is None else {step.alias: step for step in clause.expressions}
    for query in innermost_first(statement, exp.Select):
        assert isinstance(query, exp.Select)
        if _is_plain(query):
            for rows, table in _cuts_of(query, sizes):
                yield with_steps(rows, inline), table


def _cuts_of(query: exp.Select, sizes: Sizes) -> Iterator[Cut]:
    place = 0
    while place < len(joins := query.args.get("joins") or ()):
        join, before = joins[place], _sources(query)[: place + 1]
        if sizes.is_large(join.this):
            if not sizes.are_few(before) and _is_worth(query, before, join.this, sizes):
                yield _cut_before(query, place)
                place = 0
            first = query.args["from_"].this
            if (place > 0 or join.side) and sizes.are_few([first]) and (conditions := _conditions_between(first, join, query)):
                yield _narrowed(query, join, first, conditions)
        place += 1


def _is_plain(query: exp.Select) -> bool:
    """Whether a query reads nothing of a query around it, and tells the table of every column."""
    above = query.parent
    while above is not None:
        if isinstance(above, exp.Exists | exp.In):
            return False
        if isinstance(above, exp.Subquery) and not isinstance(above.parent, exp.From | exp.Join):
            return False
        above = above.parent
    if any(isinstance(field, exp.Star) for field in query.expressions):
        return False
    return all(node.table for node in nodes(query) if isinstance(node, exp.Column))


def _sources(query: exp.Select) -> list[exp.Expr]:
    return [query.args["from_"].this, *(join.this for join in query.args.get("joins") or ())]


def _is_worth(query: exp.Select, before: Sequence[exp.Expr], target: exp.Table, sizes: Sizes) -> bool:
    """Whether the rows before a large table may be few. What two large tables have in common may be any number of rows: it is few
    if it begins with predictions, or the facts at one atom of a rule; and what looks for evidence are claims."""
    large = [source for source in before if sizes.is_large(source)]
    if len(before) == len(large):
        return False
    others = [source for source in before if source not in large]
    names = [node.name for node in (*before, *nodes(query)) if isinstance(node, exp.Table | exp.Column)]
    is_of_predictions = any("predict" in name for name in names)
    is_of_one_atom = all(source.name.startswith(_BODIES) for source in others)
    return not large or (len(large) == 1 and (is_of_predictions or is_of_one_atom or target.name.startswith(_EVIDENCE)))


def _cut_before(query: exp.Select, place: int) -> Cut:
    """Cut a query before the join at `place`. A column `c` of `t` becomes the column `t_c` of the rows before."""
    joins, before = query.args.get("joins") or [], _sources(query)[: place + 1]
    aliases = {source.alias_or_name for source in before}
    where = query.args.get("where")
    conditions = conjuncts(where.this) if where else []
    early = [condition for condition in conditions if _tables_read(condition, query) <= aliases]
    moved = {id(node) for part in (*before, *joins[:place], *early) for node in nodes(part)}
    fields: dict[str, Sql] = {}
    for column in _columns(query, query):
        if column.table in aliases and id(column) not in moved:
            field = f"{column.table}_{column.name}"
            fields[field] = Sql(column.copy())
            _replace(column, query, exp.column(identifier(field), table=_BEFORE))
    rows = select(**fields or {"n": sql(1)}).from_(before[0].copy()).where(*(condition.copy() for condition in early)).tree()
    rows.set("joins", [join.copy() for join in joins[:place]])
    late = [Sql(condition.copy()) for condition in conditions if id(condition) not in moved]
    query.set("where", exp.Where(this=all_of(*late).node) if late else None)
    table = _to_be_named(_BEFORE)
    query.set("from_", exp.From(this=table))
    query.set("joins", joins[place:])
    return rows, table


def _conditions_between(first: exp.Expr, join: exp.Join, query: exp.Select) -> list[exp.Expr]:
    both, condition_of_all = {first.alias_or_name, join.this.alias_or_name}, join.args.get("on")
    parts = conjuncts(condition_of_all) if condition_of_all is not None else []
    return [condition for condition in parts if _tables_read(condition, query) == both]


def _narrowed(query: exp.Select, join: exp.Join, few: exp.Table, conditions: Sequence[exp.Expr]) -> Cut:
    """Replace a large table by the rows that few rows can meet, by the conditions between them. In an outer join Spark would
    exchange the large table, and after a join it would not know that few rows are left."""
    alias = join.this.alias_or_name
    fields = {column.name: Sql(column.copy()) for column in _columns(query, query) if column.table == alias}
    asked = select(1).from_(few.copy()).where(*(condition.copy() for condition in conditions)).tree()
    rows = select(**fields).from_(join.this.copy()).where(exp.Exists(this=asked)).tree()
    table = _to_be_named(alias)
    join.set("this", table)
    return rows, table


def _to_be_named(alias: str) -> exp.Table:
    return exp.Table(this=identifier(_BEFORE), alias=exp.TableAlias(this=identifier(alias)))


def _tables_read(condition: exp.Expr, query: exp.Select) -> set[str]:
    """The tables of a query that a condition in it reads."""
    return {column.table for column in _columns(condition, query)}


def _columns(within: exp.Expr, query: exp.Select) -> list[exp.Column]:
    """The columns of a query's own tables."""
    return [node for node in nodes(within) if isinstance(node, exp.Column) and _owner(node) is query]


def _owner(column: exp.Column) -> exp.Select | None:
    """The query that reads the column's table."""
    above = column.parent
    while above is not None and not (isinstance(above, exp.Select) and column.table in tables_read_by(above)):
        above = above.parent
    return above


def _replace(column: exp.Column, query: exp.Select, value: exp.Expr) -> None:
    """Replace a column in a query. A field keeps its name."""
    is_field = column.parent is query and column.arg_key == "expressions"
    column.replace(Sql(value).named(column.name).node if is_field else value)
