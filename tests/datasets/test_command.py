"""`rulescore datasets`: what is printed where, and what Ctrl-C and a terminal do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import rulescore
from rulescore.cli.main import program
from rulescore.datasets.catalogue import DATA_SETS, DataSet
from servers.web import Site
from terminal import on_a_terminal

# The program, with the data set `family` as one file of a server that the test has started.
PROGRAM = """
import sys
from dataclasses import replace
from rulescore.cli.main import main
from rulescore.datasets.catalogue import DATA_SETS, Download, File

url, size, digest = sys.argv.pop(1), int(sys.argv.pop(1)), sys.argv.pop(1)
file = File("train.txt", size, digest)
DATA_SETS["family"] = replace(DATA_SETS["family"], files=(file,), downloads=(Download(url, file),))
main()
"""
ENVIRONMENT = {"PYTHONPATH": str(Path(rulescore.__file__).parents[1]), "TERM": "xterm", "COLUMNS": "120"}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(program, ["datasets", *arguments])


def command(offered: DataSet, *arguments: str) -> list[str]:
    file = offered.files[0]
    return [sys.executable, "-c", PROGRAM, offered.downloads[0].url, str(file.size), file.sha256, "datasets", *arguments]


def test_the_list_says_what_is_here_and_where(offered: DataSet, cache: Path) -> None:
    assert run("fetch", "family").exit_code == 0
    found = {row["name"]: row for row in json.loads(run("list", "--format", "json").stdout)["rows"]}
    assert list(found) == list(DATA_SETS)
    assert (found["family"]["where"], found["family"]["path"]) == ("cache", str(cache / "family"))
    assert (found["fb15k-237"]["where"], found["fb15k-237"]["path"]) == (None, None)
    assert found["family"]["sha256"] == {file.name: file.sha256 for file in offered.files}
    assert found["dvf-nantes"]["urls"] == []
    assert "dvf-nantes cannot be fetched" in run("list").stdout


def test_paths_go_to_stdout_and_nothing_else_does(offered: DataSet, cache: Path) -> None:
    missing = run("path", "family")
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert "`rulescore datasets fetch family`" in missing.stderr
    for one in (run("fetch", "family"), run("fetch", "family"), run("path", "family")):
        assert (one.exit_code, one.stdout, one.stderr) == (0, f"{cache / 'family'}\n", "")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX signal")
def test_ctrl_c_keeps_what_has_arrived(offered: DataSet, site: Site, cache: Path) -> None:
    site.stop_after, site.ending = 100_000, "stall"
    part = cache / "family" / "train.txt.part"
    process = subprocess.Popen(
        command(offered, "fetch", "family"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **ENVIRONMENT},
    )
    try:
        end = time.monotonic() + 30
        while not (part.exists() and part.stat().st_size == 100_000) and time.monotonic() < end:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (process.returncode, stdout) == (130, "")
    assert stderr == "we keep what has arrived: the same command resumes the download\ninterrupted\n"
    assert part.stat().st_size == 100_000
    site.stop_after = None
    again = subprocess.run(
        command(offered, "fetch", "family"), capture_output=True, text=True, check=True, env={**os.environ, **ENVIRONMENT}
    )
    assert again.stdout == f"{cache / 'family'}\n"
    assert site.header("Range") == [None, "bytes=100000-"]


@pytest.mark.slow
def test_a_terminal_sees_how_far_it_is(offered: DataSet) -> None:
    environment = {**os.environ, **ENVIRONMENT}
    code, shown = on_a_terminal(command(offered, "fetch", "family"), environment, stdout=subprocess.DEVNULL)
    assert code == 0
    assert "train.txt" in shown
    assert "400.0/400.0 kB" in shown
