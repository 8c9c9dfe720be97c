"""The figures of the page that plans for large data are what its commands print. `RULESCORE_UPDATE_DOCS=1` writes them there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "planning-large-data.md"


def printed(block: re.Match[str]) -> str:
    program, *arguments = shlex.split(block[1])
    assert program == "python"
    output = subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return f"<!-- {block[1]} -->\n\n{output}\n<!-- end -->"


def test_the_tables_of_the_page_are_what_its_commands_print() -> None:
    before = PAGE.read_text(encoding="utf-8")
    after, blocks = re.subn(r"<!-- (python .+) -->\n(?:.*\n)*?<!-- end -->", printed, before)
    assert blocks == 2
    if os.environ.get("RULESCORE_UPDATE_DOCS"):
        PAGE.write_text(after, encoding="utf-8")
    assert after == before or os.environ.get("RULESCORE_UPDATE_DOCS")
