"""Addresses of PostgreSQL servers: passwords stay secret, and what cannot be had is said before anything starts."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner
from sqlglot import parse_one

import rulescore
from rulescore.cli.main import program
from rulescore.engines.base import Engine, connect
from rulescore.errors import Diagnostic, InputError, MissingExtraError, Place, masked
from rulescore.postgres.engine import PostgresEngine
from rulescore.setting.options import EngineOptions
from servers.postgres import READER, Server
from servers.postgres_activity import opened_engine  # noqa: F401  # a fixture


def value(engine: Engine, text: str) -> object:
    return engine.query(parse_one(f"SELECT {text} AS v", dialect="postgres"))["v"][0].as_py()


def refused(options: EngineOptions) -> list[str]:
    with pytest.raises(InputError) as raised:
        connect(options)
    return [problem.code for problem in raised.value.problems]


def test_options_that_cannot_be_kept_are_refused_before_anything_starts():
    options = EngineOptions(url="postgresql://nobody@nowhere.invalid/x", memory_limit="1GB", spill_folder=Path("spill"))
    assert refused(options) == ["E901", "E901"]


def test_options_reach_the_session(postgres: Server):
    engine = connect(EngineOptions(url=postgres.url(), threads=3, timeout=1.5))
    assert value(engine, "current_setting('max_parallel_workers_per_gather')") == "2"
    assert value(engine, "current_setting('statement_timeout')") == "1500ms"
    assert value(engine, "current_setting('transaction_isolation')") == "repeatable read"
    engine.close()


def test_room_that_the_address_asks_for_is_left_as_it_is(postgres: Server):
    engine = connect(EngineOptions(url=f"{postgres.url()}&options=-c%20work_mem%3D8MB"))
    assert value(engine, "current_setting('work_mem')") == "8MB"
    assert value(engine, "current_setting('temp_buffers')") == "128MB"
    engine.close()


def test_a_server_that_is_gone_is_noticed_unless_the_address_says_otherwise(postgres: Server):
    """By the library of the server, whose sockets send a sign of life now and then."""
    engine = connect(EngineOptions(url=f"{postgres.url()}&keepalives_idle=7"))
    assert isinstance(engine, PostgresEngine)
    found = engine._connection.info.get_parameters()
    assert {name: found.get(name) for name in ("keepalives_idle", "keepalives_interval", "keepalives_count")} == {
        "keepalives_idle": "7",
        "keepalives_interval": "10",
        "keepalives_count": "6",
    }
    engine.close()


def test_a_service_and_the_environment_name_the_server(postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    services = tmp_path / "services"
    services.write_text(f"[kept]\nhost={postgres.folder}\nuser={READER}\ndbname=postgres\n", encoding="utf-8")
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    connect(EngineOptions(url="postgres://?service=kept")).close()
    for name, given in (("PGHOST", str(postgres.folder)), ("PGUSER", READER), ("PGDATABASE", "postgres")):
        monkeypatch.setenv(name, given)
    connect(EngineOptions(url="postgresql://")).close()


def test_a_database_file_cannot_be_read_in_place(engine: Engine, tmp_path: Path):
    with pytest.raises(InputError) as raised:
        engine.attach(tmp_path / "data.duckdb", "__rulescore__database_0")
    assert raised.value.problems[0].code == "E347"


def test_a_database_that_is_not_unicode_or_allows_no_temporary_tables_is_refused(postgres: Server):
    postgres.ask("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
    postgres.ask("CREATE DATABASE closed")
    postgres.ask("REVOKE TEMPORARY ON DATABASE closed FROM PUBLIC")
    assert refused(EngineOptions(url=postgres.url(database="latin"))) == ["E913"]
    assert refused(EngineOptions(url=postgres.url(database="closed"))) == ["E913"]


SECRET = "s3cr3t"


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://user:{SECRET}@127.0.0.1:1/database",
        f"postgres://user:{SECRET}@127.0.0.1:1/database",
        f"postgresql://user:a@{SECRET}/b@127.0.0.1:1/database",
        f"postgresql://127.0.0.1:1/database?user=user&password={SECRET}",
        f"postgresql://user:{SECRET}",
        f"postgresql://user:{SECRET}@[/database",
        f"postgresq://user:{SECRET}@127.0.0.1:1/database",
        f"postgresql:/user:{SECRET}@127.0.0.1:1/database",
        f"host=127.0.0.1 port=1 user=user password={SECRET}",
        f"host=127.0.0.1 port=1 user=user password='{SECRET} x'",
        f"postgresql://user:a'b{SECRET}@127.0.0.1:1/database",
        f"postgresql://user:a`b{SECRET}@127.0.0.1:1/database",
        f"postgresql://user:a b{SECRET}@127.0.0.1:1/database",
        f"postgresql://user:12/b{SECRET}@127.0.0.1:1/database",
        f"xpostgresql://user:a'b{SECRET}@127.0.0.1:1/database",
        f"postgresql://127.0.0.1:1/database?user=user&password=a'b{SECRET}",
        f"postgresql://127.0.0.1:1/database?user=user&pass%77ord={SECRET}",
        f"xpostgresql://127.0.0.1:1/database?user=user&pass%77ord=a'b{SECRET}",
        f"postgresql://user:a'b{SECRET}",
    ],
)
def test_a_password_is_never_printed(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Neither by Python nor on the command line, from an option or a line of the project file, right or wrong."""
    with pytest.raises(InputError) as raised:
        connect(EngineOptions(url=url))
    seen = [str(raised.value), repr(raised.value.__cause__), repr(EngineOptions(url=url))]
    (tmp_path / "facts.tsv").write_text("a\tq\tb\n", encoding="utf-8")
    (tmp_path / "one.rules").write_text("one: false <- q(X, Y).\n", encoding="utf-8")
    project = '[facts]\npath = "facts.tsv"\n[rules]\npath = "one.rules"\n[engine]\n'
    for key in ("url", "urll"):
        (tmp_path / f"{key}.toml").write_text(f'{project}{key} = "{url}"\n', encoding="utf-8")
    plain = ["--facts", "facts.tsv", "--rules", "one.rules", "--engine", url]
    monkeypatch.chdir(tmp_path)
    for arguments in (["audit", *plain], ["audit", "url.toml"], ["audit", "url.toml", "--trust"], ["audit", "urll.toml"]):
        done = CliRunner().invoke(program, arguments)
        assert done.exit_code == 2, done.output
        seen.append(done.output)
    assert all(SECRET not in text for text in seen), seen


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://me:abc@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me@host:5432/db", "postgresql://me@host:5432/db"),
        ("a line with x: 1 @ 2", "a line with x: 1 @ 2"),
        ("?user=me&password=abc&x=1", "?user=me&password=***&x=1"),
        ("postgresql://admin:admin@host/db", "postgresql://admin:***@host/db"),
        ("postgresql://host/db?password=word", "postgresql://host/db?password=***"),
        ("postgresql://me:long and 'quoted'@host/db", "postgresql://me:***@host/db"),
        ('url = "postgresql://me:a\'b@c@host/db" # mail me@host', 'url = "postgresql://me:***@host/db" # mail me@host'),
        ("url = 'postgresql://me:a\"b@host/db'", "url = 'postgresql://me:***@host/db'"),
        ('url = "postgresql://me:a\\"b@host/db"', 'url = "postgresql://me:***@host/db"'),
        ('password = "a b"', "password = ***"),
        ("http://example.org/a:b\tknows\tme@example.org", "http://example.org/a:b\tknows\tme@example.org"),
        ("postgresql://[::1]:5432/db", "postgresql://[::1]:5432/db"),
        ("sc://host:15002/;token=abc;use_ssl=true", "sc://host:15002/;token=***;use_ssl=true"),
    ],
)
def test_masking_hides_passwords_and_nothing_else(text: str, shown: str):
    assert masked(text) == shown


