"""Stops work at Ctrl-C, at a request to terminate, and when the terminal is closed; the work then removes its temporary tables and
files."""

from __future__ import annotations

import codecs
import io
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
    """The first signal interrupts the work. We ignore the second, because we are handling the first. The third ends the process."""
    signals = count(1)
    for number in (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if sys.platform != "win32" else [])):
        # Shells make commands in the background ignore Ctrl-C, and `nohup` makes them ignore the end of the terminal: keep that.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, frame: _stop(number, next(signals)))


def interruption(error: BaseException | None) -> KeyboardInterrupt | None:
    """The signal behind an error: if it comes while a class is being made, Python 3.11 raises a RuntimeError in its place."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error


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


# Standard output that lacks characters, or that can no longer be written to.


_PLAIN = {"─": "-", "–": "-", "…": "...", "“": '"', "”": '"'}


def prepare_stdout() -> None:
    """Makes stdout replace characters that its encoding lacks by ASCII: lines and dashes by hyphens, others by escapes."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        codecs.register_error("rulescore", _in_ascii)
        sys.stdout.reconfigure(errors="rulescore")


def abandon_stdout() -> None:
    """Discards output that could not be written: Python would try to write it again at exit, and fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unknown = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode("ascii") for c in unknown), error.end
