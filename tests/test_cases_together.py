"""Case files on the engines that get many at once: the contributions of every prediction, cases evaluated together as far as they
can be. DuckDB evaluates each case alone, in test_cases.py; here it counts plain rules as it counts all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import settings

from case_files import Case, all_cases
from targets import TARGETS, Target
from together import Member, batches, case_members, require_the_oracle_s_numbers


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


def batches_of(target: Target) -> list[list[Member]]:
    """Every case in all its runs; on an engine that gets some of them, each in the runs of one convention."""
    if target.every == 1:
        return batches(case_members(), target.batch)
    thorough = settings.get_current_profile_name() == "thorough"
    return batches(some_of_every_folder(case_members(once=True), 1 if thorough else target.every), target.batch)


BATCHES = {name: batches_of(target) for name, target in TARGETS.items() if target.batch > 1}


PLAIN = batches(case_members(which=Case.is_plain), size=16)


def name_of(name: str, batch: list[Member]) -> str:
    return f"{name} {batch[0].place}" + (f" and {len(batch) - 1} more" if len(batch) > 1 else "")


@pytest.mark.parametrize(
    ("name", "batch"),
    [
        pytest.param(name, batch, marks=TARGETS[name].marks, id=name_of(name, batch))
        for name, found in BATCHES.items()
        for batch in found
    ],
)
def test_engine_gives_the_oracle_s_numbers(name: str, batch: list[Member], engine_of: Callable[[str], Any]) -> None:
    require_the_oracle_s_numbers(batch, engine_of(name))


@pytest.mark.slow
@pytest.mark.parametrize("batch", PLAIN, ids=partial(name_of, "duckdb"))
def test_plain_rules_counted_as_formulas_have_the_same_numbers(batch: list[Member]) -> None:
    require_the_oracle_s_numbers(batch, "duckdb", horn=False)


@pytest.mark.parametrize("name", [name for name in BATCHES if TARGETS[name].every == 1])
def test_every_case_file_is_in_a_batch(name: str) -> None:
    assert named(BATCHES[name]) == {case.name for case in all_cases()}


@pytest.mark.parametrize("name", BATCHES)
def test_an_engine_that_gets_some_cases_gets_some_of_every_folder(name: str) -> None:
    assert {name.split("/")[0] for name in named(BATCHES[name])} == {case.name.split("/")[0] for case in all_cases()}


def named(every: list[list[Member]]) -> set[str]:
    return {member.place.split(" line ")[0] for batch in every for member in batch}
