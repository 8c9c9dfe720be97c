"""Desbordante: `!(s.A == t.A and s.B < t.B)`, or `¬{ t.A == s.A ∧ … }`, a denial constraint over a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from rulescore.errors import Source, Span
from rulescore.language.formats.base import Found, MisreadError, RuleFormat, TableName, mostly, read_lines
from rulescore.language.formats.names import FormatName
from rulescore.language.formats.tuples import TupleCell, TupleComparison, constant, denial, the_table
from rulescore.language.syntax import Constant, Operator, Rule

_TITLE = "Desbordante"
_EXAMPLE = "!(s.State == t.State and s.Salary < t.Salary and s.FedTaxRate > t.FedTaxRate)"
_OPERATORS = {
    "==": Operator.EQUAL,
    "!=": Operator.DIFFERENT,
    "<": Operator.LESS,
    ">": Operator.GREATER,
    "<=": Operator.AT_MOST,
    ">=": Operator.AT_LEAST,
    "≠": Operator.DIFFERENT,
    "≤": Operator.AT_MOST,
    "≥": Operator.AT_LEAST,
}
_WHOLE = re.compile(r"\s*[!¬]\s*(?:\((.*)\)|\{(.*)\})\s*")
# What stands in quotes may have any words in it.
_PART = re.compile(r"""(?:"[^"]*"|'[^']*'|(?!\s+and\s|∧).)+""")
_AND = re.compile(r"\s+and\s+|\s*∧\s*|$")
_COMPARED = re.compile(r"\s*(\S.*?)\s*(==|!=|<=|>=|<|>|≠|≤|≥)\s*(\S.*?)\s*")
_CELL = re.compile(r"([st]\d?)\.(.+)")


def read(source: Source, tables: Sequence[TableName]) -> Found:
    return read_lines(source, _TITLE, _EXAMPLE, partial(_read_line, the_table(source, tables, _TITLE)))


def _read_line(table: TableName, source: Source, start: int, line: str) -> Rule:
    whole = _WHOLE.fullmatch(line)
    if whole is None:
        raise MisreadError("a constraint is `!(… and …)`")
    span = Span(source, start, start + len(line))
    position, end = whole.span(1 if whole[1] is not None else 2)
    compared = []
    while position < end:
        part = _PART.match(line, position, end)
        stop = position if part is None else part.end()
        found = _COMPARED.fullmatch(line, position, stop)
        if found is None:
            raise MisreadError("expected a comparison, such as `s.State == t.State`", position, stop)
        compared.append(TupleComparison(_side(found, 1, span), _OPERATORS[found[2]], _side(found, 3, span)))
        after = _AND.match(line, stop, end)
        position = end if after is None else after.end()
    return denial(compared, table, span)


def _side(found: re.Match[str], group: int, span: Span) -> TupleCell | Constant:
    if cell := _CELL.fullmatch(found[group]):
        return TupleCell(cell[1], cell[2])
    value = constant(found[group], span)
    if value is None:
        raise MisreadError("expected an attribute of a row, such as `s.State`, or a constant", *found.span(group))
    return value


FORMAT = RuleFormat(FormatName.DESBORDANTE, _TITLE, _EXAMPLE, mostly(r"[!¬]\s*[({]\s*[st]\d?\."), read)
