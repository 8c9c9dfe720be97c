"""`within(P, Q, tolerance)` as a comparison, and tolerances that are taken from the data."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeGuard

from rulescore.data.relations import DURATIONS
from rulescore.errors import Diagnostic, Place, Severity
from rulescore.language.syntax import (
    Arithmetic,
    Call,
    Comparison,
    Constant,
    Expression,
    Falsity,
    Operation,
    Operator,
    Rule,
    Test,
)
from rulescore.language.trees import Node, nodes_in
from rulescore.logic.formula import FormulaRule, Leaf
from rulescore.logic.types import Typing

CODES = {
    "E279": "`within` is not given two values and a tolerance",
    "E281": "a tolerance is to be taken from values that are too large",
    "W281": "a tolerance is to be taken from the data, and no two rows of them can be compared",
}


@dataclass(frozen=True, slots=True)
class DataTolerance:
    """A tolerance taken from the observed groups: `quantile(0.9)` or `spread(2)`."""

    function: str
    parameter: float


def as_comparison(test: Test, problems: list[Diagnostic]) -> Comparison | None:
    """`abs(P - Q) <= tolerance`; for a tolerance in percent, of the logarithms, so that it is the same in both directions."""
    if len(test.arguments) != 3:
        problems.append(
            _problem(test, "`within` takes two values and a tolerance", "write `within(P, Q, 500)`, or `within(P, Q, 10%)`")
        )
        return None
    left, right, tolerance = test.arguments
    match tolerance:
        case Call("percent", (Constant(int() | float() as percent),)) if percent >= 0:
            logarithms = [Call("ln", (one,), test.span) for one in (left, right)]
            limit = Constant(log_distance(percent), tolerance.span)
            return Comparison(Operator.AT_MOST, _distance(logarithms[0], logarithms[1], test), limit, test.span)
        case Call("quantile" | "spread" as function):
            problems.append(
                _problem(
                    test,
                    f"a tolerance by `{function}` is not for this place",
                    f"`{function}` stands in a head that is nothing but `within(…)`, over a body of two rows of one table",
                )
            )
            return None
        case _:
            return Comparison(Operator.AT_MOST, _distance(left, right, test), tolerance, test.span)


def log_distance(percent: float) -> float:
    """How far the logarithms of two values may be apart that differ by a percentage."""
    return math.log(1 + percent / 100)


def is_relative(rule: Rule) -> bool:
    """Whether the tolerance of a rule's head, or of a denial constraint's body, is in percent."""
    place = rule.body if isinstance(rule.head, Falsity) else rule.head
    return any(is_in_percent(node) for node in nodes_in(place))


def is_in_percent(node: Node) -> TypeGuard[Test]:
    """Whether it is a `within` whose tolerance is in percent."""
    match node:
        case Test("within", (_, _, Call("percent"))):
            return True
        case _:
            return False


def data_tolerance(rule: Rule, problems: list[Diagnostic]) -> DataTolerance | None:
    """The tolerance of a rule's head that has to be taken from the data."""
    match rule.head:
        case Test("within", (_, _, Call("quantile" | "spread" as function, arguments))) as test:
            match arguments:
                case (Constant(int() | float() as value),) if _fits(function, value):
                    return DataTolerance(function, float(value))
                case _:
                    wanted = "a number between 0 and 1" if function == "quantile" else "a number, 0 or more"
                    example = "quantile(0.9)" if function == "quantile" else "spread(2)"
                    problems.append(_problem(test, f"`{function}` takes {wanted}", f"write `{example}`"))
                    return DataTolerance(function, 0.0)
        case _:
            return None


def _fits(function: str, value: float) -> bool:
    return not isinstance(value, bool) and value >= 0 and (function == "spread" or value <= 1)


def with_tolerance(rule: Rule, value: int | float) -> Rule:
    """The rule with a number for the tolerance of its head."""
    assert isinstance(rule.head, Test)
    left, right, tolerance = rule.head.arguments
    return replace(rule, head=replace(rule.head, arguments=(left, right, Constant(value, tolerance.span))))


def with_own_distance(rule: Rule) -> Rule:
    """The rule with a tolerance of the type that the distances of its head have."""
    assert isinstance(rule.head, Test)
    left, right, tolerance = rule.head.arguments
    return replace(
        rule, head=replace(rule.head, arguments=(left, right, Operation(Arithmetic.SUBTRACT, left, right, tolerance.span)))
    )


def takes_numbers(rule: FormulaRule) -> bool:
    """Whether the distances of a rule's head are numbers, and not durations."""
    match rule.confirmed:
        case Leaf(Comparison(_, _, distance)):
            return Typing(lambda variable: rule.types.get(variable.name), []).expression(distance) not in DURATIONS
        case _:
            return True


def _distance(left: Expression, right: Expression, test: Test) -> Expression:
    return Call("abs", (Operation(Arithmetic.SUBTRACT, left, right, test.span),), test.span)


def _problem(test: Test, message: str, advice: str) -> Diagnostic:
    return Diagnostic("E279", message, test.span.place() if test.span is not None else None, helps=(advice,))


def cannot_be_taken(rule: Rule, tolerance: DataTolerance) -> Diagnostic:
    assert isinstance(rule.head, Test)
    advice = "its body must be two rows of one table, read alike"
    return _problem(rule.head, f"the tolerance by `{tolerance.function}` cannot be taken from the data", advice)


def of_no_numbers(rule: Rule, tolerance: DataTolerance) -> Diagnostic:
    assert isinstance(rule.head, Test)
    message = f"`{tolerance.function}` takes a tolerance from numbers, not from dates, date-times or durations"
    return _problem(rule.head, message, "write the tolerance as a duration: `within(D, E, 30 days)`")


def of_large_numbers(rule: Rule, tolerance: DataTolerance) -> Diagnostic:
    message = f"`{tolerance.function}` takes its tolerance from values that are too large to be subtracted"
    return Diagnostic("E281", message, _place(rule), helps=("write the tolerance as a number, or scale the values",))


def no_pairs(rule: Rule, tolerance: DataTolerance) -> Diagnostic:
    message = f"`{tolerance.function}` has no two rows of the data to take a tolerance from: the rule has no groundings"
    return Diagnostic("W281", message, _place(rule), helps=("write the tolerance as a number",), severity=Severity.WARNING)


def _place(rule: Rule) -> Place | None:
    return rule.head.span.place() if not isinstance(rule.head, Falsity) and rule.head.span is not None else None
