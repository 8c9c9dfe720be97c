"""The published numbers: all of them are there, with the digits that were printed."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from rulescore.reproduction.comparison import Cause, cell
from rulescore.reproduction.published import agrees, digits, published
from shared_data import shared


def numbers(value: Any) -> list[float]:
    match value:
        case dict():
            return [number for one in value.values() for number in numbers(one)]
        case list():
            return [number for one in value for number in numbers(one)]
        case int() | float() | Decimal():
            return [float(value)]
        case _:
            return []


def test_every_number_of_the_publication_is_there() -> None:
    paper = json.loads(shared("../paper.json").read_text(encoding="utf-8"))
    # The rule that is drawn cut at 100 has its value, beside where it is drawn, and its position.
    assert Counter(numbers(published())) == Counter(numbers(paper)) + Counter([769.0, 14.0])


@pytest.mark.parametrize(
    ("printed", "ours", "same"),
    [
        (Decimal("0.923"), 0.92331, True),
        (Decimal("0.877"), 0.8758, False),
        (Decimal("0.0028"), 1 / 351, True),
        (Decimal("0.0028"), 1 / 350, False),
        (425, 424.6, True),
        (425, 425.6, False),
        (Decimal("34.0"), 34.04, True),
        (Decimal("34.0"), 34.06, False),
        (0, 0.4, True),
    ],
)
def test_numbers_agree_to_the_digits_that_were_printed(printed: int | Decimal, ours: float, same: bool) -> None:
    assert agrees(printed, ours) is same
    assert (cell("row", "measure", printed, ours, Cause.UNKNOWN).cause is Cause.SAME) is same


def test_printed_digits_are_kept() -> None:
    assert [digits(number) for number in (Decimal("2.15"), Decimal("34.0"), 425)] == [2, 1, 0]
    assert str(published()["family"]["models"]["UniKER"]["soft"]) == "34.0"


def test_nothing_of_ours_is_a_difference() -> None:
    missing = cell("row", "measure", 1, None, Cause.DATA)
    assert missing.cause is Cause.DATA
    assert missing.difference is None
