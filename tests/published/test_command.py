"""`rulescore load` and `rulescore sql --layout published` from the command line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from command_line import Run
from servers.database import Database


def test_a_project_is_loaded_and_scored_in_place(run: Run, database: Database, family: Path) -> None:
    """The same rules over what was loaded, by a role that may only read, print the same numbers."""
    loaded = run("load", "family.toml", "--engine", database.address, "--schema", "kg")
    assert loaded.exit_code == 0
    assert re.search(r"^wife +wife +0 +2 +0$", loaded.stdout, flags=re.MULTILINE)
    (family / "kg.toml").write_text(
        f'rules = "family.rules"\n[[facts]]\ndatabase_schema = "kg"\n[engine]\nurl = "{database.reader}"\n'
    )
    for command in (["score"], ["audit"], ["violations", "--model", "bad"]):
        files, stored = (run(*command, project, "--trust", "--format", "csv") for project in ("family.toml", "kg.toml"))
        assert (files.exit_code, stored.exit_code) == (0, 0)
        assert sorted(stored.stdout.splitlines()) == sorted(files.stdout.splitlines())


def test_loading_twice_needs_to_be_asked_for(run: Run, database: Database) -> None:
    arguments = ("load", "--facts", "train.tsv", "--engine", database.address)
    assert run(*arguments).exit_code == 0
    again = run(*arguments)
    assert (again.exit_code, again.stdout) == (2, "")
    assert "E603" in again.stderr
    assert run(*arguments, "--replace").exit_code == 0


def test_a_header_that_is_loaded_as_a_fact_is_told(run: Run, database: Database, family: Path) -> None:
    (family / "named.tsv").write_text("person\tkind\tother\n" + (family / "train.tsv").read_text())
    options = ("--predictions", "good.tsv", "--engine", database.address)
    assert "W325" in run("load", "--facts", "named.tsv", *options, "--schema", "named").stderr
    assert "W325" not in run("load", "--facts", "train.tsv", *options).stderr


def test_loading_needs_a_server(run: Run) -> None:
    result = run("load", "--facts", "train.tsv")
    assert result.exit_code == 2
    assert "E347" in result.stderr


def test_the_published_queries_run_as_they_are_printed(run: Run, database: Database) -> None:
    options = ("--facts", "train.tsv", "--predictions", "bad.tsv", "--rules", "family.rules")
    assert run("load", *options[:4], "--engine", database.address).exit_code == 0
    script = run("sql", "family.rules:7", *options, "--layout", "published").stdout
    counts = [database.number(statement) for statement in script.split(";") if statement.strip()]
    titles = re.findall(r"^-- (.*)$", script, flags=re.MULTILINE)
    assert dict(zip(titles, counts, strict=True)) == {
        "observed facts: father confirms the head": 0,
        "model bad: father confirms the head": 0,
        "observed facts: mother refutes the head": 2,
        "model bad: mother refutes the head": 2,
    }


def test_one_model_can_be_chosen(run: Run) -> None:
    arguments = ("sql", "mothers", "family.toml", "--layout", "published", "--schema", "kg")
    script = run(*arguments, "--model", "good").stdout
    assert "model good" in script
    assert "model bad" not in script
    assert '"kg"."wife"' in script
    assert run(*arguments, "--model", "god").exit_code == 2


def test_a_rule_without_published_queries_says_why(run: Run) -> None:
    result = run("sql", "no_incest", "family.toml", "--layout", "published")
    assert result.exit_code == 2
    assert "its head is `false`" in result.stderr


@pytest.mark.parametrize("option", ["--schema", "--model"])
def test_options_of_the_layout_need_it(run: Run, option: str) -> None:
    result = run("sql", "mothers", "family.toml", option, "good")
    assert result.exit_code == 2
    assert "--layout published" in result.stderr
