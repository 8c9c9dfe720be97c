"""A graph with a hub, scored on a Spark session that tells of every task. Run as a program on a folder with `facts.parquet`,
`m.parquet` and `some.rules`; contributions and events are written there."""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession

import rulescore

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.maxPlanStringLength": "0",
    "spark.sql.codegen.wholeStage": "false",
    # The tables of predicates and rules are this small, and no others.
    "spark.sql.autoBroadcastJoinThreshold": "1KB",
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
    # What a session of the package's own has, for data of a size that tests can have.
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.skewJoin.enabled": "true",
    "spark.sql.adaptive.forceOptimizeSkewedJoin": "true",
    "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "1.5",
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "1KB",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "4KB",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
}


def main(folder: Path) -> None:
    events = folder / "events"
    events.mkdir()
    builder = SparkSession.builder.master("local[2]").config("spark.eventLog.dir", events.as_uri())
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    rules, predictions = (folder / "some.rules").read_text(), {"m": folder / "m.parquet"}
    rulescore.score(folder / "facts.parquet", predictions, rules, engine=session, contributions=folder / "contributions")
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
