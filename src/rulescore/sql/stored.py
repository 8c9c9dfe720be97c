"""Statements that read a user's own tables in place: the catalogue of tables and columns, and values as keys of constants.

The statements on the catalogue are for PostgreSQL only, since Spark has calls for that; those on values are for both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import sqlglot
from sqlglot import exp

from rulescore.setting.model import ColumnIn, Guess
from rulescore.sql.moments import stamped
from rulescore.sql.names import argument
from rulescore.sql.query import Query, Row, Select, select, stored_row
from rulescore.sql.values import decimal_key, key, text
from rulescore.sql.words import FALSE, NULL, Sql, all_of, any_of, concatenated, count_rows, ordered, row_number, sql, when
from rulescore.values import ValueType

# Tables, partitioned tables, views, materialised views and foreign tables; no session's temporary tables.
_RELATIONS = """
SELECT n.nspname::TEXT AS "schema", c.relname::TEXT AS "name",
    has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT') AS "readable",
    COALESCE(obj_description(c.oid, 'pg_class'), '') AS "comment"
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't'
    AND NOT n.nspname IN ('pg_catalog', 'information_schema', 'pg_toast')
"""

# We resolve a domain to its base type through any domains between; the modifier comes from the last domain that has one. The owner
# of a type can define casts to the server's types that run a function of the owner: `cast_by_function` marks such types.
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

# The query returns a row for each column of a key. The rows of a table's keys follow each other.
_KEYS = """
SELECT k.oid::BIGINT AS "number", n.nspname::TEXT AS "schema", c.relname::TEXT AS "table", a.attname::TEXT AS "column",
    m.nspname::TEXT AS "other_schema", o.relname::TEXT AS "other_table", b.attname::TEXT AS "other"
FROM (
    SELECT k.oid, k.conrelid, k.confrelid, k.conkey, k.confkey, GENERATE_SUBSCRIPTS(k.conkey, 1) AS place
    FROM pg_catalog.pg_constraint AS k WHERE k.contype IN ('p', 'f')
) AS k
    JOIN pg_catalog.pg_class AS c ON c.oid = k.conrelid JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[k.place]
    LEFT JOIN pg_catalog.pg_class AS o ON o.oid = k.confrelid LEFT JOIN pg_catalog.pg_namespace AS m ON m.oid = o.relnamespace
    LEFT JOIN pg_catalog.pg_attribute AS b ON b.attrelid = k.confrelid AND b.attnum = k.confkey[k.place]
ORDER BY n.nspname, c.relname, k.oid, k.place
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
    return sqlglot.parse_one(_RELATIONS, dialect="postgres")


def schemas() -> exp.Expr:
    return sqlglot.parse_one('SELECT n.nspname::TEXT AS "schema" FROM pg_catalog.pg_namespace AS n', dialect="postgres")


def keys() -> exp.Expr:
    """The primary keys of all tables, and the foreign keys, which have an other table."""
    return sqlglot.parse_one(_KEYS, dialect="postgres")


def columns_of(schema: str, name: str | None = None) -> exp.Expr:
    """The columns of a table, or of every table of a schema."""
    query = sqlglot.parse_one(_COLUMNS, dialect="postgres")
    assert isinstance(query, exp.Select)
    wanted = {"n.nspname": schema} if name is None else {"n.nspname": schema, "c.relname": name}
    for field, value in wanted.items():
        query.where((Sql(exp.column(*reversed(field.split(".")))) == value).node, copy=False)
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

    def row(self) -> Row:
        return stored_row(self.path, "s")

    def rows(self, query: Select) -> Select:
        return kept(query, self.path, self.only)

    def key(self, name: str) -> Sql:
        return _key(self.row()[name], self.types[name], keys=self.keys)


def fault_counts(facts: StoredFacts) -> Select:
    """How many `rows` there are. For the arguments and the relation: how many values are missing (`m_`). For arguments: how many
    are not constants (`w_`). For rank, score and query: how many are known. For rank and score: how many are wrong (`w_`)."""
    s = facts.row()
    counts: dict[str, Sql] = {}
    for i, name in enumerate(facts.arguments):
        counts |= {f"m_{i}": s[name].is_null(), f"w_{i}": _wrong(s[name], facts.types[name])}
    if facts.relation is not None:
        relation = s[facts.relation]
        counts["m_relation"] = any_of(relation.is_null(), text(relation) == "")
    if facts.score is not None:
        score = s[facts.score]
        counts |= {"score": ~score.is_null(), "w_score": _not_finite(score.cast("DOUBLE"))}
    if facts.rank is not None:
        rank = s[facts.rank]
        counts |= {"rank": ~rank.is_null(), "w_rank": rank < 1}
    if facts.query:
        counts["query"] = all_of(*(~s[name].is_null() for name in facts.query))
    sums = {name: when(condition, 1, 0).sum().or_else(0).big() for name, condition in counts.items()}
    return facts.rows(select(rows=count_rows(), **sums))


