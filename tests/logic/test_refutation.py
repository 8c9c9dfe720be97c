"""Declarations to ways of refuting a head."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import pytest

from rulescore.language.syntax import Program
from rulescore.logic import normal
from rulescore.logic.horn import Opposition, Refutations, opposed_both_ways, refutations
from rulescore.logic.normal import Bound, Pattern, PatternAtom
from rulescore.logic.refutation import declared_in, inverse, orders_in_use, pair_order
from rulescore.logic.vocabulary import Predicate, Vocabulary

KNOWN = Vocabulary(
    {
        "p": Predicate("p", 2, observed=1),
        "q": Predicate("q", 2, observed=1, negative=2),
        "wide": Predicate("wide", 3, observed=1),
    }
)
OF_THREE = Vocabulary({name: Predicate(name, 3) for name in "pq"})


def declared(program: Program, known: Vocabulary = KNOWN, extracted: Sequence[tuple[str, str]] = ()) -> Refutations:
    return refutations(declared_in(program, known, extracted), known)


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_the_inverse_undoes_an_order(order: tuple[int, ...]):
    undone = inverse(order)
    assert tuple(order[position] for position in undone) == tuple(undone[position] for position in order) == (0, 1, 2, 3)


def test_the_order_of_a_pair_says_where_the_left_variables_stand_on_the_right(read):
    (statement,) = read("incompatible p(X, Y, Z), q(Z, X, Y).").statements
    assert pair_order(statement.left, statement.right) == (2, 0, 1)


def test_binary_facts_are_looked_up_both_ways_whatever_is_declared(read):
    assert orders_in_use(read("p(X, Y) <- q(X, Y).").declarations) == {2: ((0, 1), (1, 0))}


def test_a_declared_order_and_its_inverse_are_looked_up(read):
    found = orders_in_use(read("incompatible p(X, Y, Z), q(Z, X, Y). incompatible p(X, Y, Z), q(X, Z, Y).").declarations)
    assert found[3] == ((0, 1, 2), (2, 0, 1), (1, 2, 0), (0, 2, 1))


def test_a_pair_opposes_both_ways_with_inverse_orders(read):
    ways = declared(read("incompatible p(X, Y, Z), q(Z, X, Y)."), OF_THREE)
    assert ways.oppositions == (Opposition("p", "q", (2, 0, 1)), Opposition("q", "p", (1, 2, 0)))


def test_a_group_keeps_its_members_and_extracted_pairs_are_groups(read):
    ways = declared(read("incompatible p, q, r."), extracted=[("p", "s")])
    assert ways.groups == (("p", "q", "r"), ("p", "s"))


def test_negative_facts_oppose_their_own_predicate(read):
    assert declared(read("")).oppositions == (Opposition("q", "q", (0, 1), negative=True),)


def test_closed_refutes_by_the_absence_of_the_head_itself(read):
    (found,) = declared(read("closed p.")).general("p")
    assert found.pattern == Pattern((), (PatternAtom("p", (Bound(0), Bound(1))),), (), ("X", "Y"))


def test_closed_star_closes_every_known_predicate_with_its_arity(read):
    ways = declared(read("closed *."))
    assert {name: found.arity for name in KNOWN.predicates for found in ways.general(name)} == {"p": 2, "q": 2, "wide": 3}


def test_functional_asks_for_a_fact_with_the_keys_and_another_value(read):
    (found,) = declared(read("functional p(X -> Y).")).general("p")
    assert found.pattern.atoms == (PatternAtom("p", (Bound(0), Bound(2))),)
    assert found.pattern.tests == (normal.EqualityTest(False, Bound(1), Bound(2)),)


def test_functional_with_two_values_is_refuted_by_either(read):
    first, second = declared(read("functional wide(X -> Y, Z).")).general("wide")
    assert first.pattern.atoms == second.pattern.atoms == (PatternAtom("wide", (Bound(0), Bound(3), Bound(4))),)
    assert (first.pattern.tests, second.pattern.tests) == (
        (normal.EqualityTest(False, Bound(1), Bound(3)),),
        (normal.EqualityTest(False, Bound(2), Bound(4)),),
    )


def test_a_column_that_is_neither_key_nor_value_may_be_anything(read):
    (found,) = declared(read("functional wide(X, Y, Z) on Z -> X.")).general("wide")
    assert found.pattern.atoms == (PatternAtom("wide", (Bound(3), Bound(4), Bound(2))),)
    assert found.pattern.tests == (normal.EqualityTest(False, Bound(0), Bound(3)),)


@pytest.mark.parametrize(
    ("text", "both"),
    [
        ("incompatible p, q.", False),
        ("incompatible p(X, Y), q(Y, X).", False),
        ("incompatible p(X, Y), p(Y, X).", False),
        ("incompatible p(X, Y), q(X, Y).", False),
        ("incompatible p, q. incompatible p(X, Y), q(X, Y).", False),
        ("incompatible p, q. incompatible p(X, Y), q(Y, X).", True),
        ("incompatible p(X, Y), q(X, Y). incompatible q(X, Y), p(Y, X).", True),
        ("incompatible wide(X, Y, Z), wide(Y, Z, X).", True),
    ],
)
def test_a_head_opposed_by_one_predicate_in_two_orders_is_noticed(read, text: str, both: bool):
    assert opposed_both_ways(declared(read(text))) == both


def test_an_extracted_pair_beside_a_reversed_one_opposes_both_ways(read):
    program = read("incompatible p(X, Y), q(Y, X).")
    assert opposed_both_ways(declared(program, extracted=[("p", "q")]))
