"""`rulescore init --engine` looks at a server's tables and writes a project of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import called
from rulescore.init.tables import OnServer
from servers.database import Database

pytestmark = pytest.mark.slow

SHOP = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city TEXT)",
    'CREATE TABLE "order line" (invoice INTEGER, line INTEGER, customer INTEGER REFERENCES customer, PRIMARY KEY (line, invoice))',
    "CREATE TABLE note (text TEXT)",
    "CREATE SCHEMA other",
    "CREATE TABLE other.customer (id INTEGER PRIMARY KEY)",
    "INSERT INTO customer SELECT n, 'c' || n, CASE WHEN n < 10 THEN 'Graz' ELSE 'Linz' END FROM generate_series(1, 20) AS n",
    'INSERT INTO "order line" SELECT n / 3, n % 3, n % 20 + 1 FROM generate_series(1, 40) AS n',
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_project_has_tables_keys_and_foreign_keys_of_a_server(database: Database, folder: Path) -> None:
    database.run(*SHOP, f"REVOKE USAGE ON SCHEMA other FROM {database.role}")
    before = database.state()
    made = called("init", "--engine", database.reader)
    assert made.exit_code == 0, made.stderr
    assert "left out, since they have no primary key: note" in made.stderr
    project = (folder / "rulescore.toml").read_text(encoding="utf-8")
    assert '[tables.customer]\ntable = "public.customer"\nkey = "id"\n' in project
    assert '[tables."order line"]\ntable = "public.order line"\nkey = ["line", "invoice"]\n' in project
    assert '"`order line`(customer) references customer(id)"' in project
    assert "other" not in project
    audited = called("audit", "--trust", "--format", "csv")
    assert audited.exit_code == 0, audited.stderr
    assert "never contradict it (0 of 40),40,0,40" in audited.stdout
    assert database.state() == before


def test_tables_of_one_name_are_told_apart_by_their_schemas(database: Database, folder: Path) -> None:
    database.run(*SHOP)
    made = called("init", "--engine", database.reader)
    assert made.exit_code == 0, made.stderr
    project = (folder / "rulescore.toml").read_text(encoding="utf-8")
    assert '[tables.public_customer]\ntable = "public.customer"\n' in project
    assert '[tables.other_customer]\ntable = "other.customer"\n' in project
    assert '"`order line`(customer) references public_customer(id)"' in project


def test_a_role_that_reads_nothing_is_told(database: Database) -> None:
    found = called("init", "--engine", database.reader)
    assert (found.exit_code, "this role can read no table that has a primary key" in found.stderr) == (2, True)


def test_files_are_given_otherwise() -> None:
    found = called("init", "--engine", "duckdb")
    assert (found.exit_code, "is not a server with a list of tables" in found.stderr) == (2, True)
    assert called("init", "--engine", "postgresql://x/y", "--facts", "facts.csv").exit_code == 2


def test_a_password_is_not_written_down() -> None:
    server = OnServer("postgresql://me:s3cret@host:5432/shop", {}, (), ())
    assert 'url = "postgresql://me@host:5432/shop"' in server.project(Path())
