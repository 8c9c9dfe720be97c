"""Memory and disk: amounts, the memory of this process, the engine's share of it, and a temporary folder for data that do not
fit."""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import tempfile
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from re import fullmatch

MEBIBYTE = 1 << 20
_UNITS = {"": 1, **{letter: 1000**power for power, letter in enumerate("KMGT", 1)}}
_BINARY_UNITS = {f"{letter}I": 1024**power for power, letter in enumerate("KMGT", 1)}

# The engine's share is at least `_LEAST`, which is enough for some thousand facts. Loading facts takes `_LOADING` outside the
# engine. If the share would change by less than `_NOTABLE`, we leave it unchanged.
_LEAST = 32 * MEBIBYTE
_LOADING = 80 * MEBIBYTE
_NOTABLE = 4 * MEBIBYTE

# A tenth of the limit stays free: for memory that the engine has freed but not returned when a statement ends, and for its result.
_FREE = 10

# The memory that a run with few rules takes outside the engine. We use it on systems that do not report memory.
_USUAL = 200 * MEBIBYTE

_STATM = Path("/proc/self/statm")


def amount(text: str) -> int | None:
    """An amount such as `2GB` or `500MiB`, in bytes; None for any other text."""
    match = fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]I?|)B?", text.strip().upper())
    return None if match is None else int(float(match[1]) * (_UNITS | _BINARY_UNITS)[match[2]])


def resident() -> int | None:
    """The bytes of memory that this process takes now, its libraries included; None if the system does not tell."""
    try:
        return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None


class Share:
    """The memory that an engine inside this process may take: the limit of the process less what Python, libraries, rules and the
    rows that we read take. These take more and more, so the engine fits its share again before every statement."""

    def __init__(self, limit: int, used: Callable[[], int], take: Callable[[int], None]) -> None:
        """`used` returns the memory that the engine takes now. `take` gives it another share, and makes it return memory that it
        has freed."""
        self._limit, self._used, self._take = limit, used, take
        self._beside = 0
        self.bytes = limit

    @property
    def least_limit(self) -> int:
        """The least limit with which a run can begin."""
        return self._measured() + _LOADING + _LEAST

    def fit(self) -> None:
        if abs(self._measured() - self._beside) < _NOTABLE:
            return
        # Memory that the engine has freed but not yet returned is still the engine's.
        self._take(self.bytes)
        self._beside = self._measured()
        self.bytes = max(self._limit - self._limit // _FREE - self._beside, _LEAST)
        self._take(self.bytes)

    def _measured(self) -> int:
        """The memory that the process takes without the engine."""
        high = resident()
        return _USUAL if high is None else high - self._used()


if sys.platform != "win32":
    import fcntl

_PREFIX = "rulescore-spill-"
_NAME = re.compile(rf"{_PREFIX}[a-z0-9_]{{8}}")  # the letters that mkdtemp draws
_MARK = "made-by-rulescore"
"""A file that marks a folder as ours: a folder of the user's may have such a name."""
_LEFT_AFTER = 24 * 60 * 60


class SpillFolder:
    """The folder of this run alone. It is locked as long as the run lives, so other runs see that it is in use."""

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
            continue  # somebody else has removed it, or we lack the permission
        try:
            if _is_old_and_ours(handle) and _lock(handle):
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(handle)


def _is_old_and_ours(handle: int) -> bool:
    status = os.fstat(handle)
    if status.st_uid != os.getuid() or time.time() - status.st_mtime < _LEFT_AFTER:
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
