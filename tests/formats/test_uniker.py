"""UniKER's chains of relations."""

from __future__ import annotations

import pytest

from other_rules import note, problem, reading, rules


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1.0\taunt\tsister\tfather", "aunt(X, Y) <- sister(X, Z), father(Z, Y)"),
        ("1.0\twife\thusband_v", "wife(X, Y) <- husband(Y, X)"),
        ("1.0\tuncle\thusband\tnephew_v", "uncle(X, Y) <- husband(X, Z), nephew(Y, Z)"),
        ("1.0\ta\tb\tc_v\td", "a(X, Y) <- b(X, Z1), c(Z2, Z1), d(Z2, Y)"),
        ("1.0\t/a/b\t/c./d_v", "`/a/b`(X, Y) <- `/c./d`(Y, X)"),
    ],
)
def test_a_line_is_a_chain(line: str, expected: str) -> None:
    assert rules(line) == [expected]
    assert note(line) == "f.txt: UniKER rules, 1 read"


def test_a_weight_is_told_and_is_no_weight_of_scores() -> None:
    one, other = reading("1.0\ta\tb\n2.5\ta\tc").program.rules
    assert (one.weight, one.tags) == (1, ())
    assert (other.weight, other.tags) == (1, ("weight=2.5",))


def test_a_line_that_is_not_understood_is_located() -> None:
    found = problem("1.0\ta\tb\n1.0\ta\tb\n1.0\ta\t\tb\n")
    assert found.place is not None
    assert (found.place.line, found.place.column) == (3, 5)
    assert "UniKER" in found.message
    assert "weight" in problem("1.0\ta\tb\n1.0\ta\tb\nx\ta\tb\n").message


def test_a_chain_that_no_engine_would_join() -> None:
    assert problem("1.0\taunt" + "\tsister" * 101).message.endswith("the body has more than 100 atoms")
