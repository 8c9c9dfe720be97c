"""Work for a database in a thread of its own."""

from __future__ import annotations

import gc
import threading
from threading import Event

import pytest

from rulescore.engines.worker import Worker
from rulescore.errors import EngineError


def test_work_gives_its_result_or_its_error():
    worker = Worker(lambda: None)
    assert worker.do(lambda: 6 * 7) == 42
    with pytest.raises(ZeroDivisionError):
        worker.do(lambda: 1 // 0)
    worker.close()


def test_nobody_waits_for_a_database_that_does_not_hear():
    over = Event()
    calls: list[None] = []
    worker = Worker(lambda: calls.append(None), patience=0.2)
    with pytest.raises(EngineError, match=r"(?s)after 0\.1 seconds, the `timeout`.*does not hear"):
        worker.do(over.wait, seconds=0.1)
    assert worker.deaf
    assert calls
    with pytest.raises(EngineError, match="does not hear"):
        worker.do(lambda: None)
    worker.close()
    over.set()


def test_a_database_that_hears_late_is_used_again():
    over = Event()
    calls: list[None] = []

    def stop() -> None:
        calls.append(None)
        if len(calls) == 3:
            over.set()

    worker = Worker(stop, patience=60)
    with pytest.raises(EngineError, match=r"after 0\.1 seconds, the `timeout` of the engine$"):
        worker.do(over.wait, seconds=0.1)
    assert not worker.deaf
    assert worker.do(lambda: 1) == 1
    worker.close()


def test_a_worker_that_nobody_closes_ends_with_its_last_user():
    before = set(threading.enumerate())
    worker = Worker(lambda: None)
    worker.do(lambda: 1)
    (thread,) = set(threading.enumerate()) - before
    del worker
    gc.collect()
    thread.join(60)
    assert not thread.is_alive()
