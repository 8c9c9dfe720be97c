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
from rulescore.reporting import files as under_test
from rulescore.reporting.audit import audit_listing
from rulescore.reporting.files import EVALUATION_FILES, OUR_FILES, new_folder, refuse_unswappable, write_listing, write_outputs
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


def beside(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.parent.iterdir() if path != folder)


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
    assert beside(results) == []


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
        assert not (tmp_path / "results").exists()
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
    assert not any(name.endswith((".partial", ".old")) for name in beside(results))


def test_a_folder_in_the_place_of_a_file_is_told_before_anything_is_written(results: Path) -> None:
    (results / "rules.csv").unlink()
    (results / "rules.csv").mkdir()
    with refused(results, "`rules.csv`"):
        refuse_unswappable(results)
    with refused(results, "`rules.csv`"):
        write(results, "new")


def test_a_folder_that_comes_while_a_run_is_at_work_stops_the_swap(results: Path) -> None:
    with refused(results, "`theirs`"), new_folder(results, EVALUATION_FILES) as draft:
        (draft / "evaluation.json").write_text("new")
        (results / "theirs").mkdir()


def test_the_current_folder_is_not_swapped(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shells and editors that stand in it would stand in a folder that is gone."""
    (results / "inner").mkdir()
    for current, named in ((results, "."), (results / "inner", "..")):
        monkeypatch.chdir(current)
        with refused(results, "current folder"):
            refuse_unswappable(Path(named))


def test_what_is_no_folder_or_cannot_be_renamed_is_refused(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (results.parent / "file").touch()
    (results.parent / "circle").symlink_to("circle")
    with refused(results, "not a folder"):
        refuse_unswappable(results.parent / "file")
    if sys.version_info < (3, 13):
        with refused(results, "in a circle"):
            refuse_unswappable(results.parent / "circle")
    with refused(results, "mounted"), monkeypatch.context() as patched:
        patched.setattr(os.path, "ismount", lambda _: True)
        refuse_unswappable(results)
    with refused(results, "may not write"), monkeypatch.context() as patched:
        patched.setattr(os, "access", lambda *_: False)
        refuse_unswappable(results)


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
    assert beside(results) == []


def test_files_are_copied_if_there_are_no_links(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", no_links)
    write(results, "new")
    assert held(results) == NEW
    assert beside(results) == []


def test_a_file_that_comes_at_the_last_moment_is_not_lost(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    carry = under_test._carry

    def late(target: Path, draft: Path, own: frozenset[str]) -> None:
        carry(target, draft, own)
        (target / "late.txt").write_text("late")
        (target / "notes.txt").unlink()
        (target / "notes.txt").write_text("changed")

    monkeypatch.setattr(under_test, "_carry", late)
    write(results, "new")
    assert held(results) == {**NEW, "late.txt": "late"}
    # The changed one is beside: nobody can tell which of the two is wanted.
    (left,) = beside(results)
    assert held(results.parent / left) == {"notes.txt": "changed"}


def write_and_fail(folder: Path, error: BaseException) -> None:
    with new_folder(folder, EVALUATION_FILES) as draft:
        (draft / "rules.csv").write_text("new")
        raise error


def test_an_interruption_or_a_failure_leaves_everything_as_it_was(results: Path) -> None:
    for error, raised in ((KeyboardInterrupt(), KeyboardInterrupt), (OSError("no room"), InputError)):
        with pytest.raises(raised):
            write_and_fail(results, error)
    assert held(results) == OLD
    assert beside(results) == []


def test_an_interruption_between_the_renames_puts_the_old_folder_back(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = Path.rename

    def interrupted(path: Path, other: Path) -> Path:
        if path.suffix == ".partial":
            raise KeyboardInterrupt
        return rename(path, other)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(results, "new")
    assert held(results) == OLD
    assert beside(results) == []


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
if count == 2:
    Path.rmdir = Path.unlink = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
with new_folder(Path(sys.argv[1]), EVALUATION_FILES) as draft:
    for name in ("evaluation.json", "models.csv"):
        (draft / name).write_text("killed")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX signal")
@pytest.mark.parametrize("renames", [0, 1, 2])
def test_a_run_that_is_killed_at_a_rename_mixes_nothing(results: Path, renames: int) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(results), str(renames)], capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    killed = {"evaluation.json": "killed", "models.csv": "killed", "notes.txt": "mine"}
    folders = [held(results.parent / name) for name in beside(results)]
    assert OLD in folders or held(results) == OLD
    if renames == 1:
        assert not results.exists()
    else:
        assert held(results) == (OLD if renames == 0 else killed)
    assert all(one in (OLD, killed) for one in folders)
    # The next run finds everything in its place again.
    write(results, "new")
    assert held(results) == NEW
    for name in beside(results):
        assert name.endswith(".partial")
        os.utime(results.parent / name, (LONG_AGO, LONG_AGO))
    write(results, "new")
    assert beside(results) == []


def test_what_killed_runs_have_left_is_removed_a_day_later(results: Path) -> None:
    names = {
        results.parent / ".results.rulescore-aaaaaaaa.partial" / "rules.csv": LONG_AGO,
        results.parent / ".results.rulescore-bbbbbbbb.partial" / "rules.csv": time.time(),
        results.parent / ".results.rulescore-theirs.partial" / "rules.csv": LONG_AGO,
        results.parent / ".results.theirs.old" / "rules.csv": LONG_AGO,
        results.parent / ".others.rulescore-aaaaaaaa.partial" / "rules.csv": LONG_AGO,
        results / ".rules.csv.abc.partial": LONG_AGO,
        results / ".rules.csv.def.partial": time.time(),
        results / ".theirs.partial": LONG_AGO,
    }
    for path in names:
        path.parent.mkdir(exist_ok=True)
        path.write_text("half")
    for path, when in names.items():
        os.utime(path if path.parent == results else path.parent, (when, when))
    write(results, "new")
    left = [
        ".others.rulescore-aaaaaaaa.partial",
        ".results.rulescore-bbbbbbbb.partial",
        ".results.rulescore-theirs.partial",
        ".results.theirs.old",
    ]
    assert beside(results) == left
    assert all((results.parent / name / "rules.csv").exists() for name in left)
    assert set(held(results)) == {*NEW, ".rules.csv.def.partial", ".theirs.partial"}


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


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("ending", ["old", "partial"])
def test_a_link_is_no_folder_that_a_killed_run_has_left(precious: Path, ending: str, is_there: bool) -> None:
    """Whoever made the project can put one there: it would lead to files that are none of ours."""
    results = precious.parent / "project" / "results"
    results.parent.mkdir()
    link = results.parent / f".results.rulescore-aaaaaaaa.{ending}"
    link.symlink_to("../precious")
    os.utime(precious, (LONG_AGO, LONG_AGO))
    os.utime(link, (LONG_AGO, LONG_AGO), follow_symlinks=False)
    before = all_in(precious)
    if is_there:
        results.mkdir()
    write(results, "new")
    assert all_in(precious) == before
    assert link.is_symlink()
    assert not results.is_symlink()
    assert set(held(results)) == {"evaluation.json", "models.csv", "rules.csv"}


def test_links_in_a_folder_that_was_left_lead_nowhere(precious: Path) -> None:
    results = precious.parent / "project" / "results"
    old = results.parent / ".results.rulescore-aaaaaaaa.old"
    old.mkdir(parents=True)
    for name in ("contributions.parquet", "rules.csv", "theirs"):
        (old / name).symlink_to("../../precious")
    results.mkdir()
    before = all_in(precious)
    write(results, "new")
    assert all_in(precious) == before
    assert not old.exists()
    assert (results / "theirs").is_symlink()


def test_a_folder_that_was_left_keeps_the_folders_of_others(results: Path) -> None:
    """No run can have swapped one that holds such: it is refused."""
    old = results.parent / ".results.rulescore-aaaaaaaa.old"
    for name in ("rules.csv", "theirs"):
        (old / name).mkdir(parents=True)
        (old / name / "diary.txt").write_text("precious")
    write(results, "new")
    assert held(results) == NEW
    assert all_in(old) == ["rules.csv", "rules.csv/diary.txt", "theirs", "theirs/diary.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="files have no number of their owner there")
@pytest.mark.parametrize("ending", ["old", "partial"])
def test_a_folder_of_another_user_is_not_ours(results: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    left = results.parent / f".results.rulescore-aaaaaaaa.{ending}"
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
    handle = os.open(results.parent, os.O_RDONLY)
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
    assert beside(results) == []
