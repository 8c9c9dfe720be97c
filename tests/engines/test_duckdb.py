"""DuckDB as an engine: its options, its errors, and how it is interrupted."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from sqlglot import exp, parse_one

from rulescore.engines.base import Engine, connect
from rulescore.engines.duckdb import DuckDBEngine
from rulescore.engines.memory import MEBIBYTE, resident
from rulescore.errors import EngineError, InputError
from rulescore.setting.options import EngineOptions


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = connect(EngineOptions(threads=1))
    yield engine
    engine.close()


def little_more() -> str:
    """A limit of memory that leaves the database a hundred MiB at most."""
    return f"{(resident() or 0) + 120 * MEBIBYTE}B"


def statement(text: str) -> exp.Expr:
    return parse_one(text, dialect="duckdb")


def value(engine: Engine, text: str) -> object:
    return engine.query(statement(f"SELECT {text} AS v"))["v"][0].as_py()


def setting(engine: Engine, name: str) -> object:
    return value(engine, f"current_setting('{name}')")


def test_options_reach_the_database(tmp_path: Path):
    engine = connect(EngineOptions(memory_limit="8GiB", threads=2, spill_folder=tmp_path / "spill"))
    # The database gets what the rest of the process leaves.
    assert 1 < _gibibytes(setting(engine, "memory_limit")) < 7.2
    assert setting(engine, "threads") == 2
    assert setting(engine, "temp_directory") == str(tmp_path / "spill")
    engine.close()


def test_unless_told_otherwise_half_of_the_memory_may_be_used(engine: Engine):
    """The database's own limit is four fifths."""
    with duckdb.connect() as plain:
        (told,) = plain.execute("SELECT current_setting('memory_limit')").fetchone() or ("",)
    assert _gibibytes(setting(engine, "memory_limit")) == pytest.approx(_gibibytes(told) / 0.8 / 2, rel=0.05)


def _gibibytes(text: object) -> float:
    number, unit = str(text).split()
    return float(number) * {"MiB": 1 / 1024, "GiB": 1, "TiB": 1024}[unit]


def test_the_database_draws_no_progress_bar(engine: Engine):
    """It would stand on stdout, amid the results."""
    assert setting(engine, "enable_progress_bar") is False


def test_a_spill_folder_of_its_own_is_gone_afterwards(engine: Engine):
    folder = Path(str(setting(engine, "temp_directory")))
    assert folder.is_dir()
    engine.close()
    assert not folder.exists()


def test_a_given_spill_folder_stays(tmp_path: Path):
    engine = connect(EngineOptions(spill_folder=tmp_path))
    engine.close()
    assert tmp_path.is_dir()


def test_a_spill_folder_is_made_when_something_spills_and_not_before(tmp_path: Path):
    engine = connect(EngineOptions(memory_limit=little_more(), threads=1, spill_folder=tmp_path / "spill"))
    assert value(engine, "1 + 1") == 2
    assert not (tmp_path / "spill").exists()
    distinct = "SELECT max(n) AS v FROM (SELECT count(*) AS n FROM range(4000000) GROUP BY range % 3900000)"
    assert engine.query(statement(distinct))["v"][0].as_py() == 2
    assert (tmp_path / "spill").is_dir()
    engine.close()


def test_a_spill_folder_that_cannot_be_made_is_told_at_once(tmp_path: Path):
    (tmp_path / "file").touch()
    for folder, words in ((tmp_path / "a" / "b", "to make it in"), (tmp_path / "file", "not a folder")):
        with pytest.raises(InputError, match=rf"E901(.|\n)*{words}"):
            connect(EngineOptions(spill_folder=folder))


OUTSIDE = (
    "SELECT * FROM read_text('/etc/hostname')",
    "SELECT * FROM '/etc/hostname'",
    "SELECT * FROM glob('/etc/*')",
    "COPY (SELECT 1) TO '{folder}/written.csv'",
    "EXPORT DATABASE '{folder}/written'",
    "ATTACH '{folder}/written.duckdb'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET memory_limit = '1GB'",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "SET allowed_configs = ['enable_external_access']",
    "RESET lock_configuration",
    "CALL enable_logging(storage = 'file', storage_path = '{folder}/log')",
)


