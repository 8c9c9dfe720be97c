"""Violations of formulas: as many as are counted, each with its values, its words and the parts the prediction plays."""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow as pa
import pytest

import rulescore
from rulescore.arguments.python import make_setting
from rulescore.language.syntax import Atom, Constant
from rulescore.scoring.violation import Violation, Violations
from rulescore.session.session import Session
from rulescore.setting.model import Setting

pytestmark = pytest.mark.slow

FACTS = {
    "person": [("ann",), ("bob",), ("cy",)],
    "parent": [("ann", "bob"), ("ann", "cy"), ("bob", "cy")],
    "age": [("ann", 50), ("bob", 30), ("cy", 8)],
    "married": [("ann", "bob")],
    "born": [("ann", datetime.date(1970, 1, 31))],
}
PREDICTED = {"parent": [("cy", "ann"), ("cy", "bob"), ("ann", "bob")], "married": [("bob", "cy")], "age": [("dan", 7), ("bob", 31)]}
SALES = {"id": [1, 2, 3], "zip": ["a", "a", "b"], "price": [10.5, 20.0, 99.0], "split": ["train", "train", "test"]}


def facts_setting(rules: str) -> Setting:
    return make_setting(FACTS, {"model": PREDICTED}, rules, threads=1)


def table_setting(rules: str) -> Setting:
    table = rulescore.Table(
        SALES, key="id", target="price", hidden={"column": "split", "values": ["test"]}, derived={"half": "price / 2"}
    )
    return make_setting(None, {"model": pa.table({"id": [3], "prediction": [5.0]})}, rules, tables={"sale": table}, threads=1)


def listed(one: Setting, model: str | None = None, limit: int = 100, prediction: Atom | None = None) -> Violations:
    with Session(one) as session:
        return session.violations(rule=None, model=model, prediction=prediction, limit=limit)


RULES = [
    "N > 40 <- age(X, N).",
    "abs(N - M) <= 10 <- age(X, N), age(Y, M), X != Y.",
    "false <- parent(X, Y), age(X, N), age(Y, M), N < M + 25.",
    "false <- (parent(X, Y) or married(X, Y)), X != Y, not person(Y).",
    "parent(X, Y) or married(X, Y) <- person(X), person(Y), length(X) = 3. closed *.",
    "not married(X, Y) <- parent(X, Y).",
    "parent(X, Y) and person(X) <- married(X, Y). closed parent. refute person(X) <- age(X, N), N > 40.",
    "count(C : parent(X, C)) <= 1 <- person(X).",
    "false <- person(X), count(C : parent(X, C), age(C, N), N < 20) > 0.",
    "person(X) and not parent(X, X) <- parent(X, Y), length(X) > 1. incompatible parent(X, Y), parent(Y, X).",
    "age(X, N) <- age(X, N), N > 3. functional age(X -> N). refute age(X, N) <- N > 40.",
    "X in {ann, bob} <- age(X, _).",
    "false <- age(ann, 50) and 1 < 2.",
]


@pytest.mark.parametrize("rule", RULES)
def test_as_many_are_listed_as_are_counted(rule: str) -> None:
    with Session(facts_setting(rule)) as session:
        result = session.evaluate().rule_results[0]
        for model, counted in ((None, result.dataset), ("model", result.models["model"].counts)):
            found = session.violations(rule=None, model=model, prediction=None, limit=100)
            assert (found.total, len(found.rows)) == (counted.refuted, counted.refuted)
            assert len({(row.prediction, str(row.binding)) for row in found.rows}) == counted.refuted


@pytest.mark.parametrize("rule", RULES)
def test_those_of_one_prediction_are_its_contribution(rule: str) -> None:
    with Session(facts_setting(rule)) as session:
        contributions = session.evaluate().contributions.to_pylist()
        for predicate, rows in PREDICTED.items():
            for arguments in rows:
                atom = Atom(predicate, tuple(map(Constant, arguments)))
                found = session.violations(rule=None, model="model", prediction=atom, limit=100)
                own = [c for c in contributions if (c["predicate"], c["arguments"]) == (predicate, list(map(str, arguments)))]
                assert found.total == sum(one["refuted"] for one in own)


def test_a_limit_shortens_the_list_and_not_the_total() -> None:
    whole = listed(facts_setting(RULES[1]))
    some = listed(facts_setting(RULES[1]), limit=2)
    assert (some.total, some.rows) == (whole.total, whole.rows[:2])
    assert listed(facts_setting(RULES[1]), limit=0).rows == []


def only(rules: str, model: str | None = None, setting: Any = facts_setting, **wanted: str) -> Violation:
    """The only violation of these values."""
    (found,) = [row for row in listed(setting(rules), model).rows if wanted.items() <= row.binding.items()]
    return found


