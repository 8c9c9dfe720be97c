"""A line on the terminal that shows the progress of long work, and the signals that stop the work: Ctrl-C, a request to terminate,
a closed terminal.
"""

from __future__ import annotations

import codecs
import io
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import click

from rulescore.errors.texts import visible
from rulescore.waiting import Told, listening

if TYPE_CHECKING:
    from rich.progress import Progress


_PATIENCE_WITH_WORK = 2


class Terminated(KeyboardInterrupt):
    """Another process asked this one to end."""


class TerminalClosed(KeyboardInterrupt):
    """The terminal that this process was started from is gone."""


def stop_on_signals() -> None:
    """The first signal interrupts the work. We ignore the second, because we are handling the first. The third ends the process."""
    signals = count(1)
    for number in (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if sys.platform != "win32" else [])):
        # Shells make commands in the background ignore Ctrl-C, and `nohup` makes them ignore the end of the terminal. We keep
        # ignoring these signals.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, frame: _stop(number, next(signals)))


def interruption(error: BaseException | None) -> KeyboardInterrupt | None:
    """The signal behind an error: if it comes while a class is being made, Python 3.11 raises a RuntimeError in its place."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error


def _stop(number: int, times: int) -> None:
    if times > _PATIENCE_WITH_WORK:
        os._exit(128 + number)
    if times == 1:
        match number:
            case signal.SIGINT:
                raise KeyboardInterrupt
            case signal.SIGTERM:
                raise Terminated
            case _:
                raise TerminalClosed


# Standard output that cannot encode some characters, or that can no longer be written to.


_PLAIN = {"─": "-", "–": "-", "…": "...", "“": '"', "”": '"'}


def prepare_stdout() -> None:
    """Makes stdout replace characters that its encoding lacks: lines and dashes by hyphens, other characters by escapes."""
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


_PATIENCE = 2.0
_LONGEST = 100


class _Line:
    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._progress: Progress | None = None
        self._over = False

    def say(self, message: Told) -> None:
        if self._over or time.monotonic() - self._begun < _PATIENCE:
            return
        if self._progress is None:
            self._progress = _started()
        what = visible(message.what)
        what = str(replace(message, what=what if len(what) <= _LONGEST else f"{what[:_LONGEST]} …"))
        self._progress.update(
            self._progress.task_ids[0], description=what, completed=message.done, total=message.of or None, refresh=True
        )

    def above(self, text: str) -> None:
        if self._progress is None:
            click.echo(text, err=True)
        else:
            self._progress.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def end(self) -> None:
        self._over = True
        if self._progress is not None:
            self._progress.stop()


def _started() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        SpinnerColumn(),
        # Names of rules and files may hold brackets, which rich would read as markup.
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
        TimeRemainingColumn(compact=True),
    )
    bar = Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False)
    bar.add_task("", total=None)
    bar.start()
    return bar


_line: _Line | None = None


@contextmanager
def shown_on_terminal() -> Iterator[None]:
    """Context manager: shows progress, if stderr is a terminal and RULESCORE_PROGRESS is not 0."""
    global _line
    if not sys.stderr.isatty() or os.environ.get("RULESCORE_PROGRESS") == "0":
        yield
        return
    _line = _Line()
    try:
        with listening(_line.say):
            yield
    finally:
        still()


def say_above(text: str) -> None:
    """Prints text to stderr, above the line of progress."""
    if _line is None:
        click.echo(text, err=True)
    else:
        _line.above(text)


def still() -> None:
    """Ends the line of progress for good: output follows, the work is over, or the user wants no such line."""
    if _line is not None:
        _line.end()
