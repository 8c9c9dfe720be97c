"""Temporary folders of tests, and the processes that tests start in them. What a run leaves that was killed, the next run ends and
removes. A file in the folder names the processes, each with its start: another process may have the same number later."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "rulescore-"
_PROCESSES = ".processes-of-tests"
_PATIENCE = 5.0

SHORT = Path("/tmp")
"""For folders with sockets, whose paths have to be short."""


@contextmanager
def own_folder(name: str, within: Path | None = None) -> Iterator[Path]:
    """A folder that is removed in the end, of this process."""
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{name}-", dir=within))
    try:
        record(folder, os.getpid())
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def record(folder: Path, process: int) -> None:
    """Notes a process that works in a folder, to be ended if the owner of the folder is killed."""
    if (start := _start(process)) is not None:
        with (folder / _PROCESSES).open("a") as file:
            file.write(f"{process} {start}\n")


def remove_abandoned(*places: Path) -> None:
    """Removes folders whose owner lives no longer, and ends the processes that they name."""
    for place in places or {SHORT, Path(tempfile.gettempdir())}:
        for folder in place.glob(f"{_PREFIX}*"):
            processes = _recorded(folder)
            if processes and not _lives(*processes[0]):
                for process in processes[1:]:
                    _end(*process)
                shutil.rmtree(folder, ignore_errors=True)


def _recorded(folder: Path) -> list[tuple[int, int]]:
    """The owner of a folder, and other processes; nothing if this user has not written it."""
    file = folder / _PROCESSES
    try:
        if folder.is_symlink() or file.lstat().st_uid != os.geteuid():
            return []
        return [(int(process), int(start)) for process, start in map(str.split, file.read_text().splitlines())]
    except (OSError, ValueError):
        return []


def _end(process: int, start: int) -> None:
    until = time.monotonic() + _PATIENCE
    number = signal.SIGINT  # on which PostgreSQL does not wait for its clients
    while _lives(process, start):
        with suppress(OSError):
            os.kill(process, number)
        if time.monotonic() > until:
            number = signal.SIGKILL
        time.sleep(0.1)


def _lives(process: int, start: int) -> bool:
    return _start(process) == start


def _start(process: int) -> int | None:
    """When a process was started, in ticks of the system; None if it has ended, or the system does not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else int(fields[19])
