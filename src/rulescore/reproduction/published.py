"""The numbers of the publication. They are facts; the file that holds them, `published.json`, was made for this package."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import cache
from importlib import resources
from typing import Any

Printed = int | Decimal
"""A number with the digits that were printed."""


@cache
def published() -> Any:
    """The whole file. Numbers with a point are decimals, and so keep their digits."""
    text = resources.files("rulescore.reproduction").joinpath("published.json").read_text(encoding="utf-8")
    return json.loads(text, parse_float=Decimal)


def citation() -> str:
    found = published()["publication"]
    return f"{', '.join(found['authors'])}: {found['title']}"


def digits(printed: Printed) -> int:
    """How many digits were printed behind the point."""
    exponent = Decimal(printed).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def agrees(printed: Printed, ours: float) -> bool:
    """Whether ours, rounded to as many digits, is the printed number."""
    return Decimal(f"{ours:.{digits(printed)}f}") == printed
