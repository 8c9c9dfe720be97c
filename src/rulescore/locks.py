"""A folder for one process at a time, while it reads what is there and writes it anew."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl

PATIENCE = 30.0
"""Seconds. Nobody of ours needs that long, but whoever may read a folder may lock it for as long as they like."""


@contextmanager
def alone_in(folder: Path) -> Iterator[bool]:
    """Waits for others of ours that are at work in a folder, but not for ever; tells whether they are done."""
    if sys.platform == "win32":
        yield True
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        end = time.monotonic() + PATIENCE
        while (locked := _is_locked_by_others(handle)) and time.monotonic() < end:
            time.sleep(0.01)
        yield not locked
    finally:
        os.close(handle)


def _is_locked_by_others(handle: int) -> bool:
    """If it is not, it is ours from now on."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # some file systems have no locks
        return False
    return False
