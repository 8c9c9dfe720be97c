"""A PostgreSQL server: temporary tables of one session, everything in one transaction that sees one state of the database."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

import psycopg
import pyarrow as pa
from psycopg import pq
from psycopg.generators import execute
from pyarrow import csv
from sqlglot import exp

from rulescore.engines.base import Capabilities, Engine
from rulescore.engines.worker import Worker, took_too_long
from rulescore.errors import Diagnostic, EngineError, InputError, UncertainError
from rulescore.postgres.dialect import COLLATION, POSTGRES, POSTGRES_BEFORE_17, computes_doubles
from rulescore.postgres.server import PostgresCatalogue, connected
from rulescore.setting.options import EngineOptions
from rulescore.sql.dialect import text
from rulescore.sql.names import argument
from rulescore.sql.query import Statement, tree
from rulescore.sql.sql_rules import has_user_sql
from rulescore.sql.words import identifier

_Result = TypeVar("_Result")


# The oldest version that was still maintained when this line was written.
_OLDEST = 140000

_COLUMNS: dict[pa.DataType, str] = {
    pa.bool_(): "BOOLEAN",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE PRECISION",
    pa.date32(): "DATE",
    # Strings are in the order of their code points, whatever the language of the database.
    pa.string(): 'TEXT COLLATE "C"',
}

# We look types up by their numbers (OIDs), which are the same on every server.
_TYPES: dict[int, pa.DataType] = {
    16: pa.bool_(),
    20: pa.int64(),
    21: pa.int16(),
    23: pa.int32(),
    25: pa.string(),
    700: pa.float32(),
    701: pa.float64(),
    1042: pa.string(),
    1043: pa.string(),
    1082: pa.date32(),
    1114: pa.timestamp("us"),
    1184: pa.timestamp("us", "UTC"),
}
_NUMERIC = 1700

# The settings of a session. We leave the memory settings alone if the server's owner, or the address, has set them.
_ROOM = {"work_mem": "64MB", "temp_buffers": "128MB"}
# While a statement runs, the server checks that we are still connected. Otherwise it would go on for hours after our process was
# killed.
_CHECK = "client_connection_check_interval"
_SETTINGS = {
    "client_encoding": "UTF8",
    "DateStyle": "ISO, YMD",
    "TimeZone": "UTC",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    # Compiling a statement takes longer than running most of them.
    "jit": "off",
    # The server expects few rows of a join on two columns, and would sort all facts for it. Hashing them takes half as long.
    "enable_mergejoin": "off",
    # Python may compute for a while between statements.
    "idle_in_transaction_session_timeout": "0",
}

# For so many columns together, the server counts the different tuples of every choice of them.
_MOST_COUNTED = 4

# The number of bytes that we send at a time.
_CHUNK = 1 << 20

# If the server has not answered this many seconds after its own timeout, we assume that it is gone or out of reach.
_GONE = 30


class PostgresEngine(Engine):
    """A session. Its tables are temporary and its transaction is never committed: whatever happens, nothing is left behind."""

    dialect = POSTGRES.name
    capabilities = Capabilities(longest_name=63)

    def __init__(self, options: EngineOptions) -> None:
        _refuse_options(options)
        self._timeout = options.timeout
        self._connection = connected(options.url)
        self._worker = Worker(self.cancel)
        # The columns of new tables.
        self._unanalysed: dict[str, Sequence[str]] = {}
        self._spoken = POSTGRES
        # The schemas that the role searches. We look up names of the user's tables there.
        self._searched: list[str] = []
        try:
            self._worker.do(lambda: self._begin(options))
        except psycopg.Error as error:
            self.close()
            raise InputError(Diagnostic("E913", "the session cannot be set up", notes=(_words(error),))) from error
        except BaseException:
            self.close()
            raise

    def _begin(self, options: EngineOptions) -> None:
        """Start the transaction, fix every setting that a result could depend on, and refuse unsuitable databases."""
        self._refuse_copy()
        # Transactions of roles that only read are often read only by default, and could not make temporary tables.
        self._tell("BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE")
        self._leave_search_path()
        settings = dict(_SETTINGS)
        own = "SELECT name FROM pg_catalog.pg_settings WHERE source = 'default'"
        unset = {name for (name,) in self._fetched(own)}
        settings |= {name: value for name, value in _ROOM.items() if name in unset}
        if options.timeout is not None:
            settings["statement_timeout"] = str(max(1, round(options.timeout * 1000)))
        if options.threads is not None:
            settings["max_parallel_workers_per_gather"] = str(options.threads - 1)
        for name, value in settings.items():
            self._tell(f"SET {name} = '{value}'")
        if _CHECK in unset:
            # On some systems, servers cannot check.
            with suppress(psycopg.errors.InvalidParameterValue):
                self._attempt(lambda: self._tell(f"SET {_CHECK} = '5s'"), None)
        self._refuse_database()
        collations = "SELECT collname FROM pg_catalog.pg_collation WHERE collnamespace = 'pg_catalog'::regnamespace"
        if (COLLATION,) not in self._fetched(collations):
            self._spoken = POSTGRES_BEFORE_17

    def _leave_search_path(self) -> None:
        """Search for names in the server's own schema, then among the session's temporary tables, and nowhere else: anybody who may
        make functions in a searched schema could have them run with the rights of this role. Until then our statements name the
        schema of every function, and use no operators and no types. We set the path within the transaction, since a connection
        pooler may give every transaction another session."""
        self._searched = [str(schema) for (schema,) in self._fetched("SELECT pg_catalog.unnest(pg_catalog.current_schemas(false))")]
        self._fetched("SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', false)")

    def _refuse_copy(self) -> None:
        ((is_copy,),) = self._fetched("SELECT pg_catalog.pg_is_in_recovery()")
        if is_copy:
            message = "the server is a standby, on which nobody can make temporary tables"
            raise InputError(Diagnostic("E913", message, helps=("give the address of the primary server",)))

    def _refuse_database(self) -> None:
        version = self._connection.info.server_version
        if version < _OLDEST:
            message = f"the server runs PostgreSQL {version // 10000}, which is too old"
            raise InputError(Diagnostic("E913", message, helps=(f"version {_OLDEST // 10000} or later is needed",)))
        ((encoding, name, temporary),) = self._fetched(
            "SELECT current_setting('server_encoding'), current_database(), has_database_privilege(current_database(), 'TEMP')"
        )
        if encoding != "UTF8":
            message = f"database `{name}` stores text as {encoding}"
            raise InputError(Diagnostic("E913", message, helps=("use a database whose encoding is UTF8",)))
        if not temporary:
            message = f"the role may not make temporary tables in database `{name}`"
            raise InputError(Diagnostic("E913", message, helps=(f'GRANT TEMPORARY ON DATABASE "{name}" TO …',)))

    def _load(self, name: str, rows: pa.Table) -> None:
        rows = _plain(rows)
        columns = ", ".join(f"{_quoted(field.name)} {_COLUMNS[field.type]}" for field in rows.schema)
        self._unanalysed.pop(name, None)
        self._do(lambda: self._tell(f"CREATE TEMPORARY TABLE {_quoted(name)} ({columns})"))
        self._append(name, rows)

    def _append(self, name: str, rows: pa.Table) -> None:
        rows = _plain(rows)
        if not rows.num_rows:
            return
        columns = ", ".join(map(_quoted, rows.column_names))

        def copy_in() -> None:
            statement = f"COPY {_quoted(name)} ({columns}) FROM STDIN (FORMAT csv)"
            with self._connection.cursor() as cursor, cursor.copy(statement.encode()) as copy:
                for piece in _as_csv(rows):
                    copy.write(piece)

        self._do(copy_in)
        self._note_rows(name, rows.column_names, rows.num_rows)

    def attach(self, database: Path, name: str) -> None:
        helps = ("load the table into the server, or name another engine",)
        raise InputError(Diagnostic("E347", f"PostgreSQL cannot read `{database}` in place", helps=helps))

    def catalogue(self) -> PostgresCatalogue:
        return PostgresCatalogue(self, self._searched)

    def _run(self, statement: Statement, as_written: bool) -> int | None:
        statement = tree(statement)
        if isinstance(statement, exp.Commit):
            self._commit()
            return None
        if isinstance(statement, exp.Drop) and self._is_aborted:
            return None  # the failed transaction has dropped the tables, and its error is already being raised
        asked = statement.args.get("expression")
        if isinstance(asked, exp.Query) and has_user_sql(asked):
            # The user's SQL runs read only, and so cannot make a table: we fetch its rows and load them.
            rows = self._query(asked, as_written)
            self._load(statement.this.name, rows)
            return int(rows.num_rows)
        made = _made_table(statement)
        doubles = computes_doubles(statement)
        sql = self.text(statement)

        def work() -> int:
            with _order_kept(self, as_written):
                if not doubles:
                    return self._tell(sql)
                return self._attempt(lambda: self._tell(sql), lambda: self._tell(self._checked_text(statement)))

        self._analyse()
        count = self._do(work)
        if isinstance(statement, exp.Drop):
            for table in statement.find_all(exp.Table):
                self._unanalysed.pop(table.name, None)
        elif made is not None:
            self._note_rows(made, statement.expression.named_selects, count)
        return None if made is None else count

    def _commit(self) -> None:
        try:
            self._do(lambda: self._tell("COMMIT"))
        except EngineError as error:
            if not self._connection.closed:
                raise
            raise UncertainError(f"the connection to the server was lost: {_words(error.__cause__ or error)}") from error

    def _query(self, statement: Statement, as_written: bool) -> pa.Table:
        doubles = computes_doubles(tree(statement))
        sql = self.text(statement)

        def work() -> pa.Table:
            with _order_kept(self, as_written):
                again = (lambda: self._fetch(self._checked_text(statement))) if doubles else None
                return self._attempt(lambda: self._fetch(sql), again, read_only=True)

        self._analyse()
        return self._do(work)

    @contextmanager
    def scratch_tables(self) -> Iterator[None]:
        """Rolls back to a savepoint at the end. Otherwise the server would lock every table that we make until the transaction
        ends, and it has room for some thousand locks."""
        self._analyse()
        self._do(lambda: self._tell("SAVEPOINT __rulescore__scratch"))
        try:
            yield
        finally:
            self._unanalysed.clear()
            if not self._connection.closed:
                self._do(lambda: self._tell("ROLLBACK TO SAVEPOINT __rulescore__scratch; RELEASE SAVEPOINT __rulescore__scratch"))

    def text(self, statement: Statement, *, pretty: bool = False) -> str:
        return text(statement, self._spoken, pretty=pretty)

    def _checked_text(self, statement: Statement) -> str:
        """The statement in a slower form, in which doubles may leave their range."""
        return text(statement, self._spoken, with_overflow_checks=True)

    def explain(self, sql: str) -> str:
        # We plan in a savepoint, and read only, since the server evaluates constant expressions while it plans.
        plan = self._do(lambda: self._attempt(lambda: self._fetched(f"EXPLAIN {sql}"), None, read_only=True))
        return "\n".join(str(line) for (line,) in plan)

    def cancel(self) -> None:
        """Stop the running statement; shut the connection down if the server does not react."""
        try:
            self._connection.cancel_safe(timeout=1)
        except psycopg.Error:
            with socket.socket(fileno=os.dup(self._connection.fileno())) as line:
                line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        if self._worker.is_copy:
            return
        self._worker.close()
        self._connection.close()

    # The following methods run in the worker's thread.

    def _tell(self, sql: str) -> int:
        """Run a statement that returns no rows. Returns the number of rows it made."""
        with self._connection.cursor() as cursor:
            cursor.execute(sql.encode())
            return max(0, cursor.rowcount)

    def _fetched(self, sql: str) -> list[tuple[object, ...]]:
        with self._connection.cursor() as cursor:
            return cursor.execute(sql.encode()).fetchall()

    def _attempt(self, work: Callable[[], _Result], again: Callable[[], _Result] | None, *, read_only: bool = False) -> _Result:
        """Do work that may fail without ending the transaction. If a number left the range of its type, we try `again` instead.
        `read_only` work is rolled back at its end: a function that it calls may have changed settings of the session.

        Only queries, and statements that compute with doubles, come here. Within a savepoint, a statement that writes takes a
        transaction number of its own, and more than 64 such numbers slow down other sessions of the server."""
        back = "ROLLBACK TO SAVEPOINT __rulescore__; RELEASE SAVEPOINT __rulescore__"
        self._tell("SAVEPOINT __rulescore__" + ("; SET TRANSACTION READ ONLY" if read_only else ""))
        try:
            # We run plain arithmetic first: to guard every operation would cost more than the rare second run (0010).
            result = work()
        except psycopg.errors.NumericValueOutOfRange:
            self._tell(back)
            if again is None:
                raise
            return self._attempt(again, None, read_only=read_only)
        except psycopg.Error:
            if not self._connection.closed:
                self._tell(back)
            raise
        self._tell(back if read_only else "RELEASE SAVEPOINT __rulescore__")
        return result

    def _fetch(self, sql: str) -> pa.Table:
        names, types = self._described(sql)
        with (
            self._connection.cursor() as cursor,
            cursor.copy(f"COPY ({sql}) TO STDOUT (FORMAT csv, FORCE_QUOTE *)".encode()) as rows,
        ):
            data = pa.py_buffer(b"".join(rows))
        return _from_csv(data, names, types)

    def _described(self, sql: str) -> tuple[list[str], list[pa.DataType]]:
        """Names and types of a query's columns, before it runs."""
        # We send and wait separately: the library's own call would block all threads until the server answers.
        server = self._connection.pgconn
        for ask in (partial(server.send_prepare, b"", sql.encode()), partial(server.send_describe_prepared, b"")):
            ask()
            (described,) = self._connection.wait(execute(server))
            if described.status == pq.ExecStatus.FATAL_ERROR:
                raise psycopg.errors.error_from_result(described, encoding="utf-8")
        fields = range(described.nfields)
        return [(described.fname(i) or b"").decode() for i in fields], [
            _type(described.ftype(i), described.fmod(i)) for i in fields
        ]

    # The following methods run in the caller's thread.

    def _analyse(self) -> None:
        """Gather statistics on new tables: the server does not do so by itself for temporary tables."""
        for name, columns in sorted(self._unanalysed.items()):
            keys = [argument(i) for i in range(_MOST_COUNTED) if argument(i) in columns]
            if len(keys) > 1:
                # Without the number of different tuples, the server takes tuples with one argument in common for equal.
                told = f"CREATE STATISTICS IF NOT EXISTS pg_temp.{_quoted(name)} (ndistinct)"
                self._do(partial(self._tell, f"{told} ON {', '.join(map(_quoted, keys))} FROM {_quoted(name)}"))
            self._do(partial(self._tell, f"ANALYZE {_quoted(name)}"))
        self._unanalysed.clear()

    def _note_rows(self, name: str, columns: Sequence[str], rows: int) -> None:
        # Without statistics, the server expects some thousand rows of every table, also of one with a few rules.
        if rows:
            self._unanalysed[name] = columns

    @property
    def _is_aborted(self) -> bool:
        return self._connection.closed or self._connection.info.transaction_status == pq.TransactionStatus.INERROR

    def _do(self, work: Callable[[], _Result]) -> _Result:
        # A piece of work has at most two long statements.
        seconds = None if self._timeout is None else 2 * self._timeout + _GONE
        try:
            return self._worker.do(work, seconds=seconds)
        except EngineError as error:
            raise EngineError(f"the server no longer answers: {took_too_long(self._timeout or 0)}") from error
        except psycopg.errors.CharacterNotInRepertoire as error:
            helps = ("replace it in the data",)
            raise InputError(Diagnostic("E347", "a text holds the character NUL", notes=(_words(error),), helps=helps)) from error
        except psycopg.Error as error:
            raise EngineError(self._failure(error)) from error
        except pa.ArrowInvalid as error:
            raise EngineError(f"an answer of the server does not fit its type: {_words(error)}") from error

    def _failure(self, error: psycopg.Error) -> str:
        if self._connection.closed:
            return f"the connection to the server was lost: {_words(error)}\nnothing is left behind on it; run this again"
        if isinstance(error, psycopg.errors.QueryCanceled) and self._timeout is not None:
            return f"{took_too_long(self._timeout)}: {_words(error)}"
        return str(error).strip()


