"""What opens a report: the browser of the person, by `--open`, and a Chromium, for the tests of its pages."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from report.conftest import chromium
from rulescore.demo.files import run


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


def test_without_chromium_tests_are_skipped_and_say_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # no program is found there, so no browser
    for name in ("RULESCORE_CHROMIUM", "RULESCORE_NEEDS_CHROMIUM"):
        monkeypatch.delenv(name, raising=False)
    how = "needs Chromium: `apt-get install chromium`, or name another by RULESCORE_CHROMIUM"
    with pytest.raises(pytest.skip.Exception, match=how):
        chromium()
    monkeypatch.setenv("RULESCORE_NEEDS_CHROMIUM", "1")
    with pytest.raises(pytest.fail.Exception, match=how):
        chromium()
