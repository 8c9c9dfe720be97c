"""A temporary folder for what does not fit into memory. One that a killed run has left is removed by a later run."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_PREFIX = "rulescore-"
_LEFT_AFTER = 24 * 60 * 60


class SpillFolder:
    """A folder of this run alone, locked as long as the run lives: that is how others tell that it is in use."""

    def __init__(self) -> None:
        remove_abandoned()
        self._folder = tempfile.TemporaryDirectory(prefix=_PREFIX)
        self._handle = None if sys.platform == "win32" else os.open(self._folder.name, os.O_RDONLY)
        if self._handle is not None:
            _lock(self._handle)

    @property
    def name(self) -> str:
        return self._folder.name

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        self._folder.cleanup()


def remove_abandoned() -> None:
    """Removes folders of this user that are older than a day and that no process has locked."""
    if sys.platform == "win32":
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            found = folder.lstat()
            if found.st_uid != os.getuid() or time.time() - found.st_mtime < _LEFT_AFTER:
                continue
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue  # gone, or not ours to remove
        try:
            if _lock(handle):
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(handle)


def _lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
