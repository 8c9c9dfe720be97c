"""What is drawn, and what every generator draws alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st

from oracle.tree import Setting
from oracle.writing import write_program


@dataclass(frozen=True)
class Generated:
    """A setting, and the groups of incompatible predicates that its pairs come from."""

    setting: Setting
    arities: dict[str, int]
    groups: tuple[tuple[str, ...], ...] = ()
    may_leave_64_bits: bool = False

    @property
    def text(self) -> str:
        return write_program(self.setting, self.arities, self.groups)


def chance(draw: st.DrawFn, percent: int) -> bool:
    return draw(st.integers(0, 99)) >= 100 - percent


def kinds() -> st.SearchStrategy[str | None]:
    return st.sampled_from((None, None, None, None, "hard", "soft"))


def weights() -> st.SearchStrategy[Fraction]:
    return st.sampled_from((Fraction(1), Fraction(1), Fraction(1), Fraction(0), Fraction(5, 2)))


def some(values: Sequence[object | None]) -> tuple:  # type: ignore[type-arg]
    return tuple(dict.fromkeys(value for value in values if value is not None))
