"""Help for long work: a time limit for planning, reports of progress, a line in a notebook, a folder for one process at a time."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rulescore.errors import Diagnostic, EngineError
from rulescore.errors.texts import visible

ENGINE_THREAD = "rulescore-engine"
"""The name of the threads in which databases work. One that lives when a command is over did not hear that it shall stop."""

_end: ContextVar[tuple[float, float] | None] = ContextVar("end", default=None)


@contextmanager
def planning_within(seconds: float | None) -> Iterator[None]:
    """Context manager: this thread may use so many seconds of processor time inside it. Waiting for a statement uses no processor
    time, and statements have a limit of their own."""
    token = _end.set(None if seconds is None else (time.thread_time() + seconds, seconds))
    try:
        yield
    finally:
        _end.reset(token)


def look_at_the_clock() -> None:
    """Raises EngineError if planning has taken too long."""
    end = _end.get()
    if end is not None and time.thread_time() > end[0]:
        raise EngineError(f"planning was stopped after {end[1]:g} seconds, the `timeout` of the engine")


@dataclass(frozen=True, slots=True)
class Told:
    """What we are about to do: `reading facts.csv`, `counting …`. `done` of `of` steps are finished; 0 of 0 if we do not know.
    `groundings`: about how many the rules of this step have; None if we did not estimate them."""

    what: str
    done: int = 0
    of: int = 0
    groundings: int | None = None

    def __str__(self) -> str:
        step = f", {self.done + 1:,} of {self.of:,}" if self.of else ""
        return f"{self.what}{step}" + ("" if self.groundings is None else f", about {self.groundings:,} groundings")


Listener = Callable[[Told], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def is_heard() -> bool:
    """Whether anybody listens."""
    return _listener.get() is not None


def tell(what: str, done: int = 0, of: int = 0, groundings: int | None = None) -> None:
    listener = _listener.get()
    if listener is not None:
        listener(Told(what, done, of, groundings))


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Context manager: the listener hears of every step of this thread inside it."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


_NOTEBOOK_PATIENCE = 1.0
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

    def say(self, message: Told) -> None:
        now = time.monotonic()
        if now - self._begun >= _NOTEBOOK_PATIENCE and now - self._changed >= _PACE:
            self._show(visible(str(message))[:_LONGEST] + " …")
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


Alarm = Callable[[Diagnostic], None]
_alarm: ContextVar[Alarm | None] = ContextVar("alarm", default=None)


def warn_now(problem: Diagnostic) -> None:
    """Warn before the work begins."""
    alarm = _alarm.get()
    if alarm is not None:
        alarm(problem)


@contextmanager
def warning(alarm: Alarm) -> Iterator[None]:
    """Context manager: the alarm gets every `warn_now` of this thread inside it, at once."""
    token = _alarm.set(alarm)
    try:
        yield
    finally:
        _alarm.reset(token)


if sys.platform != "win32":
    import fcntl

PATIENCE = 30.0
"""Seconds. Nobody of ours needs that long, but whoever may read a folder may lock it for as long as they like."""


@contextmanager
def alone_in(folder: Path) -> Iterator[bool]:
    """Waits for our other processes that work in a folder, but not for ever. Returns whether they are done."""
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
