"""The engines that tests run on, and how much hypothesis does: some hundred settings by default, thousands with
RULESCORE_HYPOTHESIS=thorough."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, settings

from own_database import Database, own_database
from postgres_server import Server, running_server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# No deadline: a database opens for every example. Generating a setting is slow by hypothesis' measure.
common = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

# Shrinking a setting takes minutes; without it a failure shows at once, and the thorough profile shrinks it.
without_shrinking = (Phase.explicit, Phase.generate)

# Always the same examples, so that a run says something of the change at hand; tests/hunt.py looks for new ones.
settings.register_profile("quick", common, max_examples=10, phases=without_shrinking, derandomize=True, database=None)
settings.register_profile("thorough", common, max_examples=2000)
settings.load_profile(os.environ.get("RULESCORE_HYPOTHESIS", "quick"))


_homes = count()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that ask for a server are marked as such."""
    for item in items:
        if {"postgres", "spark"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("server")


@pytest.fixture(autouse=True)
def nothing_trusted(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may trust project files of their own; tests begin with none."""
    monkeypatch.delenv("RULESCORE_TRUST", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.getbasetemp() / f"configuration-{next(_homes)}"))


@pytest.fixture(scope="session", autouse=True)
def torch_surroundings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What PyKEEN and torch look up when they are imported: where data sets are kept, and how many threads there are. Threads that
    wait for each other take many times as long if the processors have other tests to run."""
    os.environ["PYSTOW_HOME"] = str(tmp_path_factory.getbasetemp() / "pykeen")
    os.environ["OMP_NUM_THREADS"] = "1"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server of this process; where there is none to start, the test fails."""
    with running_server() as server:
        yield server


@pytest.fixture
def database(postgres: Server) -> Iterator[Database]:
    """A database of the test's own, and a role that may only read it."""
    with own_database(postgres) as found:
        yield found


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A Spark session of this process; where there is no Java to start it, the test fails."""
    from spark_session import running_session, tasks_left

    with running_session() as session:
        yield session
        assert tasks_left(session) == [], "a test has left a task that runs on"


@pytest.fixture(scope="session", params=["duckdb", pytest.param("postgres", marks=pytest.mark.server)])
def engine(request: pytest.FixtureRequest) -> str:
    """The address of each engine. On PostgreSQL everything runs under a role that may make temporary tables and nothing else."""
    if request.param == "duckdb":
        return "duckdb"
    server: Server = request.getfixturevalue("postgres")
    return server.url()
