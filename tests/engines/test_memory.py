"""A limit of memory is that of the whole process."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rulescore.engines.base import connect
from rulescore.engines.memory import MEBIBYTE, Share, amount, resident
from rulescore.errors import InputError
from rulescore.setting.model import EngineOptions

pytestmark = pytest.mark.skipif(resident() is None, reason="the system does not tell how much memory a process takes")

# A small process between the test and what it measures: on Linux a process begins with the peak of the one that started it.
LAUNCH = """
import json, os, subprocess, sys
process = subprocess.Popen([sys.executable, "-m", "rulescore", *sys.argv[1:]], stderr=subprocess.PIPE)
told = process.stderr.read().decode()
_, status, used = os.wait4(process.pid, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024, told]), file=sys.stderr)
"""


def launched(*arguments: str) -> tuple[int, int, str]:
    """The exit code of a command, its peak of memory in bytes, and what it says."""
    done = subprocess.run([sys.executable, "-c", LAUNCH, *arguments], capture_output=True, text=True, check=True, timeout=120)
    code, peak, told = json.loads(done.stderr)
    return code, peak, told


@pytest.fixture
def graph(tmp_path: Path) -> list[str]:
    (tmp_path / "facts.tsv").write_text("a\tp\tb\nb\tq\tc\n")
    (tmp_path / "all.rules").write_text("p(X, Y) <- q(X, Z), r(Z, Y). s(X, Y) <- q(Y, X). incompatible p, r. closed s.")
    return ["audit", "--facts", str(tmp_path / "facts.tsv"), "--rules", str(tmp_path / "all.rules"), "--format", "csv", "--quiet"]


@pytest.mark.slow
def test_a_process_keeps_to_the_limit_within_a_tenth(graph: list[str], tmp_path: Path):
    """Without a limit these facts take a quarter more than it allows."""
    chosen = random.Random(7)
    rows = (f"{chosen.randrange(200_000)}\t{chosen.choice('pqrs')}\t{chosen.randrange(200_000)}\n" for _ in range(1_400_000))
    (tmp_path / "facts.tsv").write_text("".join(rows))
    code, peak, told = launched(*graph, "--memory-limit", "420MB")
    assert (code, told) == (0, "")
    assert peak <= 1.1 * 420e6


def test_a_limit_that_is_too_small_is_refused_with_the_least_that_works(graph: list[str]):
    code, _, told = launched(*graph, "--memory-limit", "100MB")
    assert code == 2
    assert told.startswith("error[E901]: a `memory_limit` of `100MB` is too little")
    found = re.search(r"give it (\d+) MB or more", told)
    assert found is not None
    code, peak, told = launched(*graph, "--memory-limit", f"{found[1]}MB")
    assert (code, told) == (0, "")
    assert peak <= 1.1 * int(found[1]) * 10**6


def test_a_process_that_takes_more_already_is_refused():
    with pytest.raises(InputError, match=r"E901(.|\n)*for this whole process"):
        connect(EngineOptions(memory_limit=f"{resident()}B"))


def test_the_share_shrinks_as_the_rest_of_the_process_grows(monkeypatch: pytest.MonkeyPatch):
    taken, given = {}, list[int]()
    monkeypatch.setattr("rulescore.engines.memory.resident", lambda: taken["process"] * MEBIBYTE)
    share = Share(1000 * MEBIBYTE, lambda: taken["engine"] * MEBIBYTE, lambda size: given.append(size // MEBIBYTE))
    for process, engine in ((200, 0), (500, 300), (503, 300), (600, 300), (1400, 300)):
        taken.update(process=process, engine=engine)
        share.fit()
    # Each change is preceded by the last share again, for which the engine returns what it has freed.
    assert given == [1000, 700, 700, 600, 600, 32]


@pytest.mark.parametrize(("text", "size"), [("2GB", 2 * 10**9), ("1.5 GiB", 3 << 29), ("10B", 10), ("lots", None), ("80%", None)])
def test_amounts(text: str, size: int | None):
    assert amount(text) == size


def test_a_process_knows_what_it_takes():
    found = resident()
    assert found is not None
    assert 10 * MEBIBYTE < found < os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
