"""Normal form: every variable has a number, and nothing is written in two ways."""

from __future__ import annotations

import pytest

from rulescore.language.parser import parse_rule
from rulescore.logic import normal
from rulescore.logic.normal import Bound, Fixed, Free, Pattern, PatternAtom, normal_refutation, normal_rule

X, Y, Z = Bound(0), Bound(1), Bound(2)


def pattern(text: str) -> Pattern:
    return normal_rule(parse_rule(text)).pattern


def test_variables_are_numbered_in_the_order_of_their_first_use():
    rule = normal_rule(parse_rule("p(Y, X) <- q(X, Y), r(Y, Z)"))
    assert rule.pattern.atoms == (PatternAtom("q", (X, Y)), PatternAtom("r", (Y, Z)))
    assert rule.pattern.variables == ("X", "Y", "Z")
    assert rule.head == PatternAtom("p", (Y, X))


def test_a_denial_has_no_head():
    assert normal_rule(parse_rule("false <- q(X)")).head is None


def test_every_wildcard_is_a_variable_of_its_own():
    found = pattern("p(X) <- q(X, _, _)")
    assert found.atoms == (PatternAtom("q", (X, Y, Z)),)
    assert found.variables == ("X", "_", "_")


def test_a_wildcard_of_a_negated_atom_is_free_and_no_variable():
    found = pattern("p(X) <- q(X), not r(X, _)")
    assert found.negated == (PatternAtom("r", (X, Free())),)
    assert found.variables == ("X",)


@pytest.mark.parametrize(
    "body",
    [
        "q(X), V = X, W = V",
        "q(X), W = V, V = X",
        "q(X), V = W, X = V",
        "W = V, V = X, q(X)",
    ],
)
def test_a_chain_of_equations_abbreviates_the_bound_variable_in_any_order(body: str):
    rule = normal_rule(parse_rule(f"p(V, W) <- {body}"))
    assert rule.pattern.variables == ("X",)
    assert rule.head == PatternAtom("p", (X, X))
    assert rule.pattern.tests == ()


def test_a_variable_that_equals_a_constant_becomes_the_constant():
    rule = normal_rule(parse_rule("p(X, V) <- q(X), V = 3"))
    assert rule.head == PatternAtom("p", (X, Fixed("\x01n3")))
    assert rule.pattern.tests == ()


def test_an_equation_between_bound_variables_is_a_test_and_keeps_both():
    found = pattern("p(X, Y) <- q(X, Y), X = Y")
    assert found.tests == (normal.EqualityTest(True, X, Y),)
    assert found.variables == ("X", "Y")


def test_a_variable_bound_by_an_atom_is_tested_against_its_constant():
    assert pattern('p(X) <- q(X), X = "a"').tests == (normal.EqualityTest(True, X, Fixed("a")),)


def test_a_second_constant_of_an_abbreviation_is_a_test_that_fails():
    assert pattern('p(X) <- q(X), V = "a", V = "b"').tests == (normal.EqualityTest(True, Fixed("a"), Fixed("b")),)


def test_an_equation_with_itself_says_nothing():
    assert pattern("p(X) <- q(X), X = X").tests == ()
    assert pattern("p(X) <- q(X), X != X").tests == (normal.EqualityTest(False, X, X),)


def test_numbers_of_one_value_are_one_constant_and_a_string_is_another():
    one, other, text = (pattern(f"p(X) <- q(X, {value})").atoms for value in ("1", "1.0", '"1"'))
    assert one == other != text


def test_the_variables_of_a_refuted_head_come_first(read):
    (statement,) = read("refute p(X, Y) <- q(Z, Y), q(Z, X).").statements
    refutation = normal_refutation(statement)
    assert (refutation.predicate, refutation.arity) == ("p", 2)
    assert refutation.pattern.atoms == (PatternAtom("q", (Z, Y)), PatternAtom("q", (Z, X)))


def test_constants_and_repeated_variables_of_a_refuted_head_become_tests(read):
    (statement,) = read('refute p(X, "a", X, _) <- q(X, Y).').statements
    refutation = normal_refutation(statement)
    assert refutation.pattern.tests == (normal.EqualityTest(True, Bound(1), Fixed("a")), normal.EqualityTest(True, Bound(2), X))
    assert refutation.pattern.atoms == (PatternAtom("q", (X, Bound(4))),)
    assert len(refutation.pattern.variables) == 5


def test_an_equation_with_a_variable_of_the_refuted_head_is_a_test(read):
    (statement,) = read('refute p(X, Y) <- X = "a", Z = Y, not q(Z).').statements
    pattern = normal_refutation(statement).pattern
    assert pattern.tests == (normal.EqualityTest(True, X, Fixed("a")),)
    assert pattern.negated == (PatternAtom("q", (Y,)),)
