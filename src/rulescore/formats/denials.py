"""Denial constraints over one or two rows of a table, as HoloClean and Desbordante write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from rulescore.errors import Diagnostic, InputError, Place, Source, Span, ticked
from rulescore.language.rule_formats import MisreadError, RuleFormat, TableName, ToolRules, mostly, read_lines, rule_of
from rulescore.language.syntax import Comparison, Condition, Constant, Falsity, Head, Operator, Or, RowAtom, Rule, Variable

_STRICT = {Operator.DIFFERENT, Operator.LESS, Operator.GREATER}
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


@dataclass(frozen=True, slots=True)
class TupleCell:
    """An attribute of one of the rows."""

    row: str
    attribute: str


@dataclass(frozen=True, slots=True)
class TupleComparison:
    left: TupleCell | Constant
    operator: Operator
    right: TupleCell | Constant


def the_table(source: Source, tables: Sequence[TableName], title: str) -> TableName:
    keyed = [table for table in tables if table.key]
    if len(keyed) == 1:
        return keyed[0]
    keyed_tables = "there is none with a key" if not keyed else f"there are {ticked(table.name for table in keyed)}"
    helps = (
        "give the table: `--table NAME=PATH`, or with a key in the project file or `tables=`; `rules convert` has `--key`, too",
    )
    message = f"{title} constraints are about the rows of one table, and {keyed_tables}"
    raise InputError(Diagnostic("E333", message, Place(source.name), helps=helps))


def constant(text: str, span: Span) -> Constant | None:
    """A text in quotes, or a number; None if it is neither."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return Constant(text[1:-1], span)
    if match := _NUMBER.fullmatch(text):
        return Constant(float(text) if match[1] else int(text), span)
    return None


def denial(compared: Sequence[TupleComparison], table: TableName, span: Span) -> Rule:
    """A rule with the head `false`. If all comparisons but one `!=` are equalities, its opposite is the head: the violations are
    the same, and the rule has a rate. Equal attributes share a variable. Two rows must have different keys, unless a comparison
    already says that the rows differ in an attribute."""
    cells = [cell for comparison in compared for cell in (comparison.left, comparison.right) if isinstance(cell, TupleCell)]
    rows = list(dict.fromkeys(cell.row for cell in cells))
    if len(rows) > 2 or not cells:
        raise MisreadError("a constraint compares one row or two")
    determined = _determined(compared, table)
    apart = len(rows) == 2 and (determined is not None or not any(_differ(comparison) for comparison in compared))
    keys = [TupleCell(row, attribute) for row in rows for attribute in table.key] if apart else []
    terms = _terms([*keys, *cells], compared, rows, span)
    body: list[Condition] = []
    for row in rows:
        own = dict.fromkeys(cell for cell in (*keys, *cells) if cell.row == row)
        body.append(RowAtom(table.name, tuple((cell.attribute, terms[cell]) for cell in own), span))
    head: Head = Falsity(span)
    for comparison in compared:
        left, right = (terms[side] if isinstance(side, TupleCell) else side for side in (comparison.left, comparison.right))
        if comparison is determined:
            head = Comparison(Operator.EQUAL, left, right, span)
        elif comparison.operator is not Operator.EQUAL or left != right:
            body.append(Comparison(comparison.operator, left, right, span))
    if apart:
        different = [
            Comparison(Operator.DIFFERENT, terms[TupleCell(rows[0], attribute)], terms[TupleCell(rows[1], attribute)], span)
            for attribute in table.key
        ]
        body.append(different[0] if len(different) == 1 else Or(tuple(different), span))
    return rule_of(head, body, span)


def _determined(compared: Sequence[TupleComparison], table: TableName) -> TupleComparison | None:
    """The comparison of the values that equal values determine, if the constraint is such a dependency. A column whose values must
    not differ is no key: two rows always have two keys."""
    others = [comparison for comparison in compared if comparison.operator is not Operator.EQUAL]
    if len(others) != 1 or others[0].operator is not Operator.DIFFERENT:
        return None
    sides = [side.attribute for side in (others[0].left, others[0].right) if isinstance(side, TupleCell)]
    return None if sides == [*table.key] * 2 else others[0]


def _differ(comparison: TupleComparison) -> bool:
    match comparison.left, comparison.right:
        case TupleCell(row, attribute), TupleCell(other, same):
            return row != other and attribute == same and comparison.operator in _STRICT
        case _:
            return False


def _terms(
    cells: Sequence[TupleCell], compared: Sequence[TupleComparison], rows: Sequence[str], span: Span
) -> dict[TupleCell, Variable | Constant]:
    """The term of each cell; equal cells share one."""
    first: dict[TupleCell, TupleCell] = {cell: cell for cell in cells}
    constants: dict[TupleCell, Constant] = {}
    for comparison in compared:
        match comparison:
            case TupleComparison(TupleCell() as left, Operator.EQUAL, TupleCell() as right):
                old, new = first[right], first[left]
                first = {cell: new if root == old else root for cell, root in first.items()}
            case _:
                pass
    for comparison in compared:
        match comparison:
            case TupleComparison(TupleCell() as cell, Operator.EQUAL, Constant() as value):
                constants.setdefault(first[cell], value)
            case _:
                pass
    names: dict[TupleCell, str] = {}
    for cell in dict.fromkeys(first.values()):
        shared = len({other.row for other, root in first.items() if root == cell}) == 2
        word = re.sub(r"\W", "_", cell.attribute)
        name = f"{word[:1].upper()}{word[1:]}" if word[:1].isalpha() else f"V{word}"
        name = name if shared or len(rows) == 1 else f"{name}{rows.index(cell.row) + 1}"
        while name in names.values():
            name += "x"
        names[cell] = name
    return {cell: constants.get(root) or Variable(names[root], span) for cell, root in first.items()}


