"""Statements as Spark gets them, with joins cut before large tables, on DuckDB: they give the same rows."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest
from sqlglot import exp

from rulescore.arguments.python import make_setting
from rulescore.counting import horn
from rulescore.engines.base import Engine
from rulescore.session.session import Session
from rulescore.spark.cuts import Sizes, cuts
from rulescore.spark.steps import taken_apart
from rulescore.sql.names import fact_table, tuple_table
from rulescore.sql.query import create, drop, row, select, union_all
from rulescore.sql.united import united
from rulescore.sql.words import identifier

RULES = """
turned: p(X, Y) <- q(Y, X).
triangle: q(X, Y) <- p(X, Z), r(Z, Y).
long: p(X, Y) <- q(X, Z), r(Z, V), q(V, Y).
named: p(X, "c1") <- r(X, Y).
incompatible p, q, r.
"""
FURTHER = """
branched: r(X, Y) <- p(X, Z), q(Y, Z), p(Z, V), X != Y.
lonely: q(X, Y) <- p(Y, X), not r(X, Y).
closed: false <- p(X, Y), q(Y, Z), r(X, Z).
functional q(X -> Y).
"""
LARGE = {table(arity) for table in (fact_table, tuple_table) for arity in (1, 2)}


class Known(dict[str, int]):
    """Facts and their evidence are large, all else is so small that two tables together are many rows."""

    def get(self, name: str, default: int = 0) -> int:  # type: ignore[override]
        return 100 if name in LARGE else 9


SIZES = Sizes(Known(), 10)


def plain(statement: exp.Expr) -> str:
    return statement.sql().replace('"', "")


def triples(choose: random.Random) -> list[tuple[str, str, str]]:
    return sorted({(f"c{choose.randrange(9)}", choose.choice("pqr"), f"c{choose.randrange(9)}") for _ in range(30)})


def in_parts(engine: Engine, statement: exp.Expr) -> tuple[Counter[tuple[int, ...]], int]:
    """The rows of a statement, computed table by table, and the number of cuts."""
    steps, rest = taken_apart(statement, 1)
    made: list[str] = []
    number_of_cuts = 0
    for name, query in [*steps.items(), ("", rest)]:
        for rows, table in cuts(query, SIZES):
            number_of_cuts += 1
            made.append(f"before_{number_of_cuts}")
            table.set("this", identifier(made[-1]))
            engine.run(create(made[-1], rows))
        if name:
            made.append(name)
            engine.run(create(name, query))
    found = rows_of(engine, rest)
    for name in made:
        engine.run(drop(name))
    return found, number_of_cuts


def rows_of(engine: Engine, statement: exp.Expr) -> Counter[tuple[int, ...]]:
    table = engine.query(statement)
    return Counter(tuple(map(int, row.values())) for row in table.select(sorted(table.column_names)).to_pylist())


def statements(session: Session) -> Iterator[exp.Expr]:
    for titled in (horn.over_the_data(session.counted.counter), horn.with_predictions(session.counted.counter)):
        for statement in united([statement for _, statement in titled]):
            yield statement.tree()


@pytest.mark.parametrize(("convention", "rules"), [("definition", RULES + FURTHER), ("appendix", RULES)])
@pytest.mark.parametrize("seed", range(2))
def test_statements_in_parts_give_the_same_rows(convention: str, rules: str, seed: int) -> None:
    choose = random.Random(seed)
    setting = make_setting(triples(choose), {"m": triples(choose)}, rules, convention=convention)
    number_of_cuts = 0
    with Session(setting) as session:
        engine = session.counted.counter.engine
        for statement in statements(session):
            whole = statement.sql()
            found, cuts_here = in_parts(engine, statement)
            assert statement.sql() == whole  # a statement that fails is computed once more
            assert found == rows_of(engine, statement)
            number_of_cuts += cuts_here
    assert number_of_cuts >= 10


def test_a_condition_may_stand_twice_in_a_statement() -> None:
    p, f, g = row("candidate_2", "p"), row(fact_table(2), "f"), row("few", "g")
    known = p.literal > 0
    parts = [select(p.literal, f.a0).from_(p).join(g, g.a0 == p.a0).join(f, f.a0 == p.a1).where(known) for _ in range(2)]
    _, rest = taken_apart(union_all(parts).tree(), 1)
    for rows, table in cuts(rest, SIZES):
        assert plain(rows) == (
            "SELECT p.literal AS p_literal, p.a1 AS p_a1 FROM candidate_2 AS p JOIN few AS g ON g.a0 = p.a0 WHERE p.literal > 0"
        )
        table.set("this", identifier("made"))
    part = "SELECT before.p_literal AS literal, f.a0 FROM made AS before JOIN __rulescore__fact_2 AS f ON f.a0 = before.p_a1"
    assert plain(rest) == f"{part} UNION ALL {part}"


def test_few_rows_that_need_not_be_found_read_what_they_find() -> None:
    p, f = row("candidate_2", "p"), row(fact_table(2), "f")
    statement = select(p.literal, f.a1).from_(p).left_join(f, f.a0 == p.a0).tree()
    ((rows, _),) = cuts(statement, SIZES)
    found = "f.a1 AS a1, f.a0 AS a0 FROM __rulescore__fact_2 AS f"
    assert plain(rows) == f"SELECT {found} WHERE EXISTS(SELECT 1 FROM candidate_2 AS p WHERE f.a0 = p.a0)"


def test_many_rows_stay_in_their_join() -> None:
    f, t = row(fact_table(2), "f"), row(tuple_table(2), "t")
    assert not list(cuts(select(f.a0).from_(f).join(t, t.a0 == f.a0).tree(), SIZES))
