"""A problem as data: a code, a place, a note, a help line. `codes.py` says what each code means."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from re import compile, escape

from rulescore.errors.secrets import masked, masked_place

_LONGEST_LINE = 120
_LONGEST_NAME = 1_000
_LONG_NAME = compile(rf"(`[^`]{{{_LONGEST_NAME}}})[^`]++`")


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A text and the name a user knows it by; spans point into it. `folder`: the text may name files in it; None if it may not.
    `converted`: the text is ours, made from a file of that name. `told`: problems of that file that the text does not show."""

    name: str
    text: str
    folder: Path | None = None
    converted: bool = False
    told: tuple[Diagnostic, ...] = ()
    _starts: list[int] = field(default_factory=list, repr=False)
    _lines: dict[int, str] = field(default_factory=dict, repr=False)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both counted from 1."""
        if not self._starts:
            self._starts.append(0)
            self._starts.extend(i + 1 for i, c in enumerate(self.text) if c == "\n")
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        # Cached: programs write all their rules into one long line, and every rule would take a copy of it.
        if line not in self._lines:
            self.position(0)
            start = self._starts[line - 1]
            end = self.text.find("\n", start)
            self._lines[line] = self.text[start : end if end >= 0 else None].rstrip("\r")
        return self._lines[line]


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file, which we print behind `-->`. `text`: the line itself, if we know it. The place of a problem keeps only the
    part of the line that we show, without passwords; `start` characters stand before it."""

    name: str
    line: int | None = None
    column: int | None = None
    length: int = 1
    text: str | None = None
    start: int | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return ":".join(str(part) for part in (self.name, self.line, self.column) if part is not None)


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """A stretch of a source. Two trees that differ in their spans only are equal, so spans never take part in comparison."""

    source: Source
    start: int
    end: int

    def place(self) -> Place:
        line, column = self.source.position(self.start)
        text = self.source.line_text(line)
        length = max(1, min(self.end - self.start, len(text) - column + 1))
        name = f"{self.source.name} (as rules)" if self.source.converted else self.source.name
        return Place(name, line, column, length, text)

    def word(self, word: str) -> Span:
        """The first occurrence of a word in it; the whole span if the word is spelt otherwise there, as in quotes."""
        found = compile(rf"(?<![\w.]){escape(word)}(?!\w|\.\w)").search(self.source.text, self.start, self.end)
        return self if found is None else Span(self.source, *found.span())


def place_of(span: Span | None) -> Place | None:
    """The place of a span; None for a tree built by hand, which has no spans."""
    return None if span is None else span.place()


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A problem. Its texts show no passwords, and only the beginnings of very long names."""

    code: str
    message: str
    place: Place | None = None
    label: str = ""
    notes: tuple[str, ...] = ()
    helps: tuple[str, ...] = ()
    severity: Severity = Severity.ERROR

    def __post_init__(self) -> None:
        for name in ("message", "label"):
            object.__setattr__(self, name, _shown(getattr(self, name)))
        for name in ("notes", "helps"):
            object.__setattr__(self, name, tuple(map(_shown, getattr(self, name))))
        if self.place is not None:
            object.__setattr__(self, "place", _shown_place(self.place))

    def __str__(self) -> str:
        from rulescore.errors.render import render

        return render(self)


def _shown(text: str) -> str:
    return _LONG_NAME.sub(r"\1 …`", masked(text)) if len(text) > _LONGEST_NAME else masked(text)


def _shown_place(place: Place) -> Place:
    """A place with the part of its line around the column: a program may write all rules into one line, and many of them wrong."""
    if place.text is None or place.column is None or place.start is not None:
        return place
    text, column, length = masked_place(place.text, place.column, place.length)
    before = max(0, min(column - 1 - _LONGEST_LINE // 2, len(text) - _LONGEST_LINE))
    return replace(place, text=text[before : before + _LONGEST_LINE], length=length, start=place.column - column + before)


def are_errors(problems: Iterable[Diagnostic]) -> bool:
    return any(problem.severity is Severity.ERROR for problem in problems)
