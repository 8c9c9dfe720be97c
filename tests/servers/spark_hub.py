"""A graph with a hub, counted in a Spark session that tells of every task: once with the handling of skew, and once without. Run as
a program on a folder with `facts` and `some.rules`. Events are written to `events`; for both times it is printed when it began and
ended, in milliseconds, and what was counted."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

from rulescore.arguments.python import make_setting
from rulescore.counting.horn import over_the_data
from rulescore.counting.run import dataset_counts
from rulescore.session.session import Session
from rulescore.spark.session import OWN, java_home
from servers.spark import SMALL

# What a session of the package's own has, but for data of a size that tests can have.
SETTINGS = {
    **SMALL,
    **OWN,
    # While facts are loaded.
    "spark.sql.shuffle.partitions": "8",
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


def started(events: Path) -> SparkSession:
    events.mkdir()
    builder = SparkSession.builder.config("spark.eventLog.dir", events.as_uri())
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def main(folder: Path) -> None:
    with java_home():
        spark = started(folder / "events")
    with Session(make_setting(folder / "facts", {}, (folder / "some.rules").read_text(), engine=spark)) as session:
        counter = session.counted.counter
        conf = counter.engine._session.conf  # type: ignore[attr-defined]
        conf.set("spark.sql.shuffle.partitions", "32")
        for divides in (True, False):
            conf.set("spark.sql.adaptive.skewJoin.enabled", str(divides).lower())
            began = 1000 * time.time()
            counts = dataset_counts(counter.engine, over_the_data(counter))
            print(json.dumps({"began": began, "ended": 1000 * time.time(), "counts": counts}))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
