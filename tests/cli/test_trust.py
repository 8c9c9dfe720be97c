"""Commands and project files of other people: nothing of what needs trust is done without it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from click.testing import Result

Run = Callable[..., Result]

PROJECT = 'facts = "train.tsv"\nrules = "called.rules"\n[predictions]\ngood = "good.tsv"\n'
CODE = '[functions]\nchecked = "cli_trust_checks:checked"\n'


@pytest.fixture
def evil(family: Path) -> Path:
    """A project whose functions leave a trace when they are imported, and another when they are called."""
    (family / "called.rules").write_text(
        "called: checked(X) <- mother(X, Y).\nfather(X, Y) <- mother(X, Y). closed father. predicate wife/2.\n"
    )
    code = "from pathlib import Path\nPath('imported').touch()\ndef checked(x):\n    Path('called').touch()\n    return True\n"
    (family / "cli_trust_checks.py").write_text(code)
    (family / "rulescore.toml").write_text(PROJECT + CODE)
    return family


def told(result: Result) -> str:
    assert result.exit_code == 2, result.output
    return result.stderr


@pytest.mark.usefixtures("evil")
@pytest.mark.parametrize("named", [(), ("rulescore.toml",), ("--project", "rulescore.toml")])
@pytest.mark.parametrize("command", ["score", "audit", "violations"])
def test_no_command_that_counts_runs_code_of_a_project_it_found_or_was_given(run: Run, command: str, named: tuple[str]) -> None:
    assert "error[E411]" in told(run(command, *named))
    assert not Path("imported").exists()


@pytest.mark.usefixtures("evil")
@pytest.mark.parametrize(
    "command", [("check",), ("rules",), ("sql", "called"), ("sql", "called", "--plan"), ("incompatibilities",)]
)
@pytest.mark.parametrize("trust", [(), ("--trust",)])
def test_commands_that_count_nothing_import_nothing(run: Run, command: tuple[str, ...], trust: tuple[str]) -> None:
    result = run(*command, *trust)
    assert result.exit_code == 0, result.stderr
    assert not Path("imported").exists()


@pytest.mark.usefixtures("evil")
def test_a_statement_is_the_same_whether_functions_are_called_or_not(run: Run) -> None:
    shown = run("sql", "called").stdout
    explained = run("score", "--explain", "--trust").stdout
    assert Path("called").exists()
    assert shown.strip() in explained


@pytest.mark.usefixtures("evil")
def test_trust_on_the_command_line_is_for_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("audit", "--trust").exit_code == 0
    assert Path("called").exists()
    told(run("audit"))
    monkeypatch.setenv("RULESCORE_TRUST", "1")
    assert run("audit").exit_code == 0


def test_a_plain_project_needs_no_trust(run: Run) -> None:
    assert run("score", "family.toml").exit_code == 0


def test_results_are_not_written_through_a_link_that_nobody_was_shown(
    run: Run, family: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    victim = tmp_path_factory.mktemp("victim")
    (victim / "rules.csv").write_text("mine")
    sql = '[[sql_rules]]\nname = "x"\nstatement = "SELECT NULL AS prediction, true AS confirmed, false AS refuted"\n'
    (family / "p.toml").write_text((family / "family.toml").read_text() + sql + '[output]\nfolder = "results"\n')
    folder = family / "results"
    assert run("score", "p.toml", "--trust").exit_code == 0
    shutil.rmtree(folder)
    folder.symlink_to(victim)
    assert "it writes results into `results`, outside its own folder" in told(run("score", "p.toml"))
    assert [one.read_text() for one in victim.iterdir()] == ["mine"]


def test_results_are_not_written_outside_the_folder(run: Run, family: Path) -> None:
    (family / "inner").mkdir()
    project = family / "inner" / "p.toml"
    rest = '\n[output]\nfolder = "../results"\n'
    project.write_text((family / "family.toml").read_text().replace('= "', '= "../').replace("[output]", "") + rest)
    assert "line" in told(run("score", str(project)))
    assert not (family / "results").exists()
    # What is said on the command line is the user's own word; `audit` and `check` write nothing of what the project says.
    assert run("score", str(project), "--output", "mine").exit_code == 0
    assert run("audit", str(project)).exit_code == 0
    assert run("check", str(project)).exit_code == 0
    assert run("score", str(project), "--trust").exit_code == 0
    assert (family / "results" / "evaluation.json").exists()


@pytest.mark.parametrize("command", ["check", "rules", "score"])
def test_no_folder_is_made_for_what_does_not_spill(run: Run, family: Path, command: str) -> None:
    for name, folder in (("inside", "spill"), ("outside", "../spill")):
        text = (family / "family.toml").read_text()
        (family / f"{name}.toml").write_text(f'{text}[engine]\nspill_folder = "{folder}"\n')
    assert run(command, "inside.toml").exit_code == 0
    if command != "rules":
        assert "E411" in told(run(command, "outside.toml"))
    assert run(command, "outside.toml", "--trust").exit_code == 0
    assert not (family / "spill").exists()
    assert not (family.parent / "spill").exists()


def test_another_engine_is_not_called(run: Run, family: Path) -> None:
    (family / "server.toml").write_text((family / "family.toml").read_text() + '[engine]\nurl = "postgresql://me@127.0.0.1:1/x"\n')
    for command in ("score", "audit", "check", "load", "incompatibilities", "violations"):
        assert "E411" in told(run(command, "server.toml"))
    assert run("rules", "server.toml").exit_code == 0
    # An engine on the command line replaces that of the file.
    assert run("check", "server.toml", "--engine", "duckdb").exit_code == 0
    assert "E912" in told(run("check", "server.toml", "--trust"))


def test_a_view_of_a_database_file_reads_no_other_file(run: Run, family: Path) -> None:
    (family / "secret.txt").write_text("TOPSECRET")
    with duckdb.connect(str(family / "evil.duckdb")) as connection:
        connection.execute(f"CREATE VIEW v AS SELECT 1 AS id, content FROM read_text('{family / 'secret.txt'}')")
        connection.execute("CREATE TABLE t AS SELECT 1 AS id, 'x' AS content")
    rules = "shown: false <- t(id: A, content: C).\n"
    (family / "evil.rules").write_text(rules)
    table = 'rules = "evil.rules"\n[tables.t]\ndatabase = "evil.duckdb"\ntable = "{}"\nkey = "id"\n'
    (family / "v.toml").write_text(table.format("v"))
    (family / "t.toml").write_text(table.format("t"))
    assert "E411" in told(run("violations", "v.toml"))
    shown = told(run("violations", "v.toml", "--trust"))
    assert "error[E337]" in shown
    assert "TOPSECRET" not in shown
    assert run("violations", "t.toml", "--trust").exit_code == 0


@pytest.mark.parametrize("address", ["re:S3CRET@127.0.0.1:1/x", "postgresql:re:S3CRET@127.0.0.1:1/x", "re:S3//CRET@h/x"])
def test_no_message_holds_the_password_of_an_address_however_it_is_written(run: Run, family: Path, address: str) -> None:
    project = family / "p.toml"
    project.write_text((family / "family.toml").read_text() + f'\n[engine]\nurl = "{address}"\n')
    for command in (("check", "family.toml", "--engine", address), ("check", str(project))):
        result = run(*command)
        assert "***@" in result.output
        assert "S3" not in result.output


def test_a_password_in_a_place_where_no_address_belongs_is_not_shown(run: Run, family: Path) -> None:
    address = "postgresql://re:S3CRET@h/x"
    project = family / "p.toml"
    project.write_text(
        f'facts = "train.tsv"\n[tables.t]\ndatabase = "{address}"\ntable = "t"\nkey = "id"\n[functions]\nf = "{address}:f"\n'
    )
    commands = (
        ("audit", str(project)),
        ("check", "--convention", address),
        (address,),
        (f"--{address}",),
    )
    for command in commands:
        result = run(*command)
        assert "***@h/x" in result.output
        assert "S3CRET" not in result.output
