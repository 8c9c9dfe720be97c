"""Rules that compare a value of every two rows of a group: `abs(P - Q) < 500 <- sale(id: A, zip: Z, price: P), sale(id: B, …)`.

Their pairs can be counted by sorting. The form is recognised, not asked for; any other rule joins.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass

from rulescore.data.relations import Relation, Schema
from rulescore.language.syntax import (
    Arithmetic,
    Call,
    Comparison,
    Condition,
    Constant,
    Expression,
    Operation,
    Operator,
    RowAtom,
    Test,
    Variable,
)
from rulescore.language.trees import nodes_in, replace_variables, variables_in
from rulescore.logic.formula import Disjunct, FormulaRule, Leaf, Opposite
from rulescore.logic.types import TESTS

_TURNED = {
    Operator.LESS: Operator.GREATER,
    Operator.GREATER: Operator.LESS,
    Operator.AT_MOST: Operator.AT_LEAST,
    Operator.AT_LEAST: Operator.AT_MOST,
}


@dataclass(frozen=True, slots=True)
class Proximity:
    """Two rows of a relation with equal `groups` are compared by the distance of their values: `abs(value - value')` stands in
    `operator` to `limit`. `row` reads one row, `tests` are asked of each; `distinct`: a row is not compared with itself."""

    row: RowAtom
    tests: tuple[Condition, ...]
    groups: tuple[str, ...]
    value: Expression
    operator: Operator
    limit: int | float
    distinct: bool


def proximity(rule: FormulaRule, schema: Schema) -> Proximity | None:
    """The rule in this form, if it has it."""
    compared = _compared(rule)
    if compared is None or len(rule.disjuncts) != 1 or rule.measures:
        return None
    disjunct = rule.disjuncts[0]
    if len(disjunct.atoms) != 2 or disjunct.values:
        return None
    first, second = disjunct.atoms
    relation = schema.relations[first.table]
    renaming = _renaming(first, second)
    if renaming is None or not relation.is_table:
        return None
    left, right, operator, limit = compared
    if not _is_of(left, first):
        left, right = right, left
    if not _is_of(left, first) or replace_variables(left, renaming) != right:
        return None
    tests = _tests(disjunct, renaming, relation)
    if tests is None:
        return None
    own, distinct = tests
    groups = tuple(dict.fromkeys(name for name in _variables(first) if Variable(name) not in renaming))
    return Proximity(first, own, groups, left, operator, limit, distinct)


def _compared(rule: FormulaRule) -> tuple[Expression, Expression, Operator, int | float] | None:
    """The two values whose distance the head limits."""
    match rule.confirmed, rule.refuted:
        case Leaf(Comparison(operator, left, right) as comparison), Opposite(Leaf(same)) if same == comparison:
            if operator in {Operator.EQUAL, Operator.DIFFERENT}:
                return None
            if isinstance(left, Constant):
                left, right, operator = right, left, _TURNED[operator]
        case _:
            return None
    match left, right:
        case Call("abs", (Operation(Arithmetic.SUBTRACT, one, other),)), Constant(limit):
            number = limit.days if isinstance(limit, datetime.timedelta) else limit
            return (one, other, operator, number) if isinstance(number, int | float) else None
        case _:
            return None


def _renaming(first: RowAtom, second: RowAtom) -> dict[Variable, Expression] | None:
    """What the first atom's own variables are called in the second, if both read the same of their rows."""
    if first.table != second.table or [name for name, _ in first.arguments] != sorted_like(first, second):
        return None
    others = dict(second.arguments)
    found: dict[Variable, Expression] = {}
    shared = set(_variables(first)) & set(_variables(second))
    for name, term in first.arguments:
        other = others[name]
        if term == other:
            continue
        if not isinstance(term, Variable) or not isinstance(other, Variable) or term.name in shared or other.name in shared:
            return None
        if found.setdefault(term, other) != other:
            return None
    if len({value.name for value in found.values() if isinstance(value, Variable)}) != len(found):
        return None
    return found


def sorted_like(first: RowAtom, second: RowAtom) -> list[str]:
    """The second atom's attributes in the order of the first's, those that only it has last."""
    names = [name for name, _ in second.arguments]
    order = [name for name, _ in first.arguments]
    return [name for name in order if name in names] + [name for name in names if name not in order]


def _tests(
    disjunct: Disjunct, renaming: dict[Variable, Expression], relation: Relation
) -> tuple[tuple[Condition, ...], bool] | None:
    """The tests of one row, and whether the two rows must differ. Every test must be asked of both rows alike."""
    first, second = disjunct.atoms
    own: list[Condition] = []
    mirrored: list[Condition] = []
    distinct = False
    for test in disjunct.tests:
        if _differs(test, first, second, relation):
            distinct = True
        elif not _is_plain(test):
            return None
        elif _is_of(test, first):
            own.append(test)
            if _is_of(test, second):  # of the group alone
                mirrored.append(test)
        elif _is_of(test, second):
            mirrored.append(test)
        else:
            return None
    wanted = [replace_variables(test, renaming) for test in own]
    same = all(test in mirrored for test in wanted) and all(test in wanted for test in mirrored)
    return (tuple(own), distinct) if same else None


def _differs(test: Condition, first: RowAtom, second: RowAtom, relation: Relation) -> bool:
    """Whether a test says that the keys of the two rows differ."""
    if len(relation.key) != 1:
        return False
    keys = [dict(atom.arguments)[relation.key[0]] for atom in (first, second)]
    match test:
        case Comparison(Operator.DIFFERENT, Variable() as left, Variable() as right):
            return keys[0] != keys[1] and {left.name, right.name} == {k.name for k in keys if isinstance(k, Variable)}
        case _:
            return False


def _is_plain(test: Condition) -> bool:
    """Whether a test is of values alone."""
    return not any(isinstance(node, RowAtom) or (isinstance(node, Test) and node.predicate not in TESTS) for node in nodes_in(test))


def _is_of(node: Expression | Condition, atom: RowAtom) -> bool:
    return {one.name for one in variables_in(node)} <= set(_variables(atom))


def _variables(atom: RowAtom) -> Iterable[str]:
    return [term.name for _, term in atom.arguments if isinstance(term, Variable)]
