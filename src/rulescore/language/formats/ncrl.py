"""NCRL: `confidence (normalised)⇥head <-- body1, body2`, a chain without variables; `inv_r` is r turned round."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from rulescore.errors import Source, Span
from rulescore.language.formats.base import Found, MisreadError, RuleFormat, TableName, inverted, mostly, path, read_lines, rule_of
from rulescore.language.formats.names import FormatName
from rulescore.language.formats.neural_lp import START, stated_confidence
from rulescore.language.syntax import Rule

_TITLE = "NCRL"
_EXAMPLE = "0.871 (0.871)⇥aunt <-- sister, father"
_LINE = re.compile(rf"{START}(\S.*?) <--(?: (.*)|$)")
_ARGUMENTS = re.compile(r"(?<=\S)\([^()]*,[^()]*\)")


def read(source: Source, tables: Sequence[TableName]) -> Found:
    return read_lines(source, _TITLE, _EXAMPLE, _read_line)


def _read_line(source: Source, start: int, line: str) -> Rule:
    found = _LINE.fullmatch(line)
    if found is None:
        raise MisreadError("a confidence, the normalised one in parentheses, a tab, and `head <-- body`")
    names = [name.strip() for name in (found[4] or "").split(",") if name.strip()]
    if wrong := _ARGUMENTS.search(line, found.start(3)):
        raise MisreadError("expected names of relations, without arguments", *wrong.span())
    span = Span(source, start, start + len(line))
    variables = path(len(names), span)
    body = [inverted(name, *pair, span) for name, pair in zip(names, pairwise(variables), strict=True)]
    confidence, tags = stated_confidence(found[1])
    return rule_of(inverted(found[3], variables[0], variables[-1], span), body, span, confidence=confidence, tags=tags)


FORMAT = RuleFormat(FormatName.NCRL, _TITLE, _EXAMPLE, mostly(rf"{START}\S.* <--"), read)
