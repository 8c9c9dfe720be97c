"""Weighted clauses."""

from __future__ import annotations

import pytest

from other_rules import note, problem, reading, rules
from rulescore.language.syntax import Kind


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1.0 !/location/contains(A, B) v /base/parent(B, A)", "`/base/parent`(B, A) <- `/location/contains`(A, B)"),
        ("1.0 !son(y, x) v father(x, y) v mother(x, y)", "father(X, Y) or mother(X, Y) <- son(Y, X)"),
        ("2 !male(x) v !female(x)", "false <- male(X), female(X)"),
        ("!p(x, y) v q(y)", "q(Y) <- p(X, Y)"),
        ("1.0 q(y) v !p(x, y)", "q(Y) <- p(X, Y)"),
        ('1.0 !p(x, "Ann") v q(x, 921)', 'q(X, "921") <- p(X, "Ann")'),
        ("1.0 !http://x.org/a(b)(X, Y) v q(X, Y)", "q(X, Y) <- `http://x.org/a(b)`(X, Y)"),
    ],
)
def test_negated_literals_are_the_body(line: str, expected: str) -> None:
    assert rules(line) == [expected]
    assert note(line) == "f.txt: MLN rules, 1 read"


def test_weights_are_told_and_a_full_stop_makes_a_clause_hard() -> None:
    soft, hard = reading("0.5 !p(x) v q(x)\n!p(x) v r(x).").program.rules
    assert (soft.weight, soft.tags, soft.kind) == (1, ("weight=0.5",), None)
    assert (hard.tags, hard.kind) == ((), Kind.HARD)


def test_a_clause_without_a_body_is_set_aside() -> None:
    assert note("1.0 !p(x) v q(x)\n0.3 q(x)") == "f.txt: MLN rules, 1 read, 1 with an empty body set aside"


def test_upper_and_lower_case_in_one_file_cannot_be_told_apart() -> None:
    found = problem("1.0 !p(x, y) v q(x, y)\n1.0 !p(x, Ann) v q(x, Ann)")
    assert "upper and with lower case" in found.message
    assert found.place is not None
    assert found.place.line in (1, 2)
    assert found.helps == ("put constants in quotes",)


@pytest.mark.parametrize(
    ("line", "column"), [("1.0 !p(x, y) v q(x, y", 16), ("1.0 !p(x, y) v q(x, y-z)", 20), ("1.0 p(x, y) => q(x, y)", 5)]
)
def test_a_line_that_is_not_understood_is_located(line: str, column: int) -> None:
    found = problem(f"1.0 !p(x, y) v q(x, y)\n1.0 !p(x, y) v q(x, y)\n{line}\n")
    assert found.code == "E152"
    assert found.place is not None
    assert (found.place.line, found.place.column) == (3, column)


def test_a_negative_weight_sets_a_clause_aside_and_is_told() -> None:
    found = reading("-0.5 !p(x,y) v q(x,y)\n2 !p(x,y) v s(x,y)\n")
    assert len(found.program.rules) == 1
    assert [one.code for one in found.told] == ["W151", "W152"]
    assert "1 with a negative weight set aside" in found.told[0].message
