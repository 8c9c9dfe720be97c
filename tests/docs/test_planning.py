"""The figures of pages with runs behind them are what their commands print. `RULESCORE_UPDATE_DOCS=1` writes them there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCKS = {"how-to/planning-large-data.md": 2, "explanation/performance.md": 7, "explanation/training-with-rules.md": 5}


def printed(block: re.Match[str]) -> str:
    program, *arguments = shlex.split(block[1])
    assert program == "python"
    output = subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return f"<!-- {block[1]} -->\n\n{output}\n<!-- end -->"


@pytest.mark.parametrize("name", BLOCKS)
def test_the_tables_of_a_page_are_what_its_commands_print(name: str) -> None:
    page = ROOT / "docs" / name
    before = page.read_text(encoding="utf-8")
    after, blocks = re.subn(r"<!-- (python .+) -->\n(?:.*\n)*?<!-- end -->", printed, before)
    assert blocks == BLOCKS[name]
    if os.environ.get("RULESCORE_UPDATE_DOCS"):
        page.write_text(after, encoding="utf-8")
    assert after == before or os.environ.get("RULESCORE_UPDATE_DOCS")
