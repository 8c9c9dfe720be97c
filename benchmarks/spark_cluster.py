"""A standalone master of Spark with workers of one core each, on loopback, for as long as it is needed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from json import load
from pathlib import Path

import pyspark

from rulescore.spark.session import java_home

_HOST = "127.0.0.1"
_SECONDS_TO_START = 120


@contextmanager
def running_cluster(folder: Path, workers: int, memory: str) -> Iterator[str]:
    """The address of a master with so many workers. Everything they write is under `folder`; all of them are stopped in the end."""
    master_port, web_port, *worker_ports = _free_ports(2 + 2 * workers)
    address = f"spark://{_HOST}:{master_port}"
    with java_home(), ExitStack() as running:
        master = ["master.Master", "--port", str(master_port), "--webui-port", str(web_port)]
        running.enter_context(_process(folder, "master", master))
        for i in range(workers):
            own = ["--port", str(worker_ports[2 * i]), "--webui-port", str(worker_ports[2 * i + 1])]
            work = ["--cores", "1", "--memory", memory, "--work-dir", str(folder / f"worker-{i}"), address]
            running.enter_context(_process(folder, f"worker-{i}", ["worker.Worker", *own, *work]))
        _wait_for(f"http://{_HOST}:{web_port}/json/", workers)
        yield address


def _free_ports(count: int) -> list[int]:
    with ExitStack() as open_ones:
        sockets = [open_ones.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((_HOST, 0))
        return [one.getsockname()[1] for one in sockets]


@contextmanager
def _process(folder: Path, name: str, arguments: list[str]) -> Iterator[None]:
    """One of Spark's own processes, in a process group of its own with all that it starts."""
    home = Path(pyspark.__file__).parent
    scratch = folder / f"{name}-scratch"
    scratch.mkdir(parents=True)
    own = {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": _HOST, "SPARK_LOCAL_DIRS": str(scratch), "SPARK_DAEMON_MEMORY": "256m"}
    kind, *options = arguments
    command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", "--host", _HOST, *options]
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            command, env={**os.environ, **own}, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _wait_for(url: str, workers: int) -> None:
    limit = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < limit:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                alive = load(answer)["aliveworkers"]
        except (urllib.error.URLError, TimeoutError):
            alive = 0
        if alive == workers:
            return
        time.sleep(0.5)
    raise TimeoutError(f"no master with {workers} workers after {_SECONDS_TO_START} s")
