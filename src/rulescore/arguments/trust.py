"""Trust in project files, which are programs: what they may do only if trusted.

Whoever runs a file gives trust where the author of the file cannot write it: as the caller, or in the environment.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from rulescore.arguments.checking import Location
from rulescore.arguments.deeds import Deed
from rulescore.arguments.project_file import ProjectFile
from rulescore.characters import visible
from rulescore.errors import Diagnostic, InputError, Place, masked, masked_address

VARIABLE = "RULESCORE_TRUST"
"""The environment variable: if it is 1, every project file is trusted."""


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing that a project file asks for."""

    deed: Deed
    words: str
    place: Place | None

    @property
    def line(self) -> str:
        """Where it stands, for the beginning of a line."""
        return "" if self.place is None or self.place.line is None else f"line {self.place.line}: "


def refuse_untrusted(file: ProjectFile, does: Collection[Deed]) -> None:
    """Raises an error that lists every wish of an untrusted file that is among the deeds to be done."""
    wanted = [wish for wish in wishes(file) if wish.deed in does]
    if not wanted or os.environ.get(VARIABLE) == "1":
        return
    helps = (
        f"read it and the files it names; if you trust them: `--trust`, or `{VARIABLE}=1` in the environment; in Python, "
        "`trusted=True`",
    )
    notes = tuple(f"{wish.line}it {wish.words}" for wish in wanted)
    message = "the project file is not trusted, but asks for something that only a trusted one may do"
    raise InputError(Diagnostic("E411", message, Place(str(file.path)), notes=notes, helps=helps))


def wishes(file: ProjectFile) -> list[Wish]:
    """Everything a project file asks for that needs trust, in the order of its lines."""
    return sorted(_wishes(file), key=lambda wish: wish.place.line or 0 if wish.place is not None else 0)


def _wishes(file: ProjectFile) -> Iterator[Wish]:
    sections, place = file.sections, file.place
    for name, function in sections.functions.items():
        words = f"imports a module and calls {_quoted(function.call)}, for the predicate {_quoted(name)}"
        yield Wish(Deed.CODE, words, place(("functions", name)))
    for number, rule in enumerate(sections.sql_rules):
        yield Wish(Deed.SQL, f"runs the SQL of the rule {_quoted(rule.name)}", place(("sql_rules", number, "name")))
    if sections.engine.url != "duckdb":
        yield Wish(Deed.ENGINE, f"works on the server {_quoted(masked_address(sections.engine.url))}", place(("engine", "url")))
    yield from _databases(file)
    yield from _writing(file)


def _databases(file: ProjectFile) -> Iterator[Wish]:
    for name, table in file.sections.tables.items():
        named: list[tuple[Location, str | None]] = [(("tables", name, "database"), table.database)]
        if table.hidden is not None:
            named.append((("tables", name, "hidden", "database"), table.hidden.database))
        for location, database in named:
            if database is not None:
                yield Wish(Deed.DATABASE, f"opens the database file {_quoted(database)}", file.place(location))


def _writing(file: ProjectFile) -> Iterator[Wish]:
    engine, output = file.sections.engine, file.sections.output
    folders: tuple[tuple[Deed, str, str | Path | None, Location], ...] = (
        (Deed.SPILL, "puts what does not fit into memory into", engine.spill_folder, ("engine", "spill_folder")),
        (Deed.OUTPUT, "writes results into", output.folder, ("output", "folder")),
        (Deed.PLOTS, "writes figures into", output.plots, ("output", "plots")),
    )
    for deed, does, path, location in folders:
        if path is not None and _is_outside(file.folder, path):
            target = _followed(file.folder, path)
            leads = "" if Path(path) == target else f": {_quoted(str(target))}"
            yield Wish(deed, f"{does} {_quoted(str(path))}, outside its own folder{leads}", file.place(location))


def _quoted(text: str) -> str:
    return f"`{visible(masked(text))}`"


def folder_to_write(folder: Path, path: str | Path) -> Path:
    """A folder that a project file writes to. If it is outside, we follow links now, when we check trust: they may lead elsewhere
    later."""
    return _followed(folder, path) if _is_outside(folder, path) else folder / path


def _followed(folder: Path, path: str | Path) -> Path:
    """Where a path leads, links followed; the path itself, if they lead nowhere."""
    try:
        return (folder / path).resolve()
    except (OSError, RuntimeError, ValueError):
        return folder / path


def _is_outside(folder: Path, path: str | Path) -> bool:
    """Whether a path leads out of a folder once links are followed."""
    return not _followed(folder, path).is_relative_to(folder.resolve())
