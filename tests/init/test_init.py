"""`rulescore init` writes files that work, and overwrites none."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path

import pytest

from command_line import called
from rulescore.arguments.project_file import read_project
from rulescore.init.command import FILES


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_what_it_says_to_type_next_works(tmp_path: Path) -> None:
    found = called("init")
    assert (found.exit_code, found.stderr) == (0, "")
    assert {path.name for path in tmp_path.iterdir()} == set(FILES)
    commands = re.findall(r"^  rulescore (.*?)  ", found.stdout, flags=re.MULTILINE)
    assert len(commands) == 3
    assert max(map(len, found.stdout.splitlines())) <= 80
    for command in commands:
        done = called(*command.split())
        assert (done.exit_code, "careless" in done.stdout or "mother_by_wife" in done.stdout) == (0, True), done.stderr


def test_another_folder_is_made_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "  cd new/family\n" in called("init", "new/family").stdout
    monkeypatch.chdir(tmp_path / "new" / "family")
    assert called("check").exit_code == 0


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "facts.csv").write_text("mine\n", encoding="utf-8")
    found = called("init")
    assert (found.exit_code, found.stdout) == (2, "")
    assert "error[E603]: `facts.csv` exists already" in found.stderr
    assert "rulescore init FOLDER" in found.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["facts.csv"]


def test_what_to_type_instead_names_the_same_facts(tmp_path: Path) -> None:
    (tmp_path / "rulescore.toml").write_text("mine\n", encoding="utf-8")
    found = called("init", "--facts", "my facts.csv")
    assert "rulescore init --facts 'my facts.csv' FOLDER" in found.stderr


def test_every_key_of_the_comments_is_one() -> None:
    """With all comments that are keys or sections uncommented, the project file is still one."""
    text = re.sub(r"^# (?=\[|\w+ = )", "", FILES["rulescore.toml"], flags=re.MULTILINE)
    assert text.count("\n#") < FILES["rulescore.toml"].count("\n#") - 10
    # A key before the first section stands where it is read.
    Path("rulescore.toml").write_text(text, encoding="utf-8")
    read_project(Path("rulescore.toml"))


def test_a_project_of_tables_has_their_keys_and_foreign_keys_and_what_was_found(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "shop.sqlite") as database:
        database.executescript("""
            CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE invoice (number INTEGER, customer INTEGER REFERENCES customer, total REAL);
        """)
        database.executemany("INSERT INTO customer VALUES (?, ?)", [(n, f"c{n}") for n in range(20)])
        database.executemany("INSERT INTO invoice VALUES (?, ?, ?)", [(n, n % 21, 1.5 * n + 1) for n in range(42)])
    database.close()
    made = called("init", "--table", "shop.sqlite")
    assert max(map(len, made.stdout.splitlines())) <= 80
    assert (made.exit_code, made.stdout.startswith("wrote found.rules, rulescore.toml")) == (0, True), made.stderr
    project = (tmp_path / "rulescore.toml").read_text(encoding="utf-8")
    assert '"invoice(customer) references customer(id)"' in project
    assert '[tables.invoice]\ndatabase = "shop.sqlite"\ntable = "invoice"\nkey = "row"\n' in project
    assert '[tables.customer]\ndatabase = "shop.sqlite"\ntable = "customer"\nkey = "id"\n' in project
    commands = re.findall(r"^  rulescore (.*?)  ", made.stdout, flags=re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        done = called(*command.split())
        assert (done.exit_code, "invoice" in done.stdout) == (0, True), done.stderr
    audit = called("audit", "--trust", "--format", "json")
    refuted = {row["rule"]: row["refuted"] for row in json.loads(audit.stdout)["rows"]}
    assert refuted["invoice.customer references customer.id"] == 2
    assert len(refuted) > 1


def test_a_table_with_values_of_several_types_in_a_column_is_told_and_the_others_are_searched(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "shop.sqlite") as database:
        for table in ("bill", "line", "note"):
            database.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, price REAL, paid REAL)")
            database.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", [(n, 2 * n + 1, n % 7 + 1) for n in range(40)])
        database.execute("UPDATE line SET price = 'free' WHERE id = 3")
        database.execute("UPDATE note SET price = 'none' WHERE id = 4")
    database.close()
    made = called("init", "--table", "shop.sqlite")
    assert made.exit_code == 0, made.stderr
    assert made.stderr.count("is left out of the search for rules: `price` has values of several types") == 2
    found = (tmp_path / "found.rules").read_text(encoding="utf-8")
    assert "bill(" in found
    assert "line(" not in found
    assert "[tables.line]" in (tmp_path / "rulescore.toml").read_text(encoding="utf-8")


def test_tables_and_facts_are_different_projects() -> None:
    assert called("init", "--table", "a.csv", "--facts", "b.csv").exit_code == 2
    assert called("init", "--key", "id").exit_code == 2


@pytest.mark.parametrize(
    ("option", "text"),
    [("--facts", "head,relation,tail\na,p,b\n"), ("--table", "id,price\n1,3\n2,4\n3,5\n")],
    ids=["facts", "table"],
)
def test_data_without_rules_get_no_command_that_needs_rules(option: str, text: str) -> None:
    Path("data.csv").write_text(text, encoding="utf-8")
    made = called("init", option, "data.csv", *(("--key", "id") if option == "--table" else ()))
    assert made.exit_code == 0, made.stderr
    assert "no rule was found: write your own into found.rules" in made.stderr
    assert "audit" not in made.stdout
    assert called("audit").exit_code == 2
    _two_commands_work(made.stdout)


def test_a_database_without_rules_or_foreign_keys_gets_no_command_that_needs_rules(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "shop.sqlite") as database:
        database.executescript("CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO customer VALUES (1, 'a');")
    database.close()
    made = called("init", "--table", "shop.sqlite")
    assert "no rule was found" in made.stderr
    _two_commands_work(made.stdout)


def _two_commands_work(told: str) -> None:
    commands = re.findall(r"^  rulescore (.*?)  ", told, flags=re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        done = called(*command.split())
        assert done.exit_code == 0, done.stderr
