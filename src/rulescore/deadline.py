"""A time limit for planning: code that reads, checks or plans rules calls `look_at_the_clock` before each rule."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from rulescore.errors import EngineError

_end: ContextVar[tuple[float, float] | None] = ContextVar("end", default=None)


@contextmanager
def planning_within(seconds: float | None) -> Iterator[None]:
    """Context manager: this thread may use so many seconds of processor time inside it. Waiting for a statement uses none, and
    statements have a limit of their own."""
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
