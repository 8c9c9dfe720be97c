"""Public data sets: lists them, finds them on this machine, and downloads them.

from rulescore import datasets

train = datasets.file("family", "train.txt")
"""

from __future__ import annotations

from pathlib import Path

from rulescore.datasets.catalogue import DATA_SETS
from rulescore.datasets.download import Listener
from rulescore.datasets.places import VARIABLE, data_set, fetched, file_in, find, not_here, own_folder
from rulescore.errors import Diagnostic, InputError, ticked

__all__ = ["fetch", "file", "names", "path", "predictions_folder"]


def names() -> tuple[str, ...]:
    """The names of all data sets, in the order of the catalogue."""
    return tuple(DATA_SETS)


def path(name: str) -> Path:
    """The folder of a data set on this machine. Downloads nothing.

    Args:
        name: the name of the data set, such as `family`.

    Returns:
        The folder. If RULESCORE_DATA is set, we look there first, and the files may be compressed: `file` finds them either way.

    Raises:
        InputError: there is no such data set, or it is not on this machine.
    """
    wanted = data_set(name)
    place = find(wanted)
    if place is None:
        raise InputError(not_here(wanted))
    return place.folder


def fetch(name: str, progress: Listener | None = None) -> Path:
    """The folder of a data set. If it is not complete on this machine, we download it from its makers into the cache.

    Args:
        name: the name of the data set, such as `family`.
        progress: called for each piece that arrives, with the name of the file, the bytes that are here, and the bytes in all.

    Returns:
        The folder, which has all files of the data set.

    Raises:
        InputError: there is no such data set, nobody offers it for download, or the download fails.
    """
    return fetched(data_set(name), progress).folder


def file(name: str, file_name: str) -> Path:
    """A file of a data set on this machine. Downloads nothing.

    Args:
        name: the name of the data set, such as `family`.
        file_name: the name of the file, such as `train.txt`.

    Returns:
        The path of the file, which ends in `.gz` if it lies there compressed.

    Raises:
        InputError: there is no such data set or file, or it is not on this machine.
    """
    wanted, folder = data_set(name), path(name)
    if file_name not in [known.name for known in wanted.files]:
        notes = (f"it has {ticked(known.name for known in wanted.files)}",)
        raise InputError(Diagnostic("E751", f"data set `{name}` has no file `{file_name}`", notes=notes))
    located = file_in(folder, file_name)
    assert located is not None, "find has seen it"
    return located


def predictions_folder() -> Path:
    """The folder `predictions` in the folder of RULESCORE_DATA. It has predictions of models, which nobody offers for download.

    Returns:
        The folder.

    Raises:
        InputError: RULESCORE_DATA is not set, or its folder has no folder `predictions`.
    """
    folder = own_folder()
    if folder is None or not (folder / "predictions").is_dir():
        what = f"{VARIABLE} is not set" if folder is None else f"`{folder}` has no folder `predictions`"
        helps = (f"set {VARIABLE} to a folder that has the data sets and a folder `predictions`; predictions cannot be fetched",)
        raise InputError(Diagnostic("E752", f"there are no predictions here: {what}", helps=helps))
    return folder / "predictions"
