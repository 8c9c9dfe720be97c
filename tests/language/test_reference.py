"""The reference of the rule language says what the parser does."""

import re
from pathlib import Path

import pytest

from rulescore.errors import InputError, Source
from rulescore.errors.codes import CODES
from rulescore.language.builtins import AGGREGATES, FUNCTIONS, TESTS, TOLERANCES
from rulescore.language.cursor import DECLARATION_WORDS, RESERVED
from rulescore.language.parser import parse

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "rule-language.md"
TEXT = REFERENCE.read_text(encoding="utf-8")
ERRORS = REFERENCE.with_name("errors.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```rules\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def test_the_reference_has_examples():
    assert len(EXAMPLES) >= 10


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_of_the_reference_parses(example):
    assert parse(Source(REFERENCE.name, example)).statements


def test_every_fence_of_the_reference_says_what_it_holds():
    opening = re.findall(r"^```(.*)$", TEXT, re.MULTILINE)[::2]
    assert set(opening) <= {"rules", "text", "console"}


def test_every_code_is_in_the_reference_with_what_the_page_of_errors_says():
    documented = re.findall(r"^\| (E1\d\d) \| (.*?) \|", TEXT, re.MULTILINE)
    sections = re.findall(r"^### (E1\d\d): (.*\n\n(?:(?!##).+\n)+)", ERRORS, re.MULTILINE)
    told = {(code, row) for code, section in sections for row in re.findall(r"^(?:\| )?(.+?)(?: \|.*)?$", section, re.MULTILINE)}
    assert set(documented) <= told
    assert {code for code, _ in documented} == {code for code in CODES if "E101" <= code <= "E149"}


@pytest.mark.parametrize("word", sorted(RESERVED | DECLARATION_WORDS))
def test_every_word_with_a_meaning_is_in_the_reference(word):
    assert f"`{word}`" in TEXT


@pytest.mark.parametrize("name", sorted({*FUNCTIONS, *AGGREGATES, *TESTS, *TOLERANCES} - {"percent"}))
def test_everything_built_in_is_in_the_reference(name):
    assert f"`{name}(" in TEXT or f"`{name}`" in TEXT


@pytest.mark.parametrize(("code", "example"), re.findall(r"^\| (E1\d\d) \| .*? \| `(.*)` \|$", TEXT, re.MULTILINE))
def test_every_example_of_a_problem_shows_that_problem(code, example):
    with pytest.raises(InputError) as caught:
        parse(Source("example.rules", example, None if '"pairs.csv"' in example else Path()))
    assert [problem.code for problem in caught.value.problems] == [code]


def test_the_problem_that_the_reference_shows_is_shown_so():
    (shown,) = re.findall(r"^```text\n(error.*?)```", TEXT, re.MULTILINE | re.DOTALL)
    (line,) = re.findall(r"^3 \| (.*)$", shown, re.MULTILINE)
    with pytest.raises(InputError) as caught:
        parse(Source("family.rules", f"\n\n{line}"))
    assert f"{caught.value}\n" == shown
