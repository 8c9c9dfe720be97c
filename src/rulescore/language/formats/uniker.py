"""UniKER's `MLN_rule.txt`: `weight⇥head⇥body1[⇥body2]`, a chain h(X, Y) <- b1(X, Z), b2(Z, Y); the suffix `_v` turns a relation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from rulescore.errors import Source, Span
from rulescore.language.formats.base import (
    NUMBER,
    Found,
    MisreadError,
    RuleFormat,
    TableName,
    mostly,
    path,
    read_lines,
    rule_of,
    weight_tags,
)
from rulescore.language.formats.names import FormatName
from rulescore.language.syntax import Atom, Rule, Variable

_TITLE = "UniKER"
_EXAMPLE = "1.0⇥aunt⇥sister⇥father_v"
TURNED = "_v"
_ATOM = re.compile(r".+\(.+,.+\).*")


def read(source: Source, tables: Sequence[TableName]) -> Found:
    return read_lines(source, _TITLE, _EXAMPLE, _read_line)


def _read_line(source: Source, start: int, line: str) -> Rule:
    weight, *names = line.split("\t")
    if not re.fullmatch(NUMBER, weight):
        raise MisreadError("the first column is a weight", 0, len(weight))
    if not names or not all(names):
        raise MisreadError("a weight, a head and a chain of relations are separated by single tabs", len(weight) + 1)
    spans, position = [], start + len(weight) + 1
    for name in names:
        if _ATOM.fullmatch(name):
            raise MisreadError("expected the name of a relation, without arguments", position - start, position - start + len(name))
        spans.append(Span(source, position, position + len(name)))
        position += len(name) + 1
    span = Span(source, start, start + len(line))
    variables = path(len(names) - 1, span)
    ends = (variables[0], variables[-1])
    atoms = [_atom(name, *pair, at) for name, at, pair in zip(names, spans, [ends, *pairwise(variables)], strict=True)]
    return rule_of(atoms[0], atoms[1:], span, tags=weight_tags(weight))


def _atom(name: str, left: Variable, right: Variable, span: Span) -> Atom:
    if name.endswith(TURNED) and len(name) > len(TURNED):
        return Atom(name[: -len(TURNED)], (right, left), span)
    return Atom(name, (left, right), span)


FORMAT = RuleFormat(FormatName.UNIKER, _TITLE, _EXAMPLE, mostly(rf"{NUMBER}(\t[^\t()]+){{2,}}$"), read)