class _order_kept:  # noqa: N801  # lower case, since it reads as a phrase: with _order_kept(…)
    """Context manager: statements inside it run their joins in the order written."""

    def __init__(self, engine: PostgresEngine, wanted: bool) -> None:
        self._engine, self._wanted = engine, wanted

    def __enter__(self) -> None:
        if self._wanted:
            # The server expects one row of each step, and would read all facts again for every row that there is.
            self._engine._tell("SET join_collapse_limit = 1; SET from_collapse_limit = 1; SET enable_nestloop = off")

    def __exit__(self, *_: object) -> None:
        if self._wanted and not self._engine._is_aborted:
            self._engine._tell("RESET join_collapse_limit; RESET from_collapse_limit; RESET enable_nestloop")


def _refuse_options(options: EngineOptions) -> None:
    """Raises one InputError for all options that PostgreSQL cannot keep, before anything starts."""
    problems = []
    if options.memory_limit is not None:
        notes = ("the server decides how much memory a session takes",)
        helps = ("set `work_mem` in the address: `postgresql://…?options=-c%20work_mem%3D256MB`",)
        problems.append(Diagnostic("E901", "PostgreSQL cannot keep to a `memory_limit`", notes=notes, helps=helps))
    if options.spill_folder is not None:
        notes = ("the server puts what does not fit into memory into folders of its own",)
        problems.append(Diagnostic("E901", "PostgreSQL cannot use a `spill_folder`", notes=notes, helps=("leave it out",)))
    if problems:
        raise InputError(problems)