def test_body_and_head_are_shown_with_their_values() -> None:
    found = only("old: N > 40 or starts_with(X, b) <- age(X, N), let M = N / 2, M < 5.")
    assert found.binding == {"X": "cy", "N": 8}
    assert found.body == ("age(cy, 8)", "let M = 8 / 2", "M < 5")
    assert (found.head, found.rule, found.refuted_by) == (
        "8 > 40 or starts_with(cy, b)",
        "old",
        ("starts_with(cy, b) is false",),
    )


def test_what_no_name_stands_for_is_numbered_and_shown_with_its_value() -> None:
    found = only("X = ann <- age(X, _), (parent(X, Y) or married(X, Y)), not parent(Y, _).")
    assert found.binding == {"X": "bob", "_2": 30, "Y": "cy"}
    assert found.body == ("age(bob, 30)", "parent(bob, cy) or married(bob, cy)", "not parent(cy, _)")


def test_a_key_that_is_not_named_is_shown() -> None:
    found = only("P > 15 <- sale(zip: Z, price: P).", setting=table_setting)
    assert found.binding == {"id": 1, "Z": "a", "P": 10.5}
    assert (found.body, found.head) == (("sale(id: 1, zip: a, price: 10.5)",), "10.5 > 15")


def test_dates_floats_and_truths_read_as_in_rules() -> None:
    assert only("year(D) > 1980 <- born(X, D).").binding == {"X": "ann", "D": datetime.date(1970, 1, 31)}
    assert only("year(D) > 1980 <- born(X, D).").head == "year(1970-01-31) > 1980"


def test_a_rule_without_variables_has_one_violation_and_no_values() -> None:
    found = only("false <- age(ann, 50) and 1 < 2.")
    assert (found.binding, found.body, found.head) == ({}, ("age(ann, 50)", "1 < 2"), "false")


@pytest.mark.parametrize(
    ("rules", "wanted", "reasons"),
    [
        (
            "parent(X, Y) and person(X) <- married(X, Y). refute person(X) <- age(X, N), N > 40.",
            {},
            ("age(ann, 50)",),
        ),
        (
            "parent(Y, X) or married(Y, X) <- married(X, Y). closed *.",
            {},
            ("nothing says parent(bob, ann): closed", "nothing says married(bob, ann): closed"),
        ),
        ("parent(X, Y) and 1 < 2 <- married(X, Y). incompatible parent, married.", {}, ("married(ann, bob)",)),
        ("not parent(X, Y) <- married(X, Y).", {}, ("parent(ann, bob)",)),
        ("age(X, 9) <- age(X, N), N > 40. functional age(X -> N).", {}, ("age(ann, 50)",)),
    ],
)
def test_what_refutes_a_head_is_named(rules: str, wanted: dict[str, str], reasons: tuple[str, ...]) -> None:
    found = only(rules, **wanted)
    assert set(found.refuted_by) == set(reasons)


@pytest.mark.parametrize(
    ("rules", "prediction", "roles"),
    [
        ("N > 40 <- age(X, N).", "age(dan, 7)", ("body",)),
        ("parent(X, Y) or X = Y <- married(X, Y). closed parent.", "married(bob, cy)", ()),
        ("not parent(X, Y) <- person(X), person(Y), X != Y.", "parent(cy, ann)", ("head", "refuter")),
        ("not parent(X, Y) <- parent(X, Y), X != Y, length(X) > 1.", "parent(cy, ann)", ("body", "head", "refuter")),
        ("age(X, N) or 1 > 2 <- age(X, N), person(X). functional age(X -> N).", "age(bob, 31)", ("body", "head")),
        ("count(C : parent(X, C)) <= 0 <- person(X).", "parent(cy, ann)", ("head",)),
        ("false <- person(X), count(C : parent(X, C)) > 0.", "parent(cy, ann)", ("body",)),
        ("false <- age(X, N), not (parent(X, Y) and N > 100), person(Y).", "parent(cy, ann)", ("body",)),
    ],
)
def test_the_parts_that_a_prediction_plays(rules: str, prediction: str, roles: tuple[str, ...]) -> None:
    found = [row for row in listed(facts_setting(rules), "model").rows if str(row.prediction) == prediction]
    assert {row.roles for row in found} == ({roles} if roles else set())
    assert all(row.model == "model" for row in found)


def test_a_reason_is_named_once() -> None:
    rules = "parent(X, Y) and 1 < 2 <- parent(X, Y), length(X) > 1. incompatible parent(X, Y), parent(Y, X)."
    own = [row for row in listed(facts_setting(rules), "model").rows if str(row.prediction) == "parent(cy, ann)"]
    assert [(row.binding["X"], row.roles, row.refuted_by) for row in own] == [("cy", ("body", "head"), ("parent(ann, cy)",))]


