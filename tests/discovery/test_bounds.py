"""Graphs that are large in one way are bounded and told; small ones get a reason."""

from __future__ import annotations

import pytest

import rulescore
from rulescore.discovery.result import Discovered

Rows = list[tuple[str, ...]]


def _hub(n: int) -> dict[str, Rows]:
    """A constant with many neighbours, of which each has one more of its own."""
    return {
        "p": [("hub", f"x{i}") for i in range(n)],
        "q": [(f"x{i}", "hub") for i in range(n)],
        "r": [(f"x{i}", f"y{i}") for i in range(n)],
    }


def test_a_hub_is_never_expanded_against_itself() -> None:
    found = rulescore.discover(_hub(30_000), forms=["inversion", "two_atoms", "functional"], max_rate=1)
    rules = {rule.text: rule.counts for rule in found.discovery.rules}
    assert rules["p(X, Y) <- q(Y, X)"].confirmed == 30_000
    assert found.discovery.reasons == ()


def test_rules_with_constants_of_a_hub_are_left_out_and_said() -> None:
    facts = {"p": [(f"h{i % 40}", f"x{i // 40}") for i in range(4000)], "q": [("a", "b")] * 10}
    found = rulescore.discover(facts, forms=["constants"], max_groundings=5_000)
    assert found.discovery.rules == ()
    assert "“With constants” are left out: finding them looks at 560,000 pairs of facts, and the limit is 5,000" in found.to_text(
        width=200
    )


def test_triangles_beyond_the_bound_are_left_out_and_said() -> None:
    facts = [(f"x{i}", "p", f"x{j}") for i in range(12) for j in range(12)] + [("a", "q", "b")]
    found = rulescore.discover(facts, forms=["two_atoms"], max_groundings=100)
    assert "“Two facts imply a third” are left out" in found.to_text(width=200)


def test_so_many_predicates_that_no_file_could_name_their_pairs() -> None:
    facts = [(f"x{i}", f"p{i % 5_000}", f"y{i // 50}") for i in range(20_000)] + [(f"a{i}", "born in", "b") for i in range(500)]
    found = rulescore.discover(facts)
    assert all(rule.form.is_denial for rule in found.discovery.rules)
    assert "5,001 predicates of 2 places make too many pairs" in found.to_text(width=200)
    assert found.discovery.declarations == ()


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ([], "nothing found, because there are no facts"),
        ([("a", "p", "b")], "nothing found, because no predicate has 10 facts"),
        ({"p": [("a", "b", "c")] * 20}, "nothing found, because no predicate has one place or two"),
        ({"u": [(f"x{i}",) for i in range(20)]}, "because no two predicates exclude each other"),
        ([(f"x{i}", "p", f"x{i + 1}") for i in range(8)] * 2, "because no predicate has 10 facts"),
    ],
)
def test_nothing_found_has_a_reason(facts: object, reason: str) -> None:
    found = rulescore.discover(facts)
    assert found.discovery.rules == ()
    assert reason in found.to_text(width=200)
    assert found.rules.count("<-") == 0


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ("one_place", "nothing found, because no predicate has one place"),
        ("asymmetric", "nothing found, because chance would break no rule 10 times, as `--min-support` asks, that the facts keep"),
        ("implication", "nothing found, because no rule is confirmed 10 times, as `--min-support` asks"),
    ],
)
def test_nothing_of_a_form_has_its_own_reason(form: str, reason: str) -> None:
    facts = [(f"x{i}", "p", f"y{i}") for i in range(20)] + [(f"y{i}", "q", f"x{i}") for i in range(20)]
    assert rulescore.discover(facts, forms=[form]).discovery.reasons == (reason,)


def test_forms_that_do_not_suit_the_data_are_refused() -> None:
    table = rulescore.Table({"id": [1, 2], "price": [3, 4]}, key="id")
    with pytest.raises(rulescore.InputError, match="rules about tables are asked for, and there are only facts"):
        rulescore.discover([("a", "p", "b")], forms=["bound"])
    with pytest.raises(rulescore.InputError, match="rules about facts are asked for, and there are only tables"):
        rulescore.discover(None, tables={"sale": table}, forms=["implication"])
    both = rulescore.discover([("a", "p", "b")], tables={"sale": table}, forms=["bound"]).discovery
    assert both.reasons == ("table `sale` has 2 rows, and a rule needs 10 confirmed groundings",)


def _one_predicate() -> Discovered:
    return rulescore.discover([(f"x{i}", "p", f"y{i % 5}") for i in range(50)])


def test_one_predicate_has_constraints_and_no_rule_with_a_head() -> None:
    found = _one_predicate()
    assert [rule.text for rule in found.listed] == ["false <- p(X, Y), p(X, Z), Y != Z"] or found.discovery.rules
    assert all(rule.form.is_denial for rule in found.listed)
    assert "no rule has a head, because no two predicates exclude" in found.to_text(width=200)


def test_only_self_loops() -> None:
    loops = [(f"x{i}", name, f"x{i}") for name in ("p", "q") for i in range(40)] + [("a", "r", "a")]
    found = rulescore.discover(loops)
    assert {rule.form.value for rule in found.discovery.rules} == {"functional"}


def test_a_graph_without_a_triangle() -> None:
    facts = [(f"x{i}", "p", f"y{i}") for i in range(40)] + [(f"z{i}", "q", f"x{i}") for i in range(40)]
    found = rulescore.discover(facts, forms=["two_atoms"])
    assert found.discovery.rules == ()
    assert "no rule is confirmed 10 times" in found.to_text(width=200)
