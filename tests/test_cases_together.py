"""Every case file on PostgreSQL, and every sixth case on Spark: the contributions of every prediction, cases evaluated together as
far as they can be."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import settings
from pyspark.sql import SparkSession

from case_files import all_cases
from postgres_server import Server
from together import Member, batches, case_members, require_the_oracle_s_numbers

ON_POSTGRES = batches(case_members(once=False), size=16)


def some_of_every_folder(members: list[Member], every: int) -> list[Member]:
    """The first of each folder, and then every so many."""
    seen: Counter[str] = Counter()
    found = []
    for member in members:
        folder = member.place.split("/")[0]
        if seen[folder] % every == 0:
            found.append(member)
        seen[folder] += 1
    return found


# Every statement takes a tenth of a second there, however few rows it reads: unless all are asked for, every sixth case.
EVERY = 1 if settings.get_current_profile_name() == "thorough" else 6
ON_SPARK = batches(some_of_every_folder(case_members(once=True), EVERY), size=20)


def name_of(batch: list[Member]) -> str:
    return batch[0].place + (f" and {len(batch) - 1} more" if len(batch) > 1 else "")


@pytest.mark.parametrize("batch", ON_POSTGRES, ids=name_of)
def test_postgres_gives_the_oracle_s_numbers(batch: list[Member], postgres: Server) -> None:
    require_the_oracle_s_numbers(batch, postgres.url())


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("batch", ON_SPARK, ids=name_of)
def test_spark_gives_the_oracle_s_numbers(batch: list[Member], spark: SparkSession) -> None:
    require_the_oracle_s_numbers(batch, spark)


def test_every_case_file_is_in_a_batch() -> None:
    assert named(ON_POSTGRES) == {case.name for case in all_cases()}


def test_spark_gets_cases_of_every_folder() -> None:
    assert {name.split("/")[0] for name in named(ON_SPARK)} == {case.name.split("/")[0] for case in all_cases()}


def named(every: list[list[Member]]) -> set[str]:
    return {member.place.split(" line ")[0] for batch in every for member in batch}
