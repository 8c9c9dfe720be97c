"""Computes what a predicted number contributes to rules whose head, or whose forbidden comparison, is linear in it. Examples: a
price below ten times an area, or a price that does not fall as the area grows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from rulescore.errors import Diagnostic, InputError
from rulescore.language.syntax import Arithmetic, Call, Comparison, Constant, Expression, Operation, Operator, Variable
from rulescore.logic.formula import FALSE, TRUE, Disjunct, FormulaRule, Judgement, Leaf, Opposite, variables_of
from rulescore.mending.lists import Floats
from rulescore.scoring.results import RuleKind, RuleResult
from rulescore.session.session import Session
from rulescore.sql.formula.counts import g, grounding, groundings, variable
from rulescore.sql.query import select

_OPPOSITE = {
    Operator.LESS: Operator.AT_LEAST,
    Operator.GREATER: Operator.AT_MOST,
    Operator.AT_MOST: Operator.GREATER,
    Operator.AT_LEAST: Operator.LESS,
    Operator.DIFFERENT: Operator.EQUAL,
}


@dataclass(frozen=True, slots=True)
class Allowed:
    """The numbers that a comparison allows: from `low` to `high`, with or without the ends."""

    low: float
    high: float
    ends: bool

    def has(self, values: Floats) -> Any:
        if self.ends:
            return (self.low <= values) & (values <= self.high)
        return (self.low < values) & (values < self.high)


@dataclass(frozen=True, slots=True)
class RuleBounds:
    """A rule's groundings, each with the row that is predicted. The rule allows some values of `slope * predicted + shift`.

    `denial`: the groundings that are allowed do not count.
    """

    name: str
    kind: RuleKind
    rate: float | None
    allowed: Allowed
    denial: bool
    row: Any
    slope: Floats
    shift: Floats

    def contributions(self, values: Floats) -> Any:
        """Confirmed, refuted and evaluable groundings of each row."""
        holds = self.allowed.has(self.slope * values[self.row] + self.shift)
        counts = np.zeros((len(values), 3), np.int64)
        counts[:, 0] = 0 if self.denial else np.bincount(self.row[holds], minlength=len(values))
        counts[:, 1] = np.bincount(self.row[~holds], minlength=len(values))
        counts[:, 2] = counts[:, 0] + counts[:, 1]
        return counts

    def interval(self, rows: int) -> tuple[Floats, Floats]:
        """For each row, the least and the greatest value that all its groundings allow, ends included."""
        low, high = np.full(rows, -np.inf), np.full(rows, np.inf)
        ends = [(end - self.shift) / self.slope for end in (self.allowed.low, self.allowed.high)]
        np.maximum.at(low, self.row, np.minimum(*ends))
        np.minimum.at(high, self.row, np.maximum(*ends))
        return low, high


@dataclass(frozen=True, slots=True)
class _Compared:
    """The number that a rule compares, the values allowed for it, and the tests that do not depend on it."""

    value: Expression
    allowed: Allowed
    denial: bool
    tests: tuple[Judgement, ...]


def rule_bounds(
    session: Session,
    number: int,
    result: RuleResult,
    column: tuple[str, str],
    probes: Mapping[int, tuple[Any, float]],
    place: Mapping[Any, int],
) -> RuleBounds | None:
    """The bounds of a rule; None if it has another form.

    Args:
        session: A session with a model for each probe.
        number: The rule's number.
        result: The rule's result over the data.
        column: The table's name, and its predicted column.
        probes: The key and the value of each prediction.
        place: The number of each row, by its key.

    Raises:
        InputError: The rule is not linear in the target.
    """
    rule = session.formulas.rules[number]
    disjunct = rule.disjuncts[0] if len(rule.disjuncts) == 1 else None
    if disjunct is None or rule.measures or disjunct.values:
        return None
    targets = _targets(disjunct, *column)
    compared = None if targets is None else _compared(rule, disjunct, targets)
    if compared is None or targets is None:
        return None
    alone = replace(rule, disjuncts=(replace(disjunct, tests=compared.tests),))
    context = replace(session.formulas.context(number, predictions=True), rule=alone)
    rows = groundings(context)
    own = [variable(i) for i, variable_name in enumerate(rule.variables) if variable_name not in targets]
    found = pa.table({field: pa.array([], pa.int64()) for field in ("prediction", "value", *own)})
    if rows is not None:
        value = grounding(context).value(compared.value)
        found = session.engine.query(
            select(g.prediction, *g[own], value.named("value")).from_(rows.as_("g")).where(value.paren().is_known())
        )
    lines = _lines(result.info.name, found, own, probes, place)
    return RuleBounds(result.info.name, result.kind, result.dataset.rate, compared.allowed, compared.denial, *lines)


def _targets(disjunct: Disjunct, name: str, target: str) -> set[str] | None:
    """The variables of the target. None unless each stands for the target alone, and occurs in no other test than the rule's
    comparison."""
    terms = [(atom.relation, column, term) for atom in disjunct.atoms for column, term in atom.arguments]
    of_target = [term for relation, column, term in terms if (relation, column) == (name, target)]
    names = [term.name for term in of_target if isinstance(term, Variable)]
    everywhere = [term.name for _, _, term in terms if isinstance(term, Variable)]
    if not names or len(names) != len(of_target) or any(everywhere.count(own) > 1 for own in names):
        return None
    return set(names)


def _compared(rule: FormulaRule, disjunct: Disjunct, targets: set[str]) -> _Compared | None:
    denial = rule.confirmed == FALSE and rule.refuted == TRUE
    asking = [test for test in disjunct.tests if targets & {used.name for used in variables_of(test)}]
    if denial:
        if len(asking) != 1:
            return None
        limit = _limit(Opposite(asking[0]))
        others = tuple(test for test in disjunct.tests if test is not asking[0])
        return None if limit is None else _Compared(*limit, denial, others)
    match rule.confirmed, rule.refuted:
        case ((Leaf() | Opposite()), (Leaf() | Opposite())) if not asking and _opposed(rule.confirmed, rule.refuted):
            limit = _limit(rule.confirmed)
            return None if limit is None else _Compared(*limit, denial, disjunct.tests)
        case _:
            return None


def _opposed(confirmed: Judgement, refuted: Judgement) -> bool:
    return refuted == Opposite(confirmed) or confirmed == Opposite(refuted)


def _limit(test: Judgement) -> tuple[Expression, Allowed] | None:
    """A number, and the values of it that make a test true; None if these values are no interval."""
    turned = False
    while isinstance(test, Opposite):
        test, turned = test.part, not turned
    if not isinstance(test, Leaf) or not isinstance(test.condition, Comparison):
        return None
    operator, left, right = test.condition.operator, test.condition.left, test.condition.right
    if turned:
        if operator not in _OPPOSITE:
            return None
        operator = _OPPOSITE[operator]
    match operator, left, right:
        case ((Operator.LESS | Operator.AT_MOST), Call("abs", (inner,)), Constant(int() | float() as limit)):
            return inner, Allowed(-float(limit), float(limit), operator is Operator.AT_MOST)
        case _:
            if any(isinstance(side, Call) and side.function == "abs" for side in (left, right)):
                return None
    difference = Operation(Arithmetic.SUBTRACT, left, right)
    match operator:
        case Operator.LESS | Operator.AT_MOST:
            return difference, Allowed(-math.inf, 0.0, operator is Operator.AT_MOST)
        case Operator.GREATER | Operator.AT_LEAST:
            return difference, Allowed(0.0, math.inf, operator is Operator.AT_LEAST)
        case Operator.EQUAL:
            return difference, Allowed(0.0, 0.0, True)
        case _:
            return None


def _lines(
    name: str, rows: Any, own: list[str], probes: Mapping[int, tuple[Any, float]], place: Mapping[Any, int]
) -> tuple[Any, Floats, Floats]:
    """The row, the slope and the shift of each grounding, from its values at three probes."""
    by_grounding: dict[tuple[Any, ...], dict[float, float]] = {}
    for prediction, value, *identity in zip(*(rows[field].to_pylist() for field in ("prediction", "value", *own)), strict=True):
        key, probe = probes[prediction]
        by_grounding.setdefault((place[key], *identity), {})[probe] = float(value)
    first, second, third = ([points.get(probe, math.nan) for points in by_grounding.values()] for probe in (1.0, 2.0, 3.0))
    slope = np.array(second) - np.array(first)
    if not np.allclose(np.array(third) - np.array(second), slope) or (slope == 0).any():
        helps = ("compare the target, or something linear in it, such as a price by area",)
        raise InputError(Diagnostic("E814", f"rule `{name}` is not linear in the target", helps=helps))
    return np.array([identity[0] for identity in by_grounding], np.int64), slope, np.array(first) - slope
