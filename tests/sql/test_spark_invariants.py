"""What Spark asks of every statement, looked for in those of the golden files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlglot import exp, parse_one

GOLDEN = sorted((Path(__file__).parent / "golden" / "spark").glob("*.sql"))

golden = pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)


def tree(path: Path) -> exp.Expr:
    return parse_one(path.read_text(encoding="utf-8"), dialect="spark")


def names_read(query: exp.Select) -> set[str]:
    first = query.args.get("from_")
    return {one.this.alias_or_name for one in [*([first] if first else []), *(query.args.get("joins") or [])]}


def crossed(column: exp.Column) -> Iterator[exp.Expr]:
    """The queries within conditions or values that lie between a column and the query that reads its table."""
    node = column.parent
    while not (isinstance(node, exp.Select) and column.table in names_read(node)):
        assert node is not None, f"{column.sql()} is a column of no table"
        within_from = isinstance(node, exp.Subquery) and isinstance(node.parent, exp.From | exp.Join)
        if isinstance(node, exp.Exists | exp.Subquery | exp.In) and not within_from:
            yield node
        node = node.parent


@golden
def test_every_step_has_a_name_of_its_own(path: Path):
    names = Counter(step.alias for step in tree(path).find_all(exp.CTE))
    assert [name for name, times in names.items() if times > 1] == []


@golden
def test_no_column_crosses_more_than_one_query_within_a_condition(path: Path):
    for column in tree(path).find_all(exp.Column):
        if column.table:
            assert len(list(crossed(column))) <= 1, column.sql()


@golden
def test_what_a_membership_asks_for_depends_on_nothing(path: Path):
    for membership in tree(path).find_all(exp.In):
        query = membership.args.get("query")
        for column in query.find_all(exp.Column) if query is not None else ():
            assert not list(crossed(column)), column.sql()


@golden
def test_conditions_of_inner_joins_hold_no_queries(path: Path):
    for join in tree(path).find_all(exp.Join):
        condition = join.args.get("on")
        assert condition is None or join.side or not condition.find(exp.Subquery, exp.Exists)
