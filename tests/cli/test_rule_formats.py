"""Rule files of other tools on the command line."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import Result

from rulescore.cli.rules import convert

Run = Callable[..., Result]

MINED = """\
20\t16\t0.8\taunt(X,Y) <= sister(X,A), father(A,Y)
9\t3\t0.3333\taunt(X,e1) <= sister(X,A)
5\t2\t0.4\twife(X,e1) <=
8\t8\t1.0\twife(X,Y) <= husband(Y,X)
"""
REFERENCE = (Path(__file__).parents[2] / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")


@pytest.fixture
def mined(family: Path) -> Path:
    path = Path("family.rules.gz")
    path.write_bytes(gzip.compress(MINED.encode()))
    Path("refuted.rules").write_text("closed aunt. closed wife.")
    return path


def test_a_mined_file_is_scored_as_it_is(run: Run, mined: Path) -> None:
    arguments = ("--facts", "train.tsv", "--rules", str(mined), "--rules", "refuted.rules", "--predictions", "m=train.tsv")
    found = run("score", *arguments)
    assert found.exit_code == 0
    assert "note[W151]: family.rules.gz: AnyBURL rules, 3 read, 1 with an empty body set aside" in found.stderr
    assert "family.rules.gz:4" in found.stdout
    assert run("score", *arguments, "-q").stderr == ""


@pytest.mark.parametrize("command", ["audit", "check", "violations", "rules"])
def test_every_command_that_reads_rules_says_so_and_chooses(run: Run, mined: Path, command: str) -> None:
    data = () if command == "rules" else ("--facts", "train.tsv", "--rules", "refuted.rules")
    found = run(command, *data, "--rules", str(mined), "--min-confidence", "0.5", "--head", "aunt")
    assert found.exit_code == 0, found.stderr
    assert "AnyBURL rules, 3 read, 1 with an empty body set aside, 1 of them chosen" in found.stderr


def test_a_format_that_is_named_overrules(run: Run, mined: Path) -> None:
    found = run("rules", "--rules", str(mined), "--rules-format", "uniker")
    assert found.exit_code == 2
    assert "error[E152]: expected a line of UniKER rules" in found.stderr
    assert run("check", "--rules-only", str(mined), "--rules-format", "anyburl").exit_code == 0


def test_a_project_names_format_and_choice(run: Run, mined: Path) -> None:
    text = """
    facts = "train.tsv"
    [rules]
    path = "family.rules.gz"
    format = "anyburl"
    min_confidence = 0.5
    min_support = 3
    max_length = 2
    head = "aunt"
    [refutation]
    extract_incompatible = true
    """
    Path("mined.toml").write_text(text)
    rows = json.loads(run("rules", "mined.toml", "--format", "json").stdout)["rows"]
    assert [row["rule"] for row in rows] == ["family.rules.gz:1"]
    rows = json.loads(run("rules", "mined.toml", "--format", "json", "--head", "wife").stdout)["rows"]
    assert [row["rule"] for row in rows] == ["family.rules.gz:4"]


def test_confidences_are_weights_if_one_asks(run: Run, mined: Path) -> None:
    found = run("rules", "--rules", str(mined), "--weigh-by", "confidence", "--format", "json")
    assert "weighed by their confidence" in found.stderr
    rows = json.loads(found.stdout)["rows"]
    assert [row["weight"] for row in rows][:2] == [0.8, 0.3333]
    Path("mined.toml").write_text(f'facts = "train.tsv"\n[rules]\npath = "{mined}"\nweigh_by = "confidence"\n')
    assert json.loads(run("rules", "mined.toml", "--format", "json").stdout)["rows"] == rows


def test_what_is_no_rule_file_is_told_so(run: Run, mined: Path) -> None:
    Path("prose.txt").write_text("every sister of a father is an aunt\n")
    found = run("rules", "--rules", "prose.txt")
    assert found.exit_code == 2
    assert "error[E151]" in found.stderr
    assert "`anyburl`" in found.stderr


def test_rules_are_converted(run: Run, mined: Path) -> None:
    found = run("rules", "convert", str(mined), "--to", "rulescore", "--min-confidence", "0.9")
    assert found.stdout == "@confidence(1.0) @support(8)\nwife(X, Y) <- husband(Y, X).\n"
    assert "AnyBURL rules, 3 read" in found.stderr
    found = run("rules", "convert", str(mined), "--to", "uniker", "--min-confidence", "0.5", "--output", "MLN_rule.txt")
    assert found.exit_code == 0
    assert Path("MLN_rule.txt").read_text() == "1.0\taunt\tsister\tfather\n1.0\twife\thusband_v\n"
    assert "UniKER rules cannot say these: confidences (2), supports (2)" in found.stderr
    assert "wrote 2 rules to MLN_rule.txt" in found.stderr
    assert run("rules", "convert", str(mined), "--to", "uniker", "--output", "MLN_rule.txt").exit_code == 2


def test_a_rule_that_does_not_fit_is_named_and_nothing_is_written(run: Run, mined: Path) -> None:
    found = run("rules", "convert", str(mined), "--to", "uniker", "--output", "out.txt")
    assert found.exit_code == 2
    assert "rule `family.rules.gz:2` cannot be written for UniKER: its head does not have two different variables" in found.stderr
    assert "family.rules.gz:2:1" in found.stderr
    assert not Path("out.txt").exists()
    found = run("rules", "convert", "family.rules", "--to", "anyburl")
    assert "error[E156]" in found.stderr


def test_convert_is_in_the_reference() -> None:
    section = REFERENCE.partition("\n## rules convert\n")[2].partition("\n## ")[0]
    for parameter in convert.params:
        if isinstance(parameter, click.Option):
            assert parameter.help
            for option in parameter.opts:
                assert re.search(rf"`{re.escape(option)}[` ]", section), option
