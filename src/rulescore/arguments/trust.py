"""Trust in project files, which are programs: what they may do only if trusted, and the memory of the files that are trusted.

Whoever runs a file gives trust where the author of the file cannot write it: as the caller, in the environment, or in a file of the
user's own that holds the digests of trusted project files.
"""

from __future__ import annotations

import json
import os
import shlex
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from rulescore.arguments.checking import Location
from rulescore.arguments.deeds import Deed
from rulescore.arguments.modules import module_files
from rulescore.arguments.project_file import ProjectFile, read_project
from rulescore.arguments.sections import ProjectSections
from rulescore.characters import visible
from rulescore.errors import Diagnostic, InputError, Place, masked, masked_address
from rulescore.locks import alone_in

VARIABLE = "RULESCORE_TRUST"
"""The environment variable: if it is 1, every project file is trusted."""

_CHANGED = "it was trusted, but it has changed since, or a module that it names has, or a folder that it writes to leads elsewhere"


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing that a project file asks for. `details`: what exactly, line by line."""

    deed: Deed
    words: str
    place: Place | None
    details: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """Where it stands, for the beginning of a line."""
        return "" if self.place is None or self.place.line is None else f"line {self.place.line}: "


def wishes(file: ProjectFile) -> list[Wish]:
    """Everything a project file asks for that needs trust, in the order of its lines."""
    return sorted(_wishes(file), key=lambda wish: wish.place.line or 0 if wish.place is not None else 0)


def _wishes(file: ProjectFile) -> Iterator[Wish]:
    sections, folder, place = file.sections, file.folder, file.place
    for name, function in sections.functions.items():
        words = f"imports a module and calls {_quoted(function.call)}, for the predicate {_quoted(name)}"
        found = [path.relative_to(folder.resolve()) for path in module_files(_module(function.call), folder.resolve())]
        details = tuple(f"from {visible(str(path))}" for path in found) or ("from where modules are installed",)
        yield Wish(Deed.CODE, words, place(("functions", name)), details)
    for number, rule in enumerate(sections.sql_rules):
        # We mask nothing, not even passwords: what looks like one could be what the statement does.
        lines = tuple(map(visible, rule.statement.strip().splitlines()))
        yield Wish(Deed.SQL, f"runs the SQL of the rule {_quoted(rule.name)}", place(("sql_rules", number, "name")), lines)
    if sections.engine.url != "duckdb":
        yield Wish(Deed.ENGINE, f"works on the server {_quoted(masked_address(sections.engine.url))}", place(("engine", "url")))
    yield from _databases(sections, file)
    spill, output = sections.engine.spill_folder, sections.output.folder
    if spill is not None and _is_outside(folder, spill):
        words = f"puts what does not fit into memory into {_quoted(str(spill))}, outside its own folder"
        yield Wish(Deed.SPILL, words, place(("engine", "spill_folder")), _target(folder, spill))
    if output is not None and _is_outside(folder, output):
        words = f"writes results into {_quoted(output)}, outside its own folder"
        yield Wish(Deed.OUTPUT, words, place(("output", "folder")), _target(folder, output))
    plots = sections.output.plots
    if plots is not None and _is_outside(folder, plots):
        words = f"writes figures into {_quoted(plots)}, outside its own folder"
        yield Wish(Deed.PLOTS, words, place(("output", "plots")), _target(folder, plots))


def _databases(sections: ProjectSections, file: ProjectFile) -> Iterator[Wish]:
    for name, table in sections.tables.items():
        named: list[tuple[Location, str | None]] = [(("tables", name, "database"), table.database)]
        if table.hidden is not None:
            named.append((("tables", name, "hidden", "database"), table.hidden.database))
        for location, database in named:
            if database is not None:
                yield Wish(Deed.DATABASE, f"opens the database file {_quoted(database)}", file.place(location))


def refuse_untrusted(file: ProjectFile, does: Collection[Deed]) -> None:
    """Raises an error that lists every wish of an untrusted file that is among the deeds to be done."""
    wanted = [wish for wish in wishes(file) if wish.deed in does]
    if not wanted or os.environ.get(VARIABLE) == "1":
        return
    known = remembered().get(_key(file.path))
    if known == digest(file):
        return
    changed = () if known is None else (_CHANGED,)
    helps = (
        f"read it and the files it names; `rulescore trust {visible(shlex.quote(str(file.path)))}` shows what it asks for and "
        "remembers that you trust it as it is",
        f"for one run: `--trust`, or `{VARIABLE}=1` in the environment; in Python, `trusted=True`",
    )
    notes = (*changed, *(f"{wish.line}it {wish.words}" for wish in wanted))
    message = "the project file is not trusted, but asks for something that only a trusted one may do"
    raise InputError(Diagnostic("E411", message, Place(str(file.path)), notes=notes, helps=helps))


def digest(file: ProjectFile) -> str:
    """The digest of the place and the bytes of a project file, of the modules it names that lie in its folder, and of the folders
    outside it that it writes to, links followed: whoever changes a link changes what the file asks for."""
    names = sorted({_module(function.call) for function in file.sections.functions.values()})
    modules = [path for name in names for path in module_files(name, file.folder.resolve())]
    parts = [_key(file.path).encode(errors="surrogateescape"), file.raw]
    for path in modules:
        parts += [os.fsencode(path), _bytes(path)]
    for written in (file.sections.engine.spill_folder, file.sections.output.folder, file.sections.output.plots):
        if written is not None and _is_outside(file.folder, written):
            parts.append(os.fsencode(_followed(file.folder, written)))
    found = sha256()
    for part in parts:
        found.update(len(part).to_bytes(8) + part)
    return found.hexdigest()


def _bytes(module: Path) -> bytes:
    try:
        return module.read_bytes()
    except OSError as error:
        message = f"a module that the project file names cannot be read: `{visible(str(module))}`"
        raise InputError(Diagnostic("E412", message, notes=((error.strerror or str(error)).lower(),))) from error


def remembered() -> dict[str, str]:
    """The digests of trusted files, by their paths."""
    path = _memory()
    if path is None or not path.exists():
        return {}
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(_no_memory(path, error)) from error
    if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
        raise InputError(_no_memory(path, "it is not what this program writes there"))
    return found


def remember(file: ProjectFile, seen: str) -> None:
    """`seen`: the digest of the file that the user looked at."""
    with _changed() as known:
        known[_key(file.path)] = seen


def forget(path: Path) -> bool:
    """Forget a file, which need not exist any more. Whether it was trusted."""
    if _key(path) not in remembered():
        return False
    with _changed() as known:
        known.pop(_key(path), None)
    return True


def is_remembered(path: Path, known: str) -> bool:
    """Whether a file is there and is what it was when it was trusted."""
    try:
        return digest(read_project(path)) == known
    except InputError:
        return False


def shown_path(path: Path) -> str:
    """A path for people, masked: the user may have given an address instead."""
    return visible(masked(str(path)))


def _quoted(text: str) -> str:
    return f"`{visible(masked(text))}`"


def _key(path: Path) -> str:
    """A project file by its folder, links followed: a link to a trusted file in another folder names other modules and data."""
    return str(path.parent.resolve() / path.name)


def _module(call: str) -> str:
    return call.partition(":")[0]


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


def _target(folder: Path, path: str | Path) -> tuple[str]:
    return (f"which is {visible(str(_followed(folder, path)))}",)


def _memory() -> Path | None:
    """The file that holds digests; None if the user has no home folder."""
    given = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    try:
        folder = given if given.is_absolute() else Path.home() / ".config"
    except RuntimeError:
        return None
    return folder / "rulescore" / "trusted.json"


@contextmanager
def _changed() -> Iterator[dict[str, str]]:
    """Context manager: the digests, for the caller to change. A lock keeps what another process remembers meanwhile."""
    path = _memory()
    if path is None:
        raise InputError(_no_memory(path, "there is no home folder"))
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with alone_in(path.parent) as alone:
            for left in path.parent.glob(".trusted.*.partial") if alone else ():
                left.unlink()
            known = remembered()
            yield known
            _write(path, known)
    except OSError as error:
        raise InputError(_no_memory(path, error)) from error


def _write(path: Path, known: dict[str, str]) -> None:
    # mkstemp makes files that only their owner may read and write.
    handle, temporary = tempfile.mkstemp(prefix=".trusted.", suffix=".partial", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(dict(sorted(known.items())), file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink()
        raise


def _no_memory(path: Path | None, reason: object) -> Diagnostic:
    where = "" if path is None else f" in `{path}`"
    helps = (f"trust it for one run: `--trust`, or `{VARIABLE}=1` in the environment",)
    reason = (reason.strerror or str(reason)).lower() if isinstance(reason, OSError) else str(reason)
    return Diagnostic("E412", f"trusted project files cannot be remembered{where}", notes=(reason,), helps=helps)
