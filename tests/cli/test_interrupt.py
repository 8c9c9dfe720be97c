"""Ctrl-C while the database works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

import rulescore

pytestmark = pytest.mark.slow

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(rulescore.__file__).parents[1])}

# Runs the program, and says on stdout when its main thread waits for the counts over the data.
START = """
import sys, threading, time
main_thread = threading.get_ident()

def watch():
    names = set()
    while "dataset_counts" not in names:
        time.sleep(0.02)
        frame, names = sys._current_frames()[main_thread], set()
        while frame is not None:
            names.add(frame.f_code.co_name)
            frame = frame.f_back
    print("counting", flush=True)

threading.Thread(target=watch, daemon=True).start()
from rulescore.cli.main import main
main()
"""


def write_endless_work(folder: Path) -> None:
    """A rule with more than 10 to the 13 groundings, over a graph of 18,000 facts."""
    random = Random(5)
    relations = "abcdef"
    pairs = [(x, y) for x in range(100) for y in range(100)]
    rows = [f"{x}\t{name}\t{y}\n" for name in relations for x, y in random.sample(pairs, 3_000)]
    (folder / "train.tsv").write_text("".join(rows), encoding="utf-8")
    (folder / "model.tsv").write_text("0\ta\t1\n", encoding="utf-8")
    body = ", ".join(f"{name}(V{i}, V{i + 1})" for i, name in enumerate(relations + "ab"))
    (folder / "endless.rules").write_text(f"endless: false <- {body}, V0 != V8.\n", encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX signal")
def test_ctrl_c_during_a_query_exits_with_130_and_leaves_nothing(tmp_path: Path, engine: str) -> None:
    """Nothing but one line on stderr: no file, no folder, no progress bar of the database's own."""
    write_endless_work(tmp_path)
    arguments = ["score", "--facts", "train.tsv", "--rules", "endless.rules", "--predictions", "model.tsv", "--output", "out"]
    arguments += ["--engine", engine, "--quiet"]
    process = subprocess.Popen(
        [sys.executable, "-c", START, *arguments],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**ENVIRONMENT, "TMPDIR": str(tmp_path)},
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "counting\n"
        # Long enough for the database to plan, and to begin a progress bar if it were allowed to.
        time.sleep(4)
        process.send_signal(signal.SIGINT)
        # The query would take hours.
        stdout, stderr = process.communicate(timeout=10)
    finally:
        process.kill()
    assert (process.returncode, stdout, stderr.strip()) == (130, "", "interrupted")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["endless.rules", "model.tsv", "train.tsv"]
