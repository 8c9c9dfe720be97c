"""The interface of engines, how one is opened, and the log of its statements."""

from __future__ import annotations

import logging
import os
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeVar

import pyarrow as pa

from rulescore import plugins
from rulescore.engines.catalogue import Catalogue
from rulescore.errors import Diagnostic, InputError, Severity, masked, masked_address
from rulescore.errors.texts import visible, visible_lines
from rulescore.setting.options import EngineOptions
from rulescore.sql.query import Statement
from rulescore.waiting import warn_now

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
        result = work()
    except BaseException as error:
        _note(f"failed after {time.perf_counter() - started:.3f} s with {type(error).__name__}", sql)
        raise
    seconds, count = time.perf_counter() - started, rows(result)
    _note(f"{seconds:.3f} s" if count is None else f"{seconds:.3f} s, {count:,} {'row' if count == 1 else 'rows'}", sql)
    return result


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
        raise InputError(Diagnostic("E402", f"`{VARIABLE}` is `{asked}`", helps=("`sql` is the only log there is",)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """The abilities of an engine, and the ways of work that suit it. Code that depends on a capability tests for it, never for the
    engine."""

    fetches_rows: bool = True
    """We may bring any number of rows here: contributions, and values to sort or to take a tolerance from. Without it results come
    back added up, and as rows only if the user asks for them."""
    cheap_statements: bool = True
    """A statement that reads few rows takes little time. Without it we make one table for many predicates, and views on it."""
    statements_at_once: int = 1
    """How many counting statements we unite into one: several if planning a statement takes longer than running it."""
    skips_rows: bool = False
    """A statement passes over rows of a sorted table that its conditions exclude, so it pays to sort facts."""
    reads_parquet: bool = False
    """`read_natively` takes Parquet files."""
    writes_parquet: bool = False
    """The engine implements `write`."""
    longest_name: int | None = None
    """The number of bytes to which the engine cuts names; None if it cuts none."""


class Engine(ABC):
    """A database session that holds temporary tables under the reserved prefix."""

    dialect: ClassVar[str]
    capabilities: ClassVar[Capabilities]

    def load(self, name: str, rows: pa.Table) -> None:
        """Create a temporary table from Arrow rows."""
        logged(lambda: f"-- rows for {name}", lambda: self._load(name, rows), lambda _: rows.num_rows)

    def append(self, name: str, rows: pa.Table) -> None:
        """Add Arrow rows to a table made by `load`."""
        logged(lambda: f"-- further rows for {name}", lambda: self._append(name, rows), lambda _: rows.num_rows)

    @abstractmethod
    def attach(self, database: Path, name: str) -> None:
        """Open a database file under a name, read-only, before any other call. InputError if the engine reads no such files."""

    def read_natively(self, rows: Sequence[Path] | object) -> str | None:
        """A name under which `catalogue` finds the rows of Parquet files, or of a frame of the engine's own library, as a table.
        None if the engine cannot read them, so we must."""
        return None

    @abstractmethod
    def catalogue(self) -> Catalogue | None:
        """The user's own tables that statements can read; None if the engine has no tables except ours."""

    def run(self, statement: Statement, *, as_written: bool = False) -> None:
        """Run a statement that returns nothing. `as_written` keeps the order of its joins."""
        logged(lambda: self._logged_text(statement), lambda: self._run(statement, as_written), lambda rows: rows)

    def query(self, statement: Statement, *, as_written: bool = False) -> pa.Table:
        """Run a query. `as_written` keeps the order of its joins."""
        return logged(lambda: self._logged_text(statement), lambda: self._query(statement, as_written), lambda rows: rows.num_rows)

    def write(self, query: Statement, folder: Path) -> None:
        """Write the rows of a query as Parquet files of a folder, without bringing them here. Needs `writes_parquet`."""
        logged(lambda: self._logged_text(query), lambda: self._write(query, folder), lambda _: None)

    def room(self) -> int | None:
        """How many bytes of memory and of disk its tables may take together; None if it does not tell."""
        return None

    def scratch_tables(self) -> AbstractContextManager[None]:
        """Context manager for work that drops every table it makes. Some engines keep a resource for every table, even after it is
        dropped. They release these at the end."""
        return nullcontext()

    @abstractmethod
    def text(self, statement: Statement, *, pretty: bool = False) -> str:
        """The statement in the engine's dialect."""

    @abstractmethod
    def explain(self, sql: str) -> str:
        """The engine's plan for a query in its own dialect, in the engine's own words. The query is not run."""

    @abstractmethod
    def cancel(self) -> None:
        """Stop the running statement. Another thread calls this, perhaps several times."""

    @abstractmethod
    def close(self) -> None:
        """Drop everything and disconnect."""

    # Each engine implements the following methods. The public methods of the same names call them.

    @abstractmethod
    def _load(self, name: str, rows: pa.Table) -> None: ...

    @abstractmethod
    def _append(self, name: str, rows: pa.Table) -> None: ...

    @abstractmethod
    def _run(self, statement: Statement, as_written: bool) -> int | None:
        """The number of rows that the statement made, if the engine reports it."""

    @abstractmethod
    def _query(self, statement: Statement, as_written: bool) -> pa.Table: ...

    # Only engines with the capability `writes_parquet` are asked.
    def _write(self, query: Statement, folder: Path) -> None:
        raise NotImplementedError

    def _logged_text(self, statement: Statement) -> str:
        """A statement for the log."""
        return f"{self.text(statement)};"


NEEDED = 3.0
"""Bytes of memory and of temporary files for each byte of text: 4 and 16 million facts took 2.8 and 2.6 (`benchmarks/whole.py`)."""


def warn_of_too_little_room(engine: Engine, text: int) -> None:
    """Warn if files of so many bytes of text will probably fit neither into memory nor on disk."""
    room, needed = engine.room(), text * NEEDED
    if room is None or needed <= room:
        return
    warn_now(
        Diagnostic(
            "W369",
            f"the data may need {_gigabytes(needed)} of memory and disk, and there are {_gigabytes(room)}",
            notes=(f"the files of facts and predictions hold about {_gigabytes(text)} of text",),
            helps=("give a spill folder on a larger disk (`spill_folder` of the engine), or use Spark",),
            severity=Severity.WARNING,
        )
    )


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:,.1f} GB"


def connect(options: EngineOptions) -> Engine:
    """Opens the engine. All but DuckDB are plug-ins: the scheme of the address is the name of one; a session is Spark's."""
    follow_environment()
    if options.session is None and options.url == "duckdb":
        from rulescore.engines.duckdb import DuckDBEngine

        return DuckDBEngine(options)
    scheme = "spark" if options.session is not None else options.url.partition("://")[0]
    if scheme not in plugins.plugins(plugins.ENGINES):
        helps = (
            "the engines are `duckdb`, which is the default, `postgresql://user@host/database`, `spark://local[*]`, "
            "`spark://host:7077` and `sc://host:15002`",
        )
        raise InputError(Diagnostic("E402", f"there is no engine `{masked_address(options.url)}`", helps=helps))
    engine: Engine = plugins.load(plugins.ENGINES, scheme)(options)
    return engine
