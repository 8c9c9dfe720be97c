"""Every case file on PostgreSQL and on Spark: the contributions of every prediction, cases evaluated together as far as they can
be."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from case_files import all_cases
from postgres_server import Server
from together import Member, batches, case_members, require_the_oracle_s_numbers

ON_POSTGRES = batches(case_members(once=False), size=16)
# Every statement takes a tenth of a second there, however few rows it reads.
ON_SPARK = batches(case_members(once=True), size=50)


def name_of(batch: list[Member]) -> str:
    return batch[0].place + (f" and {len(batch) - 1} more" if len(batch) > 1 else "")


@pytest.mark.parametrize("batch", ON_POSTGRES, ids=name_of)
def test_postgres_gives_the_oracle_s_numbers(batch: list[Member], postgres: Server) -> None:
    require_the_oracle_s_numbers(batch, postgres.url())


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("batch", ON_SPARK, ids=name_of)
def test_spark_gives_the_oracle_s_numbers(batch: list[Member], spark: SparkSession) -> None:
    require_the_oracle_s_numbers(batch, spark)


@pytest.mark.parametrize("every", [ON_POSTGRES, ON_SPARK], ids=["postgres", "spark"])
def test_every_case_file_is_in_a_batch(every: list[list[Member]]) -> None:
    together = {member.place.split(" line ")[0] for batch in every for member in batch}
    assert together == {case.name for case in all_cases()}
