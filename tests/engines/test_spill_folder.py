"""Temporary folders of killed runs are removed a day later, and nothing else is."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest

from rulescore.engines.memory import SpillFolder, remove_abandoned

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nothing is locked there")

OURS = "rulescore-spill-aaaaaaaa"
MARK = "made-by-rulescore"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's folder of temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def made(folder: Path, name: str, *files: str) -> Path:
    path = folder / name
    path.mkdir()
    for file in files:
        (path / file).touch()
    aged(path)
    return path


def aged(path: Path) -> None:
    os.utime(path, (0, 0), follow_symlinks=False)


def test_a_folder_is_marked_and_gone_once_it_is_closed(folder: Path) -> None:
    spill = SpillFolder()
    path = Path(spill.name)
    assert path.parent == folder
    assert [one.name for one in path.iterdir()] == [MARK]
    (path / "spilt").touch()
    spill.close()
    assert not path.exists()
    spill.close()


def test_what_a_killed_run_has_left_is_removed_by_the_next(folder: Path) -> None:
    left = made(folder, OURS, MARK, "spilt")
    SpillFolder().close()
    assert not left.exists()


def test_a_folder_that_is_young_or_in_use_stays(folder: Path) -> None:
    used, young = SpillFolder(), made(folder, OURS, MARK)
    aged(Path(used.name))
    os.utime(young)
    remove_abandoned()
    assert Path(used.name).exists()
    assert young.exists()
    used.close()


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("rulescore-results", ["rules.csv"]),
        ("rulescore-results", [MARK]),
        ("rulescore-demo", ["rulescore.toml"]),
        (OURS, ["rules.csv"]),
        (f"{OURS}-mine", [MARK]),
        (f"my-{OURS}", [MARK]),
    ],
)
def test_a_folder_that_lacks_the_name_or_the_mark_is_the_user_s(folder: Path, name: str, files: list[str]) -> None:
    path = made(folder, name, *files)
    remove_abandoned()
    assert sorted(one.name for one in path.iterdir()) == files


def test_no_link_is_followed(folder: Path) -> None:
    precious = made(folder, "precious", MARK)
    (folder / OURS).symlink_to(precious)
    aged(folder / OURS)
    (folder / OURS.replace("a", "b")).touch()
    aged(folder / OURS.replace("a", "b"))
    marked = made(folder, OURS.replace("aaaaaaaa", "cccccccc"))
    (marked / MARK).symlink_to(precious / MARK)
    aged(marked)
    left = made(folder, OURS.replace("aaaaaaaa", "dddddddd"), MARK)
    (left / "link").symlink_to(precious)
    aged(left)
    remove_abandoned()
    assert [one.name for one in precious.iterdir()] == [MARK]
    assert not left.exists()
    assert (folder / OURS).is_symlink()
    assert marked.exists()


def test_a_folder_of_another_user_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(folder, OURS, MARK)
    monkeypatch.setattr(os, "getuid", lambda: path.stat().st_uid + 1)
    remove_abandoned()
    assert path.exists()
