"""`--table` picks one table for every format, and `--detail` prints all of them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable

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
