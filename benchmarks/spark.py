"""Rules of several shapes on a standalone Spark master with one worker and with two, and on DuckDB, over graphs of several sizes."""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Any

import duckdb
import pyspark

import spark_graph
from measure import DifferentCountsError
from spark_cluster import running_cluster
from spark_events import read_events
from spark_plan import plan, tables

WORKER = Path(__file__).with_name("spark_worker.py")
WORKERS = (1, 2)
MILLION = 1_000_000
LARGEST_WITH_SHAPES = 4 * MILLION
EXECUTOR_MEMORY, WORKER_MEMORY = "2560m", "3g"

# Of two workers with a core each; what else a session of the package's own has is set by the package.
SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.executor.cores": "1",
    "spark.executor.memory": EXECUTOR_MEMORY,
    "spark.sql.shuffle.partitions": "32",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
    "spark.eventLog.logStageExecutorMetrics": "true",
    "spark.executor.processTreeMetrics.enabled": "true",
    "spark.executor.metrics.pollingInterval": "1s",
}

Result = dict[str, Any]


def main() -> None:
    options = _options()
    if options.tables is not None:
        print(tables(json.loads(options.tables.read_text())))
    elif options.plan is not None:
        print(plan(json.loads(options.plan.read_text()), int(options.facts), options.executors, options.cores))
    else:
        signal.signal(signal.SIGTERM, _end)
        results = _measure([int(size * MILLION) for size in options.sizes])
        print(tables(results))
        if options.out is not None:
            options.out.write_text(json.dumps(results, indent=1) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=float, nargs="+", default=(1, 4, 16), help="millions of facts")
    parser.add_argument("--out", type=Path, help="write results as JSON")
    parser.add_argument("--tables", type=Path, metavar="RESULTS", help="print the tables of earlier results, and measure nothing")
    parser.add_argument("--plan", type=Path, metavar="RESULTS", help="print what more facts would need by earlier results")
    parser.add_argument("--facts", type=float, default=10e9, help="of the plan")
    parser.add_argument("--executors", type=int, default=100, help="of the plan")
    parser.add_argument("--cores", type=int, default=4, help="of each executor of the plan")
    return parser.parse_args()


def _end(number: int, frame: FrameType | None) -> None:
    """As Ctrl-C ends it: processes that were started here are stopped."""
    sys.exit(128 + number)


def _measure(sizes: Sequence[int]) -> Result:
    runs = []
    with tempfile.TemporaryDirectory(prefix="rulescore-bench-") as temporary:
        for size in sizes:
            folder = Path(temporary) / str(size)
            spark_graph.write_graph(folder / "graph", size)
            _say(f"{size:,} facts written")
            run: Result = {"graph": spark_graph.measures(folder / "graph")}
            run["duckdb"] = _duckdb(folder)
            for workers in WORKERS:
                run[f"workers_{workers}"] = _spark(folder / f"workers-{workers}", workers, _rule_sets(size, workers), run["duckdb"])
            runs.append(run)
    versions = {"python": platform.python_version(), "spark": pyspark.__version__, "duckdb": duckdb.__version__}
    return {"processors": os.cpu_count(), **versions, "runs": runs}


def _rule_sets(size: int, workers: int) -> list[str]:
    """All shapes together and, where that does not take too long, each alone and many rules of one."""
    return list(spark_graph.RULE_SETS) if size <= LARGEST_WITH_SHAPES and workers == max(WORKERS) else ["all"]


def _duckdb(folder: Path) -> Result:
    load = os.getloadavg()[0]
    order = {"settings": None, "graph": str(folder / "graph"), "contributions": str(folder / "duckdb.parquet"), "rule_sets": ["all"]}
    (told,) = _ask(order)
    seconds = {step: ended - started for step, (started, ended) in told["steps"].items()}
    _say(f"DuckDB: {sum(seconds.values()):.1f} s")
    return {"load": load, "seconds": seconds, "totals": told["totals"]}


def _spark(folder: Path, workers: int, rule_sets: list[str], expected: Result) -> Result:
    load = os.getloadavg()[0]
    events, contributions = folder / "events", folder / "contributions"
    events.mkdir(parents=True)
    with running_cluster(folder / "cluster", workers, WORKER_MEMORY) as address:
        settings = {**SETTINGS, "spark.master": address, "spark.eventLog.dir": events.as_uri(), "spark.local.dir": str(folder)}
        order = {"settings": settings, "graph": str(folder.parent / "graph"), "contributions": str(contributions)}
        told = _ask({**order, "rule_sets": rule_sets})
    found = read_events(events)
    sets = {}
    for one in told:
        usage = {step: asdict(found.between(*times)) for step, times in one["steps"].items()}
        seconds = {step: ended - started for step, (started, ended) in one["steps"].items()}
        sets[one["rules"]] = {"seconds": seconds, "usage": usage, "rows": one["rows"], "kept": one["kept"]}
        _say(f"Spark, workers: {workers}, rules: {one['rules']}, {sum(seconds.values()):.1f} s")
    compared = _require_equal(told[0]["totals"], expected["totals"], contributions, folder.parent / "duckdb.parquet")
    memory = {"executor_memory": found.executor_memory, "driver_memory": found.driver_memory}
    return {"load": load, "contributions": compared, **memory, "sets": sets}


def _ask(order: Result) -> list[Result]:
    command = [sys.executable, str(WORKER)]
    finished = subprocess.run(command, input=json.dumps(order), stdout=subprocess.PIPE, text=True, check=True)
    told: list[Result] = json.loads(finished.stdout)
    return told


def _require_equal(found: object, expected: object, spark: Path, own: Path) -> int:
    """All totals, and all contributions, are DuckDB's; returns the number of contributions."""
    if found != expected:
        raise DifferentCountsError(f"Spark's totals {found} are not DuckDB's {expected}")
    fields = "model, rule, predicate, arguments, confirmed::BIGINT, refuted::BIGINT, evaluable::BIGINT"
    left, right = f"SELECT {fields} FROM '{spark}/*.parquet'", f"SELECT {fields} FROM '{own}'"
    with duckdb.connect() as connection:
        apart, compared = connection.execute(
            f"SELECT (SELECT count(*) FROM (({left} EXCEPT ALL {right}) UNION ALL ({right} EXCEPT ALL {left}))),"
            f" (SELECT count(*) FROM ({right}))"
        ).fetchall()[0]
    if apart:
        raise DifferentCountsError(f"{apart:,} of Spark's contributions are not DuckDB's, or the other way round")
    return int(compared)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
