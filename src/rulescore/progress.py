"""Signs of life: before each long step we tell a listener, if there is one, what we are about to do.

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


Alarm = Callable[[Diagnostic], None]
_alarm: ContextVar[Alarm | None] = ContextVar("alarm", default=None)


def warn_now(problem: Diagnostic) -> None:
    """Warn before the work of what the user should know before it is done."""
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
