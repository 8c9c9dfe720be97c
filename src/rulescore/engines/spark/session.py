"""Spark sessions: our own, which we start and stop, and the caller's, which we leave as they were."""

from __future__ import annotations

import logging
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Event
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from rulescore.engines.memory import MEBIBYTE, amount
from rulescore.engines.spark.java import java_home
from rulescore.errors import Diagnostic, InputError, masked
from rulescore.setting.options import EngineOptions

LOCAL, MASTER, CONNECT = "spark://local[", "spark://", "sc://"

# The settings that our statements rely on, whatever the session's own are.
_SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Joins stay in the order in which we write them.
    "spark.sql.cbo.joinReorder.enabled": "false",
    # What the planner infers about the rows of a table confuses it when it unites tables made from them.
    "spark.sql.constraintPropagation.enabled": "false",
    # No statement reads a file by its path, or a variable of the environment by `${env:NAME}` in a text.
    "spark.sql.runSQLOnFiles": "false",
    "spark.sql.variable.substitute": "false",
    # This rule fails on unions of tables that are read more than once ("key not found").
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.PushProjectionThroughUnion",
}

# The settings of our own sessions. From 64 KB on, Spark divides a task that receives more than twice the median: the output of a
# join grows with the square of its input if all of that belongs to one entity, and some thousand rows find many millions.
OWN = {
    "spark.app.name": "rulescore",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Nobody reads the plans, and writing them takes as long as making them.
    "spark.sql.maxPlanStringLength": "0",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.skewJoin.enabled": "true",
    # Dividing a task is worth one more exchange of rows.
    "spark.sql.adaptive.forceOptimizeSkewedJoin": "true",
    "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "2",
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "64KB",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "64KB",
    # Only the pieces of a divided task may be that small.
    "spark.sql.adaptive.coalescePartitions.minPartitionSize": "4MB",
}

# Settings of our own local sessions while they have few rows: compiling statements, and planning them anew after each step, would
# take longer than running them.
_BRIEF = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}

# How long we wait for a server to answer, and how often we look whether it has, in seconds.
_PATIENCE = 10
_POLL = 0.05


@dataclass(frozen=True, slots=True)
class SparkConnection:
    """A session to work in. `close` leaves everything as it was. `view_of` makes a view of a frame and returns its name. `tag`
    marks the jobs that this thread starts, `cancel` stops the jobs with that mark. `expect_many` prepares for many rows."""

    session: Any
    close: Callable[[], None]
    view_of: Callable[[Any, str], str]
    tag: Callable[[str], None]
    cancel: Callable[[str], object]
    expect_many: Callable[[], None] = lambda: None


def refuse_options(options: EngineOptions) -> None:
    """Raises one InputError for all options that Spark cannot keep, before anything starts."""
    problems = []
    given = {name: value for name in ("memory_limit", "threads", "spill_folder") if (value := getattr(options, name)) is not None}
    if options.session is not None or options.url.startswith(CONNECT):
        whose = "the session was given" if options.session is not None else "the server has started"
        for name in given if not _keeps_folder(options) else given.keys() - {"spill_folder"}:
            problems.append(_refused(name, f"{whose} with settings of its own"))
    elif (
        options.url.startswith(LOCAL)
        and options.threads is not None
        and _local_threads(options.url) not in {"*", str(options.threads)}
    ):
        problems.append(_refused("threads", f"the address says `local[{_local_threads(options.url)}]`"))
    if "memory_limit" in given and not problems and _mebibytes(str(options.memory_limit)) is None:
        message = f"Spark cannot keep to the `memory_limit` `{options.memory_limit}`"
        problems.append(Diagnostic("E931", message, helps=("write it as `2GB` or `500MiB`",)))
    if problems:
        raise InputError(problems)


def _keeps_folder(options: EngineOptions) -> bool:
    return options.session is not None and not is_remote(options.session)


def _refused(name: str, reason: str) -> Diagnostic:
    return Diagnostic("E931", f"Spark cannot keep to `{name}` here", notes=(reason,), helps=("leave it out",))


def is_remote(session: object) -> bool:
    return type(session).__module__.startswith("pyspark.sql.connect")


def open_session(options: EngineOptions, given_up: Event) -> SparkConnection:
    """The session that the options name. We stop waiting for a server's answer when `given_up` is set."""
    if options.session is not None:
        return _connected(options.session) if is_remote(options.session) else _beside(options.session)
    if options.url.startswith(CONNECT):
        return _reached(options.url, given_up)
    return _started(options)


def _beside(session: Any) -> SparkConnection:
    """A new session in the caller's context: we touch no view, setting or cached table of the caller's."""
    own = session.newSession()
    # A new session has the settings of the context, not those that the caller has set since.
    theirs = {name: value for name, value in session.conf.getAll.items() if session.conf.isModifiable(name)}
    _configure(own, {**theirs, **_SETTINGS})
    shared = own.conf.get("spark.sql.globalTempDatabase")
    views: list[str] = []

    def view_of(frame: Any, view: str) -> str:
        """Makes a global view, the only kind that sessions of one context share."""
        views.append(f"{view}_{uuid.uuid4().hex}")
        frame.createGlobalTempView(views[-1])
        return f"{shared}.{views[-1]}"

    def close() -> None:
        for view in views:
            own.catalog.dropGlobalTempView(view)

    return SparkConnection(own, close, view_of, _marking(own.sparkContext), own.sparkContext.cancelJobsWithTag)


def _marking(context: Any) -> Callable[[str], None]:
    """The function that marks the jobs of a thread. It also names what starts them: else Spark looks through the stack of calls for
    that name, at every step of every plan, which takes a tenth of a statement on few rows."""

    def mark(tag: str) -> None:
        context.addJobTag(tag)
        for name in ("callSite.short", "callSite.long"):
            context.setLocalProperty(name, "rulescore")

    return mark


