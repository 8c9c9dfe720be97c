"""A violation in words says what the rule saw: facts beside the prediction, and facts that are not there."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import rulescore
from command_line import called

FACTS = {"born": [("marie", "warsaw")], "type": [("bob", "human"), ("rex", "dog")], "pet": [("ann", "tom")]}
PREDICTED = {"born": [("marie", "paris")], "pet": [("bob", "bob")]}


def sentences(rules: str, model: str | None = "m") -> list[str]:
    found = rulescore.violations(FACTS, {"m": PREDICTED}, rules, model=model, dataset=model is None)
    return [row["sentence"] for row in found.to_pylist()]


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (
            "Y = Z <- born(X, Y), born(X, Z), X = marie.",
            "m predicts born(marie, paris), and born(marie, warsaw) is observed, so paris = warsaw should hold, but it does not",
        ),
        ("false <- pet(X, Y), not type(Y, dog).", "m predicts pet(bob, bob), but there is no type(bob, dog)"),
        (
            "false <- pet(X, Y), type(X, human), not type(Y, dog), not type(Y, cat), length(Y) > 1.",
            "m predicts pet(bob, bob), but type(bob, human) is observed and there is neither type(bob, dog) nor type(bob, cat), "
            "and length(bob) > 1",
        ),
        (
            "false <- pet(X, Y), not type(Y, a), not type(Y, b), not type(Y, c), not type(Y, d).",
            "m predicts pet(bob, bob), but there is neither type(bob, a), type(bob, b) nor one of 2 others",
        ),
        (
            "type(Y, dog) <- pet(X, Y), not type(X, dog). closed type.",
            "m predicts pet(bob, bob), so type(bob, dog) should hold, but nothing says type(bob, dog): closed",
        ),
        ("X != Y <- pet(X, Y).", "m predicts pet(bob, bob), so bob != bob should hold, but it does not"),
    ],
)
def test_what_the_rule_saw_is_said(rules: str, words: str) -> None:
    assert words in sentences(rules)


@pytest.mark.parametrize("further", ["", ", length(X) > 1"])
def test_data_are_said_with_what_they_lack(further: str) -> None:
    (words,) = sentences(f"false <- pet(X, Y), not type(Y, dog){further}.", model=None)
    assert words.startswith("pet(ann, tom) is observed and there is no type(tom, dog)")


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ('not matches(Y, "x.*")', 'pet(ann, tom) is observed, and not matches(tom, "x.*"), which the rule forbids'),
        ("not Y in {eve, sue}", "pet(ann, tom) is observed, and tom not in {eve, sue}, which the rule forbids"),
        ("length(Y) > 2, Y = tom", "pet(ann, tom) is observed, and length(tom) > 2, and tom = tom, which the rule forbids"),
    ],
)
def test_what_a_forbidden_case_was_tested_for_is_said(condition: str, words: str) -> None:
    assert sentences(f"false <- pet(X, Y), {condition}.", model=None) == [words]


def test_a_body_of_alternatives_is_said_as_it_is_written() -> None:
    (words,) = sentences("false <- (pet(X, rex) or born(X, warsaw)).", model=None)
    assert words == "pet(marie, rex) or born(marie, warsaw), which the rule forbids"


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("count(Z : type(Y, Z)) >= 1", "but there is no type(tom, Z)"),
        ("count(Z : type(Y, Z)) >= 2", "so there should be at least 2 type(tom, Z), but there are none"),
        ("count(Z : pet(X, Z)) <= 0", "so there should be no pet(ann, Z), but there is 1"),
        ("count(Z : pet(X, Z)) = 3", "so there should be exactly 3 pet(ann, Z), but there is 1"),
        ("count(Z : pet(X, Z)) < 1", "so count(Z : pet(ann, Z)) < 1 should hold, but 1 < 1 does not"),
    ],
)
def test_what_there_is_too_much_or_too_little_of_is_said(head: str, words: str) -> None:
    assert sentences(f"{head} <- pet(X, Y).", model=None) == [f"pet(ann, tom) is observed, {words}"]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("F > 1.5 <- ride(fare: F).", "but it does not"),
        ("L = K <- ride(kind: L, class: K).", "but it does not"),
        ("L = 1 <- ride(kind: L).", "but it does not"),
        ("L <= 0 <- ride(kind: L, class: 1).", "but it is missed by 2"),
        ("L + 0 = K <- ride(kind: L, class: K).", "but it is missed by 1"),
        ("F = 1.0 <- ride(fare: F).", "but it is missed by 0.5"),
    ],
)
def test_classes_have_no_distance(rule: str, words: str) -> None:
    """Whole numbers that are equated as they stand may be classes; those that are ordered or computed with are numbers."""
    rides = rulescore.Table(pa.table({"id": [1], "kind": [2], "class": [1], "fare": [1.5]}), key="id")
    (row,) = rulescore.violations(None, None, rule, tables={"ride": rides}, dataset=True).to_pylist()
    assert row["sentence"].endswith(words)
    assert (not row["margin"]) == (words == "but it does not")


def test_what_pca_refutes_is_said_with_the_fact_that_stands_in_its_place() -> None:
    rules = "citizen(X, Z) <- born(X, Y), city_of(Y, Z). pca citizen."
    facts = [("eve", "citizen", "france"), ("london", "city_of", "uk")]
    result = rulescore.score(facts, {"m": [("eve", "born", "london")]}, rules)
    (row,) = result.violations().to_pylist()
    assert row["sentence"].endswith(
        "citizen(eve, uk) should hold, but citizen(eve, france) is observed, and citizen(eve, uk) is not"
    )


@pytest.mark.parametrize(
    ("charged", "words", "compared"),
    [
        ("3.3", "but 3.3 <= 0.825 is missed by 2.475", "3.3 against 0.825, missed by 2.475"),
        (
            "0.8250001",
            "but 0.8250001 <= 0.8250000000000001 is missed by 1e-07",
            "0.8250001 against 0.8250000000000001, missed by 1e-07",
        ),
    ],
)
def test_means_have_six_digits_unless_that_hides_the_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, charged: str, words: str, compared: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ride.csv").write_text(f"paid,charged\n0.2,{charged}\n0.7,0\n2.2,0\n0.2,0\n", encoding="utf-8")
    Path("ride.rules").write_text("C <= avg(P : ride(paid: P)) <- ride(charged: C).", encoding="utf-8")
    text = called("violations", "--table", "ride.csv", "--rules", "ride.rules", "--dataset").stdout
    assert words in " ".join(text.split())
    assert compared in " ".join(text.split())
