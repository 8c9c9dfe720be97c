"""Three numbers, and their sums."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Counts(NamedTuple):
    confirmed: int
    refuted: int
    evaluable: int


def counted(found: Iterable[tuple[bool, bool]]) -> Counts:
    """Of groundings whose head is confirmed, refuted, both or neither: one that is both is evaluable once."""
    every = list(found)
    return Counts(sum(c for c, _ in every), sum(v for _, v in every), sum(c or v for c, v in every))


def total(counts: Iterable[Counts]) -> Counts:
    every = list(counts)
    return Counts(sum(c.confirmed for c in every), sum(c.refuted for c in every), sum(c.evaluable for c in every))
