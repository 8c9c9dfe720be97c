"""The oracle against numbers worked out by hand from the definitions, and against brute force; case files give it more numbers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given

from generate import formulas as formula_strategies
from generate import plain as strategies
from generate.drawing import Generated
from oracle.counts import Counts
from oracle.facts import Fact, Value, constant, fact
from oracle.groundings import every_grounding, groundings, outline
from oracle.normal import normal_body
from oracle.reading import read_program
from oracle.refutation import extracted, incompatible_group
from oracle.scores import contribution, dataset_counts, model_score
from oracle.tokens import RuleTextError
from oracle.tree import APPENDIX, Functional, Rule, Setting
from oracle.world import observed, world_of
from oracle.writing import write_program, write_rule


def rule_of(text: str) -> Rule:
    (found,) = read_program(text).rules
    return found


P_FROM_Q = rule_of("one: p(X, Y) <- q(X, Y).")
P_AND_S = incompatible_group(2, "p", "s")


def both(observed: set[Fact], rule: Rule, prediction: Fact, **parts: object) -> tuple[Counts, Counts]:
    """The contribution by the definition and by the appendix."""
    setting = Setting(frozenset(observed), (rule,), **parts)  # type: ignore[arg-type]
    appendix = replace(setting, convention=APPENDIX)
    return contribution(setting, rule, prediction), contribution(appendix, rule, prediction)


# The worked examples


def test_the_motivating_example_scores_0_and_1() -> None:
    rule = rule_of("sibling: false <- sister(X, Y), wife(X, Y).")
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
    first, second = model_score(setting, "first"), model_score(setting, "second")
    assert first.hard_score == 0
    assert second.hard_score == 1
    assert first.rules["sibling"].dataset_rate is None
    assert first.rules["sibling"].kind == "hard"


OBSERVED = {fact("p", "a", "b"), fact("q", "a", "b"), fact("s", "b", "c"), fact("p", "c", "c")}


def test_one_grounding_over_the_data_is_confirmed() -> None:
    setting = Setting(frozenset(OBSERVED), (P_FROM_Q,), incompatible=P_AND_S)
    assert dataset_counts(setting, P_FROM_Q) == (1, 0, 1)


def test_a_predicted_body_atom_is_refuted_by_an_observed_fact() -> None:
    assert both(OBSERVED, P_FROM_Q, fact("q", "b", "c"), incompatible=P_AND_S) == ((0, 1, 1), (0, 1, 1))


def test_a_predicted_refuter_participates_in_the_appendix_only() -> None:
    assert both(OBSERVED, P_FROM_Q, fact("s", "a", "b"), incompatible=P_AND_S) == ((0, 0, 0), (0, 1, 1))


def test_a_predicted_head_is_refuted_by_the_definition_only() -> None:
    observed = OBSERVED | {fact("q", "b", "c")}
    assert both(observed, P_FROM_Q, fact("p", "b", "c"), incompatible=P_AND_S) == ((1, 1, 1), (1, 0, 1))


def test_refutations_see_the_prediction() -> None:
    rule = rule_of("one: p(X, Y) <- s(X, Y), t(X).")
    assert both({fact("t", "a")}, rule, fact("s", "a", "b"), incompatible=P_AND_S) == ((0, 1, 1), (0, 0, 0))


def test_functional_refutations_see_the_prediction() -> None:
    rule = rule_of("one: born(X, Y) <- born(X, Z), near(Z, Y).")
    setting = Setting(frozenset({fact("near", "z", "y")}), (rule,), functional=(Functional("born", (0,), (1,)),))
    assert contribution(setting, rule, fact("born", "a", "z")) == (0, 1, 1)


def test_asymmetry_confirms_and_refutes_a_fact_that_is_its_own_mirror_image() -> None:
    asymmetry = tuple(read_program("incompatible p(X, Y), p(Y, X).").pairs)
    setting = Setting(frozenset({fact("q", "a", "a")}), (P_FROM_Q,), incompatible=asymmetry)
    assert contribution(setting, P_FROM_Q, fact("p", "a", "a")) == (1, 1, 1)


# The rows of the table of conventions


def by_convention(observed: set[Fact]) -> tuple[Counts, Counts]:
    parts = (*P_AND_S, *incompatible_group(2, "p", "u"))
    setting = Setting(frozenset(observed), (P_FROM_Q,), incompatible=parts)
    appendix = replace(setting, convention=APPENDIX)
    return dataset_counts(setting, P_FROM_Q), dataset_counts(appendix, P_FROM_Q)


def test_two_variables_may_have_one_constant_by_the_definition_only() -> None:
    assert by_convention({fact("q", "a", "a"), fact("p", "a", "a")}) == ((1, 0, 1), (0, 0, 0))


def test_a_variable_may_equal_a_constant_of_the_rule_in_both_conventions() -> None:
    rule = rule_of("one: p(X, a) <- q(X, a).")
    assert both({fact("p", "a", "a")}, rule, fact("q", "a", "a")) == ((1, 0, 1), (1, 0, 1))


def test_two_refuters_are_one_violation_or_two() -> None:
    assert by_convention({fact("q", "a", "b"), fact("s", "a", "b"), fact("u", "a", "b")}) == ((0, 1, 1), (0, 2, 2))


def test_the_denominator_is_the_union_or_the_sum() -> None:
    assert by_convention({fact("q", "a", "b"), fact("p", "a", "b"), fact("s", "a", "b")}) == ((1, 1, 1), (1, 1, 2))


def test_a_prediction_that_fills_two_places_counts_once_or_not_at_all() -> None:
    rule = rule_of("one: p(X, Z) <- e(X, Y), e(Y, Z).")
    found = both({fact("p", "a", "a")}, rule, fact("e", "a", "a"), distinct_variables=False)
    assert found == ((1, 0, 1), (0, 0, 0))


def test_an_observed_prediction_stands_beside_the_observed_fact_in_the_appendix() -> None:
    rule = rule_of("one: p(X, Z) <- e(X, Y), e(Y, Z).")
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
    rule = rule_of("one: false <- q(X, _), not s(X, _).")
    observed = {fact("q", "a", "b"), fact("q", "a", "c"), fact("q", "b", "c"), fact("s", "b", "b")}
    assert dataset_counts(Setting(frozenset(observed), (rule,)), rule) == (0, 2, 2)


def test_a_variable_bound_by_an_equation_is_no_variable_of_the_grounding() -> None:
    rule = rule_of("one: p(X, Z) <- q(X, Y), Z = X.")
    setting = Setting(frozenset({fact("q", "a", "b"), fact("p", "a", "a")}), (rule,), distinct_variables=True)
    assert dataset_counts(setting, rule) == (1, 0, 1)


def test_auxiliary_variables_are_existential() -> None:
    refutations = read_program("refute p(X, X) <- w(X, Z), Z != X.").auxiliary
    setting = Setting(
        frozenset({fact("q", "a", "a"), fact("w", "a", "b"), fact("w", "a", "c"), fact("q", "b", "b"), fact("w", "b", "b")}),
        (P_FROM_Q,),
        auxiliary=tuple(refutations),
    )
    assert dataset_counts(setting, P_FROM_Q) == (0, 1, 1)


def test_extraction_reads_pairs_of_equal_arity_with_facts_and_no_common_tuple() -> None:
    observed = {fact("p", "a"), fact("q", "a"), fact("r", "b"), fact("s", "a", "b")}
    found = {(pair.left.predicate, pair.right.predicate) for pair in extracted(frozenset(observed))}
    assert found == {("p", "r"), ("q", "r")}


# Scores


def test_shares_run_over_all_rules_and_the_soft_mean_over_soft_ones() -> None:
    hard = rule_of("hard: p(X) <- q(X).")
    soft = rule_of("soft: w(X) <- u(X).")
    observed = {fact("q", "a"), fact("p", "a"), fact("u", "a"), fact("u", "b"), fact("w", "a")}
    predictions = {"model": frozenset({fact("q", "b"), fact("u", "c"), fact("w", "b")})}
    setting = Setting(frozenset(observed), (hard, soft), predictions, closed_all=True)
    score = model_score(setting, "model")
    assert score.hard_score == score.hard_mean == 1
    assert score.rules["soft"].score == 1
    assert score.rules["soft"].share == Fraction(2, 3)
    assert score.soft_score == Fraction(2, 3)
    assert score.soft_mean == 1


# Brute force


@given(strategies.settings())
def test_groundings_of_plain_rules_are_those_that_all_assignments_give(generated: Generated) -> None:
    require_the_groundings_of_brute_force(generated.setting, most_variables=4)


@pytest.mark.slow
@given(formula_strategies.settings())
def test_groundings_of_every_rule_are_those_that_all_assignments_give(generated: Generated) -> None:
    require_the_groundings_of_brute_force(generated.setting, most_variables=2)


def require_the_groundings_of_brute_force(setting: Setting, *, most_variables: int) -> None:
    """Only of rules of few variables: brute force tries every constant for every variable."""
    world = world_of(setting, observed(setting))
    for rule in setting.rules:
        if len(outline(normal_body(setting, rule.body), frozenset()).names) <= most_variables:
            found = [frozenset(one.items()) for one, _ in groundings(setting, rule, world)]
            brute = [frozenset(one.items()) for one in every_grounding(setting, rule, world)]
            assert len(found) == len(set(found))
            assert set(found) == set(brute)


# Rule texts


@pytest.mark.slow
@given(strategies.settings() | formula_strategies.settings())
def test_what_is_written_is_read_again(generated: Generated) -> None:
    setting = generated.setting
    read = read_program(write_program(setting, generated.arities, generated.groups))
    # The reader takes registered functions for predicates, whose names are written with quotes.
    written, again = ([write_rule(rule).replace("`", "") for rule in rules] for rules in (setting.rules, read.rules))
    assert again == written
    assert (frozenset(read.closed), read.closed_all, read.extract) == (setting.closed, setting.closed_all, setting.extract)
    assert tuple(read.functional) == setting.functional
    assert len(read.auxiliary) == len(setting.auxiliary)


@pytest.mark.parametrize(
    "text",
    [
        "p(X) <- q(X), r(X) or s(X).",
        "p(X), r(X) <- q(X).",
        "p(X) <- sale(id: X, id: Y).",
        "p(X) <- sale(X, price: Y).",
        "p(X) <- X < .",
        "p(X) <- frobnicate(X) < 3.",
        "p(X) <- count(X) < 3.",
        "p(X) <- X in {}.",
        "p(X) <- q(X)",
    ],
)
def test_a_rule_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(RuleTextError):
        read_program(text)


def test_a_variable_that_one_disjunct_leaves_open_is_refused() -> None:
    rule = rule_of("p(X) <- q(X, Y) or s(X).")
    with pytest.raises(ValueError, match="unsafe"):
        dataset_counts(Setting(frozenset({fact("q", "a", "b")}), (rule,)), rule)
