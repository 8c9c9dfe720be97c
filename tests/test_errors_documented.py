"""Every code of an error or a warning is declared once, used, and documented."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from rulescore.cli.main import program
from rulescore.errors import codes
from rulescore.errors.codes import CODES

ROOT = Path(__file__).parents[1]
CODE = re.compile(r"[EW]\d{3}")
DOCUMENT = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
SECTIONS = re.findall(r"^### ([EW]\d{3}): (.+)\n\n((?:(?!##).+\n)+)", DOCUMENT, flags=re.MULTILINE)


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


def test_the_document_has_one_section_for_each_code_with_its_meaning_and_advice() -> None:
    assert sorted((code, meaning) for code, meaning, _ in SECTIONS) == sorted(CODES.items())


def test_a_section_of_several_problems_lists_each_with_its_advice() -> None:
    for code, _, advice in SECTIONS:
        if advice.startswith("|"):
            head, line, *rows = advice.splitlines()
            assert (head, line) == ("| problem | what to do |", "|---|---|"), code
            assert len(rows) == len(set(rows)) > 1, code
            assert all(re.fullmatch(r"\| [^|]+ \| [^|]+ \|", row) for row in rows), code


def test_the_document_has_an_anchor_before_the_section_of_each_code() -> None:
    anchored = re.findall(r'^<a id="([ew]\d{3})"></a>\n\n### ([EW]\d{3}):', DOCUMENT, flags=re.MULTILINE)
    assert sorted(code for _, code in anchored) == sorted(CODES)
    assert all(anchor == code.lower() for anchor, code in anchored)


def test_the_command_line_names_the_page_and_the_anchor_of_each_error(tmp_path: Path) -> None:
    rules = tmp_path / "slips.rules"
    rules.write_text("false <- p(X) <- q(X).\n@hard @hard b(X) <- c(X).\n", encoding="utf-8")
    told = CliRunner().invoke(program, ["check", "--rules-only", "--rules", str(rules)]).stderr
    codes_told = dict.fromkeys(re.findall(r"error\[(E\d{3})\]", told))
    assert len(codes_told) == 2
    anchors = " ".join(f"#{code.lower()}" for code in codes_told)
    assert told.splitlines()[-1] == f"more in the documentation: reference/errors {anchors}"
