"""Results of two runs never mix, and nothing of others is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rulescore.errors import InputError
from rulescore.reporting.audit import audit_listing
from rulescore.reporting.files import EVALUATION_FILES, OUR_FILES, new_folder, refuse_unwritable, write_listing, write_outputs
from rulescore.scoring.evaluation import Evaluation
from rulescore.setting.choices import OutputFormat

LONG_AGO = time.time() - 2 * 24 * 60 * 60


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """The results of an earlier run, and a file of somebody else's."""
    folder = tmp_path / "results"
    write(folder, "old")
    (folder / "notes.txt").write_text("mine")
    return folder


def write(folder: Path, text: str, *names: str) -> None:
    with new_folder(folder, EVALUATION_FILES) as draft:
        for name in names or ("evaluation.json", "models.csv", "rules.csv"):
            (draft / name).write_text(text)


def held(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def drafts(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_dir())


OLD = {"evaluation.json": "old", "models.csv": "old", "rules.csv": "old", "notes.txt": "mine"}
NEW = {"evaluation.json": "new", "models.csv": "new", "rules.csv": "new", "notes.txt": "mine"}


def test_everything_that_is_written_has_a_name_that_is_known_as_ours(
    evaluation: Evaluation, audit: Evaluation, tmp_path: Path
) -> None:
    write_outputs(evaluation, tmp_path / "results", list(OutputFormat))
    assert {path.name for path in (tmp_path / "results").iterdir()} <= EVALUATION_FILES
    write_listing(audit_listing(audit.rule_results), tmp_path / "audited", list(OutputFormat))
    assert {path.name for path in (tmp_path / "audited").iterdir()} <= OUR_FILES - EVALUATION_FILES


def test_a_folder_is_replaced_and_what_is_of_others_stays(results: Path) -> None:
    inode = (results / "notes.txt").stat().st_ino
    write(results, "new")
    assert held(results) == NEW
    assert (results / "notes.txt").stat().st_ino == inode
    assert drafts(results) == []


def test_a_file_of_an_earlier_run_that_is_not_written_again_goes(results: Path) -> None:
    write(results, "new", "evaluation.json")
    assert held(results) == {"evaluation.json": "new", "notes.txt": "mine"}


def test_another_command_s_results_stay(evaluation: Evaluation, audit: Evaluation, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    write_outputs(evaluation, folder, ["json"])
    write_listing(audit_listing(audit.rule_results), folder, ["csv"])
    assert set(held(folder)) == {"evaluation.json", "audit.csv"}
    write_outputs(evaluation, folder, ["csv"])
    assert set(held(folder)) == {"rules.csv", "models.csv", "audit.csv"}


def test_a_folder_of_contributions_is_ours(audit: Evaluation, results: Path) -> None:
    (results / "contributions.parquet").mkdir()
    (results / "contributions.parquet" / "part").write_text("rows")
    write_listing(audit_listing(audit.rule_results), results, ["csv"])
    assert (results / "contributions.parquet" / "part").read_text() == "rows"
    write(results, "new")
    assert not (results / "contributions.parquet").exists()


def test_contributions_that_are_elsewhere_are_written_with_the_rest(evaluation: Evaluation, tmp_path: Path) -> None:
    from dataclasses import replace

    def contributions(path: Path) -> None:
        assert not (tmp_path / "results" / "contributions.parquet").exists()
        path.mkdir()
        (path / "part").touch()

    kept = replace(evaluation, contributions_table=None)
    write_outputs(kept, tmp_path / "results", ["json"], contributions)
    assert not (tmp_path / "results" / "contributions.parquet").exists()
    (tmp_path / "results").rename(tmp_path / "away")
    write_outputs(kept, tmp_path / "results", ["parquet"], contributions)
    assert (tmp_path / "results" / "contributions.parquet" / "part").exists()


@contextmanager
def refused(results: Path, words: str) -> Iterator[None]:
    before = held(results)
    with pytest.raises(InputError, match=rf"E601.*{words}"):
        yield
    assert held(results) == before
    assert not any(name.endswith(".partial") for name in drafts(results))


def test_a_folder_in_the_place_of_a_file_is_told_before_anything_is_written(results: Path) -> None:
    (results / "rules.csv").unlink()
    (results / "rules.csv").mkdir()
    with refused(results, "`rules.csv`"):
        refuse_unwritable(results)
    with refused(results, "`rules.csv`"):
        write(results, "new")


def test_results_are_written_into_the_current_folder_and_next_to_folders_of_others(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (results / "inner").mkdir()
    monkeypatch.chdir(results)
    write(Path(), "new")
    assert held(results) == NEW
    assert drafts(results) == ["inner"]


def test_what_is_no_folder_or_cannot_be_written_is_refused(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (results.parent / "file").touch()
    (results.parent / "circle").symlink_to("circle")
    for name in ("file", "circle"):
        with refused(results, "not a folder"):
            refuse_unwritable(results.parent / name)
    monkeypatch.setattr(os, "access", lambda *_: False)
    for folder in (results, results / "within" / "another"):
        with refused(results, f"may not write to `{results}`"):
            refuse_unwritable(folder)


def test_a_link_to_a_folder_stays_a_link(results: Path) -> None:
    (results.parent / "link").symlink_to(results)
    write(results.parent / "link", "new")
    assert held(results) == NEW
    assert (results.parent / "link").is_symlink()


def test_links_and_rights_stay(results: Path) -> None:
    (results / "to_notes").symlink_to("notes.txt")
    (results / "dangling").symlink_to("nowhere")
    results.chmod(0o750)
    write(results, "new")
    assert (results / "to_notes").readlink() == Path("notes.txt")
    assert (results / "dangling").is_symlink()
    assert results.stat().st_mode & 0o777 == 0o750


def write_and_fail(folder: Path, error: BaseException) -> None:
    with new_folder(folder, EVALUATION_FILES) as draft:
        (draft / "rules.csv").write_text("new")
        raise error


def test_an_interruption_or_a_failure_leaves_everything_as_it_was(results: Path) -> None:
    for error, raised in ((KeyboardInterrupt(), KeyboardInterrupt), (OSError("no room"), InputError)):
        with pytest.raises(raised):
            write_and_fail(results, error)
        with pytest.raises(raised):
            write_and_fail(results.parent / "others", error)
    assert held(results) == OLD
    assert drafts(results) == []
    assert not (results.parent / "others").exists()


KILLED = """
import os, signal, sys
from pathlib import Path
from rulescore.reporting.files import EVALUATION_FILES, new_folder

count = int(sys.argv[2])
rename = Path.rename

def counted(path, other):
    global count
    if count == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    count -= 1
    return rename(path, other)

Path.rename = counted
with new_folder(Path(sys.argv[1]), EVALUATION_FILES) as draft:
    for name in ("evaluation.json", "models.csv"):
        (draft / name).write_text("killed")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX signal")
@pytest.mark.parametrize("renames", [0, 1])
def test_a_run_that_is_killed_while_files_move_mixes_nothing(results: Path, renames: int) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(results), str(renames)], capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert sorted(held(results).values()) == ["killed"] * renames + ["mine"]
    write(results, "new")
    assert held(results) == NEW
    (draft,) = drafts(results)
    os.utime(results / draft, (LONG_AGO, LONG_AGO))
    write(results, "new")
    assert drafts(results) == []


def test_what_killed_runs_have_left_is_removed_a_day_later(results: Path) -> None:
    names = {".rulescore-aaaaaaaa.partial": LONG_AGO, ".rulescore-bbbbbbbb.partial": time.time(), ".theirs.partial": LONG_AGO}
    for name, when in names.items():
        (results / name).mkdir()
        (results / name / "rules.csv").write_text("half")
        os.utime(results / name, (when, when))
    write(results, "new")
    assert drafts(results) == [".rulescore-bbbbbbbb.partial", ".theirs.partial"]
    assert held(results) == NEW


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """A folder of the user's, outside the one that the results are in."""
    folder = tmp_path / "precious"
    (folder / "contributions.parquet").mkdir(parents=True)
    for name in ("diary.txt", "rules.csv", "contributions.parquet/part"):
        (folder / name).write_text("precious")
    return folder


def all_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_links_lead_nowhere(precious: Path) -> None:
    """Whoever made the project can put some there: they would lead to files that are none of ours."""
    results = precious.parent / "results"
    results.mkdir()
    for name in (".rulescore-aaaaaaaa.partial", "contributions.parquet", "rules.csv"):
        (results / name).symlink_to("../precious")
        os.utime(results / name, (LONG_AGO, LONG_AGO), follow_symlinks=False)
    os.utime(precious, (LONG_AGO, LONG_AGO))
    before = all_in(precious)
    write(results, "new")
    assert all_in(precious) == before
    assert (results / ".rulescore-aaaaaaaa.partial").is_symlink()
    assert held(results) == dict.fromkeys(("evaluation.json", "models.csv", "rules.csv"), "new")


@pytest.mark.skipif(sys.platform == "win32", reason="files have no number of their owner there")
def test_a_folder_of_another_user_is_not_ours(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = results / ".rulescore-aaaaaaaa.partial"
    left.mkdir()
    (left / "rules.csv").touch()
    os.utime(left, (LONG_AGO, LONG_AGO))
    monkeypatch.setattr(os, "getuid", lambda: left.stat().st_uid + 1)
    write(results, "new")
    assert all_in(left) == ["rules.csv"]


@pytest.mark.timeout(20)
@pytest.mark.skipif(sys.platform == "win32", reason="nothing is locked there")
def test_a_lock_of_others_is_not_waited_for_without_end(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any user may lock a folder that all can read, such as /tmp."""
    import fcntl

    monkeypatch.setattr("rulescore.waiting.PATIENCE", 0.1)
    handle = os.open(results, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        write(results, "new")
    finally:
        os.close(handle)
    assert held(results) == NEW


def test_two_runs_at_once_leave_the_results_of_one(results: Path) -> None:
    """And a third, of another command, whose files stay whatever the order."""
    begun = threading.Barrier(3)
    failed: list[BaseException] = []

    def many(text: str, own: frozenset[str], names: tuple[str, ...]) -> None:
        begun.wait()
        try:
            for _ in range(30):
                with new_folder(results, own) as draft:
                    for name in names:
                        (draft / name).write_text(text)
        except BaseException as error:
            failed.append(error)

    mine, theirs = ("evaluation.json", "rules.csv"), ("models.csv", "rules.csv")
    runs = [
        threading.Thread(target=many, args=one)
        for one in (
            ("one", EVALUATION_FILES, mine),
            ("other", EVALUATION_FILES, theirs),
            ("audit", frozenset({"audit.csv"}), ("audit.csv",)),
        )
    ]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert failed == []
    found = held(results)
    assert (found.pop("audit.csv"), found.pop("notes.txt")) == ("audit", "mine")
    assert found in (dict.fromkeys(mine, "one"), dict.fromkeys(theirs, "other"))
    assert drafts(results) == []
