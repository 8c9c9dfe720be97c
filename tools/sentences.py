"""Draws sentences to read aloud: from documents, docstrings, comments and messages, as many from each.

`python tools/sentences.py --seed 61` prints them, numbered. A reader who did not write them notes the numbers that needed a second
reading in tools/sentences.csv: seed, number of the draw, kind, place, text, and what would be better.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z`*\"'(])")
_SECTION = re.compile(r"\n\s*\n|^\s*(?:Args|Attributes|Raises|Returns):$|^(?= {4}\*{0,2}\w+: )", re.MULTILINE)
LEAST_WORDS = 5


class Sentence(NamedTuple):
    kind: str
    place: str
    text: str


def sentences_of(text: str) -> Iterator[str]:
    """The sentences of a text, without those too short to need a second reading."""
    for sentence in _END.split(" ".join(text.split())):
        if len(sentence.split()) >= LEAST_WORDS:
            yield sentence


def of_documents() -> Iterator[Sentence]:
    """Of prose, lists and tables; code, headings and links' addresses are left out."""
    for page in PAGES:
        text = re.sub(r"(?s:^```.*?^```$)", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
        text = re.sub(r"^#.*$|^\|[-| :]+\|$|^:::.*$|<[^>\n]+>", "", text, flags=re.MULTILINE)
        text = re.sub(r"\]\([^)]*\)", "]", text)
        blocks = re.split(r"\n\s*\n|^\s*(?:[-*]|\d+\.)\s|(?<!\\)\|", text, flags=re.MULTILINE)
        for sentence in (sentence for block in blocks for sentence in sentences_of(block)):
            yield Sentence("document", str(page.relative_to(ROOT)), sentence)


def of_docstrings() -> Iterator[Sentence]:
    """Each parameter is a text of its own."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (docstring := ast.get_docstring(node)):
                for sentence in (sentence for part in _SECTION.split(docstring) for sentence in sentences_of(part)):
                    yield Sentence("docstring", str(path.relative_to(ROOT)), sentence)


def of_comments() -> Iterator[Sentence]:
    """Lines that follow each other are one comment."""
    for path in SOURCES:
        lines: dict[int, str] = {}
        for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
            if token.type == tokenize.COMMENT:
                before = lines.pop(token.start[0] - 1, "") if token.line.lstrip().startswith("#") else ""
                lines[token.start[0]] = f"{before} {token.string.lstrip('# ')}"
        for sentence in (sentence for text in lines.values() for sentence in sentences_of(text)):
            yield Sentence("comment", str(path.relative_to(ROOT)), sentence)


def of_messages() -> Iterator[Sentence]:
    """Texts within calls that are not documentation: messages, notes, help and options."""
    for path in SOURCES:
        for call in (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)):
            for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
                text = _written(argument)
                if " " in text and not re.search(r"\b(?:SELECT|FROM|WHERE)\b|[{}<>=]{2}", text):
                    for sentence in sentences_of(text):
                        yield Sentence("message", str(path.relative_to(ROOT)), sentence)


def _written(node: ast.expr) -> str:
    """A text as it is written, with an ellipsis for what is computed."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_written(part) if isinstance(part, ast.Constant) else "…" for part in parts)
        case _:
            return ""


KINDS: tuple[Callable[[], Iterator[Sentence]], ...] = (of_documents, of_docstrings, of_comments, of_messages)


@cache
def _all_of(kind: Callable[[], Iterator[Sentence]]) -> list[Sentence]:
    return sorted(set(kind()))


def drawn(seed: int, number: int) -> list[Sentence]:
    """So many different sentences, the same number of each kind; the same seed and the same texts give the same ones."""
    random = Random(seed)
    return [sentence for kind in KINDS for sentence in random.sample(_all_of(kind), number // len(KINDS))]


def main() -> None:
    """Print the sentences of a seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=61)
    parser.add_argument("--number", type=int, default=60)
    arguments = parser.parse_args()
    for number, sentence in enumerate(drawn(arguments.seed, arguments.number), 1):
        print(f"{number:3} {sentence.kind} {sentence.place}\n    {sentence.text}")


if __name__ == "__main__":
    main()
