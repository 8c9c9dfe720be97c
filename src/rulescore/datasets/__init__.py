"""Public data sets: lists them, finds them on this machine, and downloads them.

from rulescore import datasets

train = datasets.file("family", "train.txt")
"""

from __future__ import annotations

from pathlib import Path

from rulescore.datasets.catalogue import DATA_SETS
from rulescore.datasets.download import Listener
from rulescore.datasets.places import VARIABLE, data_set, fetched, file_in, find, not_here, own_folder
from rulescore.errors import Diagnostic, InputError

__all__ = ["fetch", "file", "names", "path", "predictions_folder"]


def names() -> tuple[str, ...]:
    return tuple(DATA_SETS)


def path(name: str) -> Path:
    """The folder of a data set on this machine. If RULESCORE_DATA is set we look there first, and its files may be compressed:
    `file` finds them either way. Downloads nothing."""
    wanted = data_set(name)
    place = find(wanted)
    if place is None:
        raise InputError(not_here(wanted))
    return place.folder


def fetch(name: str, progress: Listener | None = None) -> Path:
    """The folder of a data set. If it is not complete on this machine, we download it from its makers into the cache. We call
    `progress` for each piece that arrives, with the name of the file, the bytes that are here, and the bytes in all."""
    return fetched(data_set(name), progress).folder


def file(name: str, file_name: str) -> Path:
    """A file of a data set, such as `train.txt`, or the same with `.gz` if it lies there compressed."""
    wanted, folder = data_set(name), path(name)
    if file_name not in [known.name for known in wanted.files]:
        notes = (f"it has {', '.join(f'`{known.name}`' for known in wanted.files)}",)
        raise InputError(Diagnostic("E751", f"data set `{name}` has no file `{file_name}`", notes=notes))
    found = file_in(folder, file_name)
    assert found is not None, "find has seen it"
    return found


def predictions_folder() -> Path:
    """The folder `predictions` beside the data sets of RULESCORE_DATA: predictions of models, which nobody offers for download."""
    own = own_folder()
    if own is None or not (own / "predictions").is_dir():
        what = f"{VARIABLE} is not set" if own is None else f"`{own}` has no folder `predictions`"
        helps = (f"set {VARIABLE} to a folder that has the data sets and a folder `predictions`; predictions cannot be fetched",)
        raise InputError(Diagnostic("E761", f"there are no predictions here: {what}", helps=helps))
    return own / "predictions"
