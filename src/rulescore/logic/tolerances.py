"""`within(P, Q, tolerance)` as a comparison."""

from __future__ import annotations

import math

from rulescore.errors import Diagnostic
from rulescore.language.syntax import Arithmetic, Call, Comparison, Constant, Expression, Operation, Operator, Test

CODES = {"E279": "`within` is not given two values and a tolerance"}


def as_comparison(test: Test, problems: list[Diagnostic]) -> Comparison | None:
    """`abs(P - Q) <= tolerance`; for a tolerance in percent, of the logarithms, so that it is the same in both directions."""
    place = test.span.place() if test.span is not None else None
    if len(test.arguments) != 3:
        helps = ("write `within(P, Q, 500)`, or `within(P, Q, 10%)`",)
        problems.append(Diagnostic("E279", "`within` takes two values and a tolerance", place, helps=helps))
        return None
    left, right, tolerance = test.arguments
    match tolerance:
        case Call("percent", (Constant(int() | float() as percent),)) if percent >= 0:
            logarithms = [Call("ln", (one,), test.span) for one in (left, right)]
            limit = Constant(math.log(1 + percent / 100), tolerance.span)
            return Comparison(Operator.AT_MOST, _distance(logarithms[0], logarithms[1], test), limit, test.span)
        case Call("percent" | "quantile" | "spread"):
            helps = ("`quantile(…)` and `spread(…)` are for a head that compares two rows of one table",)
            problems.append(Diagnostic("E279", "this tolerance cannot be used here", place, helps=helps))
            return None
        case _:
            return Comparison(Operator.AT_MOST, _distance(left, right, test), tolerance, test.span)


def _distance(left: Expression, right: Expression, test: Test) -> Expression:
    return Call("abs", (Operation(Arithmetic.SUBTRACT, left, right, test.span),), test.span)
