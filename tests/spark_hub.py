"""A graph with a hub, on Spark sessions that tell of every task. Run as a program on a folder with `facts.parquet`, `m.parquet` and
`some.rules`. Events are written to `divided` and, without the handling of skew, to `whole`; contributions to `contributions`."""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession

import rulescore

PARTITIONS = 32

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.sql.shuffle.partitions": str(PARTITIONS),
    "spark.sql.leafNodeDefaultParallelism": "2",
    "spark.sql.maxPlanStringLength": "0",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # The tables of predicates and rules are this small, and no others.
    "spark.sql.autoBroadcastJoinThreshold": "4KB",
    # What a session of the package's own has, for data of a size that tests can have: sizes stand for rows.
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.forceOptimizeSkewedJoin": "true",
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
    "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "1.5",
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "1KB",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "2KB",
    "spark.shuffle.compress": "false",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
}


def session(events: Path, *, divides: bool) -> SparkSession:
    events.mkdir()
    builder = SparkSession.builder.master("local[2]").config("spark.eventLog.dir", events.as_uri())
    for name, value in {**SETTINGS, "spark.sql.adaptive.skewJoin.enabled": str(divides).lower()}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def main(folder: Path) -> None:
    facts, rules, predictions = folder / "facts.parquet", (folder / "some.rules").read_text(), {"m": folder / "m.parquet"}
    whole = session(folder / "whole", divides=False)
    rulescore.audit(facts, rules, engine=whole)
    whole.stop()
    divided = session(folder / "divided", divides=True)
    rulescore.score(facts, predictions, rules, engine=divided, contributions=folder / "contributions")
    divided.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
