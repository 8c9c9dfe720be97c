"""`rulescore rules` lists rules without reading any data."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from click.testing import Result

from rulescore.reporting.json import listing_schema

Run = Callable[..., Result]


def listed(run: Run, *arguments: str) -> list[str]:
    document = json.loads(run("rules", "--rules", "family.rules", "--format", "json", *arguments).stdout)
    jsonschema.validate(document, listing_schema())
    return [row["rule"] for row in document["rows"]]


UNNAMED = "family.rules:7"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), ["no_incest", "mothers", UNNAMED]),
        (("--name", "mo*"), ["mothers"]),
        (("--name", "*.rules:7"), [UNNAMED]),
        (("--tag", "kinship"), ["no_incest", "mothers"]),
        (("--tag", "kinship", "--tag", "law"), ["no_incest"]),
        (("--kind", "hard"), ["mothers"]),
        (("--kind", "soft"), []),
        (("--predicate", "wife"), ["no_incest", "mothers"]),
        (("--predicate", "wife", "--predicate", "father"), ["mothers"]),
    ],
)
def test_rules_are_filtered(run: Run, arguments: tuple[str, ...], expected: list[str]) -> None:
    assert listed(run, *arguments) == expected


def test_the_project_gives_kinds_and_weights(run: Run) -> None:
    text = Path("family.toml").read_text()
    Path("family.toml").write_text(text + '\n[scoring]\nkinds = { no_incest = "soft" }\nweights = { no_incest = 7 }\n')
    rows = json.loads(run("rules", "family.toml", "--format", "json").stdout)["rows"]
    assert (rows[0]["declared_kind"], rows[0]["weight"]) == ("soft", 7)
    assert rows[1]["place"].startswith("family.rules:")


def test_the_table_shows_names_and_texts(run: Run) -> None:
    result = run("rules", "--rules", "family.rules")
    assert "3 rules" in result.stdout
    assert "mothers" in result.stdout


def test_a_rule_file_with_a_mistake_exits_with_two(run: Run) -> None:
    Path("family.rules").write_text("p(X) <- q(X)\np(X) <- .\n")
    result = run("rules", "--rules", "family.rules")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "family.rules:" in result.stderr


def test_rule_files_are_checked_by_themselves(run: Run, family: Path) -> None:
    (family / "same.rules").write_text("mothers: mother(X, Y) <- wife(X, Z), father(Z, Y).\n", encoding="utf-8")
    result = run("check", "--rules-only", "family.rules", "same.rules", "--format", "csv")
    assert (result.exit_code, result.stdout) == (0, "what,number\nrule files,2\nrules,4\n")
    (family / "one.rules").write_text("p(X, Y) <- q(X).\n", encoding="utf-8")
    (family / "two.rules").write_text("p(X) <- q(X.\n", encoding="utf-8")
    result = run("check", "--rules-only", "one.rules", "family.rules", "--rules", "two.rules")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "error[E201]" in result.stderr
    assert " --> two.rules:1:12\n" in result.stderr
