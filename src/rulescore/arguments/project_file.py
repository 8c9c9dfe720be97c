"""A project file as it is on disk: its text, its sections, and where its keys stand. Nothing it names is opened."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rulescore.arguments.checking import Location, Placer, checked
from rulescore.arguments.sections import ProjectSections
from rulescore.errors import Diagnostic, InputError, Place
from rulescore.readers.files import is_device, is_pipe


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """`text`: what was read, and `sections`: what it says."""

    path: Path
    text: str
    sections: ProjectSections
    place: Placer

    @property
    def folder(self) -> Path:
        """Where its paths begin."""
        return self.path.parent


def read_project(path: Path) -> ProjectFile:
    """Reads a project file once. All problems of its keys are raised together."""
    text = _decoded(path, _read(path))
    problems: list[Diagnostic] = []
    places = TomlPlaces(str(path), text)
    try:
        sections = checked(ProjectSections, _parse(path, text), problems, places.place)
    except RecursionError:
        raise InputError(Diagnostic("E403", "the project file nests its values too deeply", Place(str(path)))) from None
    if sections is None:
        raise InputError(problems)
    return ProjectFile(path, text, sections, places.place)


def _read(path: Path) -> bytes:
    try:
        if is_device(path) or is_pipe(path):
            kind = "device" if is_device(path) else "pipe"
            raise InputError(Diagnostic("E405", f"`{path}` is a {kind}, not a project file"))
        return path.read_bytes()
    except (OSError, ValueError) as error:
        message = f"the project file `{path}` cannot be read: {(getattr(error, 'strerror', None) or str(error)).lower()}"
        raise InputError(Diagnostic("E405", message)) from None


def _decoded(path: Path, raw: bytes) -> str:
    try:
        # As Python reads a text file: every kind of line end becomes `\n`.
        return raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        helps = ("save the file as UTF-8",)
        raise InputError(Diagnostic("E405", "the project file is not UTF-8", Place(str(path)), helps=helps)) from None


# Each dot makes a table within a table, and the parser remembers all of them.
_DEEP_KEY = re.compile(r"(?<![\w\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){51}")


def _parse(path: Path, text: str) -> dict[str, object]:
    if (deep := _DEEP_KEY.search(text)) is not None:
        place = Place(str(path), text.count("\n", 0, deep.start()) + 1)
        raise InputError(Diagnostic("E403", "a key has more than 50 dots", place))
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason, _, where = str(error).partition(" (at ")
        found = re.match(r"line (\d+), column (\d+)", where)
        lines = text.rstrip().split("\n")
        # An error without a line is at the end of the document.
        line, column = (int(found[1]), int(found[2])) if found else (len(lines), len(lines[-1]))
        shown = text.split("\n")[line - 1].rstrip("\r")
        if (repeated := _repeated(text.split("\n")[:line])) and reason.startswith(("Cannot overwrite", "Cannot declare")):
            what, earlier = repeated
            place = Place(str(path), line, shown.index(what) + 1, len(what), shown)
            helps = ("keep one of them; a list takes several values",)
            raise InputError(
                Diagnostic("E403", f"`{what}` is given twice", place, notes=(f"line {earlier} has it already",), helps=helps)
            ) from None
        notes = (reason[:1].lower() + reason[1:],)
        place = Place(str(path), line, column, text=shown)
        raise InputError(Diagnostic("E403", "the project file is not TOML", place, notes=notes)) from None


def _repeated(lines: list[str]) -> tuple[str, int] | None:
    """The key or section of the last line, and the line of the same section, or of the file, that has it already."""
    *others, last = (line.partition("#")[0].strip() for line in lines)
    section = last.startswith("[")
    what = last if section else last.partition("=")[0].strip()
    for number in range(len(others), 0, -1):
        found = others[number - 1]
        if what and (found == what if section else found.partition("=")[0].strip() == what):
            return what, number
        if found.startswith("[") and not section:
            return None
    return None


# The last line of a statement of several lines: it ends a list, a table or a text, and a comment may follow.
_ENDS = re.compile(r"[]}\"'][ \t]*(?:#.*)?\Z")


class TomlPlaces:
    """Where the keys of a TOML text stand, which the standard parser does not say. We look statement by statement, and only when
    there is something to report."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._lines = text.split("\n")
        self._places: dict[Location, tuple[int, int, int]] | None = None
        self._beginnings: set[Location] = set()

    def place(self, location: Location) -> Place:
        """The place of the longest part of a location that is a key; we skip numbers that a short form left out."""
        if self._places is None:
            self._places = dict(self._keys())
            self._beginnings = {path[:end] for path in self._places for end in range(1, len(path) + 1)}
        best: tuple[int, int, int] | None = None
        reached: Location = ()
        for part in location:
            longer = (*reached, part)
            if longer in self._beginnings:
                reached = longer
                best = self._places.get(reached, best)
        if best is None:
            return Place(self._name)
        line, column, length = best
        return Place(self._name, line, column, length, self._lines[line - 1].rstrip("\r"))

    def _keys(self) -> Iterator[tuple[Location, tuple[int, int, int]]]:
        table: Location = ()
        seen: dict[Location, int] = {}
        start = 0
        while start < len(self._lines):
            end, parsed = self._statement(start)
            if self._lines[start].lstrip().startswith("["):
                table = _header(parsed, seen)
                yield table, self._position(start, start + 1, str(next(p for p in reversed(table) if isinstance(p, str))))
            else:
                for path in _paths(parsed):
                    yield (*table, *path), self._position(start, end, str(path[-1]))
            start = end

    def _statement(self, start: int) -> tuple[int, dict[str, Any]]:
        """The end of the statement that begins at a line, and what it says: as many lines as make it complete."""
        for end in range(start + 1, len(self._lines) + 1):
            if end > start + 1 and not _ENDS.search(self._lines[end - 1]):
                continue
            try:
                return end, tomllib.loads("\n".join(self._lines[start:end]))
            except tomllib.TOMLDecodeError:
                continue
        return len(self._lines), {}

    def _position(self, start: int, end: int, key: str) -> tuple[int, int, int]:
        pattern = re.compile(rf"(?<![\w-]){re.escape(key)}(?![\w-])")
        for number in range(start, end):
            if found := pattern.search(self._lines[number]):
                return number + 1, found.start() + 1, len(key)
        text = self._lines[start]
        return start + 1, len(text) - len(text.lstrip()) + 1, 1


def _header(parsed: dict[str, Any], seen: dict[Location, int]) -> Location:
    """The path of `[a.b]`, or of `[[a]]` with the number of its turn."""
    path: Location = ()
    node: Any = parsed
    while node:
        if isinstance(node, list):
            seen[path] = seen.get(path, -1) + 1
            path, node = (*path, seen[path]), node[0]
        else:
            key, node = next(iter(node.items()))
            path = (*path, key)
    return path


def _paths(parsed: dict[str, Any]) -> Iterator[Location]:
    for key, value in parsed.items():
        yield (key,)
        if isinstance(value, dict):
            yield from ((key, *path) for path in _paths(value))
