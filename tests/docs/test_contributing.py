"""The worked examples of CONTRIBUTING.md: each is applied to a copy, where its test has to fail before and pass after."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "CONTRIBUTING.md"
SECTIONS = dict(re.findall(r"^## (A new .+)\n((?:(?!## ).*\n)+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for folder in ("src", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def blocks(section: str) -> list[tuple[str, str]]:
    return BLOCK.findall(SECTIONS[section])


def apply(diff: str, folder: Path) -> None:
    """Apply a diff whose hunks have no numbers of lines: the lines of a hunk have to stand in the file exactly once."""
    for name, hunks in re.findall(r"^--- .*\n\+\+\+ b/(.*)\n((?:(?!--- ).*\n?)+)", diff, re.MULTILINE):
        path = folder / name
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        for hunk in hunks.split("@@\n")[1:]:
            lines = hunk.splitlines(keepends=True)
            before, after = ("".join(line[1:] for line in lines if line[0] in kept) for kept in (" -", " +"))
            assert text.count(before) == 1 or not text, (name, before)
            text = text.replace(before, after, 1) if text else after
        path.write_text(text, encoding="utf-8")


def install_entry_points(diff: str, folder: Path) -> None:
    """What `pip install --editable .` does with the lines that a diff adds to pyproject.toml."""
    about = folder / "src" / "added-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: added\nVersion: 1.0\n", encoding="utf-8")
    groups = re.findall(r'^ \[project.entry-points."(.*)"\]\n(?: .*\n)*((?:\+\w+ = ".*"\n?)+)', diff, re.MULTILINE)
    texts = [f"[{group}]\n{added.replace('+', '').replace(chr(34), '')}\n" for group, added in groups]
    (about / "entry_points.txt").write_text("".join(texts), encoding="utf-8")


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment: Mapping[str, str] = {**os.environ, "PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)


def test_a_new_aggregate_counts_as_its_case_says(copy: Path) -> None:
    (_, case), (_, diff), (_, session) = blocks("A new aggregate")
    (copy / "tests" / "cases" / "aggregates" / "extent.case").write_text(case, encoding="utf-8")
    command = session.removeprefix("$ ").split()
    assert command[0] == "pytest"
    assert run(copy, "-m", *command, "-q", "-p", "no:cacheprovider").returncode != 0
    apply(diff, copy)
    after = run(copy, "-m", *command, "-q", "-p", "no:cacheprovider")
    assert after.returncode == 0, after.stdout
    assert re.search(r"\b[1-9]\d* passed", after.stdout)


@pytest.mark.parametrize("section", ["A new rule format", "A new declaration"])
def test_a_new_format_and_a_new_declaration_do_what_the_page_shows(section: str, copy: Path) -> None:
    (_, diff), (_, program), (_, shown) = blocks(section)
    assert run(copy, "-c", program).returncode != 0
    apply(diff, copy)
    install_entry_points(diff, copy)
    after = run(copy, "-c", program)
    assert after.returncode == 0, after.stderr
    if os.environ.get("RULESCORE_UPDATE_DOCS"):
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(
            text.replace(f"{program}```\n\n```text\n{shown}", f"{program}```\n\n```text\n{after.stdout}"), encoding="utf-8"
        )
    assert after.stdout == shown
