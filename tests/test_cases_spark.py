"""Every case file on Spark: the contributions of every prediction, cases evaluated together as far as they can be."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from case_batches import Member, batches, expected, run_together
from case_files import all_cases

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("spark-cases")]

BATCHES = batches(size=50)


def name_of(batch: list[Member]) -> str:
    others = f" and {len(batch) - 1} more" if len(batch) > 1 else ""
    return f"{batch[0].case.name} line {batch[0].run.line}{others}"


@pytest.mark.parametrize("batch", BATCHES, ids=name_of)
def test_spark_gives_the_oracle_s_numbers(batch: list[Member], spark: SparkSession) -> None:
    found = run_together(batch, spark)
    for member in batch:
        assert found[member.prefix] == expected(member), f"{member.case.path}:{member.run.line}"


def test_every_case_file_is_in_a_batch() -> None:
    together = {member.case.path for batch in BATCHES for member in batch}
    assert together == {case.path for case in all_cases()}
