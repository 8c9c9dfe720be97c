"""A hub with a tenth of all facts sinks no task."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import rulescore
import spark_hub

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("spark")]

FACTS, NODES, HUB = 3000, 400, "hub"

# Counted by triangles, and by joining bodies.
RULES = """
wedge: r(X, Y) <- p(X, Z), q(Y, Z).
chain: r(X, Y) <- p(X, Z), q(Z, Y), X != Y.
incompatible q, r.
"""


def graph(facts: int, seed: int) -> pa.Table:
    """A tenth of the facts are the hub's."""
    choose = random.Random(seed)
    nodes = [f"n{i}" for i in range(NODES)]
    heads = [HUB if i % 20 == 0 else choose.choice(nodes) for i in range(facts)]
    tails = [HUB if i % 20 == 1 else choose.choice(nodes) for i in range(facts)]
    return pa.table({"head": heads, "relation": [choose.choice("pqr") for _ in range(facts)], "tail": tails})


def rows_of_joins(events: Path) -> Iterator[list[int]]:
    """How many rows each task was sent, for every stage that joins and reads as many rows as there are facts."""
    (log,) = (path for path in events.rglob("*") if path.is_file() and not path.name.startswith("."))
    joins: set[int] = set()
    read: dict[int, list[int]] = {}
    for event in map(json.loads, log.read_text().splitlines()):
        match event["Event"]:
            case "SparkListenerStageSubmitted":
                scopes = [json.loads(rows.get("Scope", '{"name": ""}'))["name"] for rows in event["Stage Info"]["RDD Info"]]
                if any("Join" in name for name in scopes):
                    joins.add(event["Stage Info"]["Stage ID"])
            case "SparkListenerTaskEnd":
                metrics = event["Task Metrics"]["Shuffle Read Metrics"]
                read.setdefault(event["Stage ID"], []).append(metrics["Total Records Read"])
    yield from (rows for stage, rows in read.items() if stage in joins and sum(rows) >= FACTS)


def largest_part(events: Path) -> float:
    """The most rows that a task of a join was sent, as a multiple of an even share of its stage's."""
    return max(max(rows) / (sum(rows) / spark_hub.PARTITIONS) for rows in rows_of_joins(events))


def test_no_task_of_a_join_has_twice_its_share_of_the_rows_unless_skew_is_left_alone(tmp_path: Path) -> None:
    parquet.write_table(graph(FACTS, 1), tmp_path / "facts.parquet")
    parquet.write_table(graph(FACTS // 10, 2), tmp_path / "m.parquet")
    (tmp_path / "some.rules").write_text(RULES)
    subprocess.run([sys.executable, spark_hub.__file__, tmp_path], check=True, capture_output=True)

    expected = rulescore.score(tmp_path / "facts.parquet", {"m": tmp_path / "m.parquet"}, RULES).contributions
    found = parquet.read_table(tmp_path / "contributions")
    assert sorted(found.to_pylist(), key=str) == sorted(expected.to_pylist(), key=str)

    assert largest_part(tmp_path / "divided") < 2 < largest_part(tmp_path / "whole")
