"""Rules of one shape are counted together, however they are written."""

from __future__ import annotations

from itertools import permutations

import pytest

from rulescore.errors import Source
from rulescore.language.parser import parse, parse_rule
from rulescore.logic.horn import Refutations, refutations
from rulescore.logic.normal import NormalRule, normal_rule
from rulescore.logic.plan import Group, Judge, LiteralName, Plan
from rulescore.logic.planner import (
    LARGEST_REORDERED_BODY,
    RelationSize,
    estimated_groundings,
    plan,
    plan_program,
    shape_of,
    shape_text,
    variable_numbers,
)
from rulescore.logic.refutation import declared_in
from rulescore.logic.vocabulary import Predicate, Vocabulary


def rule(text: str) -> NormalRule:
    return normal_rule(parse_rule(text))


def planned(*texts: str, ways: Refutations | None = None) -> Plan:
    return plan(((i, rule(text)) for i, text in enumerate(texts)), ways or Refutations())


def text_of(written: str) -> str:
    return shape_text(shape_of(rule(written))[0])


WEDGE = "h(X, Y) <- p1(X, Z), p2(Y, Z)"


@pytest.mark.parametrize(
    "written",
    [
        "h(X, Y) <- p(X, Z), q(Z, Y)",
        "h(X, Y) <- q(Z, Y), p(X, Z)",
        "h(A, B) <- p(C, A), q(C, B)",
        "other(Y, X) <- same(X, Z), same(Y, Z)",
    ],
)
def test_atom_order_names_and_directions_are_no_part_of_a_shape(written: str):
    assert text_of(written) == WEDGE


@pytest.mark.parametrize(
    ("written", "shape"),
    [
        ("p(X) <- q(X)", "h(X) <- p1(X)"),
        ("p(X, Y) <- q(Y, X)", "h(X, Y) <- p1(X, Y)"),
        ("p(X, X) <- q(X, X)", "h(X, X) <- p1(X, X)"),
        ("p(X, W) <- q(X, Y), r(Y, Z), s(Z, W)", "h(X, Y) <- p1(X, Z), p2(Y, A), p3(Z, A)"),
        ('p(X, "a") <- q("b", X)', "h(X, d1) <- p1(X, c1)"),
        ("false <- p(X, Y), q(Y, X)", "false <- p1(X, Y), p2(X, Y)"),
        ("p(X) <- q(X), not r(_, X), X != 1", "h(X) <- p1(X), not p2(_, X), X != c1"),
        ("p(X) <- q(X, Y, Z)", "h(X) <- p1(X, Y, Z)"),
        ("p(Z) <- q(X, Y, Z)", "h(X) <- p1(Y, Z, X)"),
    ],
)
def test_shape_text_says_what_is_left_of_a_rule(written: str, shape: str):
    assert text_of(written) == shape


def test_all_orders_of_a_long_body_share_a_shape():
    atoms = ["p(X, A)", "q(A, B)", "r(C, B)", "s(C, Y)"]
    assert len({text_of(f"h(X, Y) <- {', '.join(order)}") for order in permutations(atoms)}) == 1


def test_a_body_beyond_the_largest_keeps_its_order():
    links = [f"p{i}(V{i}, V{i + 1})" for i in range(LARGEST_REORDERED_BODY + 1)]
    head = f"h(V0, V{len(links)})"
    forwards, backwards = (text_of(f"{head} <- {', '.join(body)}") for body in (links, links[::-1]))
    assert forwards.startswith("h(X, Y) <- p1(X, Z), p2(Z, A)")
    assert backwards.startswith("h(X, Y) <- p1(Y, Z), p2(Z, A)")


def test_a_reversed_atom_becomes_a_literal_read_backwards():
    _, body, _ = shape_of(rule("h(X, Y) <- p(Z, X), q(Y, Z)"))
    assert body.literals == (LiteralName("p", (1, 0)), LiteralName("q", (0, 1)))


def test_atoms_of_three_arguments_are_never_turned():
    _, body, _ = shape_of(rule("h(X) <- q(Z, Y, X)"))
    assert body.literals == (LiteralName("q", (0, 1, 2)),)


def test_variable_numbers_follow_the_shape():
    written = rule("h(X, Y) <- q(Z, Y), p(X, Z)")
    assert written.pattern.variables == ("Z", "Y", "X")
    assert variable_numbers(written) == (2, 1, 0)


def test_rules_of_one_shape_are_one_group_and_equal_bodies_one_row():
    (group,) = planned("p(X, Y) <- q(X, Y)", "r(Y, X) <- q(Y, X)", "p(X, Y) <- s(Y, X)").groups
    assert [(head.rule, head.body, head.predicate) for head in group.heads] == [(0, 0, "p"), (1, 0, "r"), (2, 1, "p")]
    assert [body.literals[0] for body in group.bodies] == [LiteralName("q", (0, 1)), LiteralName("s", (1, 0))]


