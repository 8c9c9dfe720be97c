"""What opens a report: the browser of the person, by `--open`, and a Chromium, for the tests of its pages."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from rulescore.demo.data import run

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(os.name == "nt", reason="a browser is a script of the shell here")
def test_open_shows_the_file_in_the_browser(tmp_path: Path) -> None:
    run(tmp_path / "demo")
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {shlex.quote(str(opened))}\n')
    browser.chmod(0o755)
    report = tmp_path / "some report.html"
    command = [sys.executable, "-m", "rulescore", "report", "demo/rulescore.toml", "--output", report.name, "--quiet"]
    environment = {**os.environ, "BROWSER": f"{browser} %s"}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    assert report.exists()
    assert not opened.exists()
    subprocess.run([*command, "--open"], cwd=tmp_path, env=environment, check=True)
    assert opened.read_text() == report.as_uri()


def test_without_chromium_tests_are_skipped_and_say_how_to_get_it(tmp_path: Path) -> None:
    words = ("RULESCORE_CHROMIUM", "RULESCORE_NEEDS_CHROMIUM")
    environment = {name: value for name, value in os.environ.items() if name not in words and not name.startswith("PYTEST_")}
    test = "tests/report/test_browser.py::test_the_policy_of_the_page_refuses_what_somebody_puts_into_the_file"
    command = [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", test]
    # No program is found there, so no browser.
    without = {**environment, "PATH": str(tmp_path)}
    told = subprocess.run(command, cwd=ROOT, env=without, capture_output=True, text=True)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "needs Chromium: `apt-get install chromium`, or name another by RULESCORE_CHROMIUM" in told.stdout
    assert "passed" not in told.stdout
    needed = subprocess.run(command, cwd=ROOT, env={**without, "RULESCORE_NEEDS_CHROMIUM": "1"}, capture_output=True, text=True)
    assert needed.returncode == 1
    assert "needs Chromium: `apt-get install chromium`" in needed.stdout
