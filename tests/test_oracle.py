"""The oracle against numbers worked out by hand from the definitions, and against brute force."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given

import oracle
import strategies
from oracle import (
    Atom,
    Auxiliary,
    Compare,
    Counts,
    Fact,
    Functional,
    Incompatible,
    Not,
    Rule,
    Setting,
    Value,
    Variable,
    Wildcard,
    constant,
    fact,
)

X, Y, Z = Variable("X"), Variable("Y"), Variable("Z")
P_FROM_Q = Rule("one", Atom("p", (X, Y)), (Atom("q", (X, Y)),))
P_AND_S = oracle.incompatible_group(2, "p", "s")


def both(observed: set[Fact], rule: Rule, prediction: Fact, **parts: object) -> tuple[Counts, Counts]:
    """The contribution by the definition and by the appendix."""
    setting = Setting(frozenset(observed), (rule,), **parts)  # type: ignore[arg-type]
    appendix = replace(setting, convention=oracle.APPENDIX)
    return oracle.contribution(setting, rule, prediction), oracle.contribution(appendix, rule, prediction)


# The worked examples


def test_the_motivating_example_scores_0_and_1() -> None:
    rule = Rule("sibling", None, (Atom("sister", (X, Y)), Atom("wife", (X, Y))))
    setting = Setting(
        observed=frozenset(
            {fact("mother", "alice", "bob"), fact("father", "christopher", "bob"), fact("sister", "alice", "daniel")}
        ),
        rules=(rule,),
        predictions={
            "first": frozenset({fact("wife", "alice", "christopher")}),
            "second": frozenset({fact("wife", "alice", "daniel")}),
        },
    )
    first, second = oracle.model_score(setting, "first"), oracle.model_score(setting, "second")
    assert first.hard_score == 0
    assert second.hard_score == 1
    assert first.rules["sibling"].dataset_rate is None
    assert first.rules["sibling"].kind == "hard"


OBSERVED = {fact("p", "a", "b"), fact("q", "a", "b"), fact("s", "b", "c"), fact("p", "c", "c")}


def test_one_grounding_over_the_data_is_confirmed() -> None:
    setting = Setting(frozenset(OBSERVED), (P_FROM_Q,), incompatible=P_AND_S)
    assert oracle.dataset_counts(setting, P_FROM_Q) == (1, 0, 1)


def test_a_predicted_body_atom_is_refuted_by_an_observed_fact() -> None:
    assert both(OBSERVED, P_FROM_Q, fact("q", "b", "c"), incompatible=P_AND_S) == ((0, 1, 1), (0, 1, 1))


def test_a_predicted_refuter_participates_in_the_appendix_only() -> None:
    assert both(OBSERVED, P_FROM_Q, fact("s", "a", "b"), incompatible=P_AND_S) == ((0, 0, 0), (0, 1, 1))


def test_a_predicted_head_is_refuted_by_the_definition_only() -> None:
    observed = OBSERVED | {fact("q", "b", "c")}
    assert both(observed, P_FROM_Q, fact("p", "b", "c"), incompatible=P_AND_S) == ((1, 1, 1), (1, 0, 1))


def test_refutations_see_the_prediction() -> None:
    rule = Rule("one", Atom("p", (X, Y)), (Atom("s", (X, Y)), Atom("t", (X,))))
    assert both({fact("t", "a")}, rule, fact("s", "a", "b"), incompatible=P_AND_S) == ((0, 1, 1), (0, 0, 0))


def test_functional_refutations_see_the_prediction() -> None:
    rule = Rule("one", Atom("born", (X, Y)), (Atom("born", (X, Z)), Atom("near", (Z, Y))))
    setting = Setting(frozenset({fact("near", "z", "y")}), (rule,), functional=(Functional("born", (0,), (1,)),))
    assert oracle.contribution(setting, rule, fact("born", "a", "z")) == (0, 1, 1)


def test_asymmetry_confirms_and_refutes_a_fact_that_is_its_own_mirror_image() -> None:
    asymmetry = (Incompatible(Atom("p", (X, Y)), Atom("p", (Y, X))),)
    setting = Setting(frozenset({fact("q", "a", "a")}), (P_FROM_Q,), incompatible=asymmetry)
    assert oracle.contribution(setting, P_FROM_Q, fact("p", "a", "a")) == (1, 1, 1)


# The rows of the table of conventions


def by_convention(observed: set[Fact]) -> tuple[Counts, Counts]:
    parts = (*P_AND_S, *oracle.incompatible_group(2, "p", "u"))
    setting = Setting(frozenset(observed), (P_FROM_Q,), incompatible=parts)
    appendix = replace(setting, convention=oracle.APPENDIX)
    return oracle.dataset_counts(setting, P_FROM_Q), oracle.dataset_counts(appendix, P_FROM_Q)


def test_two_variables_may_have_one_constant_by_the_definition_only() -> None:
    assert by_convention({fact("q", "a", "a"), fact("p", "a", "a")}) == ((1, 0, 1), (0, 0, 0))


def test_a_variable_may_equal_a_constant_of_the_rule_in_both_conventions() -> None:
    rule = Rule("one", Atom("p", (X, constant("a"))), (Atom("q", (X, constant("a"))),))
    assert both({fact("p", "a", "a")}, rule, fact("q", "a", "a")) == ((1, 0, 1), (1, 0, 1))


def test_two_refuters_are_one_violation_or_two() -> None:
    assert by_convention({fact("q", "a", "b"), fact("s", "a", "b"), fact("u", "a", "b")}) == ((0, 1, 1), (0, 2, 2))


def test_the_denominator_is_the_union_or_the_sum() -> None:
    assert by_convention({fact("q", "a", "b"), fact("p", "a", "b"), fact("s", "a", "b")}) == ((1, 1, 1), (1, 1, 2))


def test_a_prediction_that_fills_two_places_counts_once_or_not_at_all() -> None:
    rule = Rule("one", Atom("p", (X, Z)), (Atom("e", (X, Y)), Atom("e", (Y, Z))))
    found = both({fact("p", "a", "a")}, rule, fact("e", "a", "a"), distinct_variables=False)
    assert found == ((1, 0, 1), (0, 0, 0))


def test_an_observed_prediction_stands_beside_the_observed_fact_in_the_appendix() -> None:
    rule = Rule("one", Atom("p", (X, Z)), (Atom("e", (X, Y)), Atom("e", (Y, Z))))
    found = both({fact("p", "a", "a"), fact("e", "a", "a")}, rule, fact("e", "a", "a"), distinct_variables=False)
    assert found == ((1, 0, 1), (2, 0, 2))


@pytest.mark.parametrize(
    ("roles", "definition", "appendix"),
    [({"body"}, 0, 0), ({"head"}, 0, 0), ({"refuter"}, 1, 1), ({"body", "head"}, 0, 0), ({"body", "head", "refuter"}, 1, 1)],
)
def test_roles_select_the_places_of_a_prediction(roles: set[str], definition: int, appendix: int) -> None:
    found = both({fact("q", "a", "b")}, P_FROM_Q, fact("s", "a", "b"), incompatible=P_AND_S, roles=frozenset(roles))
    assert [counts.refuted for counts in found] == [definition, appendix]


# Constants, bodies and refutations


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1.0, True),
        (1, True, False),
        ("1", 1, False),
        (0.5, 0.50, True),
        ("true", True, False),
        ("a", "a ", False),
        (0, -0.0, True),
    ],
)
def test_equality_is_typed(one: Value, other: Value, equal: bool) -> None:
    assert (constant(one) == constant(other)) is equal
    assert (fact("p", one) in {fact("p", other)}) is equal


def test_each_wildcard_is_a_variable_and_none_under_not() -> None:
    rule = Rule("one", None, (Atom("q", (X, Wildcard())), Not(Atom("s", (X, Wildcard())))))
    observed = {fact("q", "a", "b"), fact("q", "a", "c"), fact("q", "b", "c"), fact("s", "b", "b")}
    assert oracle.dataset_counts(Setting(frozenset(observed), (rule,)), rule) == (0, 2, 2)


def test_a_variable_bound_by_an_equation_is_no_variable_of_the_grounding() -> None:
    rule = Rule("one", Atom("p", (X, Z)), (Atom("q", (X, Y)), Compare(Z, X, equal=True)))
    setting = Setting(frozenset({fact("q", "a", "b"), fact("p", "a", "a")}), (rule,), distinct_variables=True)
    assert oracle.dataset_counts(setting, rule) == (1, 0, 1)


def test_auxiliary_variables_are_existential() -> None:
    auxiliary = Auxiliary(Atom("p", (X, X)), (Atom("w", (X, Z)), Compare(Z, X, equal=False)))
    setting = Setting(
        frozenset({fact("q", "a", "a"), fact("w", "a", "b"), fact("w", "a", "c"), fact("q", "b", "b"), fact("w", "b", "b")}),
        (P_FROM_Q,),
        auxiliary=(auxiliary,),
    )
    assert oracle.dataset_counts(setting, P_FROM_Q) == (0, 1, 1)


def test_extraction_reads_pairs_of_equal_arity_with_facts_and_no_common_tuple() -> None:
    observed = {fact("p", "a"), fact("q", "a"), fact("r", "b"), fact("s", "a", "b")}
    found = {(pair.left.predicate, pair.right.predicate) for pair in oracle.extracted(frozenset(observed))}
    assert found == {("p", "r"), ("q", "r")}


# Scores


def test_shares_run_over_all_rules_and_the_soft_mean_over_soft_ones() -> None:
    hard = Rule("hard", Atom("p", (X,)), (Atom("q", (X,)),))
    soft = Rule("soft", Atom("w", (X,)), (Atom("u", (X,)),))
    observed = {fact("q", "a"), fact("p", "a"), fact("u", "a"), fact("u", "b"), fact("w", "a")}
    predictions = {"model": frozenset({fact("q", "b"), fact("u", "c"), fact("w", "b")})}
    setting = Setting(frozenset(observed), (hard, soft), predictions, closed_all=True)
    score = oracle.model_score(setting, "model")
    assert score.hard_score == score.hard_mean == 1
    assert score.rules["soft"].score == 1
    assert score.rules["soft"].share == Fraction(2, 3)
    assert score.soft_score == Fraction(2, 3)
    assert score.soft_mean == 1


# Brute force


@given(strategies.settings())
def test_groundings_are_those_that_all_assignments_give(generated: strategies.Generated) -> None:
    """Only rules of few variables: brute force tries every constant for every variable."""
    setting = generated.setting
    for rule in setting.rules:
        body = oracle.name_wildcards(rule.body)
        if len(strategies.variables_of(body)) <= 4:
            found = [frozenset(one.items()) for one in oracle.groundings(setting, rule, setting.observed)]
            brute = [frozenset(one.items()) for one in oracle.every_grounding(setting, rule, setting.observed)]
            assert len(found) == len(set(found))
            assert set(found) == set(brute)
