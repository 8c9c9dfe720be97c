"""Where a data set lies on this machine: in the user's own folder, in the cache, or in an installed PyKEEN."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

from rulescore.datasets.catalogue import DATA_SETS, DataSet, Download, File
from rulescore.datasets.download import Listener, digest, download, writing
from rulescore.errors import Diagnostic, InputError, meant, ticked
from rulescore.waiting import alone_in

VARIABLE = "RULESCORE_DATA"
"""The environment variable that names a folder with data sets. If it is set, we download nothing."""


class Origin(StrEnum):
    FOLDER = "RULESCORE_DATA"
    CACHE = "cache"
    PACKAGE = "pykeen"


@dataclass(frozen=True, slots=True)
class DataSetPlace:
    origin: Origin
    folder: Path


def data_set(name: str) -> DataSet:
    if name not in DATA_SETS:
        helps = meant(name, DATA_SETS)
        notes = (f"there are {ticked(DATA_SETS)}",)
        raise InputError(Diagnostic("E751", f"there is no data set `{name}`", notes=notes, helps=helps))
    return DATA_SETS[name]


def find(wanted: DataSet) -> DataSetPlace | None:
    """The first place that has all files of a data set, plain or, in the user's own folder, compressed."""
    base = own_folder()
    if base is not None and not _missing(base / wanted.name, wanted):
        return DataSetPlace(Origin.FOLDER, base / wanted.name)
    for origin, folder in ((Origin.CACHE, cached(wanted)), (Origin.PACKAGE, _packaged(wanted))):
        if folder is not None and all(_has_size(folder / file.name, file.size) for file in wanted.files):
            return DataSetPlace(origin, folder)
    return None


def not_here(wanted: DataSet) -> Diagnostic:
    """The problem for a data set that is nowhere."""
    base, notes = own_folder(), [f"it would be cached in `{cached(wanted)}`"] if wanted.downloads else []
    if base is not None:
        missing = _missing(base / wanted.name, wanted)
        notes = [f"{VARIABLE} is set, but `{base / wanted.name}` has no {' and no '.join(f'`{name}`' for name in missing)}", *notes]
    return Diagnostic("E752", f"data set `{wanted.name}` is not on this machine", notes=tuple(notes), helps=(how_to_get(wanted),))


def how_to_get(wanted: DataSet) -> str:
    if not wanted.downloads:
        files = " and ".join(f"`{file.name}`" for file in wanted.files)
        where = f"a folder `{wanted.name}` in the folder that {VARIABLE} names"
        return f"it cannot be fetched: put {files} into {where}; it was made from the data at {wanted.page}"
    unset = f"unset {VARIABLE}, then " if own_folder() is not None else ""
    return f"{unset}`rulescore datasets fetch {wanted.name}`"


def file_in(folder: Path, name: str) -> Path | None:
    """A file of a folder, or the same compressed."""
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def own_folder() -> Path | None:
    """The folder that the user's environment names."""
    named = os.environ.get(VARIABLE)
    if not named:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        helps = (f"correct {VARIABLE}, or unset it",)
        raise InputError(Diagnostic("E302", f"{VARIABLE} is `{named}`, but there is no such folder", helps=helps))
    return folder


def cached(wanted: DataSet) -> Path:
    """The folder of the cache in which a data set lies or would lie."""
    return _cache() / "rulescore" / "datasets" / wanted.name


def _cache() -> Path:
    chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if chosen.is_absolute():
        return chosen
    try:
        home = Path.home()
    except RuntimeError as error:
        helps = ("set XDG_CACHE_HOME to a folder",)
        raise InputError(Diagnostic("E302", "there is no home folder for the cache", helps=helps)) from error
    if sys.platform == "darwin":
        return home / "Library" / "Caches"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
    return home / ".cache"


def _packaged(wanted: DataSet) -> Path | None:
    """The folder of an installed PyKEEN. We do not import it."""
    if wanted.package is None:
        return None
    package = find_spec("pykeen")
    if package is None or not package.submodule_search_locations:
        return None
    return Path(package.submodule_search_locations[0]).joinpath(*wanted.package)


def _missing(folder: Path, wanted: DataSet) -> list[str]:
    return [file.name for file in wanted.files if file_in(folder, file.name) is None]


def _has_size(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size


# Downloads data sets into the cache.


def fetched(wanted: DataSet, listener: Listener | None = None) -> DataSetPlace:
    """The place of a data set. We download it if it is not on this machine, or damaged in the cache."""
    place = find(wanted)
    if place is not None and (place.origin is not Origin.CACHE or own_folder() is not None):
        return place
    if not wanted.downloads:
        raise InputError(Diagnostic("E752", f"data set `{wanted.name}` cannot be fetched", helps=(how_to_get(wanted),)))
    if own_folder() is not None:
        raise InputError(not_here(wanted))
    folder = cached(wanted)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with alone_in(folder) as alone:
        if not alone:
            raise InputError(Diagnostic("E756", f"another process is fetching `{wanted.name}`", helps=("wait until it is done",)))
        for archived in wanted.downloads:
            if not all(_is_whole(folder / file.name, file) for file in archived.files):
                _fetch(archived, folder, listener)
    return DataSetPlace(Origin.CACHE, folder)


def _is_whole(path: Path, file: File) -> bool:
    return path.is_file() and path.stat().st_size == file.size and digest(path) == file.sha256


def _fetch(archived: Download, folder: Path, listener: Listener | None) -> None:
    target = folder / archived.file.name
    download(archived.url, archived.file, target, listener)
    if archived.members:
        with writing(folder):
            _unpack(archived, target, folder)
            target.unlink()


def _unpack(archived: Download, archive: Path, folder: Path) -> None:
    """Extracts the members. We need not check them: the archive has the right digest."""
    with ZipFile(archive) as content:
        for member, file in archived.members:
            unpacked = folder / f"{file.name}.part"
            unpacked.write_bytes(content.read(member))
            unpacked.replace(folder / file.name)