@pytest.mark.parametrize("sql", OUTSIDE)
def test_the_database_is_closed_to_everything_outside(tmp_path: Path, sql: str):
    """Once something was asked of it. What is attached before can be read."""
    with duckdb.connect(str(tmp_path / "own.duckdb")) as own:
        own.execute("CREATE TABLE t AS SELECT 7 AS v")
    (tmp_path / "empty").mkdir()
    engine = DuckDBEngine(EngineOptions(threads=1))
    engine.attach(tmp_path / "own.duckdb", "own")
    for _ in range(2):
        assert engine.query(statement("SELECT v FROM own.t"), as_written=True)["v"][0].as_py() == 7
        with pytest.raises(duckdb.Error):
            engine._connection.execute(sql.replace("{folder}", str(tmp_path / "empty"))).fetchall()
    engine.close()
    assert list((tmp_path / "empty").iterdir()) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (EngineOptions(memory_limit="lots"), "`lots` for `memory_limit`"),
        (EngineOptions(memory_limit="12 parsecs"), "`12 parsecs` for `memory_limit`"),
        (EngineOptions(threads=0), "`0` for `threads`"),
    ],
)
def test_an_option_that_the_engine_refuses_is_named_with_the_engine_s_reason(options: EngineOptions, words: str):
    with pytest.raises(InputError) as raised:
        connect(options)
    (problem,) = raised.value.problems
    assert problem.code == "E901"
    assert words in problem.message
    assert problem.notes
    assert "\n" not in problem.notes[0]


def test_an_unknown_engine_is_named_beside_the_known_one():
    with pytest.raises(InputError) as raised:
        connect(EngineOptions(url="duckdbb"))
    (problem,) = raised.value.problems
    assert (problem.code, "`duckdbb`" in problem.message, "`duckdb`" in problem.helps[0]) == ("E402", True, True)


def test_tables_go_in_and_come_out_as_arrow(engine: Engine):
    rows = pa.table({"a": pa.array([1, 2], pa.int32()), "b": ["x", "y"]})
    engine.load("__rulescore__t", rows)
    engine.append("__rulescore__t", rows)
    found = engine.query(statement('SELECT a, b FROM "__rulescore__t" ORDER BY a, b'))
    assert found.to_pylist() == [{"a": 1, "b": "x"}] * 2 + [{"a": 2, "b": "y"}] * 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT * FROM nowhere", "nowhere"),
        ("SELECT CAST('a' AS INTEGER)", "'a'"),
        ("SELECT error('so it is')", "so it is"),
    ],
)
def test_an_engine_error_carries_the_database_s_words(engine: Engine, text: str, words: str):
    for run in (engine.query, engine.run):
        with pytest.raises(EngineError, match=words) as raised:
            run(statement(text))
        assert isinstance(raised.value.__cause__, duckdb.Error)


def test_an_engine_that_failed_goes_on(engine: Engine):
    with pytest.raises(EngineError):
        engine.run(statement("SELECT * FROM nowhere"), as_written=True)
    assert value(engine, "1 + 1") == 2
    assert setting(engine, "disabled_optimizers") == ""


def test_too_little_memory_is_an_engine_error_and_not_a_wrong_answer():
    engine = connect(EngineOptions(memory_limit=little_more(), threads=1))
    with pytest.raises(EngineError, match=r"(?i)memory"):
        engine.query(statement("SELECT list(range) AS l FROM range(100000000)"))
    engine.close()


def test_as_written_holds_for_one_statement_only(engine: Engine):
    asked = statement("SELECT current_setting('disabled_optimizers') AS v")
    assert engine.query(asked, as_written=True)["v"][0].as_py() == "join_order"
    assert engine.query(asked)["v"][0].as_py() == ""


# Half a minute or more on any machine: it must not end by itself before it is interrupted.
ENDLESS = "SELECT sum(hash(a.range + b.range)) AS v FROM range(1000000) a, range(10000000) b"


def test_a_statement_is_stopped_at_its_timeout():
    engine = connect(EngineOptions(threads=1, timeout=0.2))
    with pytest.raises(EngineError, match=r"after 0\.2 seconds, the `timeout`"):
        engine.query(statement(ENDLESS))
    assert value(engine, "1 + 1") == 2
    engine.close()


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt, wherever tests are run from."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX signal")
@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("as_written", [False, True])
def test_ctrl_c_stops_a_query_and_leaves_the_connection_usable(engine: Engine, as_written: bool):
    engine.load("__rulescore__t", pa.table({"a": [1]}))
    sender = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        engine.query(statement(ENDLESS), as_written=as_written)
    sender.join()
    assert engine.query(statement('SELECT a FROM "__rulescore__t"'))["a"].to_pylist() == [1]
    assert setting(engine, "disabled_optimizers") == ""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX signal")
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_before_the_database_has_begun_stops_the_query_too():
    """A query waits for its turn and is planned before it runs; an interruption in that time must not be lost."""
    engine = DuckDBEngine(EngineOptions(threads=1))
    ended = threading.Event()
    value(engine, "1")

    def late() -> None:
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.5)
        try:
            # Short enough to end by itself, long enough to be stopped.
            engine._connection.execute("SELECT sum(hash(a.range + b.range)) FROM range(1000) a, range(100000) b").fetchall()
            ended.set()
        except duckdb.InterruptException:
            pass

    with pytest.raises(KeyboardInterrupt):
        engine._interruptible(late)
    engine.close()
    assert not ended.is_set()
