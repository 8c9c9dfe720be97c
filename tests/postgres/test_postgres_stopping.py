"""PostgreSQL stops when it is told to, and leaves nothing behind when it is stopped for us."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

from rulescore.cli.main import program
from rulescore.engines.base import Engine, connect
from rulescore.errors import EngineError, InputError
from rulescore.setting.options import EngineOptions
from servers.postgres import Server, running_server
from servers.postgres_activity import (
    ENDLESS,
    TABLE,
    opened_engine,  # noqa: F401  # a fixture
    sessions,
    statement,
)
from servers.relay import relayed

pytestmark = pytest.mark.server


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt, wherever tests are run from."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def is_busy(server: Server) -> bool:
    return bool(server.ask("SELECT 1 FROM pg_stat_activity WHERE usename = 'reader' AND state = 'active'"))


def press_ctrl_c(_: Server) -> None:
    os.kill(os.getpid(), signal.SIGINT)


def end_sessions(server: Server) -> None:
    server.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'")


def when_busy(server: Server, act: Callable[[Server], None]) -> threading.Thread:
    """Do something as soon as the server works on a statement of ours."""

    def watch() -> None:
        while not is_busy(server):
            time.sleep(0.02)
        act(server)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("as_written", [False, True])
def test_ctrl_c_stops_a_query_and_leaves_the_session_usable(postgres: Server, engine: Engine, as_written: bool):
    engine.load(TABLE, pa.table({"a": [1]}))
    sender = when_busy(postgres, press_ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        engine.query(statement(ENDLESS), as_written=as_written)
    sender.join()
    assert not is_busy(postgres)
    assert engine.query(statement(f'SELECT a FROM "{TABLE}"'))["a"].to_pylist() == [1]


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_stops_the_making_of_a_table(postgres: Server):
    engine = connect(EngineOptions(url=postgres.url()))
    sender = when_busy(postgres, press_ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        engine.run(statement(f'CREATE TEMPORARY TABLE "{TABLE}" AS {ENDLESS}'))
    sender.join()
    assert not is_busy(postgres)
    engine.close()
    assert not sessions(postgres)


@pytest.mark.parametrize("runs", ["query", "run"])
def test_a_statement_is_stopped_at_its_timeout(postgres: Server, runs: str):
    engine = connect(EngineOptions(url=postgres.url(), timeout=0.2))
    text = ENDLESS if runs == "query" else f'CREATE TEMPORARY TABLE "{TABLE}" AS {ENDLESS}'
    with pytest.raises(EngineError, match=r"after 0\.2 seconds, the `timeout`"):
        getattr(engine, runs)(statement(text))
    engine.close()


def test_a_server_that_no_longer_answers_is_given_up(postgres: Server, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("rulescore.postgres.engine._GONE", 0.2)
    with relayed(postgres, b"SELECT 7", hang_up=False) as relay:
        engine = connect(EngineOptions(url=relay.address(postgres.url()), timeout=0.2))
        with pytest.raises(EngineError, match=r"no longer answers.*0\.2 seconds"):
            engine.query(statement("SELECT 7 AS v"))
        with pytest.raises(EngineError, match="the connection to the server was lost"):
            engine.query(statement("SELECT 1 AS v"))
        engine.close()


def test_a_server_that_goes_away_is_named_as_such_and_keeps_nothing(postgres: Server):
    engine = connect(EngineOptions(url=postgres.url()))
    engine.load(TABLE, pa.table({"a": [1]}))
    ender = when_busy(postgres, end_sessions)
    with pytest.raises(EngineError, match="the connection to the server was lost"):
        engine.query(statement(ENDLESS))
    ender.join()
    with pytest.raises(EngineError, match="the connection to the server was lost"):
        engine.query(statement("SELECT 1 AS v"))
    engine.close()
    assert not sessions(postgres)


@pytest.fixture(scope="module")
def own_server() -> Iterator[Server]:
    """A server that nobody else's tests need."""
    with running_server() as server:
        yield server


def files_of_tables(server: Server) -> set[str]:
    """Temporary tables have files of their own, whose names begin with a `t`."""
    return {str(path.relative_to(server.data)) for path in (server.data / "base").rglob("t*_*")}


def test_a_server_that_is_killed_keeps_nothing(own_server: Server):
    """Not a file, once it runs again; nor does anything that nobody has committed come back."""
    engine = connect(EngineOptions(url=own_server.url()))
    engine.load(TABLE, pa.table({"a": list(range(10_000))}))
    assert files_of_tables(own_server)
    killer = when_busy(own_server, Server.stop)
    with pytest.raises(EngineError, match="the connection to the server was lost"):
        engine.query(statement(ENDLESS))
    killer.join()
    engine.close()
    own_server.start()
    assert not sessions(own_server)
    assert not files_of_tables(own_server)


def test_a_standby_is_refused(own_server: Server):
    """It lets nobody make temporary tables."""
    mark = own_server.data / "standby.signal"
    own_server.stop(orderly=True)  # after a crash a standby would wait for its primary before it lets anybody in
    mark.touch()
    own_server.start()
    try:
        with pytest.raises(InputError) as raised:
            connect(EngineOptions(url=own_server.url()))
    finally:
        own_server.stop()
        mark.unlink()
        own_server.start()
    assert [problem.code for problem in raised.value.problems] == ["E913"], str(raised.value)
    assert "standby" in raised.value.problems[0].message


def test_the_command_line_says_in_one_line_that_the_server_is_gone(
    own_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """With the exit code of an engine that failed, and with no result."""
    numbers = range(100)
    rows = [f"{x}\t{name}\t{y}\n" for name in "abcdef" for x in numbers for y in numbers if (x * y + ord(name)) % 3]
    (tmp_path / "facts.tsv").write_text("".join(rows), encoding="utf-8")
    body = ", ".join(f"{name}(V{i}, V{i + 1})" for i, name in enumerate("abcdefab"))
    (tmp_path / "endless.rules").write_text(f"endless: false <- {body}, V0 != V8.\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def counts() -> bool:
        found = own_server.ask("SELECT query FROM pg_stat_activity WHERE usename = 'reader' AND state = 'active'")
        return any("V8" in query or query.count("JOIN") > 4 for (query,) in found)

    over = threading.Event()

    def kill() -> None:
        while not counts() and not over.wait(0.02):
            pass
        own_server.stop()

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    arguments = [
        "audit",
        "--facts",
        "facts.tsv",
        "--rules",
        "endless.rules",
        "--engine",
        own_server.url(),
        "--output",
        "out",
        "--quiet",
    ]
    done = CliRunner().invoke(program, arguments)
    over.set()
    killer.join()
    own_server.start()
    assert (done.exit_code, done.stdout) == (3, ""), done.output
    assert done.stderr.startswith("error: the connection to the server was lost: ")
    assert "rule `endless`" in done.stderr
    assert not (tmp_path / "out").exists()
