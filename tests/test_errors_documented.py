"""Every code of an error or a warning is declared once, used, and documented."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
CODE = re.compile(r"[EW]\d{3}")
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted((ROOT / "src").rglob("*.py"))}
DOCUMENT = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")


def tables(tree: ast.Module) -> Iterator[ast.Dict]:
    """The values that a module assigns to `CODES`."""
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name("CODES")], value=ast.Dict() as table):
                yield table
            case ast.AnnAssign(target=ast.Name("CODES"), value=ast.Dict() as table):
                yield table


def codes(node: ast.AST) -> Counter[str]:
    texts = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str))
    return Counter(text for text in texts if CODE.fullmatch(text))


DECLARED: Counter[str] = sum((codes(table) for tree in TREES.values() for table in tables(tree)), Counter())
USED: Counter[str] = sum((codes(tree) for tree in TREES.values()), Counter()) - DECLARED
MEANINGS = {
    ast.literal_eval(key): ast.literal_eval(value)
    for tree in TREES.values()
    for table in tables(tree)
    for key, value in zip(table.keys, table.values, strict=True)
    if key is not None
}
DOCUMENTED = [row.split(" | ")[0] for row in re.findall(r"^\| ([EW]\d{3} \| .+)$", DOCUMENT, flags=re.MULTILINE)]


def test_there_are_codes_of_every_stage() -> None:
    assert {code[:2] for code in DECLARED} >= {"E1", "E2", "E3", "E4", "E5", "E6", "E7", "E9", "W2"}


def test_a_code_is_declared_once() -> None:
    assert [code for code, times in DECLARED.items() if times > 1] == []


def test_every_declared_code_is_used() -> None:
    assert sorted(set(DECLARED) - set(USED)) == []


def test_every_code_in_use_is_declared() -> None:
    assert sorted(set(USED) - set(DECLARED)) == []


def test_every_code_has_one_row_in_the_document_and_no_other_has() -> None:
    assert sorted(DOCUMENTED) == sorted(DECLARED)


def test_the_document_gives_each_code_its_meaning() -> None:
    missing = [code for code, meaning in MEANINGS.items() if f"| {code} | {meaning} |" not in DOCUMENT]
    assert missing == []
