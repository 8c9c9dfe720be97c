"""A temporary folder for data that do not fit into memory. A later run removes the folder that a killed run has left."""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import tempfile
import time
import weakref
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_PREFIX = "rulescore-spill-"
_NAME = re.compile(rf"{_PREFIX}[a-z0-9_]{{8}}")  # the letters are those of mkdtemp
_MARK = "made-by-rulescore"
"""A file that marks a folder as ours: a folder of the user's may have such a name."""
_LEFT_AFTER = 24 * 60 * 60


class SpillFolder:
    """The folder of this run alone. It is locked as long as the run lives, so that other runs see that it is in use."""

    def __init__(self) -> None:
        remove_abandoned()
        self.name = tempfile.mkdtemp(prefix=_PREFIX)
        self._remove = weakref.finalize(self, _remove, self.name, os.getpid())
        (Path(self.name) / _MARK).touch()
        self._handle = None if sys.platform == "win32" else os.open(self.name, os.O_RDONLY)
        if self._handle is not None:
            _lock(self._handle)

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        self._remove()


def _remove(folder: str, process: int) -> None:
    """Removes the folder of this process. A forked one also comes here at its end, and leaves the folder to its parent."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned() -> None:
    """Removes folders of ours that are older than a day and that no process has locked."""
    if sys.platform == "win32":
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if _NAME.fullmatch(folder.name) is None:
            continue
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue  # gone, or not ours to remove
        try:
            if _is_old_and_ours(handle) and _lock(handle):
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(handle)


def _is_old_and_ours(handle: int) -> bool:
    found = os.fstat(handle)
    if found.st_uid != os.getuid() or time.time() - found.st_mtime < _LEFT_AFTER:
        return False
    try:
        return stat.S_ISREG(os.stat(_MARK, dir_fd=handle, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def _lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
