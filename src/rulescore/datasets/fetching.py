"""Downloads data sets into the cache."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

from rulescore.datasets.catalogue import DataSet, Download, File
from rulescore.datasets.download import Listener, digest, download, writing
from rulescore.datasets.places import DataSetPlace, Origin, cached, find, how_to_get, not_here, own_folder
from rulescore.errors import Diagnostic, InputError
from rulescore.locks import alone_in


def fetched(wanted: DataSet, told: Listener | None = None) -> DataSetPlace:
    """The place of a data set. We download it if it is not on this machine, or damaged in the cache."""
    place = find(wanted)
    if place is not None and (place.origin is not Origin.CACHE or own_folder() is not None):
        return place
    if not wanted.downloads:
        raise InputError(Diagnostic("E753", f"data set `{wanted.name}` cannot be fetched", helps=(how_to_get(wanted),)))
    if own_folder() is not None:
        raise InputError(not_here(wanted))
    folder = cached(wanted)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with alone_in(folder) as alone:
        if not alone:
            raise InputError(Diagnostic("E762", f"another process is fetching `{wanted.name}`", helps=("wait until it is done",)))
        for one in wanted.downloads:
            if not all(_is_whole(folder / file.name, file) for file in one.files):
                _fetch(one, folder, told)
    return DataSetPlace(Origin.CACHE, folder)


def _is_whole(path: Path, file: File) -> bool:
    return path.is_file() and path.stat().st_size == file.size and digest(path) == file.sha256


def _fetch(one: Download, folder: Path, told: Listener | None) -> None:
    target = folder / one.file.name
    download(one.url, one.file, target, told)
    if one.members:
        with writing(folder):
            _unpack(one, target, folder)
            target.unlink()


def _unpack(one: Download, archive: Path, folder: Path) -> None:
    """Extracts the members. We need not check them: the archive has the right digest."""
    with ZipFile(archive) as content:
        for member, file in one.members:
            unpacked = folder / f"{file.name}.part"
            unpacked.write_bytes(content.read(member))
            unpacked.replace(folder / file.name)
