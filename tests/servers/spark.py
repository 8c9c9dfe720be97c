"""One Spark session for all tests of a process, on the Java that is there or a wheel's. Its settings suit tables of a few rows: one
task a stage, no code generated, and memory in small pieces."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from rulescore.spark.session import java_home
from servers.own_folders import own_folder, record
from servers.spark_program import JAVA_OPTIONS

SMALL = {
    "spark.master": "local[2]",
    "spark.app.name": "rulescore-tests",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    # Every plan leaves much garbage, which a larger first generation collects less often.
    "spark.driver.extraJavaOptions": f"{JAVA_OPTIONS} -XX:NewSize=512m",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "1MB",
    # Every table that is broadcast takes a page.
    "spark.buffer.pageSize": "1m",
    # Nobody reads the plans, and writing them takes as long as making them.
    "spark.sql.maxPlanStringLength": "0",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@contextmanager
def running_session() -> Iterator[SparkSession]:
    with own_folder("spark") as folder:
        conf = SparkConf(loadDefaults=False)
        for name, value in {**SMALL, "spark.local.dir": str(folder), "spark.sql.warehouse.dir": f"{folder}/warehouse"}.items():
            conf.set(name, value)
        with java_home(), tempfile.TemporaryFile() as messages:
            gateway = launch_gateway(conf, {"stdout": messages, "stderr": messages})
        record(folder, gateway.proc.pid)
        context = SparkContext(conf=conf, gateway=gateway)
        try:
            yield SparkSession(context)
        finally:
            context.stop()
            SparkContext._gateway = SparkContext._jvm = None
            gateway.shutdown()
            gateway.proc.stdin.close()
            gateway.proc.wait()


def tasks_left(session: SparkSession) -> list[str]:
    """Tasks that still run some seconds after everything has ended, as their threads call themselves: the scheduler forgets tasks
    that it has told to end, whether or not they do."""
    for _ in range(50):
        threads = session._jvm.Thread.getAllStackTraces().keySet()  # type: ignore[union-attr]
        left = [one.getName() for one in threads if one.getName().startswith("Executor task launch worker for task")]
        if not left:
            break
        time.sleep(0.2)
    return left
