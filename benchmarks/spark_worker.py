"""One Spark application, or one process with DuckDB, that scores sets of rules one after another and tells when each step began and
ended. Its order is JSON on standard input, its answer JSON on standard output; `spark.py` starts it."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import spark_graph
from rulescore.arguments.python import make_setting
from rulescore.engines.base import Engine
from rulescore.logic.plan import Judge
from rulescore.session.session import Session
from rulescore.spark.session import OWN, java_home
from rulescore.sql import names, results
from rulescore.sql.horn import triangles
from rulescore.sql.horn.listing import row_counts
from rulescore.sql.query import row, select

_TABLES = {
    "facts, both ways round": names.fact_table(2),
    "pairs that carry facts": names.tuple_table(2),
    "edges": triangles.EDGE,
    "kinds of triangles": triangles.TRIANGLE,
    "contributions": results.CONTRIBUTION,
}
_OF_EVIDENCE, _OF_TRIANGLES = {"pairs that carry facts"}, {"edges", "kinds of triangles"}


def main() -> None:
    # Java warns on standard output, which is for answers.
    sys.stdout = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    order = json.load(sys.stdin)
    if order["settings"] is None:
        _score_all(order["tasks"], {"memory_limit": "6GB", "threads": 2})
        return
    with java_home():
        spark = _session(order["settings"])
    try:
        # Tables as files that executors share: what data larger than one machine's memory are kept in.
        options = {"engine": spark, "spill_folder": order["scratch"]}
        _score_all(order["tasks"], options)
    finally:
        spark.stop()


def _score_all(tasks: list[dict[str, Any]], options: dict[str, Any]) -> None:
    for task in tasks:
        wanted = task["contributions"]
        told = _score(options, Path(task["graph"]), task["rules"], None if wanted is None else Path(wanted))
        print(json.dumps({**told, "size": task["size"]}), flush=True)


def _session(settings: dict[str, str]) -> SparkSession:
    builder: Any = SparkSession.builder
    for name, value in {**OWN, **settings}.items():
        builder = builder.config(name, value)
    found: SparkSession = builder.getOrCreate()
    return found


def _score(options: dict[str, Any], graph: Path, name: str, contributions: Path | None) -> dict[str, object]:
    steps: dict[str, tuple[float, float]] = {}

    @contextmanager
    def step(of: str) -> Iterator[None]:
        started = time.time()
        yield
        steps[of] = (started, time.time())

    setting = make_setting(graph / "facts", {"m": graph / "predictions"}, spark_graph.rules(name), **options)
    with step("loading"):
        session = Session(setting)
    with session:
        with step("preparing"):
            engine = session.counted.counter.engine
        with step("counting"):
            evaluation = session.evaluate(contributions=False)
        if contributions is not None:
            with step("writing"):
                session.write_contributions(contributions)
        kept = _bytes_of(options.get("spill_folder"))
        judged = {group.judge for group in session.plan.groups}
        without = set() if Judge.EVIDENCE in judged else _OF_EVIDENCE
        without = without if "chain" in spark_graph.RULE_SETS[name] else without | _OF_TRIANGLES
        rows = {table: _rows(engine, _TABLES[table]) for table in _TABLES if table not in without}
    totals = [[one.info.name, *_numbers(one.dataset), *_numbers(one.models["m"].counts)] for one in evaluation.rule_results]
    return {"rules": name, "steps": steps, "rows": rows, "kept": kept, "totals": totals}


def _numbers(counts: Any) -> list[int]:
    return [counts.confirmed, counts.refuted, counts.evaluable]


def _rows(engine: Engine, table: str) -> int:
    found: int = engine.query(row_counts(select("*").from_(row(table, "r")), by_model=False))["n"][0].as_py()
    return found


def _bytes_of(folder: str | None) -> int:
    """The size of the tables that are kept."""
    return 0 if folder is None else sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


if __name__ == "__main__":
    main()
