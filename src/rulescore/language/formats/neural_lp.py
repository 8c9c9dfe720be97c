"""Neural-LP and DRUM: `confidence (normalised)⇥head <-- body`, the chain written from the tail side; `inv_r` is r turned round, and
`equal(B, A)` says that both are the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rulescore.errors import Source, Span
from rulescore.language.formats.base import (
    NUMBER,
    Found,
    MisreadError,
    RuleFormat,
    TableName,
    inverted,
    mostly,
    read_lines,
    rule_of,
)
from rulescore.language.formats.names import FormatName
from rulescore.language.syntax import Atom, Rule, Variable

_TITLE = "Neural-LP"
_EXAMPLE = "0.412 (1.000)⇥aunt(C, A) <-- father(B, A), sister(C, B)"
START = rf"({NUMBER}) \(({NUMBER})\)\t"
_LINE = re.compile(rf"{START}(.+?) <--(?: (.*)|$)")
_ATOM = re.compile(r"\s*(.+?)\(([A-Z]\w*), ?([A-Z]\w*)\)(?:,(?=.)|$)")
_EQUAL = "equal"


def read(source: Source, tables: Sequence[TableName]) -> Found:
    return read_lines(source, _TITLE, _EXAMPLE, _read_line)


def _read_line(source: Source, start: int, line: str) -> Rule:
    found = _LINE.fullmatch(line)
    if found is None:
        raise MisreadError("a confidence, the normalised one in parentheses, a tab, and `head <-- body`")
    same: dict[str, str] = {}
    written = [*_atoms(line, *found.span(3)), *_atoms(line, *found.span(4))]
    for name, left, right, _, _ in written[1:]:
        if name == _EQUAL:
            same[_root(same, left)] = _root(same, right)
    atoms = [_atom(source, start, one, same) for number, one in enumerate(written) if number == 0 or one[0] != _EQUAL]
    span = Span(source, start, start + len(line))
    confidence, tags = stated_confidence(found[1])
    return rule_of(atoms[0], atoms[1:], span, confidence=confidence, tags=tags)


def stated_confidence(text: str) -> tuple[float | None, tuple[str, ...]]:
    """The confidence; a tag if it is not between 0 and 1, as sums of products of attention may be."""
    return (float(text), ()) if 0 <= float(text) <= 1 else (None, (f"confidence={text}",))


def _root(same: dict[str, str], name: str) -> str:
    while name in same:
        name = same[name]
    return name


_Written = tuple[str, str, str, int, int]


def _atom(source: Source, start: int, written: _Written, same: dict[str, str]) -> Atom:
    name, left, right, begin, end = written
    span = Span(source, start + begin, start + end)
    return inverted(name, Variable(_root(same, left), span), Variable(_root(same, right), span), span)


def _atoms(line: str, begin: int, end: int) -> Iterator[_Written]:
    position = begin
    while 0 <= position < end:
        found = _ATOM.match(line[:end], position)
        if found is None:
            raise MisreadError("expected an atom with two variables, `father(B, A)`", position, end)
        yield found[1], found[2], found[3], found.start(1), found.end(3) + 1
        position = found.end()


FORMAT = RuleFormat(FormatName.NEURAL_LP, _TITLE, _EXAMPLE, mostly(rf"{START}.+\([A-Z]\w*, ?[A-Z]\w*\) <--"), read)
