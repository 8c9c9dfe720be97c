"""Work for a database in a thread of its own, so that the main thread hears Ctrl-C at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

from rulescore.errors import EngineError

_Result = TypeVar("_Result")

# How often the waiting thread looks for Ctrl-C, in seconds.
_POLL = 0.1


class Worker:
    """One thread that does one thing at a time. `stop` makes the database give up what it is doing."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rulescore-engine")

    def do(self, work: Callable[[], _Result], *, seconds: float | None = None) -> _Result:
        """The result of the work, or its exception. Ctrl-C stops it, and so does the end of the seconds it is given."""
        future = self._thread.submit(work)
        try:
            return _wait(future, seconds)
        except (KeyboardInterrupt, _TooLongError) as error:
            # A statement that is still being planned does not hear the first call.
            while not future.done():
                self._stop()
                wait([future], timeout=_POLL)
            if isinstance(error, _TooLongError):
                raise EngineError(took_too_long(error.seconds)) from error
            raise

    def close(self) -> None:
        self._thread.shutdown(wait=True)


def took_too_long(seconds: float) -> str:
    return f"a statement was stopped after {seconds:g} seconds, the `timeout` of the engine"


class _TooLongError(Exception):
    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


def _wait(future: Future[_Result], seconds: float | None) -> _Result:
    """The result, waited for in short steps: an unbroken wait would hold Ctrl-C back until the query ends."""
    started = time.monotonic()
    while not future.done():
        wait([future], timeout=_POLL)
        if seconds is not None and time.monotonic() - started > seconds and not future.done():
            raise _TooLongError(seconds)
    return future.result()
