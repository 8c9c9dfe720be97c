"""Work for a database in a thread of its own, so the main thread hears Ctrl-C at once."""

from __future__ import annotations

import ctypes
import os
import sys
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future, wait
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar

from rulescore.errors import Diagnostic, EngineError, InputError
from rulescore.waiting import ENGINE_THREAD

_Result = TypeVar("_Result")

# How often the waiting thread looks for Ctrl-C, in seconds.
_POLL = 0.1


class Worker:
    """One thread that does one piece of work at a time. `stop` makes the database give up its statement. If the database ignores
    that for `patience` seconds, the worker is `deaf` from then on: nobody waits for it, and the process may end while it works."""

    def __init__(self, stop: Callable[[], None], *, patience: float | None = None) -> None:
        self.deaf = self._closed = False
        self._process = os.getpid()
        self._stop = stop
        self._patience = patience
        self._waiting: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = Thread(target=_do_all, args=(self._waiting,), name=ENGINE_THREAD, daemon=True)
        # The thread refers to the queue alone, not to the worker, so it ends with a worker that nobody closed.
        weakref.finalize(self, self._waiting.put, None)
        _workers.add(self)
        try:
            self._thread.start()
        except RuntimeError as error:
            raise EngineError("the system has no room for a thread; give this process more memory, or more threads") from error

    def do(self, work: Callable[[], _Result], *, seconds: float | None = None) -> _Result:
        """The result of the work, or its exception. Ctrl-C stops the work, and so does a timeout after `seconds`."""
        if self.is_copy:
            helps = ("open one in each process with `rulescore.open`",)
            raise InputError(Diagnostic("E541", "this session was opened by another process", helps=helps))
        if self._closed:
            raise InputError(Diagnostic("E541", "the session is closed"))
        if self.deaf:
            raise EngineError(_DEAF)
        future: Future[_Result] = Future()
        self._waiting.put(lambda: _fulfil(future, work))
        try:
            return _wait(future, seconds)
        except (KeyboardInterrupt, _TooLongError) as error:
            self._give_up(future)
            if isinstance(error, _TooLongError):
                raise EngineError(took_too_long(error.seconds) + (f"\n{_DEAF}" if self.deaf else "")) from error
            raise

    def _give_up(self, future: Future[_Result]) -> None:
        """Calls `stop` again and again, because a database that is still planning the statement ignores the first call, and perhaps
        every call."""
        started = time.monotonic()
        while not future.done() and not self.deaf:
            self._stop()
            wait([future], timeout=_POLL)
            waited = time.monotonic() - started
            self.deaf = self._patience is not None and waited > self._patience and not future.done()

    @property
    def is_copy(self) -> bool:
        """Whether this is the copy that a forked process has. It has no thread, and shares its connection with the original: nobody
        may use or close it."""
        return self._process != os.getpid()

    def close(self) -> None:
        self._closed = True
        self._waiting.put(None)
        if not self.deaf:
            self._thread.join()


_workers: weakref.WeakSet[Worker] = weakref.WeakSet()


def _keep_copies() -> None:
    """Called in a forked process. The end of a connection, even by the garbage collector, would wait for threads that are not
    there, or speak to the server. Each worker refers to its engine, and now lasts as long as the process."""
    for worker in _workers:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(worker))


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_keep_copies)


_DEAF = "the engine does not hear that it shall stop: it works on until this process ends"


def took_too_long(seconds: float) -> str:
    return f"a statement was stopped after {seconds:g} seconds, the `timeout` of the engine"


class _TooLongError(Exception):
    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


def _do_all(waiting: SimpleQueue[Callable[[], None] | None]) -> None:
    while (work := waiting.get()) is not None:
        work()
        # Otherwise this variable would keep the work and its result until the next piece of work comes.
        del work


def _fulfil(future: Future[_Result], work: Callable[[], _Result]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:
        future.set_exception(error)


def _wait(future: Future[_Result], seconds: float | None) -> _Result:
    """Waits for the result in short steps, because one long wait would hold Ctrl-C back until the query ends."""
    started = time.monotonic()
    while not future.done():
        wait([future], timeout=_POLL)
        if seconds is not None and time.monotonic() - started > seconds and not future.done():
            raise _TooLongError(seconds)
    return future.result()
