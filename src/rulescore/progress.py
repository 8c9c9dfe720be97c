"""Signs of life: long work says what it is about to do, and whoever listens may show it.

with rulescore.progress.listening(lambda told: print(told.what, told.done, told.of)):
    rulescore.score(...)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from rulescore.errors import Diagnostic


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


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Whatever this thread does meanwhile is told to the listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


Alarm = Callable[[Diagnostic], None]
_alarm: ContextVar[Alarm | None] = ContextVar("alarm", default=None)


def warn_now(problem: Diagnostic) -> None:
    """Says before the work what should not wait until it is done."""
    alarm = _alarm.get()
    if alarm is not None:
        alarm(problem)


@contextmanager
def warning(alarm: Alarm) -> Iterator[None]:
    """Whatever this thread is warned of meanwhile is told at once."""
    token = _alarm.set(alarm)
    try:
        yield
    finally:
        _alarm.reset(token)