_HOLOCLEAN = "HoloClean"
_HOLOCLEAN_EXAMPLE = "t1&t2&EQ(t1.HospitalName,t2.HospitalName)&IQ(t1.ZipCode,t2.ZipCode)"
_HOLOCLEAN_OPERATORS = {
    "EQ": Operator.EQUAL,
    "IQ": Operator.DIFFERENT,
    "LT": Operator.LESS,
    "GT": Operator.GREATER,
    "LTE": Operator.AT_MOST,
    "GTE": Operator.AT_LEAST,
}
_ROWS = re.compile(r"(t1)&(?:(t2)&)?")
# Attributes may hold commas, so the sides are separated by the comma before a row or a constant.
_PREDICATE = re.compile(r"""(EQ|IQ|LT|GT|LTE|GTE)\((.+),\s*(t[12]\..+|"[^"]*"|'[^']*'|-?[\d.]+)\)(?:&|$)""")
_NEXT = re.compile(r"\)(?:&|$)")


def _read_holoclean(source: Source, tables: Sequence[TableName]) -> ToolRules:
    return read_lines(source, _HOLOCLEAN, _HOLOCLEAN_EXAMPLE, partial(_read_holoclean_line, the_table(source, tables, _HOLOCLEAN)))


def _read_holoclean_line(table: TableName, source: Source, start: int, line: str) -> Rule:
    rows = _ROWS.match(line)
    if rows is None:
        raise MisreadError("a constraint begins with `t1&` or `t1&t2&`")
    span = Span(source, start, start + len(line))
    compared, position = [], rows.end()
    while position < len(line):
        close = _NEXT.search(line, position)
        end = len(line) if close is None else close.end()
        match = _PREDICATE.fullmatch(line, position, end)
        if match is None:
            raise MisreadError(f"expected one of {', '.join(_HOLOCLEAN_OPERATORS)} with two arguments", position, end)
        left, right = _holoclean_side(match, 2, rows, span), _holoclean_side(match, 3, rows, span)
        compared.append(TupleComparison(left, _HOLOCLEAN_OPERATORS[match[1]], right))
        position = end
    return denial(compared, table, span)


def _holoclean_side(match: re.Match[str], group: int, rows: re.Match[str], span: Span) -> TupleCell | Constant:
    row, _, attribute = match[group].partition(".")
    if row in rows.groups() and attribute:
        return TupleCell(row, attribute)
    value = constant(match[group], span)
    if value is None:
        raise MisreadError("expected an attribute of a row, such as `t1.ZipCode`, or a constant", *match.span(group))
    return value


HOLOCLEAN = RuleFormat(
    "holoclean", _HOLOCLEAN, _HOLOCLEAN_EXAMPLE, mostly(r"t1&(?:t2&)?(?:EQ|IQ|LT|GT|LTE|GTE)\("), _read_holoclean, turn=4
)


_DESBORDANTE = "Desbordante"
_DESBORDANTE_EXAMPLE = "!(s.State == t.State and s.Salary < t.Salary and s.FedTaxRate > t.FedTaxRate)"
_DESBORDANTE_OPERATORS = {
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
# Text in quotes may hold any words, even `and`, and belongs to one part.
_PART = re.compile(r"""(?:"[^"]*"|'[^']*'|(?!\s+and\s|∧).)+""")
_AND = re.compile(r"\s+and\s+|\s*∧\s*|$")
_COMPARED = re.compile(r"\s*(\S.*?)\s*(==|!=|<=|>=|<|>|≠|≤|≥)\s*(\S.*?)\s*")
_CELL = re.compile(r"([st]\d?)\.(.+)")


def _read_desbordante(source: Source, tables: Sequence[TableName]) -> ToolRules:
    return read_lines(
        source, _DESBORDANTE, _DESBORDANTE_EXAMPLE, partial(_read_desbordante_line, the_table(source, tables, _DESBORDANTE))
    )


def _read_desbordante_line(table: TableName, source: Source, start: int, line: str) -> Rule:
    whole = _WHOLE.fullmatch(line)
    if whole is None:
        raise MisreadError("a constraint is `!(… and …)`")
    span = Span(source, start, start + len(line))
    position, end = whole.span(1 if whole[1] is not None else 2)
    compared = []
    while position < end:
        part = _PART.match(line, position, end)
        stop = position if part is None else part.end()
        match = _COMPARED.fullmatch(line, position, stop)
        if match is None:
            raise MisreadError("expected a comparison, such as `s.State == t.State`", position, stop)
        compared.append(
            TupleComparison(_desbordante_side(match, 1, span), _DESBORDANTE_OPERATORS[match[2]], _desbordante_side(match, 3, span))
        )
        after = _AND.match(line, stop, end)
        position = end if after is None else after.end()
    return denial(compared, table, span)


def _desbordante_side(match: re.Match[str], group: int, span: Span) -> TupleCell | Constant:
    if cell := _CELL.fullmatch(match[group]):
        return TupleCell(cell[1], cell[2])
    value = constant(match[group], span)
    if value is None:
        raise MisreadError("expected an attribute of a row, such as `s.State`, or a constant", *match.span(group))
    return value


DESBORDANTE = RuleFormat(
    "desbordante", _DESBORDANTE, _DESBORDANTE_EXAMPLE, mostly(r"[!¬]\s*[({]\s*[st]\d?\."), _read_desbordante, turn=5
)