def observed_rows(facts: StoredFacts) -> Select:
    """`predicate`, `a0`, … of every row, as keys."""
    return facts.rows(select(**_fact(facts)))


def predicted_rows(facts: StoredFacts, model: int, *, best_rank: int | None, best_of_query: int | None) -> Select:
    """The predictions of a model: all, those up to `best_rank`, or the `best_of_query` best of each query. In a query they are
    ordered by score and, if scores are equal, by their keys; the place in this order becomes the rank."""
    s = facts.row()
    score = NULL if facts.score is None else s[facts.score]
    rank = NULL if facts.rank is None else s[facts.rank]
    qualities = {"model": sql(model).integer(), "score": score.cast("DOUBLE"), "rank": rank.big(), "query": _query(facts)}
    query = select(**_fact(facts), **qualities)
    if best_rank is not None:
        return facts.rows(query).where(rank <= best_rank)
    if best_of_query is None:
        return facts.rows(query)
    order = [ordered(score, descending=True), *map(facts.key, facts.arguments)]
    place = row_number(*order, per=s[facts.query])
    b = facts.rows(query.select(place=place)).as_("b")
    fields = ("predicate", *(argument(i) for i in range(len(facts.arguments))), "model", "score")
    return select(*b[fields], b.place.big().named("rank"), b.query).from_(b).where(b.place <= best_of_query)


def _query(facts: StoredFacts) -> Sql:
    """The query that a prediction answers, as one text: null unless all its columns are known."""
    s = facts.row()
    if not facts.query:
        return NULL.cast("TEXT")
    first, *others = (text(s[name]) for name in facts.query)
    return concatenated(first, *(part for other in others for part in (sql(" "), other)))


def different_values(path: tuple[str, ...], *names: str) -> Select:
    """The different values of some columns, as text."""
    s = stored_row(path, "s")
    return select(**{name: text(s[name]) for name in names}).distinct().from_(s)


def different_predicates(facts: Query) -> Select:
    """The different predicates of the rows of a query."""
    k = facts.as_("k")
    return select(k.predicate).distinct().from_(k)


def first_row(facts: Query) -> Select:
    """One row of a query."""
    return select("*").from_(facts.as_("k")).limit(1)


def kept(query: Select, path: Sequence[str], only: Sequence[ColumnIn]) -> Select:
    """A query on the rows of a stored table, `s`, that fulfil conditions."""
    s = stored_row(path, "s")
    return query.from_(s).where(*(text(s[column.column]).is_in(column.values) for column in only))


def _fact(facts: StoredFacts) -> dict[str, Sql]:
    predicate = sql(str(facts.predicate)) if facts.relation is None else facts.row()[facts.relation]
    return {"predicate": text(predicate), **{argument(i): facts.key(name) for i, name in enumerate(facts.arguments)}}


def _not_finite(value: Sql) -> Sql:
    """Whether a number is NaN or infinite. We test its text, which floats and decimals write alike."""
    return text(value).is_in(("NaN", "Infinity", "-Infinity"))


def _wrong(value: Sql, kind: StoredType) -> Sql:
    """Whether a value is not a constant: NaN, infinite, or a date or a date-time outside the years 1 to 9999."""
    match kind:
        case StoredType.FLOAT | StoredType.DECIMAL:
            return _not_finite(value)
        case StoredType.DATE:
            return ~value.cast("DATE").between(sql("0001-01-01").cast("DATE"), sql("9999-12-31").cast("DATE"))
        case StoredType.TIMESTAMP | StoredType.INSTANT:
            return all_of(~value.is_null(), stamped(value, zoned=kind is StoredType.INSTANT).is_null())
        case StoredType.TEXT | StoredType.INTEGER | StoredType.BOOLEAN:
            return FALSE


def _key(value: Sql, kind: StoredType, *, keys: bool) -> Sql:
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
