"""Reads a project file: its text, its sections and the places of its keys. Turns what users wrote into dataclasses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from rulescore.arguments.sections import ProjectSections
from rulescore.errors import Diagnostic, InputError, Place, attempt, masked, meant
from rulescore.readers.files import is_device, is_pipe
from rulescore.setting.model import chosen
from rulescore.setting.options import plain_type

_Made = TypeVar("_Made")
Location = tuple[int | str, ...]
Placer = Callable[[Location], Place | None]


def checked(kind: type[_Made], values: object, problems: list[Diagnostic], place: Placer = lambda _: None) -> _Made | None:
    """A dataclass of these values. If they are wrong: None, and each problem goes to `problems`, with its place."""
    made: _Made | None = _Reader(problems, place).value(kind, values, ())
    return made


def keys_of(kind: type) -> dict[str, Any]:
    """The fields of a dataclass that users can write, with their types."""
    types = get_type_hints(kind, include_extras=True)
    return {field.name: types[field.name] for field in fields(kind) if field.metadata.get("written", True)}


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns values into what types want, gathering the problems of all of them."""

    problems: list[Diagnostic]
    place: Placer

    def value(self, kind: Any, value: Any, location: Location) -> Any:
        """A value, converted to a type; None if it is wrong. An annotation may hold functions, which expand a short form, and
        checks. We convert only a word to a choice, a text to a path, and a single value to a list."""
        plain, marks = plain_type(kind)
        before = len(self.problems)
        try:
            for mark in marks:
                value = value if hasattr(mark, "check") else mark(value)
            made = self._made(plain, value, location)
            for mark in marks:
                if hasattr(mark, "check") and len(self.problems) == before:
                    mark.check(made)
        except (ValueError, OverflowError) as error:
            words = _words(location)
            said = "not what it should be" if _may_be_secret(words, value) else f"`{_shortened(value)}`"
            message = f"`{'.'.join(words)}` is {said}"
            self.problems.append(Diagnostic("E402", message, self.place(location), notes=(str(error),)))
        return made if len(self.problems) == before else None

    def _made(self, kind: Any, value: Any, location: Location) -> Any:
        origin, within = get_origin(kind), get_args(kind)
        if origin in (tuple, frozenset):
            several = isinstance(value, Iterable) and not isinstance(value, str | Mapping)
            return origin([self.value(within[0], item, (*location, i)) for i, item in enumerate(value if several else [value])])
        if origin is dict:
            return {key: self.value(within[1], item, (*location, key)) for key, item in _table(value).items()}
        if is_dataclass(kind):
            return self._section(kind, _table(value), location)
        if issubclass(kind, StrEnum) and value is not None:
            key = ".".join(_words(location))
            return attempt(self.problems, lambda: chosen(kind, value, key), None, lambda: self.place(location))
        return _plain(kind, value)

    def _section(self, kind: Any, values: Mapping[str, Any], location: Location) -> Any:
        before, keys, words = len(self.problems), keys_of(kind), _words(location)
        made = {key: self.value(keys[key], values[key], (*location, key)) for key in keys if key in values}
        for field in fields(kind):
            if field.name not in values and field.default is MISSING and field.default_factory is MISSING:
                message = f"`{'.'.join((*words, field.name))}` is missing"
                self.problems.append(Diagnostic("E404", message, self.place((*location, field.name))))
        for key in (key for key in values if key not in keys):
            helps = (_TRUST_ELSEWHERE,) if key in ("trust", "trusted") else meant(key, list(keys))
            message = f"unknown key `{key}`" + (f" in `{'.'.join(words)}`" if words else "")
            notes = (f"known keys are {', '.join(keys)}",)
            self.problems.append(Diagnostic("E401", message, self.place((*location, key)), notes=notes, helps=helps))
        return kind(**made) if len(self.problems) == before else None


_TRUST_ELSEWHERE = (
    "a file cannot say that it is trusted: leave the key out, and trust the file when you run it, with "
    "`--trust` or `RULESCORE_TRUST=1`"
)
_PLAIN: dict[type, tuple[Any, str]] = {
    str: (str, "expected text"),
    int: (int, "expected a whole number"),
    float: (int | float, "expected a number"),
    bool: (bool, "expected true or false"),
    Path: (str | PathLike, "expected text"),
}
"""What values of a type may be given as, and the words for it."""


def _plain(kind: type, value: Any) -> Any:
    if kind is Any:
        return value
    accepted, expected = _PLAIN.get(kind, (kind, "expected a value"))
    if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(expected)
    return kind(value)


