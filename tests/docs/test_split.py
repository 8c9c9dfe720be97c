"""The benchmark of the parts of a run names functions of the package, which may be renamed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SPLIT = Path(__file__).parents[2] / "benchmarks" / "split.py"


@pytest.mark.slow
def test_the_parts_of_a_run_are_all_of_it(tmp_path: Path) -> None:
    (tmp_path / "facts.tsv").write_text("a\tq\tb\nb\tq\tc\nb\tp\tc\n")
    (tmp_path / "some.rules").write_text("one: p(X, Y) <- q(X, Y). closed p.\n")
    arguments = ["audit", "--facts", "facts.tsv", "--rules", "some.rules", "--format", "csv"]
    command = [sys.executable, SPLIT, "output.csv", *arguments]
    told = json.loads(subprocess.run(command, cwd=tmp_path, check=True, capture_output=True).stdout)
    assert (tmp_path / "output.csv").read_text().startswith("rule,")
    assert all(seconds >= 0 for seconds in told.values())
    assert min(told[part] for part in ("imports", "reading rules", "reading and numbering data", "counting", "writing")) > 0
