"""Spark: a session on one machine, on a cluster, or behind Spark Connect, with its tables and views. Tables are views of what
Spark keeps.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import accumulate, takewhile
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_type
from pyspark.sql.types import DataType, TimestampType
from sqlglot import exp

from rulescore.engines.base import Capabilities, Engine
from rulescore.engines.catalogue import Catalogue, StoredColumn, TablePath
from rulescore.engines.memory import MEBIBYTE, SpillFolder, amount
from rulescore.engines.worker import Worker
from rulescore.errors import Diagnostic, EngineError, InputError
from rulescore.setting.options import EngineOptions
from rulescore.spark.cuts import UNKNOWN, Sizes, cuts
from rulescore.spark.dialect import PLACE, SPARK, Numbering, numbered, numbering, task, unordered
from rulescore.spark.session import SparkConnection, is_remote, open_session, quiet, refuse_options
from rulescore.spark.steps import taken_apart
from rulescore.sql.dialect import text
from rulescore.sql.names import PREFIX
from rulescore.sql.names import name as reserved
from rulescore.sql.query import Statement, tables_read, tree
from rulescore.sql.stored import StoredType
from rulescore.sql.words import identifier


class SparkCatalogue(Catalogue):
    """Finds tables by name, `catalog.database.table`; catalog and database may be omitted."""

    def __init__(self, schema_of: Callable[[str], pa.Schema | None]) -> None:
        """`schema_of`: the columns of a table by its quoted name, None if there is no such table."""
        self._schema_of = schema_of

    def find(self, table: str) -> TablePath:
        path = tuple(table.split("."))
        if self._schema_of(_quoted(path)) is None:
            helps = ("name it as the session would: `database.table`",)
            raise InputError(Diagnostic("E337", f"Spark has no table `{table}`, or may not read it", helps=helps))
        return path

    def columns(self, path: TablePath) -> dict[str, StoredColumn]:
        schema = self._schema_of(_quoted(path))
        assert schema is not None
        return {field.name: _column(field.type) for field in schema}


def _quoted(path: TablePath) -> str:
    return ".".join("`" + part.replace("`", "``") + "`" for part in path)


def _column(kind: pa.DataType) -> StoredColumn:
    scale = kind.scale if pa.types.is_decimal(kind) else None
    return StoredColumn(str(kind), _column_type(kind), scale)


def _column_type(kind: pa.DataType) -> StoredType | None:
    for test, stored_type in (
        (pa.types.is_string, StoredType.TEXT),
        (pa.types.is_large_string, StoredType.TEXT),
        (pa.types.is_integer, StoredType.INTEGER),
        (pa.types.is_floating, StoredType.FLOAT),
        (pa.types.is_decimal, StoredType.DECIMAL),
        (pa.types.is_boolean, StoredType.BOOLEAN),
        (pa.types.is_date, StoredType.DATE),
        (pa.types.is_timestamp, StoredType.INSTANT if getattr(kind, "tz", None) else StoredType.TIMESTAMP),
    ):
        if test(kind):
            return stored_type
    return None


_Result = TypeVar("_Result")


# We number constants and predictions with integers of 32 bits.
_MOST_NUMBERED = 2**31 - 1

# Up to this many rows travel with every statement that reads them; larger tables we hand to the executors once.
_FEW_ROWS = 10_000

# A local session of ours keeps its settings for small data up to this total number of rows.
_FEW_IN_ALL = 100_000

# A statement on tables of so many bytes reads few rows; or of fewer, if the session's adaptive execution would divide them.
_FEW_BYTES = 16 * MEBIBYTE

_PIECES = ("shuffle.partitions", "adaptive.advisoryPartitionSizeInBytes")

# Spark estimates rows by the width of their columns, so a table may seem larger than its file.
_LARGE_PART = 2

# Spark refuses values above its own default.
_PLAN_LENGTH, _LONGEST_PLAN = "spark.sql.maxPlanStringLength", 2**31 - 16

_FAILURES = (PySparkException, Py4JError)

_OVERFLOW = ("ARITHMETIC_OVERFLOW", "NUMERIC_VALUE_OUT_OF_RANGE")


class SparkEngine(Engine):
    """A session whose executors keep the tables: in memory and then on their disks or, with a spill folder, in files there, which
    survive the loss of an executor."""

    dialect = SPARK.name
    capabilities = Capabilities(
        fetches_rows=False, cheap_statements=False, statements_at_once=16, reads_parquet=True, writes_parquet=True
    )

    def __init__(self, options: EngineOptions) -> None:
        refuse_options(options)
        self._timeout = options.timeout
        self._worker = Worker(self.cancel)
        self._tag = f"rulescore-{uuid.uuid4().hex}"
        self._tables: dict[str, list[Any]] = {}
        # Functions that release rows: the rows of each table, and rows that belong to no table yet.
        self._releases: dict[str, list[Callable[[], object]]] = {}
        self._fresh: list[Callable[[], object]] = []
        self._folder = None if options.spill_folder is None else f"{options.spill_folder.absolute()}/{self._tag}"
        self._own_folder: SpillFolder | None = None
        # The bytes of tables that we know.
        self._sizes: dict[str, int] = {}
        self._fresh_size = UNKNOWN
        self._files = 0
        self._sources = 0
        self._rows_given = 0
        self._steps = 0

        self._running: list[SparkConnection] = []
        self._given_up = Event()

        def start() -> None:
            with quiet():
                self._running.append(open_session(options, self._given_up))

        try:
            self._worker.do(start)
        except BaseException:
            for work in self._running:  # Ctrl-C while it started
                self._worker.do(work.close)
            self._worker.close()
            raise
        (self._opened,) = self._running
        self._session = self._opened.session
        self._few_rows = self._opened.is_local
        self._few_bytes = self._worker.do(self._most_few_bytes)
        self._large = self._worker.do(self._least_large)

    def _load(self, name: str, rows: pa.Table) -> None:
        self._do(lambda: self._drop([name]))
        self._append(name, rows)

    def _append(self, name: str, rows: pa.Table) -> None:
        rows = _plain(rows)

        def work() -> None:
            self._rows_given += rows.num_rows
            if self._rows_given > _FEW_IN_ALL:
                self._few_rows = False
            self._opened.prepare(self._few_rows)
            # For an empty table, Spark Connect needs a schema of its own. We do not pass an empty list, because Spark would then
            # start Python processes whenever it reads the table.
            schema = None if rows.num_rows else from_arrow_schema(rows.schema)
            frame = self._session.createDataFrame(rows, schema)
            if rows.num_rows > _FEW_ROWS:
                frame = self._kept(frame)
            else:
                self._fresh_size = rows.nbytes
            self._add(name, frame)

        self._do(work)

    def attach(self, database: Path, name: str) -> None:
        helps = ("write its tables as Parquet files, or name another engine",)
        raise InputError(Diagnostic("E347", f"Spark cannot read `{database}` in place", helps=helps))

    def read_natively(self, rows: Sequence[Path] | object) -> str | None:
        """The executors read the files; a frame gets a view. None for files that Spark cannot read or does not see."""
        self._sources += 1
        view = reserved(f"source_{self._sources}")

        def work() -> str | None:
            if not isinstance(rows, list):
                self._tables[view] = []
                return self._opened.view_of(rows, view)
            try:
                self._session.read.parquet(*(str(path.absolute()) for path in rows)).createOrReplaceTempView(view)
            except _FAILURES:
                return None
            self._few_rows = False
            self._tables[view] = []
            return view

        return self._do(work)

    def catalogue(self) -> SparkCatalogue:
        self._few_rows = False
        return SparkCatalogue(lambda table: self._do(lambda: self._schema(table)))

    def _schema(self, table: str) -> pa.Schema | None:
        try:
            return pa.schema([(field.name, _arrow_type(field.dataType)) for field in self._session.table(table).schema.fields])
        except AnalysisException:
            return None

    def _write(self, query: Statement, folder: Path) -> None:
        self._do(lambda: self._attempt(query, lambda frame: frame.write.mode("overwrite").parquet(str(folder.absolute()))))

    def _run(self, statement: Statement, as_written: bool) -> None:
        match tree(statement):
            case exp.Drop() as dropped:
                self._do(lambda: self._drop([table.name for table in dropped.find_all(exp.Table)]))
            case exp.Create(kind="TABLE") as made:
                self._do(lambda: self._replace(made.this.name, made.expression))
            case exp.Insert() as more:
                self._do(lambda: self._add(more.this.name, self._made(more.expression)))
            case exp.Create(kind="VIEW") as view:
                self._do(lambda: self._view(view))
            case other:
                raise AssertionError(other.key)  # no other kinds of statements reach an engine

    def _query(self, statement: Statement, as_written: bool) -> pa.Table:
        return self._do(lambda: self._attempt(statement, lambda frame: frame.toArrow()))

    def text(self, statement: Statement, *, pretty: bool = False) -> str:
        return text(statement, SPARK, pretty=pretty)

    def explain(self, sql: str) -> str:
        def work() -> str:
            conf = self._session.conf
            before = conf.get(_PLAN_LENGTH, None)
            conf.set(_PLAN_LENGTH, str(_LONGEST_PLAN))  # we configure our own sessions to log no plans
            try:
                plan: str = self._session.sql(f"EXPLAIN FORMATTED {sql}").collect()[0][0]
            finally:
                if before is None:
                    conf.unset(_PLAN_LENGTH)
                else:
                    conf.set(_PLAN_LENGTH, before)
            return plan

        return self._do(work)

    def cancel(self) -> None:
        self._given_up.set()
        for work in self._running:
            work.cancel(self._tag)

    def close(self) -> None:
        if self._worker.is_copy:
            return
        try:
            self._worker.do(self._leave)
        finally:
            self._worker.close()

    # The following methods run in the worker's thread.

    def _leave(self) -> None:
        self._drop(list(self._tables))
        if self._folder is not None:
            self._remove(self._folder)
        if self._own_folder is not None:
            self._own_folder.close()
        self._opened.close()

    def _replace(self, name: str, query: exp.Expr) -> None:
        made = self._made(query)
        self._drop([name])
        self._add(name, made)

    def _view(self, statement: exp.Create) -> None:
        """Makes a view on a frame, which Spark resolves only once. If the name is the user's, for rules in SQL, a statement makes
        the view, because such names may have characters that views on frames do not accept."""
        name = statement.this.name
        self._drop([name])
        if name.startswith(PREFIX):
            self._add(name, self._session.sql(self.text(statement.expression)))
        else:
            self._session.sql(self.text(statement))
            self._tables[name] = []

    def _made(self, query: exp.Expr) -> Any:
        """The rows of a query, computed once. Their order means nothing."""
        rows = unordered(query)
        made = numbering(rows)
        return self._attempt(rows, self._kept) if made is None else self._numbered(made)

    def _numbered(self, numbering: Numbering) -> Any:
        """Sorts rows over all tasks, and numbers them by their place in their task and the number of rows in the tasks before."""

        def in_order(rows: Any) -> Any:
            if numbering.keys:
                rows = rows.repartitionByRange(*numbering.keys).sortWithinPartitions(*numbering.keys).drop(*numbering.keys)
            return self._kept(rows.selectExpr("*", f"monotonically_increasing_id() AS {PLACE}"))

        # We write functions as text, because as objects they belong either to classic sessions or to Connect.
        placed = self._attempt(numbering.rows, in_order)
        sizes = dict(placed.selectExpr(f"{self.text(task())} AS task").groupBy("task").count().collect())
        return placed.selectExpr(*(self.text(statement) for statement in numbered(numbering, numbers_before(sizes))))

    def _attempt(self, statement: Statement, finish: Callable[[Any], _Result]) -> _Result:
        """Returns what `finish` makes of the statement's frame. We add counts up in 64 bits, and if these overflow again in 128."""
        try:
            return self._computed(statement, finish)
        except _FAILURES as error:
            if not any(words in str(error) for words in _OVERFLOW):
                raise
        return self._computed(statement, finish, with_overflow_checks=True)

    def _computed(self, statement: Statement, finish: Callable[[Any], _Result], *, with_overflow_checks: bool = False) -> _Result:
        """Computes the steps that are read more than once and the rows that meet large tables, then the rest."""
        self._steps += 1
        steps, rest = taken_apart(tree(statement), self._steps)
        met: list[str] = []

        def frame(query: exp.Expr) -> Any:
            for rows, table in cuts(query, Sizes(self._sizes, self._large)):
                met.append(f"{PREFIX}before_{self._steps}_{len(met)}")
                table.set("this", identifier(met[-1]))
                self._add(met[-1], self._kept(plain(rows)))
            return plain(query)

        def plain(query: exp.Expr) -> Any:
            self._opened.prepare(self._reads_few(query))
            return self._session.sql(text(query, SPARK, with_overflow_checks=with_overflow_checks))

        try:
            for name, query in steps.items():
                self._add(name, self._kept(frame(query)))
            return finish(frame(rest))
        finally:
            self._drop([*steps, *met])

    def _kept(self, frame: Any) -> Any:
        """The rows of a frame, computed once and kept by the executors."""
        if self._folder is None and self._opened.is_local and not self._few_rows:
            self._own_folder = SpillFolder()
            self._folder = self._own_folder.name
        if self._folder is None:
            kept = frame.localCheckpoint(eager=True)
            # Connect releases the rows with the frame; classic sessions only when the driver's Java collects garbage.
            if not is_remote(self._session):
                self._fresh.append(lambda: kept._jdf.queryExecution().logical().rdd().unpersist(False))
            self._fresh_size = UNKNOWN
            return kept
        self._files += 1
        path = f"{self._folder}/{self._files}"
        frame.write.parquet(path)
        self._fresh.append(lambda: self._remove(path))
        folder, system = self._java_path(path)
        self._fresh_size = system.getContentSummary(folder).getLength()
        return self._session.read.schema(frame.schema).parquet(path)

    def _add(self, name: str, frame: Any) -> None:
        """Add rows to a table, or make it."""
        parts = self._tables.setdefault(name, [])
        parts.append(frame)
        self._releases.setdefault(name, []).extend(self._fresh)
        self._fresh.clear()
        self._sizes[name] = self._sizes.get(name, 0) + self._fresh_size
        self._fresh_size = UNKNOWN
        reduce(lambda left, right: left.unionByName(right), parts).createOrReplaceTempView(name)

    def _reads_few(self, query: exp.Expr) -> bool:
        """Returns whether a query reads few rows, by the true sizes of its tables, or all tables together have few."""
        tables = tables_read(query) - {step.alias for step in query.find_all(exp.CTE)}
        return self._few_rows or sum(self._sizes.get(name, UNKNOWN) for name in tables) <= self._few_bytes

    def _most_few_bytes(self) -> int:
        """Returns how many bytes are few: what adaptive execution would not divide."""
        partitions, piece = (amount(self._session.conf.get(f"spark.sql.{name}")) for name in _PIECES)
        return min(_FEW_BYTES, (partitions or 0) * (piece or 0))

    def _least_large(self) -> int:
        """Returns from how many bytes on Spark might not send a table to every executor."""
        return (amount(self._session.conf.get("spark.sql.autoBroadcastJoinThreshold")) or UNKNOWN) // _LARGE_PART

    def _drop(self, names: Sequence[str]) -> None:
        for name in names:
            if self._tables.pop(name, None) is not None:
                self._sizes.pop(name, None)
                self._session.catalog.dropTempView(name)
                for release in self._releases.pop(name, []):
                    release()

    def _remove(self, folder: str) -> None:
        path, system = self._java_path(folder)
        system.delete(path, True)

    def _java_path(self, name: str) -> tuple[Any, Any]:
        """Returns a path as Java has it, and the file system that it is on."""
        path = self._session._jvm.org.apache.hadoop.fs.Path(name)
        return path, path.getFileSystem(self._session._jsc.hadoopConfiguration())

    # The following methods run in the caller's thread.

    def _do(self, work: Callable[[], _Result]) -> _Result:
        def tagged() -> _Result:
            self._opened.tag(self._tag)
            with quiet():
                return work()

        try:
            return self._worker.do(tagged, seconds=self._timeout)
        except _FAILURES as error:
            raise EngineError(_words(error)) from error


