"""`rulescore audit` shows the rules that are asked for, and keeps them as a rule file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from rulescore.errors import Source
from rulescore.language.parser import parse
from rulescore.language.syntax import Rule

Run = Callable[..., Result]

RULES = """\
# Found by a miner, and looked through.
@confidence(0.8) @support(924) @weight(2) @tags(kinship, "of age") @description("a \\"quoted\\" word")
`the mothers`: mother(X, Y) <- wife(X, Z), father(Z, Y).
@confidence(0.25) backwards: father(X, Y) <- mother(X, Y).
@hard empty: mother(X, Y) <- mother(X, Y).
mother(X, Y) <- wife(X, Y).
no_incest: false <- sister(X, Y), wife(X, Y).
for $p in {mother, father}: "each $p": $p(X, Y) <- sister(X, Y).
incompatible mother, father.
functional mother(X, Y) on Y -> X.
closed sister.
"""


@pytest.fixture
def mined(run: Run) -> Run:
    Path("mined.rules").write_text(RULES, encoding="utf-8")
    return lambda *words: run("audit", "--facts", "train.tsv", "--predictions", "good.tsv", "--rules", "mined.rules", *words)


def names(result: Result) -> list[str]:
    assert result.exit_code == 0, result.stderr
    return [row["rule"] for row in json.loads(result.stdout)["rows"]]


def without_name(row: dict[str, object]) -> dict[str, object]:
    """A rule without a name is called after its file."""
    return {key: value for key, value in row.items() if key != "rule"}


def test_filters_and_order_hold_in_every_format(mined: Run) -> None:
    chosen = ("--flag", "none", "--flag", "tautology", "--sort", "name", "--limit", "2", "-q")
    expected = names(mined(*chosen, "--format", "json"))
    assert len(expected) == 2
    rows = csv.DictReader(io.StringIO(mined(*chosen, "--format", "csv").stdout))
    assert [row["rule"] for row in rows] == expected
    for form in ("table", "markdown", "latex"):
        text = mined(*chosen, "--format", form).stdout
        assert "empty" in text
        assert "mothers" not in text


def test_rules_are_told_apart_by_rate_and_evaluable_groundings(mined: Run) -> None:
    assert names(mined("--rate", ">0", "--format", "json", "-q")) == ["backwards"]
    assert names(mined("--rate", "0..10%", "--min-evaluable", "2", "--format", "json", "-q")) == ["empty"]


def test_what_a_miner_says_stands_beside_the_rate(mined: Run) -> None:
    rows = {row["rule"]: row for row in json.loads(mined("--format", "json", "-q").stdout)["rows"]}
    assert (rows["the mothers"]["confidence"], rows["the mothers"]["support"]) == (0.8, 924)
    assert rows["no_incest"]["confidence"] is None
    assert "confidence and support: as the rule files say" in mined("-q").stdout


def test_a_tautology_is_warned_of(mined: Run) -> None:
    warning = mined().stderr.partition("warning[W212]: ")[2]
    assert warning.startswith("rule `empty` says nothing: its head stands in its own body\n")


def test_kept_rules_read_back_as_they_were_with_all_declarations(mined: Run, run: Run) -> None:
    result = mined("--no-flag", "tautology", "--keep", "kept.rules")
    assert result.stderr.endswith("wrote 6 of 7 rules to kept.rules\n")
    written = [
        s for s in parse(Source("mined.rules", RULES)).statements if not (isinstance(s, Rule) and s.head == s.body.conditions[0])
    ]
    assert list(parse(Source("kept.rules", Path("kept.rules").read_text(encoding="utf-8"))).statements) == written
    before = {
        row["text"]: without_name(row)
        for row in json.loads(mined("--no-flag", "tautology", "--format", "json", "-q").stdout)["rows"]
    }
    again = run("audit", "--facts", "train.tsv", "--predictions", "good.tsv", "--rules", "kept.rules", "--format", "json", "-q")
    assert {row["text"]: without_name(row) for row in json.loads(again.stdout)["rows"]} == before


def test_a_kept_file_is_not_overwritten_unawares(mined: Run) -> None:
    Path("kept.rules").write_text("mine\n", encoding="utf-8")
    refused = mined("--keep", "kept.rules")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "error[E603]" in refused.stderr
    assert mined("--keep", "kept.rules", "--force", "-q").exit_code == 0
    assert "incompatible mother, father." in Path("kept.rules").read_text(encoding="utf-8")
