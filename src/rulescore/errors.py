"""What can go wrong, told so that it can be mended: a code, a place, a note, a help line.

Every stage reports through these classes. A problem of a file is a `Diagnostic`; problems are collected and raised together in
one `InputError`, so that a user sees all of them at once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from re import compile, escape, split
from typing import Self

from rulescore.characters import visible, visible_lines

CODES = {"E938": "an optional dependency is not installed"}

_MOST_OF_ONE_CODE = 20


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A text and the name a user knows it by; spans point into it. `folder`: the one whose files the text may name, if any.
    `converted`: the text is ours, made from a file of that name, and `told` is what the file has that the text has not."""

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
        # Kept, since programs write all their rules into one long line, of which every rule would take a copy.
        if line not in self._lines:
            self.position(0)
            start = self._starts[line - 1]
            end = self.text.find("\n", start)
            self._lines[line] = self.text[start : end if end >= 0 else None].rstrip("\r")
        return self._lines[line]


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a file something is: what is printed behind `-->`, with the line itself where it is known."""

    name: str
    line: int | None = None
    column: int | None = None
    length: int = 1
    text: str | None = None

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
        """Where it first has a word; all of it where it has the word in other letters, as in quotes."""
        found = compile(rf"(?<![\w.]){escape(word)}(?!\w|\.\w)").search(self.source.text, self.start, self.end)
        return self if found is None else Span(self.source, *found.span())


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A problem. Whatever it says is said without passwords, however they came into it."""

    code: str
    message: str
    place: Place | None = None
    label: str = ""
    notes: tuple[str, ...] = ()
    helps: tuple[str, ...] = ()
    severity: Severity = Severity.ERROR

    def __post_init__(self) -> None:
        for name in ("message", "label"):
            object.__setattr__(self, name, masked(getattr(self, name)))
        for name in ("notes", "helps"):
            object.__setattr__(self, name, tuple(map(masked, getattr(self, name))))

    def __str__(self) -> str:
        return render(self)


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
            shown, caret = _underlined(place.text, place.column, place.length)
            margin = painted(Part.MARGIN, f"{indent} |")
            lines.append(margin)
            lines.append(f"{painted(Part.MARGIN, f'{place.line} |')} {shown}")
            lines.append(f"{margin} {caret[0]}{painted(Part.CARET, f'{caret[1]} {visible_lines(problem.label)}'.rstrip())}")
    told = [("note", note) for note in problem.notes] + [("help", text) for text in problem.helps]
    lines.extend(f"{painted(Part.MARGIN, f'{indent} =')} {what}: {visible_lines(text)}" for what, text in told)
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
    """A line of a file as it is shown, and the blanks and the carets below it: as wide as a terminal draws what they are below."""
    # Loading it takes longer than loading the errors themselves, and most programs have none to show.
    from rich.cells import cell_len

    text, column, length = _masked_place(text, column, length)
    text, column = _window(text, column)
    before, there, behind = (visible(part, keep="\t") for part in (text[: column - 1], *_cut(text[column - 1 :], length)))
    blanks = "".join("\t" if piece == "\t" else " " * cell_len(piece) for piece in split("(\t)", before))
    return before + there + behind, (blanks, "^" * max(1, cell_len(there.replace("\t", " "))))


def _cut(text: str, length: int) -> tuple[str, str]:
    return text[:length], text[length:]


