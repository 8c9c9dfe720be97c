"""Spark on servers: Connect, by its address and as the caller's session, and a standalone master."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pyarrow as pa
import pytest
import sqlglot
from pyarrow import parquet
from pyspark.sql.connect.session import SparkSession as RemoteSession

import rulescore
from rulescore.errors import EngineError
from rulescore.setting.options import EngineOptions
from rulescore.spark.engine import SparkEngine
from rulescore.sql.query import row, select
from rulescore.sql.values import key
from rulescore.values import ValueType, key_of
from servers.cluster import LOCAL, connect_server, standalone_master
from servers.spark_program import FACTS, PREDICTIONS, audited, rows, sorted_rows

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("spark-servers")]


RULES = "one: p(X, Y) <- q(X, Y). incompatible p, s."


@pytest.fixture(scope="module")
def by_duckdb() -> list[dict[str, object]]:
    return sorted_rows(rulescore.score(FACTS, {"m": PREDICTIONS}, RULES).contributions)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with connect_server() as found:
        yield found


@pytest.fixture
def session(address: str) -> Iterator[RemoteSession]:
    found = RemoteSession.builder.remote(address).create()
    yield found
    found.stop()


def test_the_address_of_a_connect_server_is_an_engine(address: str, by_duckdb: list[dict[str, object]], tmp_path: Path) -> None:
    parquet.write_table(rows(FACTS), tmp_path / "facts.parquet")
    found = rulescore.score(tmp_path / "facts.parquet", {"m": PREDICTIONS}, RULES, engine=address, contributions=True)
    assert sorted_rows(found.contributions) == by_duckdb


def state(session: RemoteSession) -> tuple[dict[str, str], set[str]]:
    """The settings of a session, and its tables and views."""
    settings = {row["key"]: row["value"] for row in session.sql("SET").collect()}
    return settings, {row["tableName"] for row in session.sql("SHOW TABLES").collect()}


def test_a_connect_session_of_the_caller_s_is_an_engine_and_is_left_as_it_was(session: RemoteSession) -> None:
    session.conf.set("spark.sql.caseSensitive", "false")
    session.sql("CREATE TEMPORARY VIEW mine AS SELECT 1 AS one")
    frame, before = session.createDataFrame(rows(FACTS)), state(session)
    assert rulescore.audit(frame, RULES, engine=session).rules == rulescore.audit(FACTS, RULES).rules
    assert state(session) == before
    assert "mine" in before[1]


def test_a_connect_server_writes_doubles_as_python_writes_them(session: RemoteSession) -> None:
    doubles = [0.1, -2.0, 1e-5, 2**0.5 * 1e8, 1e22, 5e-324]
    engine = SparkEngine(EngineOptions(session=session))
    try:
        engine.load("__rulescore__doubles", pa.table({"d": doubles}))
        r = row("__rulescore__doubles", "r")
        found = engine.query(select(r.d, key=key(r.d, ValueType.FLOAT)).from_(r)).to_pylist()
    finally:
        engine.close()
    assert {row["d"]: row["key"] for row in found} == {one: key_of(one) for one in doubles}


def test_a_statement_on_connect_that_takes_too_long_is_stopped_and_the_session_goes_on(session: RemoteSession) -> None:
    engine = SparkEngine(EngineOptions(session=session, timeout=2))
    try:
        with pytest.raises(EngineError, match="stopped after 2 seconds"):
            engine.query(
                sqlglot.parse_one("SELECT SUM(a.id * b.id % 7) AS n FROM range(1000000) AS a CROSS JOIN range(1000000) AS b")
            )
    finally:
        engine.close()
    assert session.sql("SELECT 1 AS one").toArrow().to_pylist() == [{"one": 1}]


@pytest.fixture
def only_a_wheel_s_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """JAVA_HOME is unset, and on the path is everything but Java."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for path in (path for folder in os.environ["PATH"].split(os.pathsep) for path in Path(folder).glob("*")):
        if path.name != "java" and not (programs / path.name).is_symlink():
            (programs / path.name).symlink_to(path)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert which("java") is None


@pytest.mark.usefixtures("only_a_wheel_s_java")
def test_the_executors_of_a_standalone_master_count_the_same_within_their_memory(tmp_path: Path) -> None:
    """Spark's own default is more than the worker has: no executor would start. All of them run on the Java of a wheel, and none
    says a word."""
    with standalone_master() as master:
        found = audited(tmp_path, master, "--memory-limit", "512MiB", environment={**os.environ, **LOCAL})
    assert found == audited(tmp_path, "duckdb")
