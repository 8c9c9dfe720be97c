"""The log of statements: the purpose of each, how long it took, how many rows it returned or made. Off unless the user asks for it.

The logger is `rulescore.sql`, at level DEBUG. An entry is the statement below a comment, so that the log is valid SQL. `--log-sql`
and `RULESCORE_LOG=sql` write it to stderr, with invisible characters spelt out.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from rulescore.characters import visible, visible_lines
from rulescore.errors import Diagnostic, InputError, masked

_Result = TypeVar("_Result")

LOGGER = logging.getLogger("rulescore.sql")
VARIABLE = "RULESCORE_LOG"

_purpose: ContextVar[str | None] = ContextVar("purpose", default=None)


@contextmanager
def purpose(what: str) -> Iterator[None]:
    """Context manager: the log gives this purpose for every statement that runs inside it."""
    token = _purpose.set(what)
    try:
        yield
    finally:
        _purpose.reset(token)


def logged(text: Callable[[], str], work: Callable[[], _Result], rows: Callable[[_Result], int | None]) -> _Result:
    """The result of `work`, which runs the statement `text` and is logged. `rows`: how many rows it returned or made, if known."""
    if not LOGGER.isEnabledFor(logging.DEBUG):
        return work()
    sql, started = text(), time.perf_counter()
    try:
        found = work()
    except BaseException as error:
        _note(f"failed after {time.perf_counter() - started:.3f} s with {type(error).__name__}", sql)
        raise
    seconds, count = time.perf_counter() - started, rows(found)
    _note(f"{seconds:.3f} s" if count is None else f"{seconds:.3f} s, {count:,} {'row' if count == 1 else 'rows'}", sql)
    return found


def _note(outcome: str, sql: str) -> None:
    what = _purpose.get()
    above = outcome if what is None else f"{outcome}, {what}"
    LOGGER.debug("%s", masked(f"-- {visible(above)}\n{sql}"))


class _ToStderr(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        print(visible_lines(self.format(record)), file=sys.stderr, flush=True)


_TO_STDERR = _ToStderr()


def log_to_stderr() -> None:
    LOGGER.addHandler(_TO_STDERR)
    LOGGER.setLevel(logging.DEBUG)


def log_no_more() -> None:
    LOGGER.removeHandler(_TO_STDERR)
    LOGGER.setLevel(logging.NOTSET)


def follow_environment() -> None:
    """Log to stderr if the user's environment asks for it."""
    asked = os.environ.get(VARIABLE)
    if asked == "sql":
        log_to_stderr()
    elif asked:
        raise InputError(Diagnostic("E904", f"`{VARIABLE}` is `{asked}`", helps=("`sql` is the only log there is",)))
