"""The log of statements: what each was for, its time and its rows, for whoever asks."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

from rulescore.arguments.python import make_setting
from rulescore.cli.main import program
from rulescore.engines.base import LOGGER, connect, log_no_more
from rulescore.errors import EngineError, InputError
from rulescore.session.session import Session
from rulescore.setting.options import EngineOptions
from rulescore.sql.names import name
from rulescore.sql.query import create, drop, every_row, row, select
from servers.postgres import Server

FACTS = {"sister": [("alice", "daniel")], "father": [("daniel", "emma")], "aunt": [("alice", "emma")]}
PREDICTIONS = {"model": {"aunt": [("fiona", "emma")]}}
RULES = "aunts: aunt(X, Z) <- sister(X, Y), father(Y, Z). closed aunt."
HEAD = re.compile(r"-- \d+\.\d{3} s(, (?P<rows>[\d,]+) rows?)?(, (?P<purpose>.+))?")


@pytest.fixture(autouse=True)
def silent_again() -> Iterator[None]:
    yield
    log_no_more()


def entries(caplog: pytest.LogCaptureFixture) -> list[tuple[re.Match[str], str]]:
    """The comment of each entry, and what stands below it."""
    parts = [record.getMessage().split("\n", 1) for record in caplog.records if record.name == "rulescore.sql"]
    found = [(HEAD.fullmatch(comment), below) for comment, below in parts]
    assert all(comment for comment, _ in found)
    return found  # type: ignore[return-value]


def test_every_statement_is_logged_with_its_time_and_its_rows(engine: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "rulescore.sql"):
        opened = connect(EngineOptions(url=engine))
        rows, copy = name("rows"), name("copy")
        r = row(rows, "r")
        everything = select("*").from_(r)
        opened.load(rows, pa.table({"number": [1, 2, 3]}))
        opened.append(rows, pa.table({"number": [4]}))
        opened.run(create(copy, select(r.number).from_(r)))
        opened.query(everything)
        opened.run(drop(copy))
        opened.close()
    found = entries(caplog)
    assert [comment["rows"] for comment, _ in found] == ["3", "1", "4", "4", None]
    first, second, made, asked, dropped = (below for _, below in found)
    assert (first, second) == (f"-- rows for {rows}", f"-- further rows for {rows}")
    assert made.startswith("CREATE ")
    assert asked == f'SELECT * FROM "{rows}" AS "r";'
    assert dropped.startswith("DROP ")


def test_statements_that_count_say_which_rule(engine: str, caplog: pytest.LogCaptureFixture) -> None:
    with (
        caplog.at_level(logging.DEBUG, "rulescore.sql"),
        Session(make_setting(FACTS, PREDICTIONS, RULES, engine=engine)) as session,
    ):
        session.evaluate()
        session.violations(model="model", rule="aunts")
    told = [comment["purpose"] or "" for comment, _ in entries(caplog)]
    assert any(one.startswith("counting rule `aunts` (<rules>:1:1)") and one.endswith(", over the data") for one in told)
    assert any("prediction is the head" in one for one in told)
    assert {"loading the data", "loading the parameters of the plan", "listing rule `aunts`"} <= set(told)


def test_a_statement_that_fails_is_logged_as_such(engine: str, caplog: pytest.LogCaptureFixture) -> None:
    opened = connect(EngineOptions(url=engine))
    with caplog.at_level(logging.DEBUG, "rulescore.sql"), pytest.raises(EngineError):
        opened.query(every_row(name("nowhere")))
    opened.close()
    assert re.fullmatch(r"-- failed after \d+\.\d{3} s with EngineError\nSELECT .+;", caplog.messages[-1])


def test_nothing_is_logged_unless_asked_for(caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]) -> None:
    with Session(make_setting(FACTS, PREDICTIONS, RULES)) as session:
        session.evaluate()
    assert not caplog.records
    assert capsys.readouterr().err == ""
    assert not LOGGER.handlers


def test_the_log_changes_no_number(engine: str, caplog: pytest.LogCaptureFixture) -> None:
    def counted() -> list[object]:
        with Session(make_setting(FACTS, PREDICTIONS, RULES, engine=engine)) as session:
            return [session.evaluate().rule_results, session.violations(model="model").rows]

    plain = counted()
    with caplog.at_level(logging.DEBUG, "rulescore.sql"):
        assert counted() == plain


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "facts.csv").write_text("subject,relation,object\nalice,sister,daniel\ndaniel,father,emma\n")
    (tmp_path / "some.rules").write_text(RULES)
    return ["audit", "--facts", str(tmp_path / "facts.csv"), "--rules", str(tmp_path / "some.rules"), "-q"]


@pytest.mark.parametrize("how", ["option", "environment"])
def test_commands_write_it_to_stderr(how: str, files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    plain = CliRunner().invoke(program, files)
    if how == "environment":
        monkeypatch.setenv("RULESCORE_LOG", "sql")
    ran = CliRunner().invoke(program, [*files, *(["--log-sql"] if how == "option" else [])])
    assert (ran.exit_code, ran.stdout) == (0, plain.stdout)
    assert plain.stderr == ""
    assert HEAD.match(ran.stderr)
    assert "counting rule `aunts`" in ran.stderr
    if how == "option":
        assert not LOGGER.handlers


def test_no_password_is_logged(postgres: Server, files: list[str]) -> None:
    secret = "hunter2hunter2"
    address = re.sub(r"//([^@/]+)@", rf"//\1:{secret}@", postgres.url())
    ran = CliRunner().invoke(program, [*files, "--engine", address, "--log-sql"])
    assert ran.exit_code == 0
    assert "counting rule `aunts`" in ran.stderr
    assert secret not in ran.stderr


def test_names_of_the_user_s_do_not_steer_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "facts.csv").write_text("subject,relation,object\nalice,sister,dan\x1b[2Jiel\n")
    (tmp_path / "some.rules").write_text('r: aunt(X, "dan\x1b[2Jiel") <- sister(X, "dan\x1b[2Jiel").')
    options = ["audit", "--facts", str(tmp_path / "facts.csv"), "--rules", str(tmp_path / "some.rules"), "--log-sql"]
    assert "\x1b" not in CliRunner().invoke(program, options).stderr


def test_a_log_that_there_is_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RULESCORE_LOG", "everything")
    with pytest.raises(InputError) as error:
        connect(EngineOptions())
    assert [problem.code for problem in error.value.problems] == ["E402"]
