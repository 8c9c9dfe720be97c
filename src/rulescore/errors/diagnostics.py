"""Problems as data, the errors that hold them, and their text for people. `codes.py` says what each code means."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from re import compile, escape, split
from typing import Self, TypeVar

from rulescore.errors.texts import masked, masked_place, visible, visible_lines

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
    `converted`: the text is ours, made from a file of that name. `told`: problems of that file that are not visible in the text."""

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
        # Cached: some programs write all their rules in one long line, and every rule would keep a copy of it.
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
        return Place(self._name, line, column, length, text)

    @property
    def place_text(self) -> str:
        """The place as text, without a copy of the line."""
        line, column = self.source.position(self.start)
        return f"{self._name}:{line}:{column}"

    @property
    def _name(self) -> str:
        return f"{self.source.name} (as rules)" if self.source.converted else self.source.name

    def word(self, word: str) -> Span:
        """The first occurrence of a word in it; the whole span if the word is spelt otherwise there, as in quotes."""
        match = compile(rf"(?<![\w.]){escape(word)}(?!\w|\.\w)").search(self.source.text, self.start, self.end)
        return self if match is None else Span(self.source, *match.span())


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
            object.__setattr__(self, name, _shortened(getattr(self, name)))
        for name in ("notes", "helps"):
            object.__setattr__(self, name, tuple(map(_shortened, getattr(self, name))))
        if self.place is not None:
            object.__setattr__(self, "place", _shown_place(self.place))

    def __str__(self) -> str:

        return render(self)


def _shortened(text: str) -> str:
    return _LONG_NAME.sub(r"\1 …`", masked(text)) if len(text) > _LONGEST_NAME else masked(text)


