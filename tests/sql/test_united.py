"""Statements that judge claims alike, united: fewer of them give the same counts."""

from __future__ import annotations

import random
from collections import Counter as Tally
from collections.abc import Sequence

import pytest

from rulescore.arguments.python import make_setting
from rulescore.counting import horn
from rulescore.engines.base import Engine
from rulescore.session.session import Session
from rulescore.sql.horn.evidence import COUNTS
from rulescore.sql.query import Select
from rulescore.sql.united import united

RULES = """
turned: p(X, Y) <- q(Y, X).
other: q(X, Y) <- r(X, Y).
triangle: q(X, Y) <- p(X, Z), r(Z, Y).
long: p(X, Y) <- q(X, Z), r(Z, V), q(V, Y).
named: p(X, "c1") <- r(X, Y).
incompatible p, q, r.
"""
FURTHER = """
closed: false <- p(X, Y), q(Y, Z).
functional q(X -> Y).
"""


def triples(choose: random.Random) -> list[tuple[str, str, str]]:
    return sorted({(f"c{choose.randrange(9)}", choose.choice("pqr"), f"c{choose.randrange(9)}") for _ in range(60)})


def counts(engine: Engine, statements: Sequence[Select]) -> dict[tuple[int, ...], Tally[str]]:
    """What statements count in all, by rule, or by rule and prediction."""
    found: dict[tuple[int, ...], Tally[str]] = {}
    for statement in statements:
        for row in engine.query(statement, as_written=statement.as_written).to_pylist():
            key = tuple(row[field] for field in ("rule", "prediction") if field in row)
            found.setdefault(key, Tally()).update({count: int(row[count]) for count in COUNTS})
    return found


@pytest.mark.parametrize(("convention", "rules"), [("definition", RULES + FURTHER), ("appendix", RULES)])
def test_united_statements_are_fewer_and_count_the_same(convention: str, rules: str) -> None:
    choose = random.Random(5)
    setting = make_setting(triples(choose), {"m": triples(choose)}, rules, convention=convention)
    with Session(setting) as session:
        for alone in (horn.over_the_data(session.counted.counter), horn.with_predictions(session.counted.counter)):
            statements = [statement for _, statement in alone]
            together = united(statements)
            assert len(together) < len(statements)
            assert counts(session.counted.counter.engine, together) == counts(session.counted.counter.engine, statements)
