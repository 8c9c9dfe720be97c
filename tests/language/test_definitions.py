"""What a definition may be, and what is said of one that is not."""

from __future__ import annotations

import pytest

import rulescore
from rulescore.errors import InputError, Source
from rulescore.language.parser import parse, parse_rule
from rulescore.language.printer import print_program

FACTS = [("rex", "is_a", "dog"), ("ann", "keeps", "rex")]
RULE = "no: false <- keeps(_, X), not animal(X). "


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("define animal(X) <- is_a(X, K), not keeps(X, K).", "E116"),
        ("define animal(X) <- is_a(X, _), keeps(X, _).", "E116"),
        ("define animal(X) <- is_a(X, K), Y in {a}.", "E116"),
        ("define animal(X, X) <- is_a(X, _).", "E116"),
        ("define animal(dog) <- is_a(dog, _).", "E116"),
        ("define animal(Y) <- is_a(X, _).", "E116"),
        ("define animal(X, Y) <- chain is_a(Y, X).", "E116"),
        ("define animal(X, X) <- chain is_a(X, X).", "E116"),
        ("define animal(X) <- chain is_a(X, dog).", "E116"),
        ("define pet(X) <- is_a(X, _). define animal(X) <- pet(X).", "E116"),
        ("define animal(X) <- is_a(X, dog). define animal(X) <- is_a(X, cat).", "E204"),
        ("define keeps(X, Y) <- is_a(X, Y). define animal(X) <- is_a(X, _).", "E204"),
        ("define animal(X, Y) <- is_a(X, Y).", "E203"),
    ],
)
def test_a_definition_is_one_atom_and_sets(text, code):
    with pytest.raises(InputError) as raised:
        rulescore.audit(observed=FACTS, rules=RULE + text)
    assert code in {problem.code for problem in raised.value.problems}


@pytest.mark.parametrize("about", ["Z", 'X, "p", Z', "X, X", '"a", _, Z'])
def test_what_a_rule_is_about_is_of_the_rule(about):
    with pytest.raises(InputError) as raised:
        parse_rule(f"@about({about}) p(X) <- q(X, Y)")
    assert [problem.code for problem in raised.value.problems] == ["E112"]


@pytest.mark.parametrize("about", ["X", 'X, "p"', 'X, "p", Y', "X, _, X", 'a, "p"'])
def test_what_a_rule_is_about_is_printed_as_it_is_read(about):
    text = f"@about({about})\np(X) <- q(X, Y)."
    assert print_program(parse(Source("test.rules", text))).strip() == text


def test_the_same_definition_may_stand_in_two_files():
    text = "define animal(X) <- is_a(X, K), K in {dog, cat}. "
    (rule,) = rulescore.audit(observed=FACTS, rules=[RULE + text, text]).rules.to_pylist()
    assert rule["dataset_refuted"] == 0
