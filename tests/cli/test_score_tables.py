"""`--table` picks one table for every format, and `--detail` prints all of them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from click.testing import Result

from rulescore.reporting.json import listing_schema

pytestmark = pytest.mark.slow

FIRST = {"models": "model", "rules": "rule", "violations": "rule"}
NAMES = {"models": "score_models", "rules": "score_rules", "violations": "violations"}
Run = Callable[..., Result]


@pytest.mark.parametrize("table", FIRST)
def test_every_format_has_one_table(run: Run, table: str) -> None:
    def printed(form: str) -> str:
        result = run("score", "family.toml", "--table", table, "--format", form)
        assert result.exit_code == 0, result.output
        return result.stdout

    assert printed("csv").startswith(FIRST[table])
    document = json.loads(printed("json"))
    assert (document["listing"], FIRST[table] in document["rows"][0]) == (NAMES[table], True)
    jsonschema.validate(document, listing_schema())
    assert printed("markdown").count("### ") == 1
    assert printed("latex").count(r"\caption") == 1
    assert printed("table").splitlines()[0] in {"Models and their rule violation scores", "Violations of each rule", "Violations"}


def test_columns_are_chosen_by_name_and_order(run: Run) -> None:
    chosen = run("score", "family.toml", "--columns", "model, hard_mean,violating", "--quiet")
    assert chosen.stdout.splitlines()[1].split() == ["model", "hard", "mean", "violating", "predictions"]
    in_csv = run("score", "family.toml", "--table", "models", "--columns", "model,hard_mean", "--format", "csv", "--quiet")
    assert in_csv.stdout.splitlines()[0] == "model,hard_mean"
    of_rules = run("score", "family.toml", "--table", "rules", "--columns", "rule,data", "--format", "markdown", "--quiet")
    assert of_rules.stdout.splitlines()[2] == "| rule | data |"
    wrong = run("score", "family.toml", "--columns", "model,hard_men")
    assert wrong.exit_code == 2
    assert "error[E502]: the table has no column `hard_men`" in wrong.stderr
    assert "did you mean `hard_mean`?" in wrong.stderr
    assert run("score", "family.toml", "--columns", "model", "--detail").exit_code == 2


def test_a_publication_prints_accuracy_and_scores(run: Run, family: Path) -> None:
    (family / "truth.tsv").write_text("alice\twife\tchristopher\n", encoding="utf-8")
    shown = run("score", "family.toml", "--truth", "truth.tsv", "--table", "published", "--format", "latex", "--quiet")
    heading = next(line for line in shown.stdout.splitlines() if line.startswith("model & "))
    assert heading.startswith("model & precision & recall & ")
    assert heading.index("soft") < heading.index("hard")
    rows = json.loads(run("score", "family.toml", "--table", "published", "--format", "json", "--quiet").stdout)
    assert rows["listing"] == "score_models"


def test_latex_has_the_caption_and_the_label_that_are_given(run: Run) -> None:
    shown = run("score", "family.toml", "--format", "latex", "--caption", "50% of $x_1$", "--label", "tab:rvs")
    assert r"\caption{50\% of \$x\_1\$}\label{tab:rvs}" in shown.stdout
    wrong = run("score", "family.toml", "--format", "latex", "--label", "a}b")
    assert (wrong.exit_code, "error[E402]: `a}b` is no label of LaTeX" in wrong.stderr) == (2, True)
    assert run("score", "family.toml", "--caption", "c").exit_code == 2


def test_violations_are_those_of_every_model(run: Run) -> None:
    models = ("--predictions", "one=bad.tsv", "--predictions", "two=bad.tsv")
    rows = json.loads(run("score", "family.toml", *models, "--table", "violations", "--format", "json").stdout)["rows"]
    assert {row["model"] for row in rows} == {"one", "two"}


def test_a_name_by_line_is_taken_wherever_a_rule_is_asked_for(run: Run) -> None:
    for command in ("sql family.rules:7 family.toml", "violations family.toml --dataset --rule family.rules:7"):
        result = run(*command.split())
        assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(io.StringIO(run("rules", "family.toml", "--name", "family.rules:7", "--format", "csv").stdout)))
    assert [(row["rule"], row["text"]) for row in rows] == [("family.rules:7", "father(X, Y) <- mother(X, Y)")]


def test_all_tables_are_not_one_table(run: Run) -> None:
    assert run("score", "family.toml", "--detail", "--table", "rules").exit_code == 2
    assert run("score", "family.toml", "--explain", "--table", "rules").exit_code == 2
    assert run("score", "family.toml", "--explain", "--detail").exit_code == 2
