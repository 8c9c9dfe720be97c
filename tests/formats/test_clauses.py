"""PSL and Prolog."""

from __future__ import annotations

import pytest

from other_rules import note, problem, reading, rules
from rulescore.language.syntax import Kind


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "20: Lived(P1, L) & Lived(P2, L) & (P1 != P2) -> Knows(P1, P2) ^2",
            "Knows(P1, P2) <- Lived(P1, L), Lived(P2, L), P1 != P2",
        ),
        ("5: Likes(A, 'x & y') && Likes(B, \"921\") >> Knows(A, B)", 'Knows(A, B) <- Likes(A, "x & y"), Likes(B, "921")'),
        ("5: Knows(A, B) <- Knows(B, A) ^1", "Knows(A, B) <- Knows(B, A)"),
        ("1: Knows(A, B) & !Near(A, B) -> Friend(A, B) | Kin(A, B)", "Friend(A, B) or Kin(A, B) <- Knows(A, B), not Near(A, B)"),
        ("1: Knows(A, B) -> ~Near(A, B)", "not Near(A, B) <- Knows(A, B)"),
        ("1: Knows(A, B) & A == B -> Self(A)", "Self(A) <- Knows(A, B), A = B"),
    ],
)
def test_psl(line: str, expected: str) -> None:
    text = line if "<-" not in line else f"{line}\n2: P(A) -> Q(A)"
    assert rules(text)[0] == expected
    assert note(text).startswith("f.txt: PSL rules")


def test_psl_weights_are_told_and_a_full_stop_makes_a_rule_hard() -> None:
    soft, hard = reading("20: P(A) -> Q(A) ^2\nP(A) -> R(A) .\n").program.rules
    assert (soft.weight, soft.tags, soft.kind) == (1, ("weight=20",), None)
    assert (hard.tags, hard.kind) == ((), Kind.HARD)


def test_psl_priors_are_set_aside() -> None:
    assert note("20: P(A) -> Q(A) ^2\n1: !Q(A) ^2") == "f.txt: PSL rules, 1 read, 1 with an empty body set aside"


@pytest.mark.parametrize(
    ("line", "column", "said"),
    [
        ("1: P(A) + Q(A) -> R(A)", 3, "arithmetic"),
        ("Q(A, +B) = 1 .", 1, "arithmetic"),
        ("P(A) -> Q(A)", 1, "`weight:`"),
        ("1: P(A) -> Q(A) -> R(A)", 17, "one arrow"),
        ("1: P(A) & (A != B -> Q(A)", 10, "expected an atom"),
    ],
)
def test_psl_lines_that_are_not_understood_are_located(line: str, column: int, said: str) -> None:
    found = problem(f"1: P(A) -> Q(A)\n{line}")
    assert found.place is not None
    assert found.place.line == 2
    assert abs((found.place.column or 0) - column) <= 1
    assert said in found.message
    assert "PSL" in found.message


POPPER = """\
********** SOLUTION **********
Precision:1.00 Recall:1.00 TP:10 FN:0 TN:10 FP:0 Size:6
f(A,B):- tail(A,C),empty(C),head(A,B).
f(A,B):- tail(A,C),
    f(C,B).  % recursion
******************************
"""


def test_what_popper_prints() -> None:
    assert rules(POPPER) == ["f(A, B) <- tail(A, C), empty(C), head(A, B)", "f(A, B) <- tail(A, C), f(C, B)"]
    assert note(POPPER) == "f.txt: Prolog rules, 2 read, 3 lines of log set aside"


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("p(X) :- q(X, _), \\+ r(X).", "p(X) <- q(X, _), not r(X)"),
        ("p(X) :- q(X), \\+ (r(X)).", "p(X) <- q(X), not r(X)"),
        ("p(X, 'New York', 3) :- q(X, y, 2.5), X \\= y.", 'p(X, "New York", 3) <- q(X, y, 2.5), X != y'),
        ("'has part'(X, Y) :- q(X, Y), Y =< 3, X =\\= Y.", "`has part`(X, Y) <- q(X, Y), Y <= 3, X != Y"),
    ],
)
def test_prolog(clause: str, expected: str) -> None:
    assert rules(clause) == [expected]


def test_facts_of_prolog_are_set_aside() -> None:
    assert note("p(X) :- \\+ q(X), r(X).\nq(a).\n") == "f.txt: Prolog rules, 1 read, 1 with an empty body set aside"


@pytest.mark.parametrize(
    ("clause", "line", "column"),
    [
        ("p(X) :- q([X|Y]).", 2, 11),
        ("p(X) :- q(X) ; r(X).", 2, 14),
        (":- module(m).", 2, 1),
        ("p(X) :- q(X), !.", 2, 15),
        ("p :- q(X).", 2, 3),
        ("p(X) :- q(X)", 2, 12),
    ],
)
def test_what_is_not_read_of_prolog_is_located(clause: str, line: int, column: int) -> None:
    found = problem(f"p(X) :- \\+ q(X), r(X).\n{clause}\n", "prolog")
    assert found.place is not None
    assert (found.code, found.place.line, found.place.column) == ("E152", line, column)
    assert "Prolog" in found.message


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("7: !Knows(A,B) | !Hates(A,B)", "false <- Knows(A, B), Hates(A, B)"),
        ("3: !Lived(A,L) | Home(A,L)", "Home(A, L) <- Lived(A, L)"),
        ("3: !P(A,L) || Q(A,L) | S(A,L) | (A = L)", "Q(A, L) or S(A, L) <- P(A, L), A != L"),
    ],
)
def test_a_disjunction_of_psl_is_a_rule(line: str, expected: str) -> None:
    assert rules(f"20: P(A) -> Q(A) ^2\n{line}") == ["Q(A) <- P(A)", expected]
