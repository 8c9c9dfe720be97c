"""Spark servers of the tests' own, on loopback: a Connect server, and a standalone master with one worker."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

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
    port = free_port()
    settings = {**SMALL, "spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": str(port)}
    with own_folder("connect") as folder, java_home():
        settings |= {"spark.local.dir": str(folder), "spark.sql.warehouse.dir": f"{folder}/warehouse"}
        flags = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
        server = "org.apache.spark.sql.connect.service.SparkConnectServer"
        with running([HOME / "bin" / "spark-submit", "--class", server, *flags, "spark-internal"], folder, port):
            yield f"sc://127.0.0.1:{port}"


@contextmanager
def standalone_master() -> Iterator[str]:
    """The address of a master whose one worker has a core and 600 MB."""
    port, shown = free_port(), free_port()
    start = [HOME / "bin" / "spark-class", "org.apache.spark.deploy"]
    address = f"spark://127.0.0.1:{port}"
    master = ["master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(shown)]
    with ExitStack() as stack:
        folder = stack.enter_context(own_folder("cluster"))
        stack.enter_context(java_home())
        stack.enter_context(running(_deploy(start, master), folder, port))
        own = free_port()
        worker = ["worker.Worker", address, "--host", "127.0.0.1", "--port", str(own), "--webui-port", str(free_port())]
        stack.enter_context(running(_deploy(start, [*worker, "-c", "1", "-m", "600m", "-d", str(folder / "work")]), folder, own))
        yield address


def _deploy(start: list[object], arguments: list[str]) -> list[object]:
    program, package = start
    return [program, f"{package}.{arguments[0]}", *arguments[1:]]


def free_port() -> int:
    """One that no system hands out by itself: any program could be given such a one before the server takes it."""
    while True:
        port = random.randrange(10_000, 32_000)
        with socket.socket() as one, suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port


@contextmanager
def running(command: list[object], folder: Path, port: int) -> Iterator[None]:
    """A process that answers at a port. It is stopped in the end, and waited for."""
    with tempfile.TemporaryFile() as messages:
        environment = {**os.environ, **ENVIRONMENT, **LOCAL, "SPARK_LOCAL_DIRS": str(folder)}
        process = subprocess.Popen(list(map(str, command)), cwd=folder, env=environment, stdout=messages, stderr=messages)
        record(folder, process.pid)
        try:
            _await(process, port)
            yield
        except BaseException:
            messages.seek(0)
            print(messages.read().decode(errors="replace")[-4000:])
            raise
        finally:
            process.terminate()
            process.wait()


def _await(process: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"nothing answers at port {port}; the process says {process.poll()}")
