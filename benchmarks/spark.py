"""Rules of several shapes on a standalone Spark master with one worker and with two, and on DuckDB, over graphs of some sizes."""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
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
MILLION = 1_000_000
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

# Each shape alone is measured as at scale, where nothing but the parameters of rules is small enough to be sent to every executor.
AT_SCALE = {"spark.sql.autoBroadcastJoinThreshold": "64KB"}

Result = dict[str, Any]


def main() -> None:
    options = _options()
    if options.tables is not None:
        print(tables(json.loads(options.tables.read_text())))
    elif options.plan is not None:
        print(plan(json.loads(options.plan.read_text()), int(options.facts), options.executors, options.cores))
    else:
        signal.signal(signal.SIGTERM, _end)
        sizes, shape_sizes = ([int(size * MILLION) for size in given] for given in (options.sizes, options.shape_sizes))
        print(tables(_measure(sizes, shape_sizes, options.workers, options.out)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=float, nargs="*", default=(1, 4, 16), help="millions of facts")
    parser.add_argument("--shape-sizes", type=float, nargs="*", default=(1, 4), help="millions of facts for each shape alone")
    parser.add_argument("--workers", type=int, nargs="*", default=(2, 1), choices=(1, 2), help="of the runs of all shapes together")
    parser.add_argument("--out", type=Path, help="write results as JSON, beside those that are there")
    parser.add_argument("--tables", type=Path, metavar="RESULTS", help="print the tables of earlier results, and measure nothing")
    parser.add_argument("--plan", type=Path, metavar="RESULTS", help="print what more facts would need by earlier results")
    parser.add_argument("--facts", type=float, default=10e9, help="of the plan")
    parser.add_argument("--executors", type=int, default=100, help="of the plan")
    parser.add_argument("--cores", type=int, default=4, help="of each executor of the plan")
    return parser.parse_args()


def _end(number: int, frame: FrameType | None) -> None:
    """As Ctrl-C ends it: processes that were started here are stopped."""
    sys.exit(128 + number)


def _measure(sizes: Sequence[int], shape_sizes: Sequence[int], workers: Sequence[int], out: Path | None) -> Result:
    """Results, added to those that `out` holds already, and kept there whenever something is done: a run takes long."""
    versions = {"python": platform.python_version(), "spark": pyspark.__version__, "duckdb": duckdb.__version__}
    results: Result = {"processors": os.cpu_count(), **versions, "graphs": {}, "duckdb": {}, "applications": []}
    if out is not None and out.exists():
        results = json.loads(out.read_text())

    def run(folder: Path, workers: int, tasks: Sequence[_Task], *, at_scale: bool = False) -> None:
        if not tasks:
            return
        application: Result = {"workers": workers, "at_scale": at_scale, "load": [os.getloadavg()[0]], "runs": []}
        results["applications"].append(application)
        for told in _spark(folder, workers, tasks, AT_SCALE if at_scale else {}):
            run = _compared(folder, told, results["duckdb"], workers) if told["rules"] == "all" else told
            application |= run.pop("memory")
            application["runs"].append(run)
            application["load"].append(os.getloadavg()[0])
            if out is not None:
                out.write_text(json.dumps(results, indent=1) + "\n")

    with tempfile.TemporaryDirectory(prefix="rulescore-bench-") as temporary:
        folder = Path(temporary)
        for size in sorted({*sizes, *shape_sizes}):
            spark_graph.write_graph(folder / str(size), size)
            results["graphs"][str(size)] = spark_graph.measures(folder / str(size))
            _say(f"{size:,} facts are written")
        results["duckdb"] |= {str(size): _duckdb(folder, size) for size in sizes}
        for count in workers:
            run(folder, count, [_Task(size, "all", "spark") for size in sizes])
        alone = [_Task(size, name) for size in shape_sizes for name in spark_graph.RULE_SETS if name != "all"]
        run(folder, 2, alone, at_scale=True)
    return results


@dataclass(frozen=True, slots=True)
class _Task:
    """Rules to score on the graph of a size; with a name for the folder, contributions are written there."""

    size: int
    rules: str
    contributions: str | None = None

    def order(self, folder: Path) -> Result:
        graph = folder / str(self.size)
        written = None if self.contributions is None else str(graph / self.contributions)
        return {"size": self.size, "graph": str(graph), "rules": self.rules, "contributions": written}


def _duckdb(folder: Path, size: int) -> Result:
    load = os.getloadavg()[0]
    (told,) = _ask({"settings": None, "tasks": [_Task(size, "all", "duckdb.parquet").order(folder)]})
    return {"load": load, "seconds": _seconds(told), "totals": told["totals"]}


def _spark(folder: Path, workers: int, tasks: Sequence[_Task], settings: Mapping[str, str]) -> Iterator[Result]:
    """What is told of each task of one application."""
    with tempfile.TemporaryDirectory(dir=folder) as own:
        events, scratch = Path(own, "events"), Path(own, "scratch")
        events.mkdir()
        scratch.mkdir()
        with running_cluster(Path(own), workers, WORKER_MEMORY) as address:
            all_settings = {**SETTINGS, **settings, "spark.master": address, "spark.eventLog.dir": events.as_uri()}
            orders = [task.order(folder) for task in tasks]
            for told in _ask({"settings": all_settings, "scratch": str(scratch), "tasks": orders}):
                found = read_events(events)
                usage = {step: asdict(found.between(*times)) for step, times in told["steps"].items()}
                memory = {"executor_memory": found.executor_memory, "driver_memory": found.driver_memory}
                fields = {field: told[field] for field in ("size", "rules", "rows", "kept", "totals")}
                yield {**fields, "memory": memory, "seconds": _seconds(told), "usage": usage}


def _compared(folder: Path, told: Result, expected: Result, workers: int) -> Result:
    """What is told of a run, with the number of contributions that were compared with DuckDB's."""
    size = str(told["size"])
    compared = _require_equal(told["totals"], expected[size]["totals"], folder / size)
    _say(f"workers: {workers}, {compared:,} contributions are DuckDB's")
    return {**told, "contributions": compared}


def _seconds(told: Result) -> dict[str, float]:
    return {step: ended - started for step, (started, ended) in told["steps"].items()}


def _ask(order: Result) -> Iterator[Result]:
    """Have the worker do what is ordered; it tells of each task when it is done."""
    command = [sys.executable, str(WORKER)]
    with (
        tempfile.TemporaryFile("w+") as messages,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=messages, text=True) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            json.dump(order, process.stdin)
            process.stdin.close()
            for line in process.stdout:
                told: Result = json.loads(line)
                engine = "DuckDB" if order["settings"] is None else "Spark"
                _say(f"{engine}, {told['size']:,} facts, rules `{told['rules']}`: {sum(_seconds(told).values()):.1f} s")
                yield told
        finally:
            if sys.exc_info()[0] is not None:
                process.terminate()
        if process.wait():
            messages.seek(0)
            sys.exit(f"{messages.read()}the worker failed")


def _require_equal(found: object, expected: object, graph: Path) -> int:
    """All totals, and all contributions, are DuckDB's; returns the number of contributions."""
    if found != expected:
        raise DifferentCountsError(f"Spark's totals {found} are not DuckDB's {expected}")
    fields = "model, rule, predicate, arguments, confirmed::BIGINT, refuted::BIGINT, evaluable::BIGINT"
    left, right = f"SELECT {fields} FROM '{graph}/spark/*.parquet'", f"SELECT {fields} FROM '{graph}/duckdb.parquet'"
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
