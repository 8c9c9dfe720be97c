"""Spark servers of the tests' own, on loopback: a Connect server, and a standalone master with one worker."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

import pyspark

from rulescore.spark.session import java_home
from servers.own_folders import own_folder, record
from servers.spark import SMALL
from servers.spark_program import ENVIRONMENT

HOME = Path(pyspark.__file__).parent
LOCAL = {"SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": "127.0.0.1"}
PATIENCE = 120


@contextmanager
def connect_server() -> Iterator[str]:
    """The address of a Connect server."""
    settings = {**SMALL, "spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": "0"}
    with own_folder("connect") as folder, java_home():
        settings |= {"spark.local.dir": str(folder), "spark.sql.warehouse.dir": f"{folder}/warehouse"}
        flags = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
        server = "org.apache.spark.sql.connect.service.SparkConnectServer"
        command = [HOME / "bin" / "spark-submit", "--class", server, *flags, "spark-internal"]
        with running(command, folder, r"Connect server started at: \S+:(\d+)") as (port, _):
            yield f"sc://127.0.0.1:{port}"


@contextmanager
def standalone_master() -> Iterator[str]:
    """The address of a master whose one worker has a core and 600 MB."""
    with standalone_cluster(1) as (address, _):
        yield address


@contextmanager
def standalone_cluster(workers: int) -> Iterator[tuple[str, list[int]]]:
    """The address of a master, and the processes of its workers. Each has a core and 600 MB."""
    any_port = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
    start, package = HOME / "bin" / "spark-class", "org.apache.spark.deploy"
    with ExitStack() as stack:
        folder = stack.enter_context(own_folder("cluster"))
        stack.enter_context(java_home())
        master = [start, f"{package}.master.Master", *any_port]
        address, _ = stack.enter_context(running(master, folder, r"Starting Spark master at (spark://\S+)"))
        processes = []
        for number in range(workers):
            limits = ["-c", "1", "-m", "600m", "-d", folder / f"work-{number}"]
            worker = [start, f"{package}.worker.Worker", address, *any_port, *limits]
            _, process = stack.enter_context(running(worker, folder, "Successfully registered with master"))
            processes.append(process)
        yield address, processes


@contextmanager
def running(command: list[object], folder: Path, ready: str) -> Iterator[tuple[str, int]]:
    """A process that says by a line of its log that it is ready, and in the line's first group at which address: the system chooses
    the ports, so nobody else can have taken them. Yields the address and the process's number. It is stopped in the end, and waited
    for."""
    with tempfile.TemporaryFile() as messages:
        environment = {**os.environ, **ENVIRONMENT, **LOCAL, "SPARK_LOCAL_DIRS": str(folder)}
        process = subprocess.Popen(list(map(str, command)), cwd=folder, env=environment, stdout=messages, stderr=messages)
        record(folder, process.pid)
        try:
            yield _awaited(process, messages, ready), process.pid
        except BaseException:
            print(_said(messages)[-4000:])
            raise
        finally:
            process.terminate()
            process.wait()


def _awaited(process: subprocess.Popen[bytes], messages: IO[bytes], ready: str) -> str:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        if said := re.search(ready, _said(messages)):
            return said[said.lastindex or 0]
        time.sleep(0.1)
    raise AssertionError(f"no line `{ready}` in the log; the process says {process.poll()}")


def _said(messages: IO[bytes]) -> str:
    return os.pread(messages.fileno(), 1 << 24, 0).decode(errors="replace")
