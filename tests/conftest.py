"""The engines that tests run on, and how much hypothesis does: some hundred settings by default, thousands with
RULESCORE_HYPOTHESIS=thorough."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from servers.database import Database, own_database
from servers.own_folders import remove_abandoned
from servers.postgres import Server
from targets import TARGETS, parameters

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# No deadline: a database opens for every example. Generating a setting is slow by hypothesis' measure.
common = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

# Shrinking a setting takes minutes; without it a failure shows at once, and the thorough profile shrinks it.
without_shrinking = (Phase.explicit, Phase.generate)

# Always the same examples, so that a run says something of the change at hand; tests/hunt.py looks for new ones.
settings.register_profile("quick", common, max_examples=10, phases=without_shrinking, derandomize=True, database=None)
# `make test-core`: `make test` generates more of the same settings.
settings.register_profile("core", common, max_examples=4, phases=without_shrinking, derandomize=True, database=None)
settings.register_profile("thorough", common, max_examples=2000)
settings.load_profile(os.environ.get("RULESCORE_HYPOTHESIS", "quick"))


pytest_plugins = ["reading_fixtures"]


def pytest_sessionstart() -> None:
    """Torch looks up how many threads there are when it is imported, which some files of tests do while they are collected. Threads
    that wait for each other take many times as long if the processors have other tests to run."""
    os.environ["OMP_NUM_THREADS"] = "1"
    remove_abandoned()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Tests that ask for a server are marked as such. A file is a group, so one process makes what its tests share. Groups of
    several files come first: some take minutes, in which other processes run the files behind them."""
    for item in items:
        if {"postgres", "spark"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("server")
    files = [item for item in items if item.get_closest_marker("xdist_group") is None]
    for item in files:
        item.add_marker(pytest.mark.xdist_group(item.location[0]))
    yield
    ungrouped = set(files)
    items.sort(key=lambda item: item in ungrouped)


@pytest.fixture(autouse=True)
def nothing_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may trust every project file; tests begin with none."""
    monkeypatch.delenv("RULESCORE_TRUST", raising=False)


@pytest.fixture(scope="session", autouse=True)
def data_sets_of_pykeen(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Where PyKEEN keeps data sets."""
    os.environ["PYSTOW_HOME"] = str(tmp_path_factory.getbasetemp() / "pykeen")


@pytest.fixture(scope="session")
def started() -> Iterator[Callable[[str], Any]]:
    """What each engine of targets.py needs, started when a test of this process first asks for it, and stopped in the end. If it
    cannot be started, the test fails."""
    running: dict[str, Any] = {}
    with ExitStack() as stack:

        def start(name: str) -> Any:
            if name not in running:
                running[name] = stack.enter_context(TARGETS[name].start())
            return running[name]

        yield start


@pytest.fixture(scope="session")
def engine_of(started: Callable[[str], Any]) -> Callable[[str], Any]:
    """What `engine=` takes, by the name of the engine."""
    return lambda name: TARGETS[name].engine(started(name))


@pytest.fixture(scope="session", params=parameters(lambda target: target.alone))
def engine(request: pytest.FixtureRequest, engine_of: Callable[[str], Any]) -> Any:
    """The address of each engine on which a setting can be evaluated by itself."""
    return engine_of(request.param)


@pytest.fixture(scope="session")
def postgres(started: Callable[[str], Any]) -> Server:
    found: Server = started("postgres")
    return found


@pytest.fixture
def database(postgres: Server) -> Iterator[Database]:
    """A database of the test's own, and a role that may only read it."""
    with own_database(postgres) as found:
        yield found


@pytest.fixture(scope="session")
def spark(started: Callable[[str], Any]) -> SparkSession:
    return started("spark")
