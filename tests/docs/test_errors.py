"""The page of errors has every code, with the meaning that the code's own table gives it."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import rulescore

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def tables() -> list[dict[str, str]]:
    modules = [import_module(found.name) for found in walk_packages(rulescore.__path__, "rulescore.")]
    return [vars(module)["CODES"] for module in modules if "CODES" in vars(module) and module.CODES]


def meanings() -> set[tuple[str, str]]:
    return {meaning for table in tables() for meaning in table.items()}


def test_every_code_has_one_meaning() -> None:
    codes = [code for code, _ in meanings()]
    assert sorted(code for code in set(codes) if codes.count(code) > 1) == []


def test_the_page_has_every_code_with_its_meaning_and_what_to_do() -> None:
    rows = re.findall(r"^\| ([EW]\d{3}) \| (.+?) \| .+ \|$", PAGE, re.MULTILINE)
    assert len(rows) == len(set(rows))
    assert set(rows) == meanings()


def test_every_code_that_is_reported_is_in_a_table() -> None:
    known = {code for code, _ in meanings()}
    reported = {code for source in SOURCES for code in re.findall(r'"([EW]\d{3})"', source.read_text(encoding="utf-8"))}
    assert reported == known
