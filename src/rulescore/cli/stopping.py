"""Ctrl-C, and the request to terminate: work stops, and what it made for itself is removed."""

from __future__ import annotations

import os
import signal
from itertools import count

_PATIENCE = 2


class Terminated(KeyboardInterrupt):
    """Another process asked this one to end."""


def stop_on_signals() -> None:
    """The first signal interrupts; the second is ignored, since the first is being handled; one more ends the process at once."""
    signals = count(1)
    for number in (signal.SIGINT, signal.SIGTERM):
        # A shell that starts a command in the background has it ignore Ctrl-C.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, frame: _stop(number, next(signals)))


def _stop(number: int, times: int) -> None:
    if times > _PATIENCE:
        os._exit(128 + number)
    if times == 1:
        raise Terminated if number == signal.SIGTERM else KeyboardInterrupt
