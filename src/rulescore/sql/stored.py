"""Statements that read a user's own tables in place: the catalogue of tables and columns, and values as keys of constants.

The statements on the catalogue are for PostgreSQL only, since Spark has calls for that; those on values are for both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce

import sqlglot
from sqlglot import exp

from rulescore.setting.model import ColumnIn, Guess
from rulescore.sql.build import (
    Query,
    Select,
    all_of,
    any_of,
    argument,
    column,
    count_rows,
    equal,
    integer,
    named,
    negation,
    number,
    one_if,
    select,
    stored_table,
    table,
    total,
)
from rulescore.sql.keys import decimal_key, key, text
from rulescore.sql.moments import stamped
from rulescore.sql.published import DIALECT
from rulescore.values.types import ValueType

# Tables, partitioned tables, views, materialised views and foreign tables; no session's temporary tables.
_RELATIONS = """
SELECT n.nspname::TEXT AS "schema", c.relname::TEXT AS "name",
    has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT') AS "readable",
    COALESCE(obj_description(c.oid, 'pg_class'), '') AS "comment"
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't'
    AND NOT n.nspname IN ('pg_catalog', 'information_schema', 'pg_toast')
"""

# We resolve a domain to its base type through any domains between; the modifier is that of the last which has one. The maker of a
# type can have every cast of it to a type of the server's run a function of theirs: `cast_by_function` marks such types.
_COLUMNS = """
WITH RECURSIVE made AS (
    SELECT t.oid, t.oid AS base, -1 AS modifier FROM pg_catalog.pg_type AS t WHERE t.typtype = 'd'
    UNION ALL
    SELECT m.oid, t.typbasetype, GREATEST(m.modifier, t.typtypmod)
    FROM made AS m JOIN pg_catalog.pg_type AS t ON t.oid = m.base AND t.typtype = 'd'
)
SELECT n.nspname::TEXT AS "schema", c.relname::TEXT AS "table", a.attname::TEXT AS "name",
    COALESCE(b.typname, t.typname)::TEXT AS "type", COALESCE(b.typtype, t.typtype)::TEXT AS "kind",
    CASE WHEN b.oid IS NULL THEN a.atttypmod ELSE m.modifier END AS "modifier",
    COALESCE(b.typnamespace, t.typnamespace) <> 'pg_catalog'::regnamespace AND EXISTS(
        SELECT 1 FROM pg_catalog.pg_cast AS k JOIN pg_catalog.pg_type AS o ON o.oid = k.casttarget
        WHERE k.castsource = COALESCE(b.oid, t.oid) AND k.castmethod = 'f' AND o.typnamespace = 'pg_catalog'::regnamespace
    ) AS "cast_by_function"
FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
    LEFT JOIN (made AS m JOIN pg_catalog.pg_type AS b ON b.oid = m.base AND b.typtype <> 'd') ON m.oid = t.oid
WHERE a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""


class StoredType(StrEnum):
    """How a column of the user's database holds constants."""

    TEXT = "text"
    INTEGER = "integer"
    FLOAT = "float"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    INSTANT = "instant"


STORED_TYPES = {
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "citext", "uuid"), StoredType.TEXT),
    **dict.fromkeys(("int2", "int4", "int8"), StoredType.INTEGER),
    **dict.fromkeys(("float4", "float8"), StoredType.FLOAT),
    "timestamp": StoredType.TIMESTAMP,
    "timestamptz": StoredType.INSTANT,
    "numeric": StoredType.DECIMAL,
    "bool": StoredType.BOOLEAN,
    "date": StoredType.DATE,
}

_VALUES = {
    StoredType.TEXT: ValueType.STRING,
    StoredType.INTEGER: ValueType.INTEGER,
    StoredType.FLOAT: ValueType.FLOAT,
    StoredType.BOOLEAN: ValueType.BOOLEAN,
    StoredType.DATE: ValueType.DATE,
}


def relations() -> exp.Expr:
    """The tables and views of the database: `schema`, `name`, whether the role may read them, and their comments."""
    return sqlglot.parse_one(_RELATIONS, dialect=DIALECT)


def schemas() -> exp.Expr:
    return sqlglot.parse_one('SELECT n.nspname::TEXT AS "schema" FROM pg_catalog.pg_namespace AS n', dialect=DIALECT)


