"""The builder of statements: its methods give new queries, and trees that are made of one stay what they are."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.build import (
    Query,
    Statement,
    all_of,
    any_of,
    column,
    count_rows,
    create,
    equal,
    exists,
    named,
    number,
    select,
    table,
    text,
    union_all,
    union_distinct,
)


def sql(statement: Statement) -> str:
    return text(statement, "duckdb")


def rows() -> Query:
    return select(column("t", "a")).from_(table("facts", "t"))


def test_every_part_stands_where_it_belongs_whatever_the_order_it_came_in() -> None:
    query = (
        select()
        .limit(3)
        .order_by(column("t", "a"))
        .having(exp.GT(this=count_rows(), expression=number(1)))
        .group_by(column("t", "a"))
        .where(equal(column("t", "b"), number(1)))
        .join(table("others", "o"), on=equal(column("o", "a"), column("t", "a")), join_type="left")
        .from_(table("step", "t"))
        .select(column("t", "a"), named(count_rows(), "n"))
        .with_step("step", select("*").from_(table("facts", "f")))
    )
    assert sql(query) == (
        'WITH step AS MATERIALIZED (SELECT * FROM "facts" AS "f") SELECT "t"."a", COUNT(*) AS "n" FROM "step" AS "t" '
        'LEFT JOIN "others" AS "o" ON "o"."a" = "t"."a" WHERE "t"."b" = 1 '
        'GROUP BY "t"."a" HAVING COUNT(*) > 1 ORDER BY "t"."a" LIMIT 3'
    )


def test_a_query_that_grows_leaves_the_one_it_grew_from() -> None:
    first = select(column("t", "a")).from_(table("facts", "t"))
    narrow = first.where(equal(column("t", "a"), number(1)))
    assert sql(first) == 'SELECT "t"."a" FROM "facts" AS "t"'
    assert sql(narrow.distinct()) == 'SELECT DISTINCT "t"."a" FROM "facts" AS "t" WHERE "t"."a" = 1'
    assert sql(narrow.where(equal(column("t", "b"), number(2)))).endswith('WHERE "t"."a" = 1 AND "t"."b" = 2')
    assert sql(narrow) == 'SELECT "t"."a" FROM "facts" AS "t" WHERE "t"."a" = 1'


def test_one_query_may_stand_in_many_statements() -> None:
    part = rows()
    alone = sql(part)
    both = union_all([part, part, part])
    for _ in range(2):
        assert sql(both) == f"{alone} UNION ALL {alone} UNION ALL {alone}"
        assert sql(create("made", part)) == f'CREATE TEMPORARY TABLE "made" AS {alone}'
        assert sql(select(number(1)).where(exists(part))) == f"SELECT 1 WHERE EXISTS({alone})"
        assert sql(select("*").from_(part.subquery("p"))) == f"SELECT * FROM ({alone}) AS p"
    assert sql(union_distinct([part, part])) == f"{alone} UNION {alone}"
    assert sql(union_distinct([part])) == alone


def test_a_step_is_computed_once_and_a_name_is_not() -> None:
    query = select("*").from_(table("s", "s"))
    assert sql(query.with_step("s", rows())).startswith("WITH s AS MATERIALIZED (")
    assert sql(query.with_named("s", rows())).startswith("WITH s AS (")


def test_conditions_that_are_connected_stand_in_parentheses() -> None:
    one, two = (equal(column("t", name), number(1)) for name in "ab")
    assert sql(any_of([all_of([one, two]), one])) == '("t"."a" = 1 AND "t"."b" = 1) OR "t"."a" = 1'
    assert (sql(all_of([])), sql(any_of([])), sql(all_of([one]))) == ("TRUE", "FALSE", '"t"."a" = 1')


def test_whether_joins_keep_their_order_is_said_by_the_query_itself() -> None:
    query = select("*").from_(table("facts", "t"))
    assert (query.as_written, query.keeping_order().as_written) == (False, True)
    assert query.keeping_order().limit(1).as_written
