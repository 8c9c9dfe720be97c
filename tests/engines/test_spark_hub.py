"""A hub with a tenth of all facts sinks no task."""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import rulescore

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("spark")]

FACTS, NODES, HUB = 6000, 600, "hub"
RULES = """
wedge: r(X, Y) <- p(X, Z), q(Y, Z).
chain: r(X, Y) <- p(X, Z), q(Z, Y).
turned: q(Y, X) <- p(X, Y).
incompatible p, q, r.
"""


def graph(facts: int, seed: int) -> pa.Table:
    """A tenth of the facts are the hub's."""
    choose = random.Random(seed)
    nodes = [f"n{i}" for i in range(NODES)]
    heads = [HUB if i % 20 == 0 else choose.choice(nodes) for i in range(facts)]
    tails = [HUB if i % 20 == 1 else choose.choice(nodes) for i in range(facts)]
    return pa.table({"head": heads, "relation": [choose.choice("pqr") for _ in range(facts)], "tail": tails})


def rows_of_tasks(events: Path) -> Iterator[list[int]]:
    """How many rows each task of a stage has been sent, for each stage."""
    stages: dict[int, list[int]] = {}
    (log,) = (path for path in events.rglob("*") if path.is_file() and not path.name.startswith("."))
    for line in log.read_text().splitlines():
        event = json.loads(line)
        if event["Event"] == "SparkListenerTaskEnd" and "Task Metrics" in event:
            read = event["Task Metrics"]["Shuffle Read Metrics"]["Total Records Read"]
            stages.setdefault(event["Stage ID"], []).append(read)
    yield from stages.values()


def test_no_task_has_many_times_the_rows_of_the_others(tmp_path: Path) -> None:
    parquet.write_table(graph(FACTS, 1), tmp_path / "facts.parquet")
    parquet.write_table(graph(FACTS // 10, 2), tmp_path / "m.parquet")
    (tmp_path / "some.rules").write_text(RULES)
    subprocess.run([sys.executable, Path(__file__).with_name("spark_hub.py"), tmp_path], check=True, capture_output=True)

    expected = rulescore.score(tmp_path / "facts.parquet", {"m": tmp_path / "m.parquet"}, RULES).contributions
    found = parquet.read_table(tmp_path / "contributions")
    assert sorted(found.to_pylist(), key=str) == sorted(expected.to_pylist(), key=str)

    stages = [rows for rows in rows_of_tasks(tmp_path / "events") if len(rows) >= 8 and sum(rows) >= FACTS]
    assert stages
    assert max(max(rows) / statistics.median(rows) for rows in stages) < 4
