"""Signs of life: long work says what it is about to do, and whoever listens may show it.

with rulescore.progress.listening(lambda told: print(told.what, told.done, told.of)):
    rulescore.score(...)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Told:
    """What is being done: `reading facts.csv`, `counting …`. Of `of` steps `done` are behind; 0 of 0 if nobody knows."""

    what: str
    done: int = 0
    of: int = 0


Listener = Callable[[Told], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def tell(what: str, done: int = 0, of: int = 0) -> None:
    listener = _listener.get()
    if listener is not None:
        listener(Told(what, done, of))


def is_heard() -> bool:
    return _listener.get() is not None


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Whatever this thread does meanwhile is told to the listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
