"""Runs examples as a user does, and reads what the projects they write score."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from rulescore.cli.main import program

EXAMPLES = Path(__file__).parents[1] / "examples"


def run_example(name: str, *options: str) -> str:
    command = [sys.executable, str(EXAMPLES / name / "run.py"), *options]
    result = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert result.returncode == 0, result.stderr
    return result.stdout


def score_project(folder: Path) -> dict[str, Any]:
    result = CliRunner().invoke(program, ["score", str(folder / "rulescore.toml"), "--trust", "--format", "json"])
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    for rule in found["rules"]:  # where its file lies is another matter
        del rule["place"]
    return found