def _shown_place(place: Place) -> Place:
    """A place with the part of its line around the column. We cut lines because a program may write all rules into one line, many
    of them wrong."""
    if place.text is None or place.column is None or place.start is not None:
        return place
    text, column, length = masked_place(place.text, place.column, place.length)
    before = max(0, min(column - 1 - _LONGEST_LINE // 2, len(text) - _LONGEST_LINE))
    return replace(place, text=text[before : before + _LONGEST_LINE], length=length, start=place.column - column + before)


def are_errors(problems: Iterable[Diagnostic]) -> bool:
    return any(problem.severity is Severity.ERROR for problem in problems)


_MOST_OF_ONE_CODE = 20


class Part(StrEnum):
    """The parts of a rendered problem that a terminal may colour."""

    TITLE = "title"
    MARGIN = "margin"
    CARET = "caret"


Paint = Callable[[Part, Severity, str], str]


def plain(part: Part, severity: Severity, text: str) -> str:
    return text


def render(problem: Diagnostic, paint: Paint = plain) -> str:
    """The text a person reads: code and message, the place with a caret, notes and help. Nothing in it steers a terminal."""

    def painted(part: Part, text: str) -> str:
        return paint(part, problem.severity, text)

    lines = [f"{painted(Part.TITLE, f'{problem.severity}[{problem.code}]')}: {visible_lines(problem.message)}"]
    indent = ""
    place = problem.place
    if place is not None:
        indent = " " * len(str(place.line or ""))
        lines.append(f"{painted(Part.MARGIN, f'{indent[:-1]} -->' if indent else '-->')} {visible(masked(str(place)))}")
        if place.text is not None and place.line is not None and place.column is not None:
            shown, caret = _underlined(place.text, place.column - (place.start or 0), place.length)
            margin = painted(Part.MARGIN, f"{indent} |")
            lines.append(margin)
            lines.append(f"{painted(Part.MARGIN, f'{place.line} |')} {shown}")
            lines.append(f"{margin} {caret[0]}{painted(Part.CARET, f'{caret[1]} {visible_lines(problem.label)}'.rstrip())}")
    hints = [("note", note) for note in problem.notes] + [("help", text) for text in problem.helps]
    lines.extend(f"{painted(Part.MARGIN, f'{indent} =')} {kind}: {visible_lines(text)}" for kind, text in hints)
    return "\n".join(lines)


def render_all(problems: Iterable[Diagnostic], paint: Paint = plain) -> str:
    """The first problems of each code, in their order; then the numbers of the others."""
    times: Counter[str] = Counter()
    texts = []
    for problem in problems:
        times[problem.code] += 1
        if times[problem.code] <= _MOST_OF_ONE_CODE:
            texts.append(render(problem, paint))
    more = [f"… and {n - _MOST_OF_ONE_CODE:,} more of {code}" for code, n in times.items() if n > _MOST_OF_ONE_CODE]
    return "\n\n".join([*texts, *more])


def _underlined(text: str, column: int, length: int) -> tuple[str, tuple[str, str]]:
    """The part of a line as we show it, and the blanks and carets below it, as wide as a terminal draws the text above them."""
    # Loading rich takes longer than loading our errors, and most programs have no error to show.
    from rich.cells import cell_len

    before, there, behind = (visible(part, keep="\t") for part in (text[: column - 1], *_cut(text[column - 1 :], length)))
    blanks = "".join("\t" if piece == "\t" else " " * cell_len(piece) for piece in split("(\t)", before))
    return before + there + behind, (blanks, "^" * max(1, cell_len(there.replace("\t", " "))))


def _cut(text: str, length: int) -> tuple[str, str]:
    return text[:length], text[length:]


_Made = TypeVar("_Made")
_Other = TypeVar("_Other")


class RulescoreError(Exception):
    """The root of all errors this package raises on purpose."""


class RulescoreWarning(UserWarning):
    """Something in the rules, the data or a result that deserves a look. `result.warnings` has the same text."""


class InputError(RulescoreError):
    """Rules, data or options that we cannot use. Its text shows the first problems of each code.

    Args:
        problems: Every problem, each with its code, place, notes and helps.
    """

    def __init__(self, problems: Iterable[Diagnostic] | Diagnostic) -> None:
        self.problems: tuple[Diagnostic, ...] = (problems,) if isinstance(problems, Diagnostic) else tuple(problems)
        super().__init__(render_all(self.problems))

    def __reduce__(self) -> tuple[type[Self], tuple[tuple[Diagnostic, ...]], dict[str, object]]:
        """Pickles the error, for other processes, as its problems and the notes added to it."""
        return type(self), (self.problems,), self.__dict__


@contextmanager
def located(place: Place | None) -> Iterator[None]:
    """Context manager: gives this place to every problem of an InputError that has none."""
    try:
        yield
    except InputError as error:
        raise InputError(fault if fault.place is not None else replace(fault, place=place) for fault in error.problems) from error


def refuse(problems: Iterable[Diagnostic]) -> None:
    """Raises one InputError for all problems, if there are any."""
    if problems := tuple(problems):
        raise InputError(problems)


def attempt(
    problems: list[Diagnostic], make: Callable[[], _Made], otherwise: _Other, place: Callable[[], Place | None] = lambda: None
) -> _Made | _Other:
    """What `make` returns; `otherwise` if it raises InputError. We add its problems to `problems`, with `place()` if they have no
    place."""
    try:
        return make()
    except InputError as error:
        problems.extend(problem if problem.place is not None else replace(problem, place=place()) for problem in error.problems)
        return otherwise


class EngineError(RulescoreError):
    """The database failed.

    Args:
        message: What failed, and what the database was computing.
    """

    def __init__(self, message: str) -> None:
        super().__init__(visible_lines(masked(message)))


class UncertainError(EngineError):
    """The database went away during a write, which it may or may not have finished."""


class MissingExtraError(InputError):
    """An optional dependency is not installed; the help names the extra that brings it."""

    def __init__(self, what: str, extra: str) -> None:
        self._made_of = what, extra
        helps = (f"in a checkout of rulescore: `pip install '.[{extra}]'`",)
        super().__init__(Diagnostic("E938", f"{what} needs an optional dependency that is not installed", helps=helps))

    def __reduce__(self) -> tuple[type[Self], tuple[str, str], dict[str, object]]:  # type: ignore[override]
        return type(self), self._made_of, self.__dict__
