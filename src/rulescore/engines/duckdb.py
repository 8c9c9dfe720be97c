"""DuckDB, embedded: the default engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shutil import disk_usage
from typing import Any, TypeVar

import duckdb
import pyarrow as pa
from sqlglot import exp

from rulescore.engines.base import Capabilities, Engine
from rulescore.engines.memory import MEBIBYTE, Share, SpillFolder, amount
from rulescore.engines.worker import Worker
from rulescore.errors import Diagnostic, EngineError, InputError
from rulescore.setting.options import EngineOptions
from rulescore.sql.dialect import DUCKDB, text
from rulescore.sql.moments import MICROSECONDS, NANOSECONDS
from rulescore.sql.query import Statement
from rulescore.sql.values import DOUBLE_TEXT
from rulescore.values import FIRST, LAST

_Result = TypeVar("_Result")

# The name under which a statement sees the Arrow rows it was given.
_ARROW = "__rulescore__arrow"

# How many seconds we wait for the database to stop. DuckDB does not react while it plans a statement. Planning may take for ever if
# a rule has fifty atoms.
_PATIENCE = 5.0

_OUT_OF_MEMORY = (
    "the engine ran out of memory; raise its memory limit, give it fewer threads, or a spill folder with more room "
    "(`memory_limit`, `threads` and `spill_folder` of the engine)"
)

# What DuckDB says if it would need a table with more rows than 64 bits can count.
_OVERFLOW = "next power of 2"
_TOO_MANY_ROWS = "a statement joins more rows than the engine can count; shorten the rule, or bind its variables more tightly"

# DuckDB writes doubles like Python, except whole doubles.
_DOUBLE_TEXT = f"""
CREATE TEMPORARY MACRO {DOUBLE_TEXT}(x) AS CASE
    WHEN x = FLOOR(x) AND ABS(x) < 9223372036854775808 THEN CAST(CAST(x AS BIGINT) AS VARCHAR)
    WHEN x = FLOOR(x) THEN CAST(CAST(x AS BIGNUM) AS VARCHAR)
    ELSE CAST(x AS VARCHAR)
