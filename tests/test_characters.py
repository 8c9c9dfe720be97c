"""No name steers a terminal, hides, or turns a line around, in results and in problems."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulescore.errors import Diagnostic, EngineError, InputError, Place, render
from rulescore.errors.texts import is_hidden, visible, visible_lines

HIDDEN = [
    "\x00",
    "\x1b",
    "\x07",
    "\r",
    "\x7f",
    "\x9b",
    "\u200b",
    "\u200d",
    "\u202e",
    "\u2066",
    "\u2028",
    "\ufeff",
    "\xad",
    "\u3164",
    "\U000e0041",
]


@pytest.mark.parametrize("character", HIDDEN)
def test_what_cannot_be_seen_is_spelt_out(character: str) -> None:
    assert is_hidden(character)
    assert visible(f"a{character}b").isascii()


@given(st.text())
def test_what_is_visible_has_no_control_bidirectional_or_zero_width_character(text: str) -> None:
    seen = visible(text)
    assert not {unicodedata.category(character) for character in seen} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert visible(seen) == seen


@pytest.mark.parametrize("text", ["Zoë ← 東京 – naïve", "हिन्दी", "עברית", "👩", "plain (text)"])
def test_ordinary_text_of_any_script_is_left_alone(text: str) -> None:
    assert visible(text) == text


def test_lines_stay_lines() -> None:
    assert visible_lines("a\n\tb\x1b") == "a\n\tb\\x1b"


@pytest.mark.parametrize("part", ["message", "label", "notes", "helps", "place", "text"])
@pytest.mark.parametrize("character", ["\x1b", "\x9b", "\u202e", "\u200b"])
def test_no_part_of_a_problem_steers_a_terminal(part: str, character: str) -> None:
    hostile = f"a{character}b"
    place = Place(hostile if part == "place" else "f", 1, 1, 1, hostile if part == "text" else "line")
    given = {part: (hostile,) if part in ("notes", "helps") else hostile} if part not in ("place", "text") else {}
    problem = Diagnostic(**{"code": "E101", "message": "m", "place": place, **given})
    assert character not in render(problem)
    assert character not in str(InputError(problem))
    assert character not in str(EngineError(hostile))


@pytest.mark.parametrize(
    ("text", "column", "length", "below"),
    [
        ("abc", 2, 1, " ^"),
        ("日本(X", 3, 1, "    ^"),
        ("日本(X", 1, 2, "^^^^"),
        ("e\u0301x", 3, 1, " ^"),
        ("a\u202eb", 3, 1, "       ^"),
        ("\tx", 2, 1, "\t^"),
        ("x", 2, 1, " ^"),
    ],
)
def test_carets_stand_below_what_a_terminal_draws(text: str, column: int, length: int, below: str) -> None:
    lines = render(Diagnostic("E101", "m", Place("f", 1, column, length, text))).split("\n")
    assert lines[-1].removeprefix("  | ") == below
