"""A line on the terminal that shows the progress of long work: it appears after two seconds and goes when we print something."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from rulescore.characters import visible
from rulescore.progress import Told, listening

if TYPE_CHECKING:
    from rich.progress import Progress

_PATIENCE = 2.0
_LONGEST = 100


class _Line:
    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._progress: Progress | None = None
        self._over = False

    def say(self, told: Told) -> None:
        if self._over or time.monotonic() - self._begun < _PATIENCE:
            return
        if self._progress is None:
            self._progress = _started()
        what = visible(told.what)
        what = str(replace(told, what=what if len(what) <= _LONGEST else f"{what[:_LONGEST]} …"))
        self._progress.update(
            self._progress.task_ids[0], description=what, completed=told.done, total=told.of or None, refresh=True
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
    found = Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False)
    found.add_task("", total=None)
    found.start()
    return found


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