def numbers_before(sizes: Mapping[int, int]) -> list[int]:
    """For each task, how many rows the tasks before it have. InputError if there are more rows than numbers. `sizes`: the number of
    rows of every task that has some."""
    rows = sum(sizes.values())
    if rows > _MOST_NUMBERED:
        message = f"there are {rows:,} different constants, predictions or sets of literals, and numbers for {_MOST_NUMBERED:,}"
        raise InputError(
            Diagnostic("E369", message, helps=("score parts of the predictions, or facts of fewer predicates, at a time",))
        )
    return list(accumulate((sizes.get(part, 0) for part in range(max(sizes, default=0))), initial=0))


def _words(error: Exception) -> str:
    """The error's message, without the plan and the traces behind it."""
    lines = str(error).splitlines()
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    if causes:
        return causes[-1]
    told = takewhile(lambda line: not line.startswith(("\tat ", "'", "+-", "== SQL", "JVM stacktrace")), lines)
    return "\n".join(line for line in told if not line.startswith("An error occurred while calling")).strip(": \n")


def _plain(rows: pa.Table) -> pa.Table:
    """Rows in types that Spark has."""
    # If a table has several chunks, the library may read only the first.
    return rows.cast(pa.schema([(field.name, _stored_type(field.type)) for field in rows.schema])).combine_chunks()


def _stored_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _stored_type(kind.value_type)
    if pa.types.is_unsigned_integer(kind):
        return pa.int64()
    if pa.types.is_large_string(kind) or pa.types.is_null(kind):
        return pa.string()
    return kind


def _arrow_type(kind: DataType) -> pa.DataType:
    """The Arrow type of a column. A `TimestampType` is an instant, in whatever zone Spark shows it."""
    return pa.timestamp("us", "UTC") if isinstance(kind, TimestampType) else to_arrow_type(kind)
