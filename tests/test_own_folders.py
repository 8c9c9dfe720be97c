"""What a killed run of tests leaves is removed by the next one, and nothing else is."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from servers.own_folders import own_folder, record, remove_abandoned

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs the start times of processes")

# Starts a process, tells its number, and waits to be killed.
OWNER = """
import subprocess, sys, time
from pathlib import Path
from servers.own_folders import own_folder, record
with own_folder("killed", Path(sys.argv[1])) as folder:
    process = subprocess.Popen(["sleep", "600"])
    record(folder, process.pid)
    print(process.pid, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    words = [sys.executable, "-c", OWNER, str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent) as process:
        yield process
        process.kill()


def is_alive(number: int) -> bool:
    stat = Path(f"/proc/{number}/stat")
    return stat.exists() and ") Z " not in stat.read_text()


def test_what_a_killed_run_leaves_is_removed(owner: subprocess.Popen[str], tmp_path: Path) -> None:
    assert owner.stdout is not None
    number = int(owner.stdout.readline())
    remove_abandoned(tmp_path)
    assert is_alive(number)
    assert len(list(tmp_path.iterdir())) == 1
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    remove_abandoned(tmp_path)
    assert not is_alive(number)
    assert not list(tmp_path.iterdir())


def test_another_process_of_the_same_number_lives_on(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "600"]) as other:
        (tmp_path / "rulescore-old").mkdir()
        (tmp_path / "rulescore-old" / ".processes-of-tests").write_text(f"{other.pid} 1\n{other.pid} 2\n")
        remove_abandoned(tmp_path)
        assert is_alive(other.pid)
        other.kill()
    assert not list(tmp_path.iterdir())


def test_folders_of_others_stay(tmp_path: Path) -> None:
    (tmp_path / "rulescore-of-somebody").mkdir()
    with own_folder("own", tmp_path) as folder:
        record(folder, 2**22 + 1)
        remove_abandoned(tmp_path)
        assert folder.is_dir()
    assert [one.name for one in tmp_path.iterdir()] == ["rulescore-of-somebody"]