def _table(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise ValueError("expected a table")
    return value


def _words(location: Location) -> list[str]:
    return [part for part in location if isinstance(part, str)]


def _may_be_secret(words: Sequence[str], value: object) -> bool:
    """Whether a value is, or holds, what may be an address with a password."""
    return words[:1] == ["engine"] and (words[-1] in {"engine", "url"} or isinstance(value, list | dict))


def _shortened(value: object) -> str:
    # We mask passwords before we cut the text: we would not recognise an address without its end.
    text = masked(value if isinstance(value, str) else repr(value))
    return text if len(text) <= 60 else f"{text[:57]}..."


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """`text`: the file's text. `sections`: its content."""

    path: Path
    text: str
    sections: ProjectSections
    place: Placer

    @property
    def folder(self) -> Path:
        """Where its paths begin."""
        return self.path.parent


def read_project(path: Path) -> ProjectFile:
    """Reads a project file once. One error names all problems of its keys."""
    text = _decoded(path, _project_bytes(path))
    problems: list[Diagnostic] = []
    places = TomlPlaces(str(path), text)
    try:
        sections = checked(ProjectSections, _parse(path, text), problems, places.place)
    except RecursionError:
        raise InputError(Diagnostic("E403", "the project file nests its values too deeply", Place(str(path)))) from None
    if sections is None:
        raise InputError(problems)
    return ProjectFile(path, text, sections, places.place)


def _project_bytes(path: Path) -> bytes:
    try:
        if is_device(path) or is_pipe(path):
            kind = "device" if is_device(path) else "pipe"
            raise InputError(Diagnostic("E403", f"`{path}` is a {kind}, not a project file"))
        return path.read_bytes()
    except (OSError, ValueError) as error:
        message = f"the project file `{path}` cannot be read: {(getattr(error, 'strerror', None) or str(error)).lower()}"
        raise InputError(Diagnostic("E403", message, helps=_project_files_near(path))) from None


def _project_files_near(path: Path) -> tuple[str, ...]:
    """A project file that may be meant: in the folder that is named, or with a name like the one that is missing."""
    if path.is_dir():
        inside = path / "rulescore.toml"
        return (f"did you mean `{inside}`?",) if inside.exists() else ()
    beside = path.parent.glob("*.toml") if path.parent.is_dir() else ()
    return meant(str(path), sorted(map(str, beside)))


def _helps(path: Path, reason: str) -> tuple[str, ...]:
    if path.suffix != ".toml":
        return (_NO_PROJECT,)
    return ("a text stands in quotes",) if reason == "Invalid value" else ()


_NO_PROJECT = (
    "only a project file is named without an option: give facts with `--facts`, a table with `--table`, rules with `--rules`"
)


def _decoded(path: Path, raw: bytes) -> str:
    try:
        # We read like Python's text files: every kind of line end becomes `\n`.
        return raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        helps = ("save the file as UTF-8",) if path.suffix == ".toml" else (_NO_PROJECT,)
        raise InputError(Diagnostic("E403", "the project file is not UTF-8", Place(str(path)), helps=helps)) from None


# Each dot of a key makes a table within a table, and the parser remembers all these tables.
_DEEP_KEY = re.compile(r"(?<![\w\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){51}")


def _parse(path: Path, text: str) -> dict[str, object]:
    import tomllib  # without a project file there is nothing to parse

    if (deep := _DEEP_KEY.search(text)) is not None:
        place = Place(str(path), text.count("\n", 0, deep.start()) + 1)
        raise InputError(Diagnostic("E403", "a key has more than 50 dots", place))
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason, _, where = str(error).partition(" (at ")
        match = re.match(r"line (\d+), column (\d+)", where)
        lines = text.rstrip().split("\n")
        # An error without a line is at the end of the document.
        line, column = (int(match[1]), int(match[2])) if match else (len(lines), len(lines[-1]))
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
        raise InputError(
            Diagnostic("E403", "the project file is not TOML", place, notes=notes, helps=_helps(path, reason))
        ) from None


def _repeated(lines: list[str]) -> tuple[str, int] | None:
    """The key or section of the last line, and the earlier line, of the same section or of the file, that also has it."""
    *others, last = (line.partition("#")[0].strip() for line in lines)
    section = last.startswith("[")
    what = last if section else last.partition("=")[0].strip()
    for number in range(len(others), 0, -1):
        line = others[number - 1]
        if what and (line == what if section else line.partition("=")[0].strip() == what):
            return what, number
        if line.startswith("[") and not section:
            return None
    return None


# The last line of a statement of several lines: it ends a list, a table or a text, and a comment may follow.
_ENDS = re.compile(r"[]}\"'][ \t]*(?:#.*)?\Z")


class TomlPlaces:
    """The places of the keys of a TOML text. The standard parser does not tell them. We go through the statements only if there is
    something to report."""

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
        """The end of the statement that begins at a line, and its content: we add lines until it is complete."""
        import tomllib

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
            if match := pattern.search(self._lines[number]):
                return number + 1, match.start() + 1, len(key)
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