def test_a_prediction_in_the_body_may_be_what_refutes_the_head() -> None:
    rules = "parent(Y, X) and 1 < 2 <- married(X, Y), length(X) > 1. incompatible parent(X, Y), married(Y, X)."
    (found,) = listed(facts_setting(rules), "model").rows
    assert (str(found.prediction), found.roles, found.refuted_by) == (
        "married(bob, cy)",
        ("body", "refuter"),
        ("married(bob, cy)",),
    )


def test_a_predicted_row_shows_its_prediction_and_what_derives_from_it() -> None:
    found = only("H > 5 <- sale(id: A, half: H).", "model", table_setting)
    assert (str(found.prediction), found.binding, found.roles) == ("sale.price(3, 5)", {"A": 3, "H": 2.5}, ("body",))


def test_pairs_that_are_counted_by_sorting_are_listed_too() -> None:
    rule = "abs(P - Q) <= 5 <- sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, price: Q)."
    with Session(table_setting(rule)) as session:
        assert session.evaluate().rule_results[0].largest_group is not None
        found = session.violations(rule=None, model=None, prediction=None, limit=10)
    assert [(row.binding["A"], row.binding["B"], row.head) for row in found.rows] == [
        (1, 2, "abs(10.5 - 20.0) <= 5"),
        (2, 1, "abs(20.0 - 10.5) <= 5"),
    ]


def test_a_tolerance_taken_from_the_data_is_shown_as_its_number() -> None:
    rule = "within(P, Q, quantile(0.5)) <- sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, price: Q)."
    assert {row.head for row in listed(table_setting(rule)).rows} == {"within(10.5, 20.0, 0.0)", "within(20.0, 10.5, 0.0)"}


def test_a_comparison_shows_both_sides_and_by_how_much_it_is_missed() -> None:
    (found,) = only("2 * N > 40 <- age(X, N).", X="cy").compared
    assert (found.text, found.left, found.right, found.holds, found.margin) == ("2 * 8 > 40", 16, 40, False, 24)
    (found,) = only("false <- parent(X, Y), age(X, N), age(Y, M), N < M + 25.", X="ann", Y="bob").compared
    assert (found.text, found.left, found.right, found.holds, found.margin) == ("50 < 30 + 25", 50, 55, True, 5)
    (found,) = only("D > 1980-01-01 <- born(X, D).").compared
    assert (found.left, found.margin) == (datetime.date(1970, 1, 31), 3622)
    (found,) = only("X > bob <- age(X, 50).").compared
    assert (found.left, found.right, found.margin) == ("ann", "bob", None)


def test_an_aggregate_shows_its_value_over_the_data_and_with_the_prediction() -> None:
    rules = "P <= 1.5 * avg(Q : sale(zip: Z, price: Q)) <- sale(zip: Z, price: P)."
    table = rulescore.Table(
        {**SALES, "zip": ["a", "a", "a"]}, key="id", target="price", hidden={"column": "split", "values": ["test"]}
    )
    setting = make_setting(None, {"model": pa.table({"id": [3], "prediction": [90.0]})}, rules, tables={"sale": table}, threads=1)
    (found,) = listed(setting, "model").rows
    (aggregated,) = found.aggregated
    assert aggregated.text == "avg(Q : sale(zip: a, price: Q))"
    assert (aggregated.before, aggregated.value) == (15.25, 120.5 / 3)
    assert [(one.left, one.right) for one in found.compared] == [(90.0, 1.5 * (120.5 / 3))]
    (found,) = listed(
        make_setting(None, None, "P <= 1 * avg(Q : sale(zip: Z, price: Q)) <- sale(zip: Z, price: P).", tables={"sale": table})
    ).rows
    assert (found.aggregated[0].value, found.aggregated[0].before) == (15.25, 15.25)


def test_a_closed_predicate_is_named_only_if_no_fact_refutes() -> None:
    rules = "parent(X, Y) and 1 < 2 <- married(X, Y). closed parent. incompatible parent(X, Y), parent(Y, X)."
    facts = {"married": [("a", "b"), ("c", "d")], "parent": [("b", "a")]}
    for horn in (rules, rules.replace(" and 1 < 2", "")):
        found = {row.binding["X"]: row.refuted_by for row in listed(make_setting(facts, None, horn, threads=1)).rows}
        assert found == {"a": ("parent(b, a)",), "c": ("nothing says parent(c, d): closed",)}


def test_a_prediction_that_only_refutes_is_listed_in_that_role() -> None:
    rules = "age(X, 50) and 1 < 2 <- married(X, Y). functional age(X -> N)."
    setting = make_setting(FACTS, {"model": {"age": [("ann", 7)]}}, rules, threads=1, roles=["body", "head", "refuter"])
    (found,) = listed(setting, "model").rows
    assert (str(found.prediction), found.roles, found.refuted_by) == ("age(ann, 7)", ("refuter",), ("age(ann, 7)",))
