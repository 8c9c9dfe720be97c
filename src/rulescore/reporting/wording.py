"""Writes numbers as people grasp them, and sentences with strong parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rulescore.errors.texts import visible

_TIE = 1e-9


@dataclass(frozen=True, slots=True)
class Part:
    text: str
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Sentence:
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)


def said(*parts: str | Part) -> Sentence:
    return Sentence(tuple(Part(visible(part)) if isinstance(part, str) else part for part in parts))


def strong(text: str) -> Part:
    return Part(visible(text), strong=True)


def frequency(part: int, whole: int) -> str:
    """A share in words: none, 1 in 128, 3 in 10 or all, whichever is nearest."""
    if not part:
        return "none"
    if part == whole:
        return "all"
    share = part / whole
    ones, tenths = max(2, round(1 / share)), round(10 * share)
    if tenths == 10:
        return "more than 9 in 10"
    if tenths and abs(tenths / 10 - share) < abs(1 / ones - share) - _TIE:
        return f"{tenths} in 10"
    return f"1 in {ones:,}"


def percent(part: int, whole: int) -> str:
    """A share with one decimal. Rounding never makes it 0% or 100%."""
    share = part / whole
    if 0 < share < 0.0005:
        return "<0.1%"
    if 0.9995 <= share < 1:
        return ">99.9%"
    return f"{share:.1%}"


def listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
