"""A graph with a hub, on Spark sessions that tell of every task. Run as a program on a folder with `facts` and `some.rules`. Events
are written to `divided` and, without the handling of skew, to `whole`; counts are printed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import rulescore
from rulescore.engines.spark_java import java_home
from rulescore.engines.spark_session import OWN
from spark_session import SMALL

# What a session of the package's own has, but for data of a size that tests can have.
SETTINGS = {
    **SMALL,
    **OWN,
    "spark.sql.shuffle.partitions": "32",
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
    # The tables of predicates and rules are this small, and no others.
    "spark.sql.autoBroadcastJoinThreshold": "4KB",
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "1KB",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "1KB",
    # Sizes stand for rows.
    "spark.shuffle.compress": "false",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
}


def session(events: Path, *, divides: bool) -> SparkSession:
    events.mkdir()
    builder = SparkSession.builder.config("spark.eventLog.dir", events.as_uri())
    for name, value in {**SETTINGS, "spark.sql.adaptive.skewJoin.enabled": str(divides).lower()}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def main(folder: Path) -> None:
    rules = (folder / "some.rules").read_text()
    for name, divides in (("divided", True), ("whole", False)):
        with java_home():
            running = session(folder / name, divides=divides)
        evaluation = rulescore.audit(folder / "facts", rules, engine=running)
        running.stop()
        print(json.dumps(evaluation.rules.to_pylist()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
