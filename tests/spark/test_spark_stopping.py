"""Ctrl-C while Spark works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rulescore.setting.options import EngineOptions
from rulescore.spark import session as spark_session
from rulescore.spark.engine import SparkEngine
from servers.spark_program import ENVIRONMENT

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("spark-servers")]

# Runs the program. As soon as its main thread waits for the counts over the data and Spark works on them, says on stdout which
# process Java is.
START = """
import sys, threading, time
main_thread = threading.get_ident()

def waits_for_counts():
    frame = sys._current_frames()[main_thread]
    while frame is not None and frame.f_code.co_name != "dataset_counts":
        frame = frame.f_back
    return frame is not None

def watch():
    while not waits_for_counts():
        time.sleep(0.02)
    from pyspark import SparkContext
    while not SparkContext._active_spark_context.statusTracker().getActiveJobsIds():
        time.sleep(0.02)
    print(SparkContext._gateway.proc.pid, flush=True)

threading.Thread(target=watch, daemon=True).start()
from rulescore.cli.main import main
main()
"""


def write_endless_work(folder: Path) -> None:
    """A rule with more than 10 to the 12 groundings, over a graph of 20,000 facts."""
    nodes = range(200)
    rows = [f"{x}\ta\t{y}\n" for x in nodes for y in nodes if (x + y) % 2]
    (folder / "train.tsv").write_text("".join(rows), encoding="utf-8")
    body = ", ".join(f"a(V{i}, V{i + 1})" for i in range(5))
    (folder / "endless.rules").write_text(f"endless: false <- {body}, V0 != V5.\n", encoding="utf-8")


def test_ctrl_c_during_a_statement_exits_with_130_and_leaves_neither_java_nor_files(tmp_path: Path) -> None:
    write_endless_work(tmp_path)
    arguments = ["audit", "--facts", "train.tsv", "--rules", "endless.rules", "--output", "out", "--quiet"]
    process = subprocess.Popen(
        [sys.executable, "-c", START, *arguments, "--engine", "spark://local[1]"],
        cwd=tmp_path,
        env={**os.environ, **ENVIRONMENT},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        java = int(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        # The statement would take hours.
        stdout, stderr = process.communicate(timeout=120)
    finally:
        process.kill()
    assert (process.returncode, stdout, stderr.strip()) == (130, "", "interrupted")
    with pytest.raises(ProcessLookupError):
        os.kill(java, 0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["endless.rules", "train.tsv"]


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt, wherever tests are run from."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_while_a_session_starts_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing answers at this address, so that the session surely has not started, and it would be waited for all day."""
    monkeypatch.setattr(spark_session, "_PATIENCE", 86_400)
    sender = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        SparkEngine(EngineOptions("sc://127.0.0.1:1"))
    sender.join()