def columns_of(schema: str, name: str | None = None) -> exp.Expr:
    """The columns of a table, or of every table of a schema."""
    query = sqlglot.parse_one(_COLUMNS, dialect=DIALECT)
    assert isinstance(query, exp.Select)
    wanted = {"n.nspname": schema} if name is None else {"n.nspname": schema, "c.relname": name}
    for field, value in wanted.items():
        query.where(equal(exp.column(*reversed(field.split("."))), exp.Literal.string(value)), copy=False)
    return query


@dataclass(frozen=True, slots=True)
class StoredFacts:
    """Facts of a stored table: the columns of the arguments with their types, and of the score, rank and query of predictions.
    `floats`: the numbers of the arguments that are columns of floats, even if all are whole."""

    path: tuple[str, ...]
    arguments: tuple[str, ...]
    types: Mapping[str, StoredType]
    relation: str | None = None
    predicate: str | None = None
    score: str | None = None
    rank: str | None = None
    query: tuple[str, ...] = ()
    only: tuple[ColumnIn, ...] = ()
    keys: bool = False
    floats: tuple[int, ...] = ()
    guess: Guess | None = None

    def rows(self, query: Select) -> Select:
        return kept(query.from_(stored_table(self.path, "s")), self.only)

    def key(self, name: str) -> exp.Expr:
        return _key(column("s", name), self.types[name], keys=self.keys)


def fault_counts(facts: StoredFacts) -> Select:
    """How many `rows` there are. Of the arguments and the relation: how many values are missing (`m_`), and of arguments how many
    are not constants (`w_`). Of rank, score and query: how many are known, and of rank and score how many are wrong (`w_`)."""
    query = select(named(count_rows(), "rows"))
    for i, name in enumerate(facts.arguments):
        value = column("s", name)
        query = query.select(_count(_missing(value), f"m_{i}"), _count(_wrong(value, facts.types[name]), f"w_{i}"))
    if facts.relation is not None:
        value = column("s", facts.relation)
        empty = equal(text(value.copy()), exp.Literal.string(""))
        query = query.select(_count(any_of([_missing(value), empty]), "m_relation"))
    if facts.score is not None:
        value = column("s", facts.score)
        not_finite = _not_finite(exp.cast(value.copy(), "DOUBLE", copy=False))
        query = query.select(_count(_known(value), "score"), _count(not_finite, "w_score"))
    if facts.rank is not None:
        value = column("s", facts.rank)
        query = query.select(_count(_known(value), "rank"), _count(exp.LT(this=value.copy(), expression=number(1)), "w_rank"))
    if facts.query:
        query = query.select(_count(all_of(_known(column("s", one)) for one in facts.query), "query"))
    return facts.rows(query)


def observed_rows(facts: StoredFacts) -> Select:
    """`predicate`, `a0`, … of every row, as keys."""
    return facts.rows(select(*_fact(facts)))


def predicted_rows(facts: StoredFacts, model: int, *, best_rank: int | None, best_of_query: int | None) -> Select:
    """The predictions of a model: all, those up to `best_rank`, or the `best_of_query` best of each query. In a query they are
    ordered by score and, if scores are equal, by their keys; the place in this order becomes the rank."""
    score = exp.null() if facts.score is None else column("s", facts.score)
    rank = exp.null() if facts.rank is None else column("s", facts.rank)
    query = select(
        *_fact(facts),
        named(integer(number(model)), "model"),
        named(exp.cast(score, "DOUBLE", copy=False), "score"),
        named(exp.cast(rank, "BIGINT", copy=False), "rank"),
        named(_query(facts), "query"),
    )
    if best_rank is not None:
        return facts.rows(query).where(exp.LTE(this=column("s", str(facts.rank)), expression=number(best_rank)))
    if best_of_query is None:
        return facts.rows(query)
    parts = [column("s", one) for one in facts.query]
    order = [exp.Ordered(this=column("s", str(facts.score)), desc=True), *(exp.Ordered(this=facts.key(a)) for a in facts.arguments)]
    place = exp.Window(this=exp.RowNumber(), partition_by=parts, order=exp.Order(expressions=order))
    placed = facts.rows(query.select(named(place, "place"))).subquery("b")
    fields = [column("b", one) for one in ("predicate", *(argument(i) for i in range(len(facts.arguments))), "model", "score")]
    placed_at = named(exp.cast(column("b", "place"), "BIGINT", copy=False), "rank")
    best = exp.LTE(this=column("b", "place"), expression=number(best_of_query))
    return select(*fields, placed_at, column("b", "query")).from_(placed).where(best)


