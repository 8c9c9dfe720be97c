"""Neural-LP, NCRL and RNNLogic: chains of relations."""

from __future__ import annotations

from pathlib import Path

import pytest

from other_rules import note, problem, reading, rules


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("aunt(C, A) <-- father(B, A), sister(C, B)", "aunt(C, A) <- father(B, A), sister(C, B)"),
        ("aunt(C, A) <-- inv_son(B, A), sister(C, B)", "aunt(C, A) <- son(A, B), sister(C, B)"),
        ("inv_aunt(B, A) <-- niece(B, A)", "aunt(A, B) <- niece(B, A)"),
        ("aunt(C, A) <-- equal(B, A), sister(C, B)", "aunt(C, A) <- sister(C, A)"),
        ("/a/b(C, A) <-- r (of)(B, A), c, d(C, B)", "`/a/b`(C, A) <- `r (of)`(B, A), `c, d`(C, B)"),
    ],
)
def test_neural_lp(line: str, expected: str) -> None:
    assert rules(f"0.412 (1.000)\t{line}") == [expected]
    assert note(f"0.412 (1.000)\t{line}") == "f.txt: Neural-LP rules, 1 read"


def test_neural_lp_keeps_the_confidence_that_is_not_normalised() -> None:
    one, other = reading("0.412 (1.000)\tp(B, A) <-- q(B, A)\n1.300 (1.000)\tp(B, A) <-- r(B, A)").program.rules
    assert (one.confidence, one.tags) == (0.412, ())
    assert (other.confidence, other.tags) == (None, ("confidence=1.300",))


def test_neural_lp_rules_that_only_say_equal_are_set_aside() -> None:
    text = "0.4 (1.0)\tp(B, A) <-- q(B, A)\n0.2 (0.5)\tp(B, A) <-- equal(B, A)"
    assert note(text) == "f.txt: Neural-LP rules, 1 read, 1 with an empty body set aside"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("aunt <-- sister, father", "aunt(X, Y) <- sister(X, Z), father(Z, Y)"),
        ("aunt <-- sister, inv_son", "aunt(X, Y) <- sister(X, Z), son(Y, Z)"),
        ("/a <-- /b, /c, /d", "`/a`(X, Y) <- `/b`(X, Z1), `/c`(Z1, Z2), `/d`(Z2, Y)"),
        ("wife <-- inv_husband", "wife(X, Y) <- husband(Y, X)"),
    ],
)
def test_ncrl(line: str, expected: str) -> None:
    assert rules(f"0.871 (0.871)\t{line}") == [expected]
    assert note(f"0.871 (0.871)\t{line}") == "f.txt: NCRL rules, 1 read"


def test_chains_of_nothing_are_set_aside(folder: Path) -> None:
    assert note("0.4 (1.0)\tp <-- q\n0.4 (1.0)\tp <-- ") == "f.txt: NCRL rules, 1 read, 1 with an empty body set aside"
    assert note("1\tp\tq\n1\tp\tq\n1\tp") == "f.txt: UniKER rules, 2 read, 1 with an empty body set aside"
    found = reading("0 1 2\n0 2 1\n0\n", folder=folder)
    assert (len(found.program.rules), found.told[0].message.partition(", ")[2]) == (2, "2 read, 1 with an empty body set aside")


def test_lines_that_are_not_understood_are_located() -> None:
    good = "0.4 (1.0)\tp(B, A) <-- q(B, A)\n"
    found = problem(f"{good}{good}0.4 (1.0)\tp(B, A) <-- q(B, A), r(b)")
    assert found.place is not None
    assert (found.place.line, found.place.column) == (3, 31)
    assert problem(f"{good}{good}0.4 (1.0)\tp(B, A) <-- q(B, A),").code == "E152"
    found = problem(f"{good}{good}0.4\tp(B, A) <-- q(B, A)")
    assert "Neural-LP" in found.message
    good = "0.4 (1.0)\tp <-- q\n"
    found = problem(f"{good}{good}0.4 (1.0)\tp <-- q(A, B)")
    assert "NCRL" in found.message


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "relations.dict").write_text("0\taunt\n1\t/sister\n2\tfather\n")
    return tmp_path


def test_rnnlogic(folder: Path) -> None:
    text = "0 1 2\n0 4 5 0\n"
    assert rules(text, folder=folder) == [
        "aunt(X, Y) <- `/sister`(X, Z), father(Z, Y)",
        "aunt(X, Y) <- `/sister`(Z1, X), father(Z2, Z1), aunt(Z2, Y)",
    ]


def test_rnnlogic_needs_the_names_of_relations(tmp_path: Path) -> None:
    assert problem("0 1 2", folder=tmp_path).code == "E406"
    assert problem("0 1 2").code == "E406"
    (tmp_path / "relations.dict").write_text("aunt\n")
    assert "a number, a tab and a name" in problem("0 1 2", folder=tmp_path).message
    (tmp_path / "relations.dict").write_text("0\taunt\n2\tfather\n")
    assert "from 0 on" in problem("0 1 2", folder=tmp_path).message


def test_rnnlogic_places(folder: Path) -> None:
    found = problem("0 1\n0 6\n", folder=folder)
    assert found.place is not None
    assert (found.place.line, found.place.column) == (2, 3)
    assert "numbers end at 5" in found.message
    assert "the number of a relation" in problem("0 1\n0 1\n0 x\n", folder=folder).message