@pytest.mark.parametrize("before", [0, 20, 45, 90, 200])
def test_a_long_line_hides_its_password_and_points_at_the_right_word(before: int):
    line = f'engine = {{ url = "postgresql://me:{SECRET}{"x" * 30}@host/db",{" " * before} tmeout = 3 }}{" " * 60}# comment'
    start = line.index("tmeout")
    shown = str(Diagnostic("E402", "unknown", Place("a.toml", 1, start + 1, len("tmeout"), line)))
    *_, text, caret = shown.splitlines()
    assert SECRET not in shown
    assert "xx" not in shown
    assert text[caret.index("^") : caret.rindex("^") + 1] == "tmeout"


def test_a_caret_does_not_tell_the_length_of_a_password():
    def shown(secret: str) -> list[str]:
        line = f'url = "postgresql://me:{secret}@host/db"'
        return str(Diagnostic("E402", "unknown", Place("a.toml", 1, 7, len(line) - 6, line))).splitlines()

    assert shown("a") == shown("a" * 50)
    assert shown("a")[-1].count("^") == len('"postgresql://me:***@host/db"')


@pytest.mark.parametrize(
    "url", ["postgresql://u\udcff@h/x", "postgresql://u:%ff@h/x", "postgresql://u:%zz@h/x", "postgresql://h/\0"]
)
def test_an_address_that_is_no_text_cannot_be_understood(url: str):
    assert refused(EngineOptions(url=url)) == ["E912"]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgres://admin:admin@127.0.0.1:1/admin?connect_timeout=1", "postgresql://admin@127.0.0.1:1/admin"),
        ("postgresql://u:word@/db?host=/nowhere&password=word", "postgresql://u@/db?host=/nowhere"),
        ("postgresql://127.0.0.1:1,127.0.0.1:2/db", "postgresql:///db?host=127.0.0.1,127.0.0.1&port=1,2"),
    ],
)
def test_a_server_that_cannot_be_reached_is_named_by_its_place(url: str, shown: str):
    with pytest.raises(InputError) as raised:
        connect(EngineOptions(url=url))
    assert raised.value.problems[0].message == f"no connection to `{shown}`"


