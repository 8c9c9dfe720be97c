"""The tools of maintainers: the check of a release, the draw of sentences, and what the workflows call."""

from __future__ import annotations

import csv
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

import release
import sentences

ROOT = Path(__file__).parents[2]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "src" / "rulescore").mkdir(parents=True)
    shutil.copy(ROOT / "src" / "rulescore" / "version.py", tmp_path / "src" / "rulescore")
    return tmp_path


def test_a_release_has_one_version(copy: Path) -> None:
    assert release.version(copy) == release.version()


@pytest.mark.parametrize("name", ["src/rulescore/version.py", "CHANGELOG.md"])
def test_a_release_stops_if_a_file_has_another_version(name: str, copy: Path) -> None:
    path = copy / name
    path.write_text(path.read_text(encoding="utf-8").replace(release.version(), "9.9.9"), encoding="utf-8")
    with pytest.raises(SystemExit, match=path.name):
        release.version(copy)


def test_nothing_that_the_release_runs_publishes() -> None:
    text = (ROOT / "tools" / "release.py").read_text(encoding="utf-8")
    assert "upload" not in text
    assert "git push" in text.split("print(")[-1]


def test_workflows_and_pages_name_targets_that_make_has() -> None:
    pages = [*ROOT.glob(".github/workflows/*.yml"), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "tests" / "README.md"]
    named = {
        target
        for page in pages
        for target in re.findall(r"(?:`|run: |^)make ([a-z-]+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    }
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"docs", "release-check", "test", "test-core"} <= named <= targets


def test_a_draw_has_as_many_sentences_of_each_kind_and_is_the_same_again() -> None:
    drawn = sentences.drawn(3, 60)
    assert Counter(sentence.kind for sentence in drawn) == {"document": 15, "docstring": 15, "comment": 15, "message": 15}
    assert all(len(sentence.text.split()) >= sentences.LEAST_WORDS for sentence in drawn)
    assert drawn == sentences.drawn(3, 60) != sentences.drawn(4, 60)


def test_documents_are_drawn_without_their_code_and_addresses() -> None:
    texts = [sentence.text for sentence in sentences.of_documents()]
    assert any("A *grounding* gives each of them a constant." in text for text in texts)
    assert [text for text in texts if "```" in text or "](" in text] == []


def test_the_last_reading_marked_at_most_five_of_sixty() -> None:
    with (ROOT / "tools" / "sentences.csv").open(encoding="utf-8", newline="") as rows:
        marked = list(csv.DictReader(rows))
    assert all(row["text"] and row["better"] for row in marked)
    last = max(int(row["seed"]) for row in marked)
    assert sum(int(row["seed"]) == last for row in marked) <= 5
