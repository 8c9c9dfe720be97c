"""What a run survives: an executor that dies, and a worker that dies with its executor."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import rulescore
from servers.cluster import LOCAL, standalone_cluster
from servers.spark_halting import HALTS
from servers.spark_program import ENVIRONMENT, rows, sorted_rows

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("spark-servers")]

TESTS = Path(__file__).parents[1]
PATIENCE = 600

RULES = """
turned: p(X, Y) <- q(Y, X).
triangle: q(X, Y) <- p(X, Z), r(Z, Y).
closed: false <- p(X, Y), q(Y, Z), r(Z, X).
incompatible p, q, r.
"""


def triples(seed: int) -> list[tuple[str, str, str]]:
    choose = random.Random(seed)
    return sorted({(f"c{choose.randrange(40)}", choose.choice("pqr"), f"c{choose.randrange(40)}") for _ in range(400)})


def executor_of(worker: int) -> int:
    """The process that a worker has started."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        children = [process for path in Path(f"/proc/{worker}/task").glob("*/children") for process in path.read_text().split()]
        if children:
            return int(children[0])
        time.sleep(0.1)
    raise AssertionError(f"worker {worker} has no executor")


@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
def test_a_run_with_a_shared_folder_survives_a_lost_executor_and_a_killed_worker(tmp_path: Path) -> None:
    facts, predictions = triples(1), triples(2)
    parquet.write_table(rows(facts), tmp_path / "facts.parquet")
    parquet.write_table(rows(predictions), tmp_path / "predictions.parquet")
    (tmp_path / "some.rules").write_text(RULES)
    environment = {
        **os.environ,
        **ENVIRONMENT,
        **LOCAL,
        "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]),
    }
    with standalone_cluster(2) as (master, (first, second)):
        command = [sys.executable, "-W", "ignore", "-m", "servers.spark_halting", master]
        process = subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            for halt, victim in zip(HALTS, (lambda: executor_of(first), lambda: second), strict=True):
                assert process.stdout.readline().strip() == halt
                os.kill(victim(), signal.SIGKILL)
                process.stdin.write("\n")
                process.stdin.flush()
            _, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert process.returncode == 0, errors[-4000:]
    expected = rulescore.score(facts, {"m": predictions}, RULES, contributions=True).contributions
    assert sorted_rows(pa.table(parquet.read_table(tmp_path / "found.parquet"))) == sorted_rows(expected)
    assert not list((tmp_path / "scratch").rglob("*.parquet"))
