"""What programs read is exact, and what is left out is said."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

pytestmark = pytest.mark.slow

Run = Callable[..., Result]


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that a terminal or a spreadsheet would take for something else."""
    monkeypatch.chdir(tmp_path)
    Path("facts.tsv").write_text("a\x1b[31mred\tsister\tdan\n=1+1\tsister\tdan\n", encoding="utf-8")
    Path("m.tsv").write_text("a\x1b[31mred\twife\tdan\n=1+1\twife\tdan\n", encoding="utf-8")
    Path("kin.rules").write_text("no: false <- sister(X, Y), wife(X, Y).\n", encoding="utf-8")


def violations(*options: str) -> str:
    command = ["violations", "--facts", "facts.tsv", "--rules", "kin.rules", "--predictions", "m.tsv", *options]
    program = [sys.executable, "-c", "from rulescore.cli.main import main; main()", *command]
    return subprocess.run(program, capture_output=True, check=True, timeout=60).stdout.decode()


@pytest.mark.usefixtures("hostile")
def test_csv_on_a_pipe_keeps_what_looks_like_a_colour() -> None:
    heads = [row["head"] for row in csv.DictReader(violations("--format", "csv").splitlines())]
    assert sorted(heads) == ["=1+1", "a\x1b[31mred"]


@pytest.mark.usefixtures("hostile")
def test_csv_for_spreadsheets_computes_nothing() -> None:
    rows = csv.DictReader(violations("--format", "csv", "--spreadsheet").splitlines())
    assert "'=1+1" in {row["head"] for row in rows}


@pytest.mark.usefixtures("hostile")
def test_counts_that_are_left_out_are_mentioned() -> None:
    shown = violations("--by", "entity", "--limit", "1")
    assert "2 more rows are not shown; `--limit N` shows more" in shown
    assert len(json.loads(violations("--by", "entity", "--format", "json"))["rows"]) == 3