def _words(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def _quoted(name: str) -> str:
    return identifier(name).sql(dialect="postgres")


def _made_table(statement: exp.Expr) -> str | None:
    """The temporary table that a statement makes or fills. None for a table in a schema: it is the user's, and we gather no
    statistics on it by ourselves."""
    made = isinstance(statement, exp.Insert) or (isinstance(statement, exp.Create) and statement.kind == "TABLE")
    return str(statement.this.name) if made and not statement.this.args.get("db") else None


def _plain(rows: pa.Table) -> pa.Table:
    """Rows in the few types that our tables have."""
    return rows.cast(pa.schema([(field.name, _stored_type(field.type)) for field in rows.schema]))


def _stored_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _stored_type(kind.value_type)
    if pa.types.is_boolean(kind):
        return pa.bool_()
    if pa.types.is_integer(kind):
        return pa.int32() if kind.bit_width < 32 or kind == pa.int32() else pa.int64()
    if pa.types.is_floating(kind):
        return pa.float64()
    return pa.date32() if pa.types.is_date(kind) else pa.string()


def _as_csv(rows: pa.Table) -> Iterator[bytes]:
    """Rows as CSV. Every value that is not missing is quoted, so an empty string differs from a missing one."""
    options = csv.WriteOptions(include_header=False, quoting_style="all_valid")
    for batch in rows.to_batches(max_chunksize=1 << 16):
        sink = pa.BufferOutputStream()
        csv.write_csv(batch, sink, options)
        data = memoryview(sink.getvalue())
        for start in range(0, len(data), _CHUNK):
            yield bytes(data[start : start + _CHUNK])


def _from_csv(data: pa.Buffer, names: Sequence[str], types: Sequence[pa.DataType]) -> pa.Table:
    numbered = [str(i) for i in range(len(names))]  # names may repeat
    if not data.size:
        return pa.table([pa.array([], kind) for kind in types], names=list(names))
    table = csv.read_csv(
        pa.BufferReader(data),
        csv.ReadOptions(column_names=numbered, block_size=min(max(data.size, 1), 1 << 30), use_threads=False),
        csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        csv.ConvertOptions(
            column_types=dict(zip(numbered, types, strict=True)),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=["t"],
            false_values=["f"],
        ),
    )
    return table.rename_columns(list(names))


def _type(number: int, modifier: int) -> pa.DataType:
    """The Arrow type of a column. A numeric without declared digits is a sum of integers; types without a match arrive as text."""
    if number != _NUMERIC:
        return _TYPES.get(number, pa.string())
    if modifier < 0:
        return pa.decimal128(38, 0)
    precision, scale = (modifier - 4) >> 16, (modifier - 4) & 0x7FF
    return pa.decimal128(precision, scale) if precision <= 38 and scale <= precision else pa.string()
