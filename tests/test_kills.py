"""A process that is killed at a rename or at an fsync leaves the whole old result or the whole new one; tests/kills.py does it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="needs fork and POSIX signals")]

PROGRAM = Path(__file__).with_name("kills.py")


@pytest.mark.parametrize(("kind", "least"), [("score", 3), ("save", 4), ("fetch", 2)])
def test_a_kill_at_any_rename_mixes_nothing_and_the_next_run_succeeds(kind: str, least: int) -> None:
    """`least`: so many renames and fsyncs there are in any case."""
    done = subprocess.run([sys.executable, str(PROGRAM), kind], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[1]) >= least