def _window(text: str, column: int, width: int = 120) -> tuple[str, int]:
    """The part of a long line around a column, and the column within it."""
    if len(text) <= width:
        return text, column
    start = max(0, min(column - 1 - width // 2, len(text) - width))
    return text[start : start + width], column - start


_PASSWORD = "".join(f"(?:{letter}|%{ord(letter):x}|%{ord(letter.upper()):x})" for letter in "password")
_WORDS = f"{_PASSWORD} | passwd | client_secret"

# Where a secret may begin: behind the user's name of an address, any `password=…` or `"password": …`, and a `;token=…` of Spark
# Connect. An address has `//` or `:/`, misspelt as it may be, and a name with slashes behind it; a path has neither.
_BEGIN = compile(
    rf"""(?isx) (?:
        (?: (?: (?P<alone> \A ) | (?P<quote> ["'`] ) ) [\w+.-]*+ )? (?: :? / (?P<second> / ) | : / )
        | // (?: [^\s:/@]{{0,99}}+ / ){{1,20}}+
    ) (?P<user> [^\s:/@]* ) :
    | (?: (?: {_WORDS} ) ["'`]? \s* = | (?P<around> ["'] ) (?: {_WORDS} ) (?P=around) \s* : ) \s*
        (?P<given> '[^']*' | "[^"]*" | [^\s&]* [^\s&"'`] )
    | ; token = (?P<token> [^\s;"'`]+ )"""
)
# A password may hold any character: one that stands alone or in quotes goes to their end, any other to the next blank.
_RESTS = {
    "alone": compile(r"(?s).*"),
    "blank": compile(r"\S*"),
    **{quote: compile(rf"(?s)(?:\\.|[^{quote}])*+") for quote in "\"'`"},
}
_PORT = compile(r"""\d+([/?,"'`\s]|$)""")
_SCHEME = compile(r"[\w+.-]*:?//")
_HIDDEN = "***"


def masked(text: str) -> str:
    """A text without the passwords in it, and without their lengths."""
    pieces, end = [], 0
    for start, after in _secrets(text):
        pieces += [text[end:start], _HIDDEN]
        end = after
    return "".join([*pieces, text[end:]])


def masked_address(address: str) -> str:
    """What is given as an address, without its password: unless it begins as one, that may be all that stands before the host."""
    before, at, host = address.rpartition("@")
    return f"{_HIDDEN}@{host}" if at and not _SCHEME.match(before) else masked(address)


# Many problems may be of one line, which may be long.
@lru_cache(maxsize=16)
def _secrets(text: str) -> list[tuple[int, int]]:
    """Where passwords stand. It takes time by the length of the text alone: every rest of it is looked through once."""
    found: list[tuple[int, int]] = []
    rests: dict[str, tuple[int, int]] = {}
    position = 0
    while (begin := _BEGIN.search(text, position)) is not None:
        if begin["user"] is None:
            start, position = begin.span("given" if begin["given"] else "token")
            found.append((start, position))
            continue
        start = begin.end()
        kind = "alone" if begin["alone"] is not None else begin["quote"] or "blank"
        if start >= rests.get(kind, (0, 0))[0]:
            end = _RESTS[kind].match(text, start).end()  # type: ignore[union-attr]  # it matches nothing, too
            rests[kind] = end, text.rfind("@", start, end)
        end, last = rests[kind]
        if start <= last:
            # What stands between the user's name and the last `@` of an address …
            found.append((start, last))
            position = last + 1
        elif start < end and begin["second"] and "[" not in begin["user"] and not _PORT.match(text, start):
            # … or where its port should be.
            found.append((start, end))
            position = end
        else:
            position = begin.start() + 1
    return [(start, end) for start, end in found if start < end]


def _masked_place(text: str, column: int, length: int) -> tuple[str, int, int]:
    """A line without its passwords, with the column and the length of what is pointed at moved along."""
    secrets = _secrets(text)

    def moved(offset: int) -> int:
        shifts = (len(_HIDDEN) - (end - start) if offset >= end else min(0, start - offset) for start, end in secrets)
        return offset + sum(shifts)

    start, end = moved(column - 1), moved(column - 1 + length)
    return masked(text), start + 1, max(1, end - start)


_LONGEST_MISSPELT = 100


def suggestion(word: str, known: Iterable[str]) -> str | None:
    """The known name a misspelt one probably meant, if any is close. Comparing takes the product of two lengths: nobody mistypes
    a long name, and none is looked at."""
    if len(word) > _LONGEST_MISSPELT:
        return None
    close = get_close_matches(word, [name for name in known if len(name) <= _LONGEST_MISSPELT], n=1, cutoff=0.75)
    return close[0] if close else None


class RulescoreError(Exception):
    """The root of all errors this package raises on purpose."""


class RulescoreWarning(UserWarning):
    """What deserves a look in the rules, the data or a result; its text is that of the problem. `result.warnings` has them, too."""


def are_errors(problems: Iterable[Diagnostic]) -> bool:
    return any(problem.severity is Severity.ERROR for problem in problems)


class InputError(RulescoreError):
    """Rules, data or options that cannot be used as they are; carries every problem found, and tells the first of each code."""

    def __init__(self, problems: Iterable[Diagnostic] | Diagnostic) -> None:
        self.problems: tuple[Diagnostic, ...] = (problems,) if isinstance(problems, Diagnostic) else tuple(problems)
        super().__init__(render_all(self.problems))

    def __reduce__(self) -> tuple[type[Self], tuple[tuple[Diagnostic, ...]], dict[str, object]]:
        """How processes hand it to each other: by what it was made of, with the notes that were added."""
        return type(self), (self.problems,), self.__dict__


@contextmanager
def located(place: Place | None) -> Iterator[None]:
    """Problems that have no place get this one."""
    try:
        yield
    except InputError as error:
        raise InputError(one if one.place is not None else replace(one, place=place) for one in error.problems) from error


class EngineError(RulescoreError):
    """The database failed; carries what was being computed."""

    def __init__(self, message: str) -> None:
        super().__init__(visible_lines(masked(message)))


class UncertainError(EngineError):
    """The database went away while it was writing: it may have done so, or not."""


class MissingExtraError(InputError):
    """An optional dependency is not installed; the help names the extra that brings it."""

    def __init__(self, what: str, extra: str) -> None:
        self._made_of = what, extra
        helps = (f"`pip install 'rulescore[{extra}]'`; in a checkout of rulescore, `pip install '.[{extra}]'`",)
        super().__init__(Diagnostic("E938", f"{what} needs an optional dependency that is not installed", helps=helps))

    def __reduce__(self) -> tuple[type[Self], tuple[str, str], dict[str, object]]:  # type: ignore[override]
        return type(self), self._made_of, self.__dict__
