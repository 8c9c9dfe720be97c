"""RNNLogic: numbers of relations, the head first, then a chain; `relations.dict` beside the file has their names. With n
relations, the numbers from n on are relations turned round."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from rulescore.errors import Diagnostic, InputError, Place, Source, Span
from rulescore.language.formats.base import Found, MisreadError, RuleFormat, TableName, mostly, path, read_lines, rule_of
from rulescore.language.formats.names import FormatName
from rulescore.language.syntax import Atom, Rule, Variable

_TITLE = "RNNLogic"
_EXAMPLE = "0 268 237 0"
_DICTIONARY = "relations.dict"


def read(source: Source, tables: Sequence[TableName]) -> Found:
    return read_lines(source, _TITLE, _EXAMPLE, partial(_read_line, _relations(source)))


def _relations(source: Source) -> list[str]:
    """The names of relations, by their numbers."""
    path = None if source.folder is None else source.folder / _DICTIONARY
    if path is None or not path.is_file():
        message = f"RNNLogic rules name relations by numbers, and `{_DICTIONARY}` with their names is not beside them"
        raise InputError(Diagnostic("E154", message, Place(source.name), helps=("copy it into the folder of the rule file",)))
    try:
        lines = [line.split("\t") for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
        names = {int(number): name for number, name in lines}
    except (OSError, ValueError):
        message = f"`{_DICTIONARY}` does not have a number, a tab and a name on each line"
        raise InputError(Diagnostic("E154", message, Place(source.name))) from None
    if sorted(names) != list(range(len(names))):
        raise InputError(Diagnostic("E154", f"`{_DICTIONARY}` does not number the relations from 0 on", Place(source.name)))
    return [names[number] for number in range(len(names))]


def _read_line(relations: list[str], source: Source, start: int, line: str) -> Rule:
    spans = []
    atoms = []
    for one in re.finditer(r"\S+", line):
        if not one[0].isdecimal():
            raise MisreadError("expected the number of a relation", *one.span())
        if int(one[0]) >= 2 * len(relations):
            message = f"there are {len(relations)} relations, so that numbers end at {2 * len(relations) - 1}"
            raise MisreadError(message, *one.span())
        atoms.append(int(one[0]))
        spans.append(Span(source, start + one.start(), start + one.end()))
    span = Span(source, start, start + len(line))
    variables = path(len(atoms) - 1, span)
    ends = [(variables[0], variables[-1]), *pairwise(variables)]
    head, *body = (_atom(relations, number, *pair, at) for number, pair, at in zip(atoms, ends, spans, strict=True))
    return rule_of(head, body, span)


def _atom(relations: list[str], number: int, left: Variable, right: Variable, span: Span) -> Atom:
    if number >= len(relations):
        return Atom(relations[number - len(relations)], (right, left), span)
    return Atom(relations[number], (left, right), span)


FORMAT = RuleFormat(FormatName.RNNLOGIC, _TITLE, _EXAMPLE, mostly(r"\d+(?: \d+)+$"), read)