def test_results_do_not_name_the_server(postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    url = postgres.url().replace(f"{READER}@", f"{READER}:{SECRET}@")
    evaluation = rulescore.audit({"q": [("a", "b")]}, "one: false <- q(X, Y).", engine=url)
    assert SECRET not in repr(evaluation)
    arguments = ["--facts", "facts.tsv", "--rules", "one.rules", "--engine", url, "--output", "out"]
    (tmp_path / "facts.tsv").write_text("a\tq\tb\n", encoding="utf-8")
    (tmp_path / "one.rules").write_text("one: false <- q(X, Y).\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for form in ("table", "json", "csv", "markdown", "latex"):
        done = CliRunner().invoke(program, ["audit", *arguments, "--format", form])
        assert done.exit_code == 0
        assert SECRET not in done.output
    of_facts = [*arguments[:2], *arguments[4:6]]
    for command in (
        ["sql", "one", *arguments[:6]],
        ["check", *arguments[:6]],
        ["violations", *arguments[:6]],
        ["incompatibilities", *of_facts],
    ):
        done = CliRunner().invoke(program, command)
        assert done.exit_code == 0, done.output
        assert SECRET not in done.output
    written = list((tmp_path / "out").iterdir())
    assert written
    assert all(SECRET.encode() not in path.read_bytes() for path in written)


def test_without_its_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("rulescore.postgres.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[postgres\]'"):
        connect(EngineOptions(url="postgresql://host/db"))


@pytest.mark.slow
def test_the_library_is_imported_only_when_a_server_is_asked_for():
    code = "import sys, rulescore; rulescore.audit({'q': [('a', 'b')]}, 'one: false <- q(X, Y).'); print('psycopg' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(Path(rulescore.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "False\n"


# A server that asks for the password


@pytest.fixture(scope="module")
def guarded(postgres: Server) -> Iterator[str]:
    """The address of a role that needs its password, without it."""
    postgres.ask(f"CREATE ROLE guarded LOGIN PASSWORD '{SECRET}'")
    postgres.ask("GRANT CONNECT, TEMPORARY ON DATABASE postgres TO guarded")
    rules = postgres.data / "pg_hba.conf"
    before = rules.read_text(encoding="utf-8")
    rules.write_text(f"local all guarded scram-sha-256\n{before}", encoding="utf-8")
    postgres.ask("SELECT pg_reload_conf()")
    url = postgres.url(user="guarded")
    while is_open(url):
        time.sleep(0.02)
    yield url
    rules.write_text(before, encoding="utf-8")
    postgres.ask("SELECT pg_reload_conf()")
    postgres.ask("REVOKE ALL ON DATABASE postgres FROM guarded")
    postgres.ask("DROP ROLE guarded")


def is_open(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.mark.parametrize("way", ["variable", "file", "service", "address", "parameter"])
def test_the_password_comes_from_where_the_library_of_the_server_looks(
    guarded: str, postgres: Server, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    given = tmp_path / "given"
    match way:
        case "variable":
            monkeypatch.setenv("PGPASSWORD", SECRET)
        case "file":
            given.write_text(f"*:*:*:guarded:{SECRET}\n", encoding="utf-8")
            given.chmod(0o600)
            monkeypatch.setenv("PGPASSFILE", str(given))
        case "service":
            given.write_text(
                f"[kept]\nhost={postgres.folder}\nuser=guarded\npassword={SECRET}\ndbname=postgres\n", encoding="utf-8"
            )
            monkeypatch.setenv("PGSERVICEFILE", str(given))
            guarded = "postgresql:///postgres?service=kept"
        case "address":
            guarded = guarded.replace("guarded@", f"guarded:{SECRET}@")
        case _:
            guarded = f"{guarded}&password={SECRET}"
    found = rulescore.audit({"q": [("a", "b")]}, "one: false <- q(X, Y).", engine=guarded)
    assert found.rule_results[0].dataset.refuted == 1


@pytest.mark.parametrize("way", ["variable", "address", "nowhere"])
def test_a_wrong_password_is_told_without_it(
    guarded: str, way: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    """Not in the message, nor in a traceback, nor in what the library logs."""
    caplog.set_level(logging.DEBUG)
    wrong = f"{SECRET}-wrong"
    if way == "variable":
        monkeypatch.setenv("PGPASSWORD", wrong)
    url = guarded.replace("guarded@", f"guarded:{wrong}@") if way == "address" else guarded
    with pytest.raises(InputError) as raised:
        connect(EngineOptions(url=url))
    (problem,) = raised.value.problems
    assert problem.code == "E912"
    assert any("password" in note for note in problem.notes)
    told = [str(raised.value), *traceback.format_exception(raised.value), str(raised.value.__context__), caplog.text]
    assert all(SECRET not in text for text in told), told