def test_constants_are_parameters_of_body_and_head():
    (group,) = planned('p(X, "a") <- q(X, "b"), r(X, 1)', 'p(X, "c") <- r(X, "b"), q(X, "b")').groups
    assert [body.constants for body in group.bodies] == [("b", "\x01n1"), ("b", "b")]
    assert [head.constants for head in group.heads] == [("a",), ("c",)]


def test_one_shape_is_split_by_how_its_heads_are_judged(read):
    known = Vocabulary({name: Predicate(name, 2, 1) for name in ("p", "q", "s")})
    ways = refutations(declared_in(read("closed p. incompatible s, q."), known), known)
    plain, general = planned("s(X, Y) <- q(X, Y)", "p(X, Y) <- q(X, Y)", "s(X, Y) <- p(X, Y)", ways=ways).groups
    assert (plain.judge, [head.rule for head in plain.heads]) == (Judge.EVIDENCE, [0, 2])
    assert (general.judge, [head.rule for head in general.heads]) == (Judge.CONDITIONS, [1])
    assert plain.shape == general.shape


def test_a_denial_is_judged_as_one():
    (group,) = planned("false <- q(X, Y)").groups
    assert (group.judge, group.heads[0].predicate) == (Judge.DENIAL, None)


def conditions_of(group: Group) -> list[list[str]]:
    return [[row.predicate for row in rows] for _, rows in group.conditions]


def test_refutations_of_one_shape_are_rows_of_one_condition(read):
    known = Vocabulary({name: Predicate(name, 2, 1) for name in ("p", "q", "r", "s")})
    text = "closed p. closed r. functional p(X -> Y). refute r(X, Y) <- s(Y, X). refute p(X, Y) <- q(Y, X). closed s."
    (group,) = planned("p(X, Y) <- q(X, Y)", "r(X, Y) <- q(X, Y)", ways=refutations(declared_in(read(text), known), known)).groups
    assert conditions_of(group) == [["p", "r"], ["p"], ["p", "r"]]


def test_a_refutation_declared_twice_is_one_row(read):
    known = Vocabulary({name: Predicate(name, 2, 1) for name in ("p", "q")})
    ways = refutations(declared_in(read("closed p. closed p. closed *."), known), known)
    assert conditions_of(planned("p(X, Y) <- q(X, Y)", ways=ways).groups[0]) == [["p"]]


SIZES = {
    LiteralName("p", (0, 1)): RelationSize(100, (10, 50)),
    LiteralName("q", (0, 1)): RelationSize(60, (30, 20)),
    LiteralName("q", (1, 0)): RelationSize(60, (20, 30)),
}


def test_an_estimate_divides_by_the_larger_spread_of_a_shared_variable():
    (group,) = planned("h(X, Y) <- p(X, Z), q(Y, Z)").groups
    assert estimated_groundings(group, SIZES) == 100 * 60 // 50


def test_an_estimate_divides_by_the_spread_where_a_constant_stands():
    (group,) = planned('h(X) <- p(X, "a")').groups
    assert estimated_groundings(group, SIZES) == 2


def test_estimates_add_up_over_the_rules_of_a_shape():
    (group,) = planned("h(X, Y) <- p(X, Y)", "g(X, Y) <- p(X, Y)", "h(X, Y) <- q(Y, X)", "h(X, Y) <- absent(X, Y)").groups
    assert estimated_groundings(group, SIZES) == 100 + 100 + 60


def test_rules_that_differ_in_names_alone_are_planned_as_each_alone():
    program = parse(
        Source(
            "some.rules",
            """
            h(X, Y) <- p(X, Z), q(Z, Y).   other(A, B) <- q(C, B), p(A, C).   h(Y, X) <- p(X, Z), q(Y, Z).
            h(X, a) <- p(X, b).            h(X, c) <- p(X, d).                h(a, X) <- p(b, X).
            h(X, 1) <- p(X, 1.5).          h(X, true) <- p(X, 2020-01-31).    h(a, b) <- p(b, a).
            h(X, X) <- p(X, _).            h(X, X) <- p(_, X).                false <- p(X, _), q(_, X).
            false <- p(X, a), q(X, Y).     h(X) <- q(Z, Y, X), p(Z).          h(X, Y) <- p(X, Y), X != Y.
            h(X, Y) <- p(X, Y), not q(X, _).
            """,
        )
    )
    ways = Refutations()
    numbers = range(len(program.rules))
    assert plan_program(program, numbers, ways) == plan(((i, normal_rule(program.rules[i])) for i in numbers), ways)
