"""A 0 that says nothing never leaves the command line without a word: rules that nothing refutes, models that nothing measures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import rulescore

Run = Callable[..., Result]
MINED = ("--facts", "train.tsv", "--rules", "mined.rules")


@pytest.fixture(autouse=True)
def mined(family: Path) -> None:
    """Rules as miners write them: nothing says what refutes them."""
    (family / "mined.rules").write_text("parents: parent(X, Y) <- mother(X, Y). predicate wife/2.\n", encoding="utf-8")
    (family / "misread.tsv").write_text("alice\tall\tdaniel\nbob\tall\tdaniel\n", encoding="utf-8")


def test_scoring_rules_that_nothing_refutes_is_an_error_that_says_what_to_declare(run: Run) -> None:
    result = run("score", *MINED, "--predictions", "good.tsv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "error[E265]" in result.stderr
    assert "extract incompatible" in result.stderr


def test_an_option_or_the_project_file_allows_it_with_a_warning(run: Run) -> None:
    Path("allowed.toml").write_text(
        'facts = "train.tsv"\nrules = "mined.rules"\n[predictions]\ngood = "good.tsv"\n[scoring]\nallow_unrefutable = true\n',
        encoding="utf-8",
    )
    by_option = run("score", *MINED, "--predictions", "good.tsv", "--allow-unrefutable", "--format", "json")
    by_project = run("score", "allowed.toml", "--format", "json")
    assert by_option.exit_code == by_project.exit_code == 0
    assert by_option.stdout == by_project.stdout
    assert "warning[W211]" in by_option.stderr


@pytest.mark.parametrize("command", ["audit", "check"])
def test_commands_that_score_nothing_only_warn(run: Run, command: str) -> None:
    result = run(command, *MINED, "--predictions", "good.tsv")
    assert result.exit_code == 0
    assert "warning[W211]: the only rule can never be refuted" in result.stderr


def test_an_audit_flags_what_nothing_refutes(run: Run) -> None:
    (row,) = json.loads(run("audit", *MINED, "--format", "json").stdout)["rows"]
    assert row["flagged"] == ["unrefutable", "vacuous"]


def test_a_misread_model_is_unmeasured_and_its_predicates_are_named(run: Run) -> None:
    with Path("family.rules").open("a", encoding="utf-8") as rules:
        rules.write("predicate all/2.\n")
    result = run("score", "family.toml", "--predictions", "misread.tsv")
    assert result.exit_code == 0
    assert "warning[W502]: model `misread` is unmeasured" in result.stderr
    assert "misread: no rule mentions `all` (2)" in result.stdout
    (row,) = [line for line in result.stdout.splitlines() if line.startswith("misread ")][:1]
    assert row.split().count("unmeasured") == 2


def test_a_list_of_no_violations_says_that_there_could_be_none(run: Run) -> None:
    with Path("family.rules").open("a", encoding="utf-8") as rules:
        rules.write("predicate all/2.\n")
    chosen = ("--facts", "train.tsv", "--rules", "family.rules", "--predictions", "misread.tsv")
    assert "unmeasured: no prediction of `misread`" in run("violations", *chosen).stdout
    assert json.loads(run("violations", *chosen, "--format", "json").stdout)["says_nothing"].startswith("unmeasured: ")
    mined = ("--facts", "train.tsv", "--rules", "mined.rules", "--predictions", "good.tsv")
    assert json.loads(run("violations", *mined, "--format", "json", "-q").stdout)["says_nothing"].startswith("unrefutable: ")
    measured = ("--facts", "train.tsv", "--rules", "family.rules", "--predictions", "good.tsv")
    assert json.loads(run("violations", *measured, "--format", "json").stdout)["says_nothing"] is None


def test_every_table_names_the_predicates_that_no_rule_mentions(run: Run) -> None:
    with Path("family.rules").open("a", encoding="utf-8") as rules:
        rules.write("predicate all/2.\n")
    for form in ("table", "markdown", "latex"):
        shown = run("score", "family.toml", "--predictions", "misread.tsv", "-q", "--format", form).stdout
        assert "misread: no rule mentions" in shown.replace("\\:", ":")


def test_a_model_without_predictions_is_unmeasured() -> None:
    facts = [("alice", "mother", "bob")]
    result = rulescore.score(facts, {"silent": []}, "false <- mother(X, X).")
    assert result.models["unmeasured"].to_pylist() == [True]
    assert result.models["hard_score_reason"].to_pylist()[0].startswith("unmeasured: ")


def test_a_rule_in_sql_measures_the_predictions_that_it_reads() -> None:
    facts = {"mother": [("alice", "bob")], "father": [("carl", "bob")]}
    statement = "SELECT prediction, FALSE AS confirmed, a0 = a1 AS refuted FROM predicted_mother"
    models = {"read": {"mother": [("dora", "dora")]}, "unread": {"father": [("dora", "dora")]}}
    result = rulescore.score(facts, models, [], sql_rules=[rulescore.SqlRule("own", statement)], kinds={"own": "hard"})
    assert result.models["unmeasured"].to_pylist() == [False, True]
    assert result.models["violating"].to_pylist() == [1, 0]
    assert result.models["unconcerned"].to_pylist() == [0, 1]
    assert result.models["unconcerned_predicates"].to_pylist() == ["", "`father` (1)"]
