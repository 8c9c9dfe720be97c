"""`within(P, Q, tolerance)` as a comparison, and tolerances taken from the data."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeGuard

from rulescore.errors import Diagnostic, Place, Severity, place_of
from rulescore.language import syntax
from rulescore.language.trees import Node, nodes_in
from rulescore.logic.formula import FormulaRule, Leaf
from rulescore.logic.types import Typing
from rulescore.values import DURATIONS


@dataclass(frozen=True, slots=True)
class DataTolerance:
    """A tolerance taken from the observed groups: `quantile(0.9)` or `spread(2)`."""

    function: str
    parameter: float


def as_comparison(test: syntax.Test, problems: list[Diagnostic]) -> syntax.Comparison | None:
    """`abs(P - Q) <= tolerance`. A tolerance in percent compares logarithms, so it is the same in both directions."""
    if len(test.arguments) != 3:
        problems.append(
            _problem(test, "`within` takes two values and a tolerance", "write `within(P, Q, 500)`, or `within(P, Q, 10%)`")
        )
        return None
    left, right, tolerance = test.arguments
    match tolerance:
        case syntax.Call("percent", (syntax.Constant(int() | float() as percent),)) if percent >= 0:
            logarithms = [syntax.Call("ln", (side,), test.span) for side in (left, right)]
            limit = syntax.Constant(log_distance(percent), tolerance.span)
            return syntax.Comparison(syntax.Operator.AT_MOST, _distance(logarithms[0], logarithms[1], test), limit, test.span)
        case syntax.Call("quantile" | "spread" as function):
            problems.append(
                _problem(
                    test,
                    f"the tolerance `{function}` cannot stand here",
                    f"`{function}` needs a head that is `within(…)` alone, and a body of two rows of one table",
                )
            )
            return None
        case _:
            return syntax.Comparison(syntax.Operator.AT_MOST, _distance(left, right, test), tolerance, test.span)


def log_distance(percent: float) -> float:
    """The distance of the logarithms of two values that differ by a percentage."""
    return math.log(1 + percent / 100)


def is_relative(rule: syntax.Rule) -> bool:
    """Whether the tolerance of a rule's head, or of a denial constraint's body, is in percent."""
    place = rule.body if isinstance(rule.head, syntax.Falsity) else rule.head
    return any(is_in_percent(node) for node in nodes_in(place))


def is_in_percent(node: Node) -> TypeGuard[syntax.Test]:
    """Whether a node is a `within` whose tolerance is in percent."""
    match node:
        case syntax.Test("within", (_, _, syntax.Call("percent"))):
            return True
        case _:
            return False


def data_tolerance(rule: syntax.Rule) -> DataTolerance | None:
    """The tolerance of a rule's head if it comes from the data, `quantile(…)` or `spread(…)`; else None."""
    match rule.head:
        case syntax.Test(
            "within", (_, _, syntax.Call("quantile" | "spread" as function, (syntax.Constant(int() | float() as value),)))
        ):
            return DataTolerance(function, float(value))
        case _:
            return None


def with_tolerance(rule: syntax.Rule, value: int | float) -> syntax.Rule:
    """The rule with a number for the tolerance of its head."""
    assert isinstance(rule.head, syntax.Test)
    left, right, tolerance = rule.head.arguments
    return replace(rule, head=replace(rule.head, arguments=(left, right, syntax.Constant(value, tolerance.span))))


def with_own_distance(rule: syntax.Rule) -> syntax.Rule:
    """The rule with the difference of its own values as its tolerance. The difference has the type of the distances, which we want
    to find out."""
    assert isinstance(rule.head, syntax.Test)
    left, right, tolerance = rule.head.arguments
    return replace(
        rule,
        head=replace(rule.head, arguments=(left, right, syntax.Operation(syntax.Arithmetic.SUBTRACT, left, right, tolerance.span))),
    )


def takes_numbers(rule: FormulaRule) -> bool:
    """Whether the distances of a rule's head are numbers, and not durations."""
    match rule.confirmed:
        case Leaf(syntax.Comparison(_, _, distance)):
            return Typing(lambda variable: rule.types.get(variable.name), []).expression(distance) not in DURATIONS
        case _:
            return True


def _distance(left: syntax.Expression, right: syntax.Expression, test: syntax.Test) -> syntax.Expression:
    return syntax.Call("abs", (syntax.Operation(syntax.Arithmetic.SUBTRACT, left, right, test.span),), test.span)


def _problem(test: syntax.Test, message: str, advice: str) -> Diagnostic:
    return Diagnostic("E119", message, place_of(test.span), helps=(advice,))


def cannot_be_taken(rule: syntax.Rule, tolerance: DataTolerance) -> Diagnostic:
    assert isinstance(rule.head, syntax.Test)
    advice = "its body must be two rows of one table, read alike"
    return _problem(rule.head, f"the tolerance by `{tolerance.function}` cannot be taken from the data", advice)


def of_no_numbers(rule: syntax.Rule, tolerance: DataTolerance) -> Diagnostic:
    assert isinstance(rule.head, syntax.Test)
    message = f"`{tolerance.function}` takes a tolerance from numbers, not from dates, date-times or durations"
    return _problem(rule.head, message, "write the tolerance as a duration: `within(D, E, 30 days)`")


def of_large_numbers(rule: syntax.Rule, tolerance: DataTolerance) -> Diagnostic:
    message = f"`{tolerance.function}` takes its tolerance from values that are too large to be subtracted"
    return Diagnostic("E264", message, _place(rule), helps=("write the tolerance as a number, or scale the values",))


def no_pairs(rule: syntax.Rule, tolerance: DataTolerance) -> Diagnostic:
    message = f"`{tolerance.function}` has no two rows of the data to take a tolerance from: the rule has no groundings"
    return Diagnostic("W281", message, _place(rule), helps=("write the tolerance as a number",), severity=Severity.WARNING)


def _place(rule: syntax.Rule) -> Place | None:
    return None if isinstance(rule.head, syntax.Falsity) else place_of(rule.head.span)
