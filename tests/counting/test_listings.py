"""What every engine lists alike: the rows behind the counts, with refuters, margins and the values of aggregates."""

from __future__ import annotations

import datetime
import logging
from functools import cache
from typing import Any

import pytest

import rulescore

FACTS = [("ann", "sister", "bob"), ("bob", "father", "cy"), ("ann", "aunt", "cy"), ("dot", "mother", "cy"), ("eve", "wife", "bob")]
PREDICTED = [("dot", "sister", "bob"), ("eve", "mother", "cy"), ("ann", "wife", "bob"), ("dot", "wife", "bob")]
SALES = {
    "id": [1, 2, 3, 4],
    "zip": ["a", "a", "a", "b"],
    "sold": [datetime.date(2020, 1, 1), datetime.date(2020, 1, 20), datetime.date(2020, 3, 1), datetime.date(2020, 3, 5)],
    "price": [100.5, 110.0, None, None],
}
DECLARED = "incompatible aunt, mother, wife. functional mother(X, Y) on Y -> X."
AUNT = "aunt: aunt(X, Z) <- sister(X, Y), father(Y, Z)."
NEAR = "near: within(P, Q, 20%) <- sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, price: Q), A < B."
OTHERS = """
modest: P <= 1.5 * avg(Q : sale(zip: Z, price: Q)) <- sale(zip: Z, price: P).
mother: mother(X, Z) <- wife(X, Y), father(Y, Z).
either: aunt(X, Z) and X != Z <- sister(X, Y), father(Y, Z).
soon: within(D, E, 30 days) <- sale(id: A, zip: Z, sold: D, price: P), sale(id: B, zip: Z, sold: E), A < B.
"""


def session(rules: str, engine: object) -> Any:
    sale = rulescore.Table(SALES, key="id", target="price", hidden=[3, 4])
    predictions = {"m": {"facts": PREDICTED, "sale": {3: 400.0, 4: 90.0}}}
    return rulescore.open(FACTS, predictions, f"{rules} {DECLARED}", tables={"sale": sale}, engine=engine)


def in_order(rows: list[Any]) -> list[str]:
    """Engines need not agree on one."""
    return sorted(map(repr, rows))


@cache
def everything(engine: object) -> dict[str, list[str]]:
    with session(AUNT + NEAR + OTHERS, engine) as opened:
        found = {"rows": opened.violations(), "data": opened.violations(dataset=True), "met": opened.explain(4).confirmations}
        found |= {by: opened.violations(by=by) for by in ("refuter", "entity", "prediction")}
    return {name: in_order(rows.to_pylist()) for name, rows in found.items()}


def test_there_is_something_of_each_kind() -> None:
    text = repr(everything("duckdb"))
    for piece in ("percentage points", "'margin_unit': 'days'", "'aggregate_before': 105.25", "'refuter_relation': 'mother'"):
        assert piece in text
    assert all(everything("duckdb").values())


@pytest.mark.server
def test_postgresql_lists_alike(postgres: Any) -> None:
    assert everything(postgres.url()) == everything("duckdb")


@pytest.mark.server
@pytest.mark.xdist_group("spark")
def test_spark_lists_alike(spark: Any) -> None:
    """A rule of each family, without aggregates: every statement takes its time."""
    found = []
    for engine in ("duckdb", spark):
        with session(AUNT + NEAR, engine) as opened:
            found.append([in_order(opened.violations(rule=rule).to_pylist()) for rule in ("aunt", "near")])
    assert found[1] == found[0]
    assert all(found[0])


MANY_RULES = "".join(f"{head}(X, Y) <- {one}(X, Z), {two}(Z, Y).\n" for head in "pq" for one in "pqrs" for two in "pqrs")


def test_a_listing_of_one_rule_makes_no_tables_for_others(caplog: pytest.LogCaptureFixture) -> None:
    """Neither are signatures numbered, nor are tables of chains made, nor parameters of other rules loaded."""
    steps = {"p": 1, "q": 2, "r": 3, "s": 5}
    facts = [(f"c{i}", name, f"c{(i * step + 1) % 12}") for name, step in steps.items() for i in range(12)]
    rules = f"{MANY_RULES} three: s(X, Y) <- p(X, A), p(A, B), q(B, Y). incompatible p, q, r, s."
    with caplog.at_level(logging.DEBUG, "rulescore.sql"), rulescore.open(facts, None, rules) as opened:
        alone = [row["sentence"] for row in opened.violations(rule="three", dataset=True).to_pylist()]
    statements = [record.getMessage() for record in caplog.records]
    assert len(statements) <= 25
    assert not any("__rulescore__signature" in one or "__rulescore__degree" in one for one in statements)
    with rulescore.open(facts, None, rules) as opened:
        every = opened.violations(dataset=True, limit=None).to_pylist()
    assert alone
    assert alone == [row["sentence"] for row in every if row["rule"] == "three"]


def test_violations_of_alike_rules_are_drawn_by_one_statement(caplog: pytest.LogCaptureFixture) -> None:
    steps = {"p": 1, "q": 2, "r": 3, "s": 5}
    facts = [(f"c{i}", name, f"c{(i * step + 1) % 12}") for name, step in steps.items() for i in range(12)]
    models = {model: [(f"c{i}", model, f"c{i + 2}") for i in range(10)] for model in "pq"}
    with rulescore.open(facts, models, f"{MANY_RULES} incompatible p, q, r, s.") as opened:
        every = opened.session.violations(model=list(models), limit=None)
        with caplog.at_level(logging.DEBUG, "rulescore.sql"):
            drawn = opened.session.sampled_violations(list(models), every.total)
        statements = [record.getMessage() for record in caplog.records]
        assert len({row.rule for row in drawn.rows}) > 20
        assert len(statements) <= 20
        assert sorted(map(repr, drawn.rows)) == sorted(map(repr, every.rows))
        few = opened.session.sampled_violations(list(models), 40)
        assert len(set(map(repr, few.rows))) == 40
        assert {repr(row) for row in few.rows} < {repr(row) for row in every.rows}