END
"""


_MICROSECONDS = f"""
CREATE TEMPORARY MACRO {MICROSECONDS}(x) AS CASE WHEN ISFINITE(x) AND EPOCH_US(x) BETWEEN {FIRST} AND {LAST} THEN EPOCH_US(x) END;
CREATE TEMPORARY MACRO {NANOSECONDS}(x) AS CASE WHEN ISFINITE(x) AND EPOCH_NS(x) % 1000 = 0 THEN EPOCH_US(x) END;
"""


# We run this when all files are attached, before we read anything. From then on no view and no statement of a user can read or
# write another file, load an extension or change a setting. Only we change `disabled_optimizers`, for the order of joins, and the
# limit of memory if the user has given one.
_SEAL = """
SET allow_community_extensions = false;
SET enable_external_access = false;
SET allowed_configs = {allowed};
SET lock_configuration = true;
"""


class DuckDBEngine(Engine):
    """An in-memory database. Queries run in a thread of their own, so Ctrl-C can interrupt them at once. The caller attaches
    database files first: any other statement seals the database against everything outside."""

    dialect = DUCKDB.name
    capabilities = Capabilities(skips_rows=True)

    def __init__(self, options: EngineOptions) -> None:
        self._own_folder = SpillFolder() if options.spill_folder is None else None
        self._connection = duckdb.connect(":memory:")
        self._worker = Worker(self.cancel, patience=_PATIENCE)
        self._timeout = options.timeout
        self._sealed = False
        self._share: Share | None = None
        try:
            # We configure in the worker's thread, like every statement: in the main thread a signal would become an error of the
            # database.
            self._worker.do(lambda: self._configure(options))
        except (InputError, KeyboardInterrupt):
            self.close()
            raise

    def _configure(self, options: EngineOptions) -> None:
        if options.spill_folder is not None:
            _refuse_homeless(options.spill_folder)
        folder = str(options.spill_folder) if options.spill_folder else self._own_folder.name if self._own_folder else ""
        settings: dict[str, Any] = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "preserve_insertion_order": False,
            "temp_directory": folder,
        }
        # DuckDB prints its progress bar to stdout, into our results. Some notebooks have no progress bar, and setting it there
        # raises an error.
        if self._connection.execute("SELECT current_setting('enable_progress_bar')").fetchone() != (False,):
            settings["enable_progress_bar"] = False
        settings["memory_limit"] = options.memory_limit or self._half_of_memory()
        if options.threads is not None:
            settings["threads"] = options.threads
        for name, value in settings.items():
            try:
                self._connection.execute(self.text(_set(name, value)))
            except duckdb.Error as error:
                raise InputError(
                    Diagnostic("E901", f"the engine does not accept `{value}` for `{name}`", notes=(_first_line(error),))
                ) from error
        (told,) = self._connection.execute("SELECT current_setting('memory_limit')").fetchone() or ("",)
        self._limits = told, Path(folder)
        if options.memory_limit is not None and (limit := amount(options.memory_limit)) is not None:
            # The question how much memory the database uses needs memory, too.
            self._limit(max(limit, MEBIBYTE))
            self._share = Share(limit, self._used, self._limit)
            _refuse_too_little(options.memory_limit, limit, self._share.least_limit)
        self._connection.execute(_DOUBLE_TEXT)
        self._connection.execute(_MICROSECONDS)

    def _half_of_memory(self) -> str:
        """Half of the memory of the machine or container. DuckDB's default is four fifths, but other programs need memory too."""
        (told,) = self._connection.execute("SELECT current_setting('memory_limit')").fetchone() or ("",)
        number, unit = told.split()
        return f"{float(number) * 0.5 / 0.8:.1f} {unit}"

    def _used(self) -> int:
        """The bytes that DuckDB counts against its memory limit."""
        return sum(used for (used,) in self._connection.execute("SELECT memory_usage_bytes FROM duckdb_memory()").fetchall())

    def _limit(self, size: int) -> None:
        self._connection.execute(self.text(_set("memory_limit", f"{size}B")))

    def _load(self, name: str, rows: pa.Table) -> None:
        self._take(rows, exp.Create(this=_table(name), kind="TABLE", properties=_temporary(), expression=_all(_ARROW)))

    def _append(self, name: str, rows: pa.Table) -> None:
        self._take(rows, exp.Insert(this=_table(name), expression=_all(_ARROW)))

    def attach(self, database: Path, name: str) -> None:
        source = exp.alias_(exp.Literal.string(str(database)), exp.to_identifier(name, quoted=True))
        sql = self.text(exp.Attach(this=source, expressions=[exp.AttachOption(this=exp.var("READ_ONLY"))]))
        self._guarded(lambda: self._connection.execute(sql).fetchall())

    def room(self) -> int | None:
        limit, folder = self._limits
        memory = amount(limit)
        return None if memory is None else memory + disk_usage(folder if folder.exists() else folder.parent).free

    def catalogue(self) -> None:
        """None: the database has only our tables."""

    def _take(self, rows: pa.Table, statement: exp.Expr) -> None:
        """Run a statement that reads Arrow rows."""
        sql = self.text(statement)

        def work() -> None:
            self._connection.register(_ARROW, rows)
            try:
                self._connection.execute(sql).fetchall()
            finally:
                self._connection.unregister(_ARROW)

        self._interruptible(work)

    def _run(self, statement: Statement, as_written: bool) -> int | None:
        sql = self.text(statement)
        # A statement that makes rows returns their number, any other returns nothing.
        made = self._execute(lambda: self._connection.execute(sql).fetchall(), as_written)
        return made[0][0] if made else None

    def _query(self, statement: Statement, as_written: bool) -> pa.Table:
        sql = self.text(statement)
        return self._execute(lambda: self._connection.sql(sql).to_arrow_table(), as_written)

    def _execute(self, work: Callable[[], _Result], as_written: bool) -> _Result:
        if not as_written:
            return self._interruptible(work)

        def keeping_order() -> _Result:
            self._connection.execute(self.text(_set("disabled_optimizers", "join_order")))
            try:
                return work()
            finally:
                self._connection.execute(self.text(_set("disabled_optimizers", "")))

        return self._interruptible(keeping_order)

    def text(self, statement: Statement, *, pretty: bool = False) -> str:
        return text(statement, DUCKDB, pretty=pretty)

    def explain(self, sql: str) -> str:
        return "\n".join(plan for _, plan in self._interruptible(lambda: self._connection.execute(f"EXPLAIN {sql}").fetchall()))

    def cancel(self) -> None:
        self._connection.interrupt()

    def close(self) -> None:
        if self._worker.is_copy:
            return
        self._worker.close()
        if not self._worker.deaf:
            self._connection.close()
        if self._own_folder is not None:
            self._own_folder.close()

    def _interruptible(self, work: Callable[[], _Result]) -> _Result:
        def sealed() -> _Result:
            if not self._sealed:
                allowed = ["disabled_optimizers"] if self._share is None else ["disabled_optimizers", "memory_limit"]
                self._connection.execute(_SEAL.format(allowed=allowed))
                self._sealed = True
            if self._share is not None:
                self._share.fit()
            return work()

        return self._guarded(sealed)

    def _guarded(self, work: Callable[[], _Result]) -> _Result:
        try:
            return self._worker.do(work, seconds=self._timeout)
        except duckdb.OutOfMemoryException as error:
            raise EngineError(_OUT_OF_MEMORY) from error
        except duckdb.Error as error:
            raise EngineError(_TOO_MANY_ROWS if _OVERFLOW in str(error) else str(error)) from error


def _refuse_homeless(folder: Path) -> None:
    """Raises InputError if DuckDB could not make the spill folder: it does so when data spill, but makes no parent folders."""
    if "\0" in str(folder):
        raise InputError(Diagnostic("E901", f"the spill folder `{folder}` cannot be made", notes=("its path has a null byte",)))
    if not folder.is_dir() and (folder.exists() or not folder.parent.is_dir()):
        reason = "it is not a folder" if folder.exists() else f"there is no folder `{folder.parent}` to make it in"
        raise InputError(Diagnostic("E901", f"the spill folder `{folder}` cannot be made", notes=(reason,)))


def _refuse_too_little(memory_limit: str, limit: int, least: int) -> None:
    if limit < least:
        notes = ("the limit is for this whole process, with Python, the libraries and the rules",)
        # We round up, since the next run may take a little more.
        helps = (f"give it {-(-least // 10**7) * 10} MB or more",)
        raise InputError(
            Diagnostic("E901", f"a `memory_limit` of `{memory_limit}` is too little to begin with", notes=notes, helps=helps)
        )


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def _table(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))


def _all(name: str) -> exp.Select:
    return exp.select(exp.Star()).from_(_table(name))


def _temporary() -> exp.Properties:
    return exp.Properties(expressions=[exp.TemporaryProperty()])


def _set(name: str, value: object) -> exp.Expr:
    item = exp.EQ(this=exp.column(name), expression=exp.convert(value))
    return exp.Set(expressions=[exp.SetItem(this=item)])
