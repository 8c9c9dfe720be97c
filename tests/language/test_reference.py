"""The reference of the rule language says what the parser does."""

import re
from pathlib import Path

import pytest

from rulescore.errors import InputError, Source
from rulescore.errors.codes import CODES
from rulescore.language.builtins import AGGREGATES, TESTS, TOLERANCES
from rulescore.language.parser import parse
from rulescore.language.signatures import FUNCTIONS
from rulescore.language.tokens import DECLARATION_WORDS, RESERVED

REFERENCE = Path(__file__).parents[2] / "docs" / "rule-language.md"
TEXT = REFERENCE.read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```rules\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def test_the_reference_has_examples():
    assert len(EXAMPLES) >= 10


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_of_the_reference_parses(example):
    assert parse(Source(REFERENCE.name, example)).statements


def test_every_fence_of_the_reference_says_what_it_holds():
    opening = re.findall(r"^```(.*)$", TEXT, re.MULTILINE)[::2]
    assert set(opening) <= {"rules", "text", "console"}


def test_every_code_is_in_the_reference_with_its_meaning():
    documented = dict(re.findall(r"^\| (E1\d\d) \| (.*?) \|", TEXT, re.MULTILINE))
    assert documented == {code: CODES[code] for code in documented}
    assert documented.keys() == {code for code in CODES if "E101" <= code <= "E149"}


@pytest.mark.parametrize("word", sorted(RESERVED | DECLARATION_WORDS))
def test_every_word_with_a_meaning_is_in_the_reference(word):
    assert f"`{word}`" in TEXT


@pytest.mark.parametrize("name", sorted({*FUNCTIONS, *AGGREGATES, *TESTS, *TOLERANCES} - {"percent"}))
def test_everything_built_in_is_in_the_reference(name):
    assert f"`{name}(" in TEXT or f"`{name}`" in TEXT


@pytest.mark.parametrize(("code", "example"), re.findall(r"^\| (E1\d\d) \| .*? \| `(.*)` \|$", TEXT, re.MULTILINE))
def test_every_example_of_a_problem_shows_that_problem(code, example):
    with pytest.raises(InputError) as caught:
        parse(Source("example.rules", example, None if code == "E126" else Path()))
    assert [problem.code for problem in caught.value.problems] == [code]


def test_the_problem_that_the_reference_shows_is_shown_so():
    (shown,) = re.findall(r"^```text\n(error.*?)```", TEXT, re.MULTILINE | re.DOTALL)
    (line,) = re.findall(r"^3 \| (.*)$", shown, re.MULTILINE)
    with pytest.raises(InputError) as caught:
        parse(Source("family.rules", f"\n\n{line}"))
    assert f"{caught.value}\n" == shown
