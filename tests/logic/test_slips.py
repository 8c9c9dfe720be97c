"""Which known name was meant: within slips of the keyboard, and no further."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulescore.logic.vocabulary import Spellings


@pytest.mark.parametrize(
    ("word", "known", "close"),
    [
        ("fahter", ["father", "mother"], "father"),
        ("sister_in_lw", ["sister_in_law", "brother_in_law"], "sister_in_law"),
        ("wifes", ["wife"], "wife"),
        ("wfie", ["wife"], "wife"),
        ("aunt", ["uncle", "cousin"], None),
        ("sister_in_law", ["brother_in_law"], None),
        ("son", ["sun"], "sun"),
        ("is", ["in", "as"], None),
        ("p1", ["p2", "p3"], None),
        ("/people/person/place_of_birth", ["/people/person/place_of_death"], None),
        ("nationality", ["nationalities"], None),
        ("", ["a", "b"], None),
        ("fathers", ["fathers2", "father"], "father"),
    ],
)
def test_closest_forgives_slips_of_the_keyboard_and_no_more(word: str, known: list[str], close: str | None):
    assert Spellings(known).closest(word) == close


def distance(left: str, right: str) -> int:
    """Slips between two words, from the definition."""
    if not left or not right:
        return len(left) + len(right)
    ways = [distance(left[1:], right) + 1, distance(left, right[1:]) + 1, distance(left[1:], right[1:]) + (left[0] != right[0])]
    if left[:2] == right[1::-1] and len(left) > 1:
        ways.append(distance(left[2:], right[2:]) + 1)
    return min(ways)


def slipped(word: str, slip: tuple[str, int, str]) -> str:
    """The word with a letter put in, left out or replaced, or with two letters swapped."""
    kind, where, letter = slip
    at = where % (len(word) + 1)
    match kind:
        case "insert":
            return word[:at] + letter + word[at:]
        case "delete":
            return word[:at] + word[at + 1 :]
        case "replace":
            return word[:at] + letter + word[at + 1 :]
        case _:
            return word[:at] + word[at : at + 2][::-1] + word[at + 2 :]


WORDS = st.text("abc", max_size=7)
LONG = st.text("abcdefgh", min_size=6, max_size=8)
SLIPS = st.tuples(st.sampled_from(["insert", "delete", "replace", "swap"]), st.integers(0, 12), st.sampled_from("abcd"))


@given(WORDS, st.lists(WORDS, max_size=4), SLIPS)
def test_names_are_found_by_their_pieces_as_by_comparing_with_each(word: str, others: list[str], slip: tuple[str, int, str]):
    known = [word, *others]
    asked = slipped(word, slip)
    close = [(slips, one) for one in known if (slips := distance(asked, one)) <= 1]
    expected = min(close)[1] if close and len(asked) > 2 else None
    assert Spellings(known).closest(asked) == expected


@given(LONG, LONG, SLIPS, SLIPS, st.lists(WORDS, max_size=4))
def test_a_long_name_is_found_through_two_slips(
    left: str, right: str, first: tuple[str, int, str], second: tuple[str, int, str], others: list[str]
):
    asked = slipped(left, first) + slipped(right, second)
    assert Spellings([*others, left + right]).closest(asked) == left + right


def test_a_name_of_any_length_is_compared_with_its_slip() -> None:
    name = "n" * 200_000
    assert Spellings([name]).closest(name[:-1] + "m") == name
