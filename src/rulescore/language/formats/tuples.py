"""Denial constraints over one or two rows of a table: HoloClean and Desbordante write them, each in its own syntax."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rulescore.errors import Diagnostic, InputError, Place, Source, Span
from rulescore.language.formats.base import MisreadError, TableName, rule_of
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
    found = "there is none with a key" if not keyed else f"there are {', '.join(f'`{table.name}`' for table in keyed)}"
    helps = ("describe one table with a key in the project file, or with `tables=`; `rules convert` has `--table` and `--key`",)
    message = f"{title} constraints are about the rows of one table, and {found}"
    raise InputError(Diagnostic("E155", message, Place(source.name), helps=helps))


def constant(text: str, span: Span) -> Constant | None:
    """A text in quotes, or a number; None if it is neither."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return Constant(text[1:-1], span)
    if found := _NUMBER.fullmatch(text):
        return Constant(float(text) if found[1] else int(text), span)
    return None


def denial(compared: Sequence[TupleComparison], table: TableName, span: Span) -> Rule:
    """A rule with the head `false`. If all comparisons but one `!=` are equalities, its opposite is the head: the violations are
    the same, and the rule has a rate. Equal attributes share a variable. Two rows must have different keys, unless a comparison of
    one attribute says already that they differ."""
    cells = [cell for one in compared for cell in (one.left, one.right) if isinstance(cell, TupleCell)]
    rows = list(dict.fromkeys(cell.row for cell in cells))
    if len(rows) > 2 or not cells:
        raise MisreadError("a constraint is about one row or two")
    determined = _determined(compared, table)
    apart = len(rows) == 2 and (determined is not None or not any(_differ(one) for one in compared))
    keys = [TupleCell(row, attribute) for row in rows for attribute in table.key] if apart else []
    terms = _terms([*keys, *cells], compared, rows, span)
    body: list[Condition] = []
    for row in rows:
        own = dict.fromkeys(cell for cell in (*keys, *cells) if cell.row == row)
        body.append(RowAtom(table.name, tuple((cell.attribute, terms[cell]) for cell in own), span))
    head: Head = Falsity(span)
    for one in compared:
        left, right = (terms[side] if isinstance(side, TupleCell) else side for side in (one.left, one.right))
        if one is determined:
            head = Comparison(Operator.EQUAL, left, right, span)
        elif one.operator is not Operator.EQUAL or left != right:
            body.append(Comparison(one.operator, left, right, span))
    if apart:
        different = [
            Comparison(Operator.DIFFERENT, terms[TupleCell(rows[0], one)], terms[TupleCell(rows[1], one)], span)
            for one in table.key
        ]
        body.append(different[0] if len(different) == 1 else Or(tuple(different), span))
    return rule_of(head, body, span)


def _determined(compared: Sequence[TupleComparison], table: TableName) -> TupleComparison | None:
    """The comparison of the values that equal values determine, if the constraint is such a dependency. A key that must not differ
    is none: two rows always have two keys."""
    others = [one for one in compared if one.operator is not Operator.EQUAL]
    if len(others) != 1 or others[0].operator is not Operator.DIFFERENT:
        return None
    sides = [side.attribute for side in (others[0].left, others[0].right) if isinstance(side, TupleCell)]
    return None if sides == [*table.key] * 2 else others[0]


def _differ(one: TupleComparison) -> bool:
    match one.left, one.right:
        case TupleCell(row, attribute), TupleCell(other, same):
            return row != other and attribute == same and one.operator in _STRICT
        case _:
            return False


def _terms(
    cells: Sequence[TupleCell], compared: Sequence[TupleComparison], rows: Sequence[str], span: Span
) -> dict[TupleCell, Variable | Constant]:
    """The term of each cell; equal cells share one."""
    first: dict[TupleCell, TupleCell] = {cell: cell for cell in cells}
    given: dict[TupleCell, Constant] = {}
    for one in compared:
        match one:
            case TupleComparison(TupleCell() as left, Operator.EQUAL, TupleCell() as right):
                old, new = first[right], first[left]
                first = {cell: new if root == old else root for cell, root in first.items()}
            case _:
                pass
    for one in compared:
        match one:
            case TupleComparison(TupleCell() as cell, Operator.EQUAL, Constant() as value):
                given.setdefault(first[cell], value)
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
    return {cell: given.get(root) or Variable(names[root], span) for cell, root in first.items()}
