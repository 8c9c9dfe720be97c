"""`rulescore init` writes files that work, and overwrites none."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rulescore.arguments.project_file import read_project
from rulescore.cli.init import FILES

pytestmark = pytest.mark.slow

COMMAND = [str(Path(sys.executable).parent / "rulescore")]


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], cwd=folder, capture_output=True, text=True, encoding="utf-8", env={**os.environ, "COLUMNS": "100"}
    )


def test_what_it_says_to_type_next_works(tmp_path: Path) -> None:
    found = run("init", folder=tmp_path)
    assert (found.returncode, found.stderr) == (0, "")
    assert {path.name for path in tmp_path.iterdir()} == set(FILES)
    commands = re.findall(r"^  rulescore (.*?)  ", found.stdout, flags=re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        done = run(*command.split(), folder=tmp_path)
        assert (done.returncode, "careless" in done.stdout or "mother_by_wife" in done.stdout) == (0, True), done.stderr


def test_another_folder_is_made_and_named(tmp_path: Path) -> None:
    found = run("init", "new/family", folder=tmp_path)
    assert "  cd new/family\n" in found.stdout
    assert run("check", folder=tmp_path / "new" / "family").returncode == 0


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "facts.csv").write_text("mine\n", encoding="utf-8")
    found = run("init", folder=tmp_path)
    assert (found.returncode, found.stdout) == (2, "")
    assert "error[E603]: `facts.csv` exists already" in found.stderr
    assert "rulescore init FOLDER" in found.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["facts.csv"]


def test_every_key_of_the_comments_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With all comments that are keys or sections uncommented, the project file is still one."""
    monkeypatch.chdir(tmp_path)
    text = re.sub(r"^# (?=\[|\w+ = )", "", FILES["rulescore.toml"], flags=re.MULTILINE)
    assert text.count("\n#") < FILES["rulescore.toml"].count("\n#") - 10
    # A key before the first section stands where it is read.
    Path("rulescore.toml").write_text(text, encoding="utf-8")
    read_project(Path("rulescore.toml"))
