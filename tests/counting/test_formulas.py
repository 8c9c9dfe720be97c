"""Formulas on an engine: a rule of the fast family counts the same when it is counted as a formula, and failures name the rule."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

import rulescore
from rulescore.arguments.python import make_setting
from rulescore.errors import EngineError
from rulescore.session.session import Session

pytestmark = pytest.mark.slow

NAMES = "abc"
FACTS = {
    "p": [("a", "b"), ("b", "c"), ("c", "c"), ("a", "a")],
    "q": [("a", "b"), ("b", "a"), ("c", "c")],
    "r": [("b", "b"), ("c", "a"), ("a", "c")],
    "t": [("a",), ("c",)],
}
PREDICTED = {**{name: list(product(NAMES, NAMES)) for name in "pqr"}, "t": [("b",), ("c",)]}
NEGATIVES = {"p": [("a", "b"), ("c", "a")]}

DECLARATIONS = [
    "closed p.",
    "closed *.",
    "incompatible p, q.",
    "incompatible p, q, r.",
    "incompatible p(X, Y), q(Y, X).",
    "incompatible p(X, Y), p(Y, X).",
    "functional p(X -> Y).",
    "functional p(X, Y) on Y -> X.",
    "refute p(X, Y) <- r(X, Z), q(Z, Y).",
    "refute p(X, X) <- t(X).",
    "refute p(a, Y) <- not t(Y).",
    "extract incompatible.",
]
BODIES = [
    "q(X, Y)",
    "q(X, Z), r(Z, Y)",
    "q(X, Y), not r(X, Y), t(X)",
    "q(X, Y), not r(X, _), X != Y",
    "q(X, Z), p(Z, Y), Z != a",
    "q(X, a), r(_, Y)",
    "q(Z, X), Y = Z",
    "p(X, Y), p(Y, _)",
]


def counts(rules: str, **options: Any) -> list[Any]:
    result = rulescore.score(FACTS, {"model": PREDICTED}, rules, threads=1, **options)
    return [
        [(rule.dataset, rule.models["model"].counts) for rule in result.rule_results],
        sorted(map(str, result.contributions.drop_columns(["rule"]).to_pylist())),
    ]


def require_equal_counts(declarations: str, **options: Any) -> None:
    """The formula says what the rule says: `1 < 2` is true."""
    fast = "\n".join(f"p(X, Y) <- {body}." for body in BODIES)
    formulas = "\n".join(f"p(X, Y) <- {body}, 1 < 2." for body in BODIES)
    assert counts(f"{fast}\n{declarations}", **options) == counts(f"{formulas}\n{declarations}", **options)


@pytest.mark.parametrize("declaration", DECLARATIONS)
def test_a_rule_of_the_fast_family_counts_the_same_as_a_formula(declaration: str) -> None:
    require_equal_counts(declaration)


@pytest.mark.parametrize(
    "options", [{"negatives": NEGATIVES}, {"roles": "body"}, {"roles": "head"}, {"distinct_variables": True}], ids=str
)
def test_whatever_the_options(options: dict[str, Any]) -> None:
    require_equal_counts("incompatible p, q. functional p(X -> Y). refute p(a, Y) <- not t(Y).", **options)


def test_a_denial_counts_the_same_as_a_formula() -> None:
    fast = "\n".join(f"false <- {body}." for body in BODIES)
    formulas = "\n".join(f"false <- {body}, 1 < 2." for body in BODIES)
    assert counts(fast) == counts(formulas)


def test_a_failure_of_the_database_names_the_rule_and_its_place() -> None:
    rules = "fine: N > 3 <- age(X, N).\nhuge: N * 9223372036854775807 > 3 <- age(X, N)."
    with (
        Session(make_setting({"age": [("ann", 50)]}, None, rules)) as session,
        pytest.raises(EngineError, match=r"rule `huge` \(<rules>:2:1\)"),
    ):
        session.audit()


def test_a_rule_that_reads_what_has_no_rows_counts_nothing() -> None:
    rules = """
        one: false <- nothing(X, N), N > 3.
        two: N > 3 <- age(X, N), not nothing(X, N).
        three: count(X : nothing(X, _)) = 0 <- age(_, N).
    """
    with Session(make_setting({"age": [("ann", 50)]}, None, rules)) as session:
        found = [rule.dataset.evaluable for rule in session.audit().rule_results]
        assert session.statement("one") == "-- a relation that this rule reads has no rows: nothing to count"
        assert session.violations(rule="one", model=None, prediction=None, limit=5).total == 0
    assert found == [0, 1, 1]


def test_every_formula_is_explained_by_the_statements_that_count_it() -> None:
    with Session(
        make_setting(FACTS, {"model": PREDICTED}, "p(X, Y) or q(X, Y) <- r(X, Y).\nfalse <- p(X, Y), q(X, Y).")
    ) as session:
        explained = {one.title: one.statements for one in session.explain()}
    statements = explained["p(X, Y) or q(X, Y) <- r(X, Y)"]
    assert [one.split("\n")[0] for one in statements] == ["-- over the data", "-- predictions"]
    assert len(explained) == 2
