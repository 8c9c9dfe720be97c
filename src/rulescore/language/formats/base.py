"""What the formats have in common: a line of text becomes a rule, is set aside, or is a located problem."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rulescore.errors import Diagnostic, Source, Span
from rulescore.language.bodies import MOST_ATOMS
from rulescore.language.formats.names import FormatName
from rulescore.language.syntax import And, Atom, Condition, Head, Rule, Term, Variable

EMPTY_BODY = "with an empty body"
NEGATIVE_WEIGHT = "with a negative weight"
LOG = "lines of log"
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
WEIGHT_TAG = "weight="
_INVERSE = "inv_"


class MisreadError(Exception):
    """A fault of a line: a message, and the offsets in the line between which the fault is."""

    def __init__(self, message: str, start: int = 0, end: int | None = None, *, help: str = "", code: str = "E152") -> None:
        super().__init__(message)
        self.message, self.start, self.end, self.help, self.code = message, start, end, help, code


class SetAsideError(Exception):
    """A line that we understand and that is not a rule. `reason`: in words, for a count: `with an empty body`."""

    def __init__(self, reason: str = EMPTY_BODY) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class TableName:
    """A table that denial constraints may be about, and its key."""

    name: str
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What a text holds. `set_aside`: how many lines, by the reason; `problems`: of lines that we do not understand; `told`: what
    users must know of the format."""

    rules: list[Rule] = field(default_factory=list)
    set_aside: Counter[str] = field(default_factory=Counter)
    problems: list[Diagnostic] = field(default_factory=list)
    told: list[Diagnostic] = field(default_factory=list)


LineReader = Callable[[Source, int, str], Rule]
"""A line of a source, which begins at this offset, as a rule."""


@dataclass(frozen=True, slots=True)
class RuleFormat:
    """`title`: its name for users. `recognises`: whether lines are of this format. `example`: a line, for messages."""

    name: FormatName
    title: str
    example: str
    recognises: Callable[[Sequence[str]], bool]
    read: Callable[[Source, Sequence[TableName]], Found]


def mostly(pattern: str) -> Callable[[Sequence[str]], bool]:
    """Recognises lines of which more than half match, so that we report a broken line and do not take it for another format."""
    match = re.compile(pattern).match
    return lambda lines: 2 * sum(1 for line in lines if match(line)) > len(lines)


def some(pattern: str) -> Callable[[Sequence[str]], bool]:
    match = re.compile(pattern).match
    return lambda lines: any(match(line) for line in lines)


def read_lines(source: Source, title: str, example: str, read: LineReader) -> Found:
    """One rule a line. Empty lines and those that begin with `#` or `//` hold nothing."""
    found = Found()
    add, start = found.rules.append, 0
    for line in source.text.split("\n"):
        text = line.strip()
        if text and not text.startswith(("#", "//")):
            try:
                add(read(source, start, line.rstrip()))
            except SetAsideError as aside:
                found.set_aside[aside.reason] += 1
            except MisreadError as wrong:
                found.problems.append(problem_at(source, start, line.rstrip(), wrong, title, example))
        start += len(line) + 1
    return found


def problem_at(source: Source, start: int, line: str, wrong: MisreadError, title: str, example: str) -> Diagnostic:
    end = len(line) if wrong.end is None else wrong.end
    return Diagnostic(
        wrong.code,
        f"expected a line of {title} rules: {wrong.message}",
        Span(source, start + wrong.start, start + max(end, wrong.start + 1)).place(),
        notes=(f"such a line is `{example}`",),
        helps=(wrong.help,) if wrong.help else (),
    )


def rule_of(
    head: Head,
    body: Sequence[Condition],
    span: Span,
    *,
    confidence: float | None = None,
    support: int | None = None,
    tags: tuple[str, ...] = (),
) -> Rule:
    if not body:
        raise SetAsideError
    if len(body) > MOST_ATOMS:
        raise MisreadError(f"the body has more than {MOST_ATOMS} atoms", 0)
    return Rule(head, And(tuple(body), span), tags=tags, confidence=confidence, support=support, span=span)


def weight_tags(weight: str) -> tuple[str, ...]:
    """The weight that a tool gives to a rule, as a tag: it is not the weight in scores. A weight of 1 has no tag."""
    return () if float(weight) == 1 else (f"{WEIGHT_TAG}{weight}",)


def share(text: str, start: int) -> float:
    """A confidence as a number; MisreadError if it is not between 0 and 1."""
    value = float(text.replace(",", "."))
    if not 0 <= value <= 1:
        raise MisreadError("a confidence lies between 0 and 1", start, start + len(text))
    return value


def inverted(name: str, left: Term, right: Term, span: Span) -> Atom:
    """`inv_aunt(X, Y)` is `aunt(Y, X)`."""
    if name.startswith(_INVERSE) and len(name) > len(_INVERSE):
        return Atom(name[len(_INVERSE) :], (right, left), span)
    return Atom(name, (left, right), span)


def path(atoms: int, span: Span) -> list[Variable]:
    """The variables along a chain from X to Y: X, Y; X, Z, Y; X, Z1, Z2, Y. A rule whose chain has no atom is set aside."""
    if not atoms:
        raise SetAsideError
    between = ["Z"] if atoms == 2 else [f"Z{number}" for number in range(1, atoms)]
    return [Variable(name, span) for name in ("X", *between, "Y")]
