"""Walks over conditions find everything, in order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulescore.language.parser import parse_rule
from rulescore.language.printer import print_condition, print_expression
from rulescore.language.syntax import And, Atom, Attribute, Constant, Falsity, Negative, Not, RowAtom, Variable
from rulescore.language.trees import atoms_in, conditions_in, expressions_in, nodes_in, replace_variables, variables_in

BODY = parse_rule(
    "false <- p(A), not (q(B) or sale(id: C, zip: _)), D + 1 in {1}, let E = -F, abs(G) < count(H : r(H), not s(I)), t(J * 2)"
).body


def names(nodes):
    return "".join(variable.name for variable in nodes)


def test_variables_come_in_the_order_written():
    assert names(variables_in(BODY)) == "ABCDEFGHHIJ"


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"negations": False}, "ADEFGHHJ"),
        ({"aggregates": False}, "ABCDEFGJ"),
        ({"negations": False, "aggregates": False}, "ADEFGJ"),
    ],
)
def test_negations_and_aggregates_are_entered_only_when_asked(options, found):
    assert names(node for node in nodes_in(BODY, **options) if isinstance(node, Variable)) == found


def test_conditions_begin_with_the_given_one():
    found = list(conditions_in(BODY))
    assert found[0] is BODY
    assert [print_condition(one) for one in found[1:]] == [
        "p(A)",
        "not (q(B) or sale(id: C, zip: _))",
        "q(B) or sale(id: C, zip: _)",
        "q(B)",
        "sale(id: C, zip: _)",
        "D + 1 in {1}",
        "let E = -F",
        "abs(G) < count(H : r(H), not s(I))",
        "r(H) and not s(I)",
        "r(H)",
        "not s(I)",
        "s(I)",
        "t(J * 2)",
    ]


def test_a_negation_that_is_not_entered_is_still_found():
    assert [type(node) for node in nodes_in(Not(Atom("p", (Variable("X"),))), negations=False)] == [Not]


def test_expressions_are_what_is_computed_and_not_the_terms_of_atoms():
    assert [print_expression(one) for one in expressions_in(BODY)] == [
        "D + 1", "D", "1", "E", "-F", "F", "abs(G)", "G", "count(H : r(H), not s(I))", "H", "J * 2", "J", "2",
    ]  # fmt: skip


def test_atoms_are_found_wherever_they_stand():
    assert [one.table if isinstance(one, RowAtom) else one.predicate for one in atoms_in(BODY)] == ["p", "q", "sale", "r", "s"]
    assert list(atoms_in(Falsity())) == []


def test_a_tree_of_any_height_is_walked():
    node = Attribute("x")
    for _ in range(5000):
        node = Negative(node)
    assert sum(1 for _ in nodes_in(node)) == 5001


def test_variables_are_replaced_everywhere():
    letters = {Variable(letter): Variable(letter.lower()) for letter in "ABCDEFGHIJ"}
    assert print_condition(replace_variables(BODY, letters)) == print_condition(BODY).translate(
        str.maketrans({letter: f"?{letter.lower()}" for letter in "ABCDEFGHIJ"})
    )


def test_a_variable_of_an_atom_is_replaced_by_terms_only():
    one = And((Atom("p", (Variable("X"), Variable("Y"))),))
    replacements = {Variable("X"): Negative(Variable("Z")), Variable("Y"): Constant(1)}
    assert print_condition(replace_variables(one, replacements)) == "p(X, 1)"


@given(st.sets(st.sampled_from("ABCDEFGHIJ")))
def test_replacing_there_and_back_changes_nothing(letters):
    there = {Variable(letter): Variable(f"new_{letter}") for letter in letters}
    back = {new: old for old, new in there.items()}
    changed = replace_variables(BODY, there)
    assert {one.name for one in variables_in(changed)}.isdisjoint(letters)
    assert replace_variables(changed, back) == BODY
