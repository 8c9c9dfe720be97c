"""A hub with a tenth of all facts sinks no task."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import rulescore

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("spark-servers")]

TESTS = Path(__file__).parents[1]
FACTS, NODES, FILES, HUB = 6400, 1000, 8, "hub"

# Counted by joining both atoms of the body, not by triangles, in which no hub is joined with itself.
RULES = """
chain: r(X, Y) <- p(X, Z), q(Z, Y), X != Y.
incompatible q, r.
"""


def write_graph(folder: Path) -> None:
    """A tenth of the facts are the hub's, of every relation: one half leads to it, the other away from it."""
    folder.mkdir()
    choose = random.Random(1)
    for part in range(FILES):
        heads, tails = ([f"n{choose.randrange(NODES)}" for _ in range(FACTS // FILES)] for _ in range(2))
        relations = [choose.choice("pqr") for _ in heads]
        for i in range(0, len(heads), 20):
            tails[i] = heads[i + 1] = HUB
        parquet.write_table(pa.table({"head": heads, "relation": relations, "tail": tails}), folder / f"{part}.parquet")


def rows_of_joins(events: Path, began: float, ended: float) -> Iterator[list[int]]:
    """How many rows each task found, for every join between two times."""
    (log,) = (path for path in events.rglob("*") if path.is_file() and not path.name.startswith("."))
    joins: set[int] = set()
    found: dict[int, list[int]] = {}
    for event in map(json.loads, log.read_text().splitlines()):
        if "sparkPlanInfo" in event:
            joins |= set(counters_of_joins(event["sparkPlanInfo"]))
        if event["Event"] == "SparkListenerTaskEnd" and began <= event["Task Info"]["Launch Time"] <= ended:
            for counter in event["Task Info"]["Accumulables"]:
                found.setdefault(counter["ID"], []).append(counter.get("Update", 0))
    yield from ([int(rows) for rows in found[join]] for join in joins & found.keys())


def counters_of_joins(plan: Any) -> Iterator[int]:
    if "Join" in plan["nodeName"]:
        yield from (metric["accumulatorId"] for metric in plan["metrics"] if metric["name"] == "number of output rows")
    for child in plan["children"]:
        yield from counters_of_joins(child)


def largest_share(events: Path, began: float, ended: float) -> float:
    """The largest part of a join's rows that one task found, of joins that find more rows than there are facts."""
    return max(max(rows) / sum(rows) for rows in rows_of_joins(events, began, ended) if sum(rows) > FACTS)


def test_no_task_finds_most_rows_of_a_join_unless_skew_is_left_alone(tmp_path: Path) -> None:
    write_graph(tmp_path / "facts")
    (tmp_path / "some.rules").write_text(RULES)
    done = subprocess.run(
        [sys.executable, "-m", "servers.spark_hub", tmp_path], cwd=TESTS, check=True, capture_output=True, text=True
    )
    divided, whole = map(json.loads, done.stdout.splitlines())

    (expected,) = rulescore.audit(tmp_path / "facts", RULES).rules.to_pylist()
    counts = {"0": [expected[f"dataset_{name}"] for name in ("confirmed", "refuted", "evaluable")]}
    assert divided["counts"] == whole["counts"] == counts

    shares = [largest_share(tmp_path / "events", told["began"], told["ended"]) for told in (divided, whole)]
    assert shares[0] < 1 / 3 < 2 / 3 < shares[1]
