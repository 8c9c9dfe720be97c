"""A score on a standalone master that halts between statements. Run as a program in a folder with `facts.parquet`,
`predictions.parquet` and `some.rules`; it takes the master's address. It says on stdout when it halts, and goes on with the next
line of stdin. Tables are in `scratch`, contributions are written to `found.parquet`."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

from pyarrow import parquet
from pyspark.sql import SparkSession

import rulescore
from rulescore.spark.session import OWN, java_home
from rulescore.sql.horn.triangles import EDGE
from rulescore.sql.results import part_table
from servers.spark_program import JAVA_OPTIONS

SETTINGS = {
    **OWN,
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": JAVA_OPTIONS,
    "spark.executor.extraJavaOptions": JAVA_OPTIONS,
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "2",
}

# The first while tables are made, the second while contributions are counted.
HALTS = [EDGE, part_table(0)]


class Halting(logging.Handler):
    """Halts after the statements that make some tables."""

    def __init__(self) -> None:
        super().__init__()
        self.left = list(HALTS)

    def emit(self, record: logging.LogRecord) -> None:
        if self.left and f"VIEW `{self.left[0]}`" in record.getMessage():
            print(self.left.pop(0), flush=True)
            sys.stdin.readline()


def main(master: str) -> None:
    builder = SparkSession.builder.master(master)
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    with java_home():
        session = builder.getOrCreate()
    logger = logging.getLogger("rulescore.sql")
    logger.setLevel("DEBUG")
    logger.addHandler(Halting())
    models = {"m": Path("predictions.parquet")}
    options = {"engine": session, "spill_folder": "scratch", "contributions": True}
    found = rulescore.score(Path("facts.parquet"), models, Path("some.rules"), **options)
    parquet.write_table(found.contributions, "found.parquet")
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
