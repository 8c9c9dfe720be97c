"""Rules that compare a value of every two rows of a group: `abs(P - Q) < 500 <- sale(id: A, zip: Z, price: P), sale(id: B, …)`.

We can count their pairs by sorting (0008). We recognise this form, the user need not declare it; for any other rule the engine
joins."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from rulescore.language import syntax
from rulescore.language.trees import replace_variables
from rulescore.logic import formula
from rulescore.logic.judgement import is_registered
from rulescore.logic.types import Typing
from rulescore.values import DAY, MICROSECOND, ValueType

_TURNED = {
    syntax.Operator.LESS: syntax.Operator.GREATER,
    syntax.Operator.GREATER: syntax.Operator.LESS,
    syntax.Operator.AT_MOST: syntax.Operator.AT_LEAST,
    syntax.Operator.AT_LEAST: syntax.Operator.AT_MOST,
}
_OPPOSITE = {
    syntax.Operator.LESS: syntax.Operator.AT_LEAST,
    syntax.Operator.GREATER: syntax.Operator.AT_MOST,
    syntax.Operator.AT_MOST: syntax.Operator.GREATER,
    syntax.Operator.AT_LEAST: syntax.Operator.LESS,
}


@dataclass(frozen=True, slots=True)
class Proximity:
    """The rule compares any two rows of a relation with equal `groups`: `abs(value - value') operator limit`. `row` reads one row,
    and `tests` must hold for it. `distinct`: the rule does not compare a row with itself. `denial`: the comparison is in the body
    of a denial constraint, so every pair for which it is true is refuted."""

    row: formula.ResolvedAtom
    tests: tuple[formula.Judgement, ...]
    groups: tuple[str, ...]
    value: syntax.Expression
    operator: syntax.Operator
    limit: int | float
    distinct: bool
    denial: bool = False


@dataclass(frozen=True, slots=True)
class _Distance:
    left: syntax.Expression
    right: syntax.Expression
    operator: syntax.Operator
    limit: int | float


def proximity(rule: formula.FormulaRule, schema: formula.Schema) -> Proximity | None:
    """The rule in this form; None if it has another."""
    if len(rule.disjuncts) != 1 or rule.measures or len(rule.disjuncts[0].atoms) != 2 or rule.disjuncts[0].values:
        return None
    denial = rule.confirmed == formula.FALSE and rule.refuted == formula.TRUE
    tests = list(rule.disjuncts[0].tests)
    compared = _taken_out(tests) if denial else _head_distance(rule)
    if compared is None:
        return None
    first, second = rule.disjuncts[0].atoms
    equal = _equal_variables(tests, first, second)
    second = formula.with_values(second, equal)
    relation = schema.relations[first.relation]
    renaming = _renaming(first, second)
    if renaming is None or not relation.is_table:
        return None
    left, right = (replace_variables(side, equal) for side in (compared.left, compared.right))
    if not _is_of(left, first):
        left, right = right, left
    if not _is_of(left, first) or replace_variables(left, renaming) != right:
        return None
    row_tests = _tests([formula.judged_with_values(test, equal) for test in tests], (first, second), renaming, relation)
    if row_tests is None:
        return None
    groups = tuple(dict.fromkeys(name for name in _variables(first) if syntax.Variable(name) not in renaming))
    limit = _in_own_unit(compared.limit, Typing(lambda variable: rule.types.get(variable.name), []).expression(left))
    return None if limit is None else Proximity(first, row_tests[0], groups, left, compared.operator, limit, row_tests[1], denial)


def _in_own_unit(limit: int | float, kind: ValueType | None) -> int | float | None:
    """The limit in the unit of the values. If the rule compares days, a limit in microseconds becomes days: None if not whole."""
    if kind is not ValueType.DATE and kind is not ValueType.DURATION:
        return limit
    return int(limit) // DAY if limit % DAY == 0 else None


def _head_distance(rule: formula.FormulaRule) -> _Distance | None:
    """The two values whose distance the head limits."""
    match rule.confirmed, rule.refuted:
        case formula.Leaf() as confirmed, formula.Opposite(same) if same == confirmed:
            return _distance(confirmed)
        case formula.Opposite(same) as confirmed, formula.Leaf() as refuted if same == refuted:
            return _distance(confirmed)
        case _:
            return None


def _taken_out(tests: list[formula.Judgement]) -> _Distance | None:
    """The one test that limits a distance. Removes it from the tests."""
    limits = [(test, distance) for test in tests if (distance := _distance(test)) is not None]
    if len(limits) != 1:
        return None
    tests.remove(limits[0][0])
    return limits[0][1]


def _distance(test: formula.Judgement) -> _Distance | None:
    match test:
        case formula.Opposite(inner):
            distance = _distance(inner)
            return None if distance is None else replace(distance, operator=_OPPOSITE[distance.operator])
        case formula.Leaf(syntax.Comparison(syntax.Operator.EQUAL | syntax.Operator.DIFFERENT)):
            return None
        case formula.Leaf(syntax.Comparison(operator, left, right)):
            if _constant_value(left) is not None:
                left, right, operator = right, left, _TURNED[operator]
        case _:
            return None
    limit = _constant_value(right)
    match left:
        case syntax.Call("abs", (syntax.Operation(syntax.Arithmetic.SUBTRACT, first, second),)) if limit is not None:
            return _Distance(first, second, operator, limit)
        case _:
            return None


def _constant_value(expression: syntax.Expression) -> int | float | None:
    """The value of an expression of numbers alone, computed as the database does; None if the database would have no value."""
    match expression:
        case syntax.Constant(bool()):
            return None
        case syntax.Constant(int() | float() as value):
            return value
        case syntax.Constant(datetime.timedelta() as value):
            return value // MICROSECOND
        case syntax.Negative(operand):
            inner = _constant_value(operand)
            return None if inner is None else _fitting(-inner)
        case syntax.Operation(operator, left, right):
            sides = _constant_value(left), _constant_value(right)
            if sides[0] is None or sides[1] is None:
                return None
            result = _computed(operator, sides[0], sides[1])
            return None if result is None else _fitting(result)
        case _:
            return None


def _fitting(value: int | float) -> int | float | None:
    fits = -(2**63) <= value < 2**63 if isinstance(value, int) else math.isfinite(value)
    return value if fits else None


def _computed(operator: syntax.Arithmetic, left: int | float, right: int | float) -> int | float | None:
    match operator:
        case syntax.Arithmetic.ADD:
            return left + right
        case syntax.Arithmetic.SUBTRACT:
            return left - right
        case syntax.Arithmetic.MULTIPLY:
            return left * right
        case syntax.Arithmetic.DIVIDE:
            return float(left) / float(right) if right else None
        case syntax.Arithmetic.MODULO:
            return None


def _equal_variables(
    tests: list[formula.Judgement], first: formula.ResolvedAtom, second: formula.ResolvedAtom
) -> dict[syntax.Variable, syntax.Expression]:
    """The variables of the second row that a test equates with variables of the first. Removes these tests."""
    own_names, other_names = set(_variables(first)), set(_variables(second))
    equal: dict[syntax.Variable, syntax.Expression] = {}
    for test in list(tests):
        match test:
            case formula.Leaf(syntax.Comparison(syntax.Operator.EQUAL, syntax.Variable() as left, syntax.Variable() as right)):
                if left.name in other_names:
                    left, right = right, left
                if left.name in own_names - other_names and right.name in other_names - own_names and right not in equal:
                    equal[right] = left
                    tests.remove(test)
            case _:
                pass
    return equal


def _renaming(first: formula.ResolvedAtom, second: formula.ResolvedAtom) -> dict[syntax.Variable, syntax.Expression] | None:
    """For each variable of the first atom, the variable of the second; None if the atoms do not read the same attributes in the
    same way."""
    if first.relation != second.relation or [name for name, _ in first.arguments] != sorted_like(first, second):
        return None
    others = dict(second.arguments)
    renaming: dict[syntax.Variable, syntax.Expression] = {}
    shared = set(_variables(first)) & set(_variables(second))
    for name, term in first.arguments:
        other = others[name]
        if term == other:
            continue
        if (
            not isinstance(term, syntax.Variable)
            or not isinstance(other, syntax.Variable)
            or term.name in shared
            or other.name in shared
        ):
            return None
        if renaming.setdefault(term, other) != other:
            return None
    if len({value.name for value in renaming.values() if isinstance(value, syntax.Variable)}) != len(renaming):
        return None
    return renaming


def sorted_like(first: formula.ResolvedAtom, second: formula.ResolvedAtom) -> list[str]:
    """The second atom's attributes in the order of the first's; last, the attributes that the first does not have."""
    names = [name for name, _ in second.arguments]
    order = [name for name, _ in first.arguments]
    return [name for name in order if name in names] + [name for name in names if name not in order]


def _tests(
    tests: Iterable[formula.Judgement],
    rows: tuple[formula.ResolvedAtom, formula.ResolvedAtom],
    renaming: dict[syntax.Variable, syntax.Expression],
    relation: formula.Relation,
) -> tuple[tuple[formula.Judgement, ...], bool] | None:
    """The tests of one row, and whether the two rows must differ; None unless the rule tests both rows alike."""
    first, second = rows
    own: list[formula.Judgement] = []
    mirrored: list[formula.Judgement] = []
    distinct = False
    for test in tests:
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
    wanted = [formula.judged_with_values(test, renaming) for test in own]
    same = all(test in mirrored for test in wanted) and all(test in wanted for test in mirrored)
    return (tuple(own), distinct) if same else None


def _differs(
    test: formula.Judgement, first: formula.ResolvedAtom, second: formula.ResolvedAtom, relation: formula.Relation
) -> bool:
    """Whether a test says that the keys of the two rows differ."""
    if len(relation.key) != 1:
        return False
    keys = [dict(atom.arguments)[relation.key[0]] for atom in (first, second)]
    match test:
        case formula.Leaf(
            syntax.Comparison(syntax.Operator.DIFFERENT, syntax.Variable() as left, syntax.Variable() as right)
        ) | formula.Opposite(
            formula.Leaf(syntax.Comparison(syntax.Operator.EQUAL, syntax.Variable() as left, syntax.Variable() as right))
        ):
            return keys[0] != keys[1] and {left.name, right.name} == {k.name for k in keys if isinstance(k, syntax.Variable)}
        case _:
            return False


def _is_plain(test: formula.Judgement) -> bool:
    """Whether a test needs only values: it has no atom and no registered predicate."""
    return not any(isinstance(node, formula.ResolvedAtom) or is_registered(node) for node in formula.nodes_of(test))


def _is_of(part: syntax.Expression | formula.Judgement, atom: formula.ResolvedAtom) -> bool:
    return {variable.name for variable in formula.variables_of(part)} <= set(_variables(atom))


def _variables(atom: formula.ResolvedAtom) -> Iterable[str]:
    return [term.name for _, term in atom.arguments if isinstance(term, syntax.Variable)]