def _connected(session: Any) -> SparkConnection:
    """The caller's own session. Spark Connect cannot open a second one beside it, so `close` restores the settings."""
    before = {name: session.conf.get(name, None) for name in _SETTINGS}
    _configure(session, _SETTINGS)

    def close() -> None:
        for name, value in before.items():
            if value is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, value)

    return SparkConnection(session, close, _view, session.addTag, session.interruptTag)


def _view(frame: Any, view: str) -> str:
    frame.createOrReplaceTempView(view)
    return view


def _reached(url: str, given_up: Event) -> SparkConnection:
    from grpc import FutureTimeoutError, channel_ready_future
    from pyspark.sql.connect.client import DefaultChannelBuilder
    from pyspark.sql.connect.session import SparkSession as RemoteSession

    try:
        # A session would keep asking a server that is not there for ten minutes.
        with DefaultChannelBuilder(url).toChannel() as channel:
            ready = channel_ready_future(channel)
            until = time.monotonic() + _PATIENCE
            while not ready.done() and time.monotonic() < until and not given_up.wait(_POLL):
                pass
            ready.result(timeout=0)
        session = RemoteSession.builder.remote(url).create()
        _configure(session, _SETTINGS)
    except FutureTimeoutError as error:
        raise InputError(_unreached(url, f"nothing answers within {_PATIENCE} seconds")) from error
    except PySparkException as error:
        raise InputError(_unreached(url, str(error))) from error
    return SparkConnection(session, session.stop, _view, session.addTag, session.interruptTag)


def _started(options: EngineOptions) -> SparkConnection:
    if SparkContext._active_spark_context is not None:
        helps = ("from Python, give the session itself: `engine=session`",)
        raise InputError(Diagnostic("E934", "a Spark session runs in this process already", helps=helps))
    conf = SparkConf(loadDefaults=False)
    for name, value in {**OWN, **_SETTINGS, **_addressed(options)}.items():
        conf.set(name, value)
    own_java = SparkContext._gateway is None
    if own_java:
        _launch_java(conf)
    elif options.memory_limit is not None:
        raise InputError(_refused("memory_limit", "the Java of this process runs already"))
    try:
        context = SparkContext(conf=conf)
    except Exception as error:
        if own_java:
            _end_java()
        raise InputError(_unreached(options.url, str(error))) from error

    def close() -> None:
        context.stop()
        if own_java:
            _end_java()

    session = SparkSession(context)
    opened = SparkConnection(session, close, _view, _marking(context), context.cancelJobsWithTag)
    return replace(opened, expect_many=_expecting_few(session)) if options.url.startswith(LOCAL) else opened


def _expecting_few(session: Any) -> Callable[[], None]:
    """Prepare a local session for few rows. The function that is returned prepares it for many."""
    few = {**_BRIEF, "spark.sql.shuffle.partitions": str(session.sparkContext.defaultParallelism)}
    many = {name: session.conf.get(name) for name in few}
    _configure(session, few)
    return lambda: _configure(session, many)


def _launch_java(conf: SparkConf) -> None:
    """Start Java with its messages in a file. If it does not start, the error shows them."""
    with java_home(), tempfile.TemporaryFile() as messages:
        try:
            SparkContext._gateway = launch_gateway(  # type: ignore[no-untyped-call]
                conf, {"stdout": messages, "stderr": messages}
            )
        except PySparkException as error:
            messages.seek(0)
            said = messages.read().decode(errors="replace").splitlines()
            notes = tuple(line for line in said if line.strip())[-5:]
            raise InputError(Diagnostic("E933", "the Java of Spark does not start", notes=notes)) from error
    SparkContext._jvm = SparkContext._gateway.jvm


def _end_java() -> None:
    gateway = SparkContext._gateway
    assert gateway is not None
    SparkContext._gateway = SparkContext._jvm = None
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()


def _addressed(options: EngineOptions) -> Mapping[str, str]:
    """The settings that follow from the address and the options."""
    found = {}
    memory = None if options.memory_limit is None else f"{_mebibytes(options.memory_limit)}m"
    if options.url.startswith(LOCAL):
        threads = _local_threads(options.url) if options.threads is None else str(options.threads)
        found["spark.master"] = f"local[{threads}]"
        found["spark.driver.host"] = found["spark.driver.bindAddress"] = "127.0.0.1"
        if memory is not None:
            found["spark.driver.memory"] = memory
        return found
    found["spark.master"] = options.url
    if memory is not None:
        found["spark.executor.memory"] = memory
    if options.threads is not None:
        found["spark.cores.max"] = str(options.threads)
    return found


def _local_threads(url: str) -> str:
    return url.removeprefix(LOCAL).rstrip("]")


def _mebibytes(size: str) -> int | None:
    """A size such as `2GB` or `500MiB`, in mebibytes; None if it is not a size, or too little for Java to start with."""
    return (amount(size) or 0) // MEBIBYTE or None


def _configure(session: Any, settings: Mapping[str, str]) -> None:
    for name, value in settings.items():
        session.conf.set(name, value)


def _unreached(url: str, reason: str) -> Diagnostic:
    notes = tuple(line.strip() for line in reason.splitlines() if line.strip())[:3]
    return Diagnostic("E933", f"no Spark session at `{masked(url)}`", notes=notes)


@contextmanager
def quiet() -> Iterator[None]:
    """Context manager: silences Spark's Python library, which writes every error to stderr beside raising it, and warns of a pandas
    that nobody uses."""
    logger = logging.getLogger("SQLQueryContextLogger")
    before = logger.disabled
    logger.disabled = True
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
            yield
    finally:
        logger.disabled = before
