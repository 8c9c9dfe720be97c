"""Constants of rules that the data do not have at their places."""

from __future__ import annotations

from typing import Any

import pytest

import rulescore

FACTS = {
    "lives_in": [("ann", "New York"), ("bob", "Paris")],
    "speaks": [("ann", "english"), ("bob", "french")],
    "age": [("ann", 31)],
}
SPEAKS = "functional speaks(X -> Y).\n"


def told(rules: str, engine: object = "duckdb", **options: Any) -> list[str]:
    warnings = rulescore.audit(FACTS, SPEAKS + rules, engine=engine, **options).warnings
    return [warning.message for warning in warnings if warning.code == "W217"]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            'r: speaks(X, english) <- lives_in(X, "New Yrok").',
            '`"New Yrok"` does not occur as argument 2 of `lives_in`; did you mean `New York`?',
        ),
        (
            'r: speaks(X, "English") <- lives_in(X, Y).',
            '`"English"` does not occur as argument 2 of `speaks`; did you mean `english`?',
        ),
        ('r: speaks(X, english) <- lives_in(X, "Rome").', '`"Rome"` does not occur as argument 2 of `lives_in`'),
        ("r: speaks(X, english) <- age(X, 30).", "`30` does not occur as argument 2 of `age`"),
        ('r: speaks(X, Y) <- speaks(X, Y), age(X, N), N > 3, not lives_in(X, "Pari").', '`"Pari"` does not occur as argument 2'),
    ],
)
def test_a_constant_that_is_not_at_its_place_is_told(rule: str, message: str) -> None:
    (found,) = told(rule)
    assert found.startswith(message)


@pytest.mark.parametrize(
    "rule",
    [
        'r: speaks(X, english) <- lives_in(X, "New York").',
        "r: speaks(X, english) <- age(X, 31.0).",
        'r: speaks(X, english) <- lives_in(X, "Rome"). predicate nothing/1.',
        "r: speaks(X, english) <- nothing(a), lives_in(X, Y). predicate nothing/1.",
    ],
)
def test_a_constant_that_some_fact_has_there_is_not_told(rule: str) -> None:
    assert told(rule, negatives={"lives_in": [("cid", "Rome")]}) == []


def test_predictions_have_constants_too() -> None:
    predictions = {"model": {"lives_in": [("cid", "Rome")]}}
    found = rulescore.score(FACTS, predictions, f'{SPEAKS} r: speaks(X, english) <- lives_in(X, "Rome").')
    assert "W217" not in [warning.code for warning in found.warnings]


def test_columns_of_tables_are_places() -> None:
    rows = [{"id": 1, "sex": "female", "survived": 1}, {"id": 2, "sex": "male", "survived": None}]
    table = rulescore.Table(rows, key="id", target="survived", hidden=[2])
    rules = 'a: S = 1 <- p(sex: "femal", survived: S). b: false <- p(survived: 0, sex: "male"). c: false <- p(id: 3).'
    found = rulescore.score(None, {"model": {2: 0}}, rules, tables={"p": table})
    messages = [warning.message for warning in found.warnings if warning.code == "W217"]
    assert messages == [
        "`femal` does not occur as `sex` of table `p`; did you mean `female`?",
        "`3` does not occur as `id` of table `p`",
    ]


def test_many_constants_are_one_warning_with_a_few_examples() -> None:
    rules = "\n".join(f"r{n}: speaks(X, english) <- lives_in(X, place{n})." for n in range(5_000))
    assert told(rules) == ["5,000 constants of rules do not occur at their places in the data"]


def test_every_engine_finds_the_same(engine: str) -> None:
    rows = [{"id": 1, "sex": "female"}, {"id": 2, "sex": "male"}]
    tables = {"p": rulescore.Table(rows, key="id")}
    rules = 'a: speaks(X, english) <- lives_in(X, "New Yrok"). b: false <- p(sex: "femal"), age(X, 31).'
    assert told(rules, engine, tables=tables) == [
        '`"New Yrok"` does not occur as argument 2 of `lives_in`; did you mean `New York`?',
        "`femal` does not occur as `sex` of table `p`; did you mean `female`?",
    ]