def _query(facts: StoredFacts) -> exp.Expr:
    """The query that a prediction answers, as one text: null unless all its columns are known."""
    parts = [text(column("s", one)) for one in facts.query]
    if not parts:
        return exp.cast(exp.null(), "TEXT", copy=False)
    return reduce(lambda left, right: exp.DPipe(this=exp.DPipe(this=left, expression=_blank()), expression=right), parts)


def _blank() -> exp.Expr:
    return exp.Literal.string(" ")


def different_values(path: tuple[str, ...], *names: str) -> Select:
    """The different values of some columns, as text."""
    query = select(*(named(text(column("s", name)), name) for name in names)).distinct()
    return StoredFacts(path, (), {}).rows(query)


def different_predicates(facts: Query) -> Select:
    """The different predicates of the rows of a query."""
    return select(column("k", "predicate")).distinct().from_(facts.subquery("k"))


def first_row(facts: Query) -> Select:
    """One row of a query."""
    return select("*").from_(facts.subquery("k")).limit(1)


def kept(query: Select, only: Sequence[ColumnIn]) -> Select:
    """The rows of a query that fulfil conditions."""
    return query.where(all_of(map(_is_one_of, only))) if only else query


def _is_one_of(only: ColumnIn) -> exp.Expr:
    return exp.In(this=text(column("s", only.column)), expressions=[exp.Literal.string(value) for value in only.values])


def insert(target: str, query: Query) -> exp.Insert:
    return exp.Insert(this=table(target), expression=query.tree())


def _fact(facts: StoredFacts) -> list[exp.Expr]:
    predicate = exp.Literal.string(str(facts.predicate)) if facts.relation is None else column("s", facts.relation)
    return [
        named(text(predicate), "predicate"),
        *(named(facts.key(name), argument(i)) for i, name in enumerate(facts.arguments)),
    ]


def _count(condition: exp.Expr, alias: str) -> exp.Expr:
    known = exp.Coalesce(this=total(one_if(condition)), expressions=[number(0)])
    return named(exp.cast(known, "BIGINT", copy=False), alias)


def _missing(value: exp.Expr) -> exp.Expr:
    return exp.Is(this=value, expression=exp.null())


def _known(value: exp.Expr) -> exp.Expr:
    return negation(_missing(value))


def _not_finite(value: exp.Expr) -> exp.Expr:
    """Whether a number is NaN or infinite. We test its text, which floats and decimals write alike."""
    words = [exp.Literal.string(word) for word in ("NaN", "Infinity", "-Infinity")]
    return exp.In(this=text(value), expressions=words)


def _wrong(value: exp.Expr, kind: StoredType) -> exp.Expr:
    """Whether a value is not a constant: NaN, infinite, or a date or a date-time outside the years 1 to 9999."""
    match kind:
        case StoredType.FLOAT | StoredType.DECIMAL:
            return _not_finite(value)
        case StoredType.DATE:
            return _no_day(value)
        case StoredType.TIMESTAMP | StoredType.INSTANT:
            return all_of([_known(value), _missing(stamped(value.copy(), zoned=kind is StoredType.INSTANT))])
        case StoredType.TEXT | StoredType.INTEGER | StoredType.BOOLEAN:
            return exp.false()


def _no_day(value: exp.Expr) -> exp.Expr:
    first, last = (exp.cast(exp.Literal.string(day), "DATE", copy=False) for day in ("0001-01-01", "9999-12-31"))
    day = exp.cast(value.copy(), "DATE", copy=False)
    return negation(exp.Between(this=day, low=first, high=last))


def _key(value: exp.Expr, kind: StoredType, *, keys: bool) -> exp.Expr:
    match kind:
        case StoredType.TEXT if keys:
            return text(value)
        case StoredType.DECIMAL:
            return decimal_key(value)
        case StoredType.TIMESTAMP:
            return key(stamped(value, zoned=False), ValueType.DATETIME)
        case StoredType.INSTANT:
            return key(stamped(value, zoned=True), ValueType.INSTANT)
        case _:
            return key(value, _VALUES[kind])
