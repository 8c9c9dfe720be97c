"""Values as people read them: counts with thousands separators, rates with 4 digits, scores with 3 significant ones."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping

from rulescore.reporting.listing import Cell, CellKind

UNDEFINED = "–"


def shown(value: Cell, kind: CellKind) -> str:
    """A cell as text for people, on one line."""
    match value:
        case None:
            return UNDEFINED
        case str():
            return visible(value)
        case tuple():
            return visible(", ".join(value))
        case int():
            return f"{value:,}"
        case float():
            return _number(value, kind)
        case Mapping():
            return visible(", ".join(f"{name} = {text}" for name, text in value.items()))


def counted(number: int, noun: str) -> str:
    """A number of things: 1 rule, 2 rules."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def visible(text: str) -> str:
    """Text in which control characters are spelt out, so that a constant can neither break a table nor steer a terminal."""
    return "".join(repr(c)[1:-1] if unicodedata.category(c) in {"Cc", "Zl", "Zp"} else c for c in text)


def is_number(kind: CellKind) -> bool:
    return kind in {CellKind.COUNT, CellKind.RATE, CellKind.SCORE, CellKind.WEIGHT}


def _number(value: float, kind: CellKind) -> str:
    match kind:
        case CellKind.RATE:
            return f"{value:.4f}"
        case CellKind.WEIGHT:
            return f"{value:g}"
        case _:
            return _significant(value)


def _significant(value: float) -> str:
    """Three significant digits, but never fewer than the whole part has: 0.123, 12.3, 847, 1,235."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.2e}")
    if abs(rounded) < 1e-4:
        return f"{value:.2e}"
    decimals = max(0, 2 - math.floor(math.log10(abs(rounded))))
    return f"{value:,.{decimals}f}"
