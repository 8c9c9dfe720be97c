"""What Spark keeps of tables, and how many rows it can number."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
import sqlglot
from pyspark.sql import SparkSession

from rulescore.errors import InputError
from rulescore.setting.options import EngineOptions
from rulescore.spark.engine import SparkEngine, numbers_before
from rulescore.sql.query import create, drop

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("spark")]


def kept(spark: SparkSession) -> set[int]:
    """The rows that executors keep, by Spark's own numbers."""
    return {one.id() for one in spark.sparkContext._jsc.sc().getRDDStorageInfo()}


def test_a_table_that_is_dropped_gives_up_its_rows_at_once(spark: SparkSession) -> None:
    engine = SparkEngine(EngineOptions(session=spark))
    engine.load("numbers", pa.table({"n": [1, 2, 3]}))
    before = kept(spark)
    engine.run(create("more", sqlglot.parse_one("SELECT n + 1 AS n FROM numbers")))
    engine.run(create("most", sqlglot.parse_one("SELECT n + 1 AS n FROM more")))
    assert len(kept(spark) - before) == 2
    engine.run(drop("more"))
    assert len(kept(spark) - before) == 1
    assert sorted(engine.query(sqlglot.parse_one("SELECT n FROM most"))["n"].to_pylist()) == [3, 4, 5]
    engine.close()
    assert not kept(spark) - before


def test_files_of_a_dropped_table_are_removed_at_once(spark: SparkSession, tmp_path: Path) -> None:
    engine = SparkEngine(EngineOptions(session=spark, spill_folder=tmp_path))
    engine.load("numbers", pa.table({"n": [1, 2, 3]}))
    engine.run(create("more", sqlglot.parse_one("SELECT n + 1 AS n FROM numbers")))
    assert list(tmp_path.rglob("*.parquet"))
    engine.run(drop("more"))
    assert not list(tmp_path.rglob("*.parquet"))
    engine.close()


def test_numbers_go_on_from_task_to_task() -> None:
    assert numbers_before({}) == [0]
    assert numbers_before({0: 3, 2: 4, 3: 1}) == [0, 3, 3, 7]


def test_more_rows_than_numbers_of_32_bits_are_refused() -> None:
    most = 2**31 - 1
    assert numbers_before({0: most - 1, 1: 1}) == [0, most - 1]
    with pytest.raises(InputError, match=rf"E369.*{most + 1:,}"):
        numbers_before({0: most, 1: 1})
