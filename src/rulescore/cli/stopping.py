"""Ctrl-C, the request to terminate, and a terminal that is closed: work stops, and what it made for itself is removed."""

from __future__ import annotations

import os
import signal
import sys
from itertools import count

_PATIENCE = 2


class Terminated(KeyboardInterrupt):
    """Another process asked this one to end."""


class TerminalClosed(KeyboardInterrupt):
    """The terminal that this process was started from is gone."""


def stop_on_signals() -> None:
    """The first signal interrupts; the second is ignored, since the first is being handled; one more ends the process at once."""
    signals = count(1)
    for number in (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if sys.platform != "win32" else [])):
        # A shell that starts a command in the background has it ignore Ctrl-C, and `nohup` the end of the terminal.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, frame: _stop(number, next(signals)))


def _stop(number: int, times: int) -> None:
    if times > _PATIENCE:
        os._exit(128 + number)
    if times == 1:
        match number:
            case signal.SIGINT:
                raise KeyboardInterrupt
            case signal.SIGTERM:
                raise Terminated
            case _:
                raise TerminalClosed
