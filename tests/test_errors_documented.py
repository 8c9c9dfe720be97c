"""Every code of an error or a warning is declared once, used, and documented."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from rulescore.errors import codes
from rulescore.errors.codes import CODES

ROOT = Path(__file__).parents[1]
CODE = re.compile(r"[EW]\d{3}")
DOCUMENT = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
DOCUMENTED = re.findall(r"^\| ([EW]\d{3}) \| (.+?) \|", DOCUMENT, flags=re.MULTILINE)


def used_codes() -> set[str]:
    """The codes that stand in the source as texts, but for those of the table itself."""
    table = Path(codes.__file__)
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "src").rglob("*.py") if path != table]
    texts = (node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {text for text in texts if isinstance(text, str) and CODE.fullmatch(text)}


@pytest.mark.slow
def test_every_code_is_used_and_every_code_in_use_is_declared() -> None:
    assert used_codes() == set(CODES)


def test_the_table_has_no_code_twice_and_is_in_order() -> None:
    declared = re.findall(r'^    "([EW]\d{3})":', Path(codes.__file__).read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert declared == sorted(set(declared), key=lambda code: (code[1:], code[0]))


def test_the_document_has_one_row_for_each_code_with_its_meaning() -> None:
    assert sorted(DOCUMENTED) == sorted(CODES.items())
