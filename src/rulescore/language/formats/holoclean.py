"""HoloClean: `t1&t2&EQ(t1.A,t2.A)&IQ(t1.B,t2.B)`, a denial constraint over a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from rulescore.errors import Source, Span
from rulescore.language.formats.base import Found, MisreadError, RuleFormat, TableName, mostly, read_lines
from rulescore.language.formats.names import FormatName
from rulescore.language.formats.tuples import TupleCell, TupleComparison, constant, denial, the_table
from rulescore.language.syntax import Constant, Operator, Rule

_TITLE = "HoloClean"
_EXAMPLE = "t1&t2&EQ(t1.HospitalName,t2.HospitalName)&IQ(t1.ZipCode,t2.ZipCode)"
_OPERATORS = {
    "EQ": Operator.EQUAL,
    "IQ": Operator.DIFFERENT,
    "LT": Operator.LESS,
    "GT": Operator.GREATER,
    "LTE": Operator.AT_MOST,
    "GTE": Operator.AT_LEAST,
}
_ROWS = re.compile(r"(t1)&(?:(t2)&)?")
# The comma between both sides is the one before a row or a constant, since attributes may also hold commas.
_PREDICATE = re.compile(r"""(EQ|IQ|LT|GT|LTE|GTE)\((.+),\s*(t[12]\..+|"[^"]*"|'[^']*'|-?[\d.]+)\)(?:&|$)""")
_NEXT = re.compile(r"\)(?:&|$)")


def read(source: Source, tables: Sequence[TableName]) -> Found:
    return read_lines(source, _TITLE, _EXAMPLE, partial(_read_line, the_table(source, tables, _TITLE)))


def _read_line(table: TableName, source: Source, start: int, line: str) -> Rule:
    rows = _ROWS.match(line)
    if rows is None:
        raise MisreadError("a constraint begins with `t1&` or `t1&t2&`")
    span = Span(source, start, start + len(line))
    compared, position = [], rows.end()
    while position < len(line):
        close = _NEXT.search(line, position)
        end = len(line) if close is None else close.end()
        found = _PREDICATE.fullmatch(line, position, end)
        if found is None:
            raise MisreadError(f"expected one of {', '.join(_OPERATORS)} with two arguments", position, end)
        left, right = _side(found, 2, rows, span), _side(found, 3, rows, span)
        compared.append(TupleComparison(left, _OPERATORS[found[1]], right))
        position = end
    return denial(compared, table, span)


def _side(found: re.Match[str], group: int, rows: re.Match[str], span: Span) -> TupleCell | Constant:
    row, _, attribute = found[group].partition(".")
    if row in rows.groups() and attribute:
        return TupleCell(row, attribute)
    value = constant(found[group], span)
    if value is None:
        raise MisreadError("expected an attribute of a row, such as `t1.ZipCode`, or a constant", *found.span(group))
    return value


FORMAT = RuleFormat(FormatName.HOLOCLEAN, _TITLE, _EXAMPLE, mostly(r"t1&(?:t2&)?(?:EQ|IQ|LT|GT|LTE|GTE)\("), read)
