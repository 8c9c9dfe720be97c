"""The builder of statements: its methods give new queries, and trees that are made of one stay what they are."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rulescore.sql.query import Query, Statement, create, exists, row, select, text, union_all, union_distinct
from rulescore.sql.words import TRUE, Sql, all_of, any_of, case, count_rows, when

t, o = row("facts", "t"), row("others", "o")


def sql(statement: Statement) -> str:
    return text(statement, "duckdb")


def said(value: Sql) -> str:
    return value.node.sql("duckdb")


def rows() -> Query:
    return select(t.a).from_(t)


def test_every_part_stands_where_it_belongs_whatever_the_order_it_came_in() -> None:
    query = (
        select()
        .limit(3)
        .order_by(t.a)
        .having(count_rows() > 1)
        .group_by(t.a)
        .where(t.b == 1)
        .left_join(o, o.a == t.a, o.b < 2)
        .from_(row("step", "t"))
        .select(t.a, n=count_rows())
        .with_step("step", select("*").from_(row("facts", "f")))
    )
    assert sql(query) == (
        'WITH step AS MATERIALIZED (SELECT * FROM "facts" AS "f") SELECT "t"."a", COUNT(*) AS "n" FROM "step" AS "t" '
        'LEFT JOIN "others" AS "o" ON "o"."a" = "t"."a" AND "o"."b" < 2 WHERE "t"."b" = 1 '
        'GROUP BY "t"."a" HAVING COUNT(*) > 1 ORDER BY "t"."a" LIMIT 3'
    )


def test_a_query_that_grows_leaves_the_one_it_grew_from() -> None:
    first = select(t.a).from_(t)
    narrow = first.where(t.a == 1)
    assert sql(first) == 'SELECT "t"."a" FROM "facts" AS "t"'
    assert sql(narrow.distinct()) == 'SELECT DISTINCT "t"."a" FROM "facts" AS "t" WHERE "t"."a" = 1'
    assert sql(narrow.where(t.b == 2)).endswith('WHERE "t"."a" = 1 AND "t"."b" = 2')
    assert sql(narrow) == 'SELECT "t"."a" FROM "facts" AS "t" WHERE "t"."a" = 1'


def test_one_query_may_stand_in_many_statements() -> None:
    part = rows()
    alone = sql(part)
    both = union_all([part, part, part])
    for _ in range(2):
        assert sql(both) == f"{alone} UNION ALL {alone} UNION ALL {alone}"
        assert sql(create("made", part)) == f'CREATE TEMPORARY TABLE "made" AS {alone}'
        assert sql(select(1).where(exists(part))) == f"SELECT 1 WHERE EXISTS({alone})"
        assert sql(select("*").from_(part.as_("p"))) == f"SELECT * FROM ({alone}) AS p"
    assert sql(union_distinct([part, part])) == f"{alone} UNION {alone}"
    assert sql(union_distinct([part])) == alone


def test_a_step_is_computed_once_and_a_name_is_not() -> None:
    query = select("*").from_(row("s", "s"))
    assert sql(query.with_step("s", rows())).startswith("WITH s AS MATERIALIZED (")
    assert sql(query.with_named("s", rows())).startswith("WITH s AS (")


def test_conditions_that_are_connected_stand_in_parentheses() -> None:
    one, two = t.a == 1, t.b == 1
    assert said(any_of(all_of(one, two), one)) == '("t"."a" = 1 AND "t"."b" = 1) OR "t"."a" = 1'
    assert (said(all_of()), said(any_of()), said(all_of(one))) == ("TRUE", "FALSE", '"t"."a" = 1')


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (t.a + 1 - 2 * (t.b % 3), '"t"."a" + 1 - 2 * ("t"."b" % 3)'),
        (t.a - (t.b - 1), '"t"."a" - ("t"."b" - 1)'),
        ((t.a + t.b) * t.a + 1 == 2, '("t"."a" + "t"."b") * "t"."a" + 1 = 2'),
        (~(t.a == "x"), 'NOT ("t"."a" = \'x\')'),
        (any_of(t.a < 1, t.b < 1) == TRUE, '("t"."a" < 1 OR "t"."b" < 1) = TRUE'),
        (when(t.a.is_known(), t.a.max(), 0), 'CASE WHEN NOT "t"."a" IS NULL THEN MAX("t"."a") ELSE 0 END'),
        (case((t.a == 1, "x"), (t.a == 2, "y")), 'CASE WHEN "t"."a" = 1 THEN \'x\' WHEN "t"."a" = 2 THEN \'y\' END'),
    ],
)
def test_operators_bind_as_in_python(value: Sql, expected: str) -> None:
    assert said(value) == expected


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: t.a == 1 and t.b == 1,
        lambda: 1 < t.a < 2,
        lambda: t.a in [t.b],
        lambda: {t.a: 1},
        lambda: list(t),
    ],
)
def test_sql_has_no_truth_in_python(wrong: Callable[[], object]) -> None:
    with pytest.raises(TypeError):
        wrong()


def test_whether_joins_keep_their_order_is_said_by_the_query_itself() -> None:
    query = select("*").from_(t)
    assert (query.as_written, query.keeping_order().as_written) == (False, True)
    assert query.keeping_order().limit(1).as_written
