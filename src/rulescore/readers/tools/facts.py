"""What a reader finds: facts as columns of texts, and lines that it does not understand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

BATCH_ROWS = 1 << 17
"""How many facts a reader hands over at a time: few enough that their texts stay far below 2 GiB."""


@dataclass(slots=True)
class Facts:
    """Facts of one arity: their predicates and one list for each argument. Predictions may have scores, ranks and queries, each for
    all of them or for none. `asked`: the direction and the true answer of each one's query. `negative`: the facts are known to be
    false."""

    predicates: list[str] = field(default_factory=list)
    arguments: list[list[str]] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a line: the number and text of the line, and the column, counted from 1, and length of the fault."""

    line: int
    text: str
    column: int
    message: str
    length: int = 1
    helps: tuple[str, ...] = ()
    code: str = "E362"


Found = Iterator[Facts | Fault]


class Rankings:
    """Collects the answers to queries about triples."""

    def __init__(self) -> None:
        self.facts = Facts(arguments=[[], []])

    def add(self, query: tuple[str, str, str], direction: str, row: int, answers: list[str], scores: list[float]) -> None:
        """The ranked answers to one query: entities in the place of the triple's head, or of its tail."""
        head, relation, tail = query
        number = len(answers)
        facts = self.facts
        facts.predicates += [relation] * number
        facts.arguments[0] += answers if direction == "head" else [head] * number
        facts.arguments[1] += [tail] * number if direction == "head" else answers
        facts.scores += scores
        facts.ranks += range(1, number + 1)
        facts.queries += [f"{direction} {row}"] * number
        facts.asked += [(direction, head if direction == "head" else tail)] * number

    def taken(self, least: int = BATCH_ROWS) -> Found:
        """Hands over the collected facts, if there are at least so many."""
        if len(self.facts.predicates) >= least:
            facts, self.facts = self.facts, Facts(arguments=[[], []])
            yield facts


def finite(text: str) -> float | None:
    """The number that a text stands for; None unless it is a finite one."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
