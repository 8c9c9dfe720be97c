"""The progress of long work, as a line of a notebook's cell."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rulescore.characters import visible
from rulescore.progress import Told, listening

_PATIENCE = 1.0
"""Seconds after which the line appears."""
_PACE = 0.2
"""Seconds between two changes of it."""
_LONGEST = 120


@contextmanager
def shown_in_notebook() -> Iterator[None]:
    """Context manager: shows progress, if this runs in a notebook and takes its time."""
    if not _is_notebook():
        yield
        return
    line = _NotebookLine()
    with listening(line.say):
        yield
    line.end()


def _is_notebook() -> bool:
    """Whether we run in a notebook, without importing IPython: a notebook has imported it already."""
    python = sys.modules.get("IPython")
    shell = None if python is None else python.get_ipython()
    return shell is not None and "IPKernelApp" in shell.config


class _NotebookLine:
    """A line that appears late and changes in place."""

    def __init__(self) -> None:
        self._begun = self._changed = time.monotonic()
        self._handle: Any = None

    def say(self, told: Told) -> None:
        now = time.monotonic()
        if now - self._begun >= _PATIENCE and now - self._changed >= _PACE:
            self._show(visible(str(told))[:_LONGEST] + " …")
            self._changed = now

    def end(self) -> None:
        if self._handle is not None:
            self._show(f"done in {time.monotonic() - self._begun:.1f} s")

    def _show(self, text: str) -> None:
        from IPython.display import display

        content = {"text/plain": text}
        if self._handle is None:
            self._handle = display(content, raw=True, display_id=True)  # type: ignore[no-untyped-call, unused-ignore]
        else:
            self._handle.update(content, raw=True)
