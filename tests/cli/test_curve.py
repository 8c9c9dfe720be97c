"""`rulescore score --curve`, and rankings of other tools on the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

ANYBURL = """\
alice wife christopher
Heads: alice\t0.9\temma\t0.4\t
Tails: daniel\t0.8\tchristopher\t0.7\tfrank\t0.6\t
"""


@pytest.fixture
def ranking(family: Path) -> tuple[str, ...]:
    (family / "ranking.txt").write_text(ANYBURL)
    return "score", "--facts", "train.tsv", "--rules", "family.rules", "--predictions", "anyburl=ranking.txt"


def test_a_project_may_stand_behind_the_curve(run, ranking, family: Path) -> None:
    project = 'facts = "train.tsv"\nrules = "family.rules"\n[predictions.anyburl]\npath = "ranking.txt"\nformat = "anyburl"\n'
    (family / "curve.toml").write_text(project)
    behind, before = run("score", "--curve", "curve.toml"), run("score", "curve.toml", "--curve", "rank")
    assert behind.exit_code == before.exit_code == 0
    assert behind.stdout == before.stdout


def test_a_ranking_is_scored_as_it_is(run, ranking) -> None:
    result = run(*ranking)
    assert result.exit_code == 0
    assert "warning[W361]: `ranking.txt` is read as an AnyBURL ranking" in result.stderr
    assert "anyburl" in result.stdout


def test_a_curve_has_the_scores_of_every_k(run, ranking) -> None:
    found = run(*ranking, "--curve", "--format", "csv")
    assert found.exit_code == 0
    rows = list(csv.DictReader(io.StringIO(found.stdout)))
    assert [row["k"] for row in rows] == ["1", "2", "3"]
    for row in rows:
        alone = run(*ranking, "--top-k", row["k"], "--table", "models", "--format", "csv")
        [model] = csv.DictReader(io.StringIO(alone.stdout))
        assert {key: model[key] for key in row if key != "k"} == {key: row[key] for key in row if key != "k"}


def test_a_curve_up_to_a_top_k(run, ranking) -> None:
    rows = json.loads(run(*ranking, "--curve", "rank", "--top-k", "2", "--format", "json").stdout)["rows"]
    assert [row["k"] for row in rows] == [1, 2]


def test_a_curve_over_thresholds(run, ranking) -> None:
    found = run(*ranking, "--curve", "score", "--top-k", "3")
    assert found.exit_code == 0
    assert "threshold: answers with that score or more count" in found.stdout
