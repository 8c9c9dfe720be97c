"""A project file as it is on disk: its text, its sections, and where its keys stand. Nothing it names is opened."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from rulescore.arguments.checking import Placer, checked
from rulescore.arguments.sections import ProjectSections
from rulescore.arguments.toml_places import TomlPlaces
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
