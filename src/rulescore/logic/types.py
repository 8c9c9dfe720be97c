"""Finds the types of expressions before we make any statement, and bounds for their values."""

from __future__ import annotations

import datetime
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rulescore.errors import Diagnostic, Severity, Span, place_of
from rulescore.language import builtins as signatures
from rulescore.language import syntax
from rulescore.language.builtins import FUNCTIONS, MEASURES, ORDERED, Signature
from rulescore.values import DURATIONS, MOMENTS, NUMBERS, ValueType, is_of_days

TypeOf = Callable[[syntax.Expression], ValueType | None]

_INTEGERS = 2.0**63
_DOUBLES = sys.float_info.max
_LOGARITHMS = 746.0
"""No logarithm of a positive double is farther from zero, not even the least double's."""


def largest(expression: syntax.Expression, type_of: TypeOf) -> float:
    """A bound for the absolute value if we compute every operation as written. Infinite if the result can be infinite or NaN."""
    if type_of(expression) is not ValueType.FLOAT:
        return _INTEGERS
    match expression:
        case syntax.Constant(int() | float() as value):
            return abs(value)
        case syntax.Negative(operand):
            return largest(operand, type_of)
        case syntax.Operation(syntax.Arithmetic.DIVIDE, left, syntax.Constant(int() | float() as divisor)) if divisor:
            return largest(left, type_of) / abs(divisor)
        case syntax.Operation(syntax.Arithmetic.ADD | syntax.Arithmetic.SUBTRACT, left, right):
            return largest(left, type_of) + largest(right, type_of)
        case syntax.Operation(syntax.Arithmetic.MULTIPLY, left, right):
            product = largest(left, type_of) * largest(right, type_of)
            return math.inf if math.isnan(product) else product
        case syntax.Call("abs" | "round", (first, *_)):
            return largest(first, type_of)
        case syntax.Call("min" | "max", arguments):  # no argument is infinite
            return min(_DOUBLES, max(largest(argument, type_of) for argument in arguments))
        case syntax.Call("sqrt", (first,)):
            return math.sqrt(largest(first, type_of))
        case syntax.Call("days" | "hours" | "minutes" | "seconds"):
            return _INTEGERS
        case syntax.Call("ln", (first,)):
            return math.inf if math.isinf(largest(first, type_of)) else _LOGARITHMS
        case syntax.Call("exp", (first,)):
            size = largest(first, type_of)
            return math.exp(size) if size < math.log(_DOUBLES) else math.inf
        case syntax.Operation() | syntax.Call():
            return math.inf
        case syntax.Constant() | syntax.Variable() | syntax.Attribute() | syntax.Aggregate():
            return _DOUBLES


def is_nonzero(divisor: syntax.Expression) -> bool:
    """Whether a divisor is a number other than zero."""
    return isinstance(divisor, syntax.Constant) and divisor.value != 0


def may_be_missing(expression: syntax.Expression, type_of: TypeOf, is_known: Callable[[str], bool]) -> bool:
    """Whether an expression can have no value. `is_known`: whether a variable always has a value."""

    def any_of(*parts: syntax.Expression) -> bool:
        return any(may_be_missing(part, type_of, is_known) for part in parts)

    match expression:
        case syntax.Variable(name):
            return not is_known(name)
        case syntax.Constant():
            return False
        case syntax.Negative(operand):
            return any_of(operand)
        case syntax.Operation(syntax.Arithmetic.DIVIDE | syntax.Arithmetic.MODULO, _, right) if not is_nonzero(right):
            return True
        case syntax.Operation(_, left, right):
            return math.isinf(largest(expression, type_of)) or any_of(left, right)
        case syntax.Call("ln" | "sqrt" | "power" | "exp"):
            return True
        case syntax.Call("round" | "floor" | "ceil", (first, *_)):
            return type_of(first) is not ValueType.INTEGER or any_of(first)
        case syntax.Call(_, arguments):
            return any_of(*arguments)
        case syntax.Attribute() | syntax.Aggregate():
            return True


Lookup = Callable[[syntax.Variable | syntax.Attribute], ValueType | None]
"""The type of a variable or attribute; None if we do not know it, which fits everywhere."""

STRING, INTEGER, FLOAT = ValueType.STRING, ValueType.INTEGER, ValueType.FLOAT
BOOLEAN, DATE, DURATION, MIXED = ValueType.BOOLEAN, ValueType.DATE, ValueType.DURATION, ValueType.MIXED
DATETIME, INSTANT, SPAN = ValueType.DATETIME, ValueType.INSTANT, ValueType.SPAN


@dataclass(frozen=True, slots=True)
class Mixture:
    """The types of the values that a variable stands for; `examples` say in words which values stand where."""

    kinds: frozenset[ValueType]
    examples: tuple[str, ...]


LENGTHS, TESTS = signatures.LENGTHS, signatures.TEST_SIGNATURES


def type_of_value(value: object) -> ValueType:
    match value:
        case bool():
            return BOOLEAN
        case int():
            return INTEGER
        case float():
            return FLOAT
        case datetime.timedelta():
            return DURATION if is_of_days(value) else SPAN
        case datetime.datetime():
            return DATETIME if value.tzinfo is None else INSTANT
        case datetime.date():
            return DATE
        case _:
            return STRING


def agree(left: ValueType | None, right: ValueType | None) -> bool:
    """Whether values of two types can be equal at all."""
    if left is None or right is None or left is right:
        return True
    both = {left, right}
    return both <= NUMBERS or both <= DURATIONS or (MIXED in both and not both & DURATIONS)


def wider(left: ValueType | None, right: ValueType | None) -> ValueType | None:
    """The type that holds values of both."""
    if left is None or right is None:
        return left or right
    return FLOAT if {left, right} == NUMBERS else SPAN if {left, right} == DURATIONS else left


class Typing:
    """Finds types, collecting problems on the way. A type is None if it is unknown, or if we reported a problem in a part of the
    expression. `mixtures`: the types and examples of variables of mixed type, by name."""

    def __init__(self, lookup: Lookup, problems: list[Diagnostic], mixtures: Mapping[str, Mixture] | None = None) -> None:
        self._lookup, self._problems = lookup, problems
        self._mixtures = mixtures or {}

    def expression(self, expression: syntax.Expression) -> ValueType | None:
        match expression:
            case syntax.Variable() | syntax.Attribute():
                return self._lookup(expression)
            case syntax.Constant(value):
                self.constant(expression)
                return type_of_value(value)
            case syntax.Operation():
                return self._operation(expression)
            case syntax.Negative(operand):
                type_ = self._computed(operand)
                return type_ if self._need(type_, MEASURES, "`-`", operand.span) else None
            case syntax.Call():
                return self._call(expression)
            case syntax.Aggregate():
                return self._aggregate(expression)

    def _computed(self, expression: syntax.Expression) -> ValueType | None:
        """The type of an expression that a rule orders or computes with: reports mixed types."""
        type_ = self.expression(expression)
        if type_ is not MIXED:
            return type_
        name = expression.name if isinstance(expression, syntax.Variable) else ""
        place = place_of(expression.span)
        problem = Diagnostic(
            "E271",
            f"`{name.rpartition(' ')[2]}` stands for values of several types, so we cannot compute with it",
            place,
            notes=self._mixtures[name].examples if name in self._mixtures else (),
            helps=("leave out the values that do not belong there, or declare the column's type where they are read",),
        )
        if problem not in self._problems:
            self._problems.append(problem)
        return None

    def comparison(self, comparison: syntax.Comparison) -> None:
        ordered = comparison.operator not in {syntax.Operator.EQUAL, syntax.Operator.DIFFERENT}
        if not ordered and isinstance(comparison.left, syntax.Variable) and isinstance(comparison.right, syntax.Variable):
            self._variables(comparison.left, comparison.right, comparison.span)
            return
        look = self._computed if ordered else self.expression
        left, right = look(comparison.left), look(comparison.right)
        if not self._may_be(comparison.left, right, comparison.span) or not self._may_be(comparison.right, left, comparison.span):
            return
        if self._compared(left, right, comparison.span) and ordered and BOOLEAN in {left, right}:
            self._problem("E271", f"`{comparison.operator}` does not take a boolean", comparison.span, "use `=` or `!=`")

    def _variables(self, left: syntax.Variable, right: syntax.Variable, span: Span | None) -> None:
        """Check an equality of two variables: any types are allowed, but we warn if they are never equal."""
        types = self.expression(left), self.expression(right)
        if not agree(*types):
            message = f"{with_article(types[0])} is compared with {with_article(types[1])}, and the two are never equal"
            helps = (advice,) if (advice := _comparison_advice(set(types))) else ()
            place = place_of(span)
            self._problems.append(Diagnostic("W210", message, place, helps=helps, severity=Severity.WARNING))

    def _may_be(self, expression: syntax.Expression, other: ValueType | None, span: Span | None) -> bool:
        """Whether a variable of mixed type can have a value of another type; reports if not."""
        mixture = self._mixtures.get(expression.name) if isinstance(expression, syntax.Variable) else None
        if mixture is None or any(agree(kind, other) for kind in mixture.kinds):
            return True
        kinds = " and ".join(sorted(with_article(kind) for kind in mixture.kinds))
        message = f"{with_article(other)} is compared with what is {kinds} elsewhere, and never that"
        self._problem("E206", message, span, None, _NEVER_EQUAL)
        return False

    def membership(self, membership: syntax.Membership) -> None:
        type_ = self.expression(membership.value)
        for constant in membership.constants:
            self.constant(constant)
            if self._may_be(membership.value, type_of_value(constant.value), constant.span):
                self._compared(type_, type_of_value(constant.value), constant.span)

    def test(self, test: syntax.Test) -> None:
        """Check the types of a built-in test. The arguments of a registered test may have any type."""
        signature = TESTS.get(test.predicate)
        look = self.expression if signature is None else self._computed
        types = [look(argument) for argument in test.arguments]
        if signature is not None:
            self._fits(test.predicate, signature, test.arguments, types, test.span)

    def distance(self, left: syntax.Expression, right: syntax.Expression, span: Span | None, *, relative: bool) -> bool:
        """Whether `within` can compute the distance of two values; reports if not."""
        types = self._computed(left), self._computed(right)
        if None in types or set(types) <= NUMBERS or (not relative and _have_distance(set(types))):
            return True
        wanted = "two numbers and a percentage" if relative else "two numbers, two dates, two date-times or two durations"
        self._problem("E271", f"`within` takes {wanted}, not {with_article(types[0])} and {with_article(types[1])}", span, None)
        return False

    def constant(self, constant: syntax.Constant) -> None:
        """Check a constant of a rule, wherever it stands."""
        if isinstance(constant.value, int) and not -(2**63) <= constant.value < 2**63:
            message = "this integer is too large: those that rules of this form compare have 64 bits"
            self._problem("E105", message, constant.span, "write it as a float, with a point or an exponent")

    def _compared(self, left: ValueType | None, right: ValueType | None, span: Span | None) -> bool:
        if agree(left, right):
            return True
        message = f"{with_article(left)} is compared with {with_article(right)}"
        self._problem("E206", message, span, _comparison_advice({left, right}), _NEVER_EQUAL)
        return False

    def _operation(self, operation: syntax.Operation) -> ValueType | None:
        left, right = self._computed(operation.left), self._computed(operation.right)
        if left is None or right is None:
            known = wider(left, right)
            return FLOAT if operation.operator is syntax.Arithmetic.DIVIDE else known if known in NUMBERS else None
        type_ = _operation_type(operation.operator, left, right)
        if type_ is None:
            shown = f"`{operation.operator}` does not take {with_article(left)} and {with_article(right)}"
            self._problem("E271", shown, operation.span, _operation_advice(operation.operator, {left, right}))
        return type_

    def _call(self, call: syntax.Call) -> ValueType | None:
        signature = FUNCTIONS[call.function]
        types = [self._computed(argument) for argument in call.arguments]
        if not self._fits(call.function, signature, call.arguments, types, call.span):
            return signature.result
        if call.function == "round" and len(call.arguments) == 2:
            digits = call.arguments[1]
            if not (isinstance(digits, syntax.Constant) and isinstance(digits.value, int) and 0 <= digits.value <= 15):
                self._problem("E271", "the second argument of `round` is not a number of digits", digits.span, "write 0 to 15")
            return INTEGER if types[0] is INTEGER else FLOAT
        if call.function in LENGTHS and types[0] is DURATION:
            return INTEGER
        if signature.result is not None:
            return signature.result
        type_ = types[0]
        for argument, other in zip(call.arguments[1:], types[1:], strict=True):
            self._compared(type_, other, argument.span)
            type_ = wider(type_, other)
        return type_

    def _fits(
        self,
        name: str,
        signature: Signature,
        arguments: Sequence[syntax.Expression],
        types: Sequence[ValueType | None],
        span: Span | None,
    ) -> bool:
        if not signature.takes(len(arguments)):  # this happens only for tests: for functions, the parser has reported it
            self._problem("E119", f"`{name}` takes {signature.least} arguments, not {len(arguments)}", span, None)
            return False
        fits = [self._need(type_, signature.argument(i), f"`{name}`", arguments[i].span or span) for i, type_ in enumerate(types)]
        return all(fits)

    def _aggregate(self, aggregate: syntax.Aggregate) -> ValueType | None:
        counts = aggregate.function in {syntax.Aggregation.COUNT, syntax.Aggregation.COUNT_DISTINCT}
        type_ = self.expression(aggregate.value) if counts else self._computed(aggregate.value)
        match aggregate.function:
            case syntax.Aggregation.COUNT | syntax.Aggregation.COUNT_DISTINCT:
                return INTEGER
            case syntax.Aggregation.SUM:
                return type_ if self._need(type_, MEASURES, "`sum`", aggregate.value.span) else None
            case syntax.Aggregation.AVERAGE:
                self._need(type_, NUMBERS, "`avg`", aggregate.value.span)
                return FLOAT
            case syntax.Aggregation.LEAST | syntax.Aggregation.GREATEST:
                return type_ if self._need(type_, ORDERED, f"`{aggregate.function}`", aggregate.value.span) else None

    def _need(self, type_: ValueType | None, wanted: frozenset[ValueType], what: str, span: Span | None) -> bool:
        if type_ is None or type_ in wanted:
            return True
        # A function that takes durations of days takes all durations, so the message names them once.
        *others, last = [with_article(kind) for kind in ValueType if kind in wanted and kind is not SPAN]
        expected = f"{', '.join(others)} or {last}" if others else last
        self._problem("E271", f"{what} takes {expected}, not {with_article(type_)}", span, None)
        return False

    def _problem(self, code: str, message: str, span: Span | None, advice: str | None, note: str | None = None) -> None:
        place = place_of(span)
        notes, helps = (note,) if note else (), (advice,) if advice else ()
        self._problems.append(Diagnostic(code, message, place, notes=notes, helps=helps))


def _operation_type(operator: syntax.Arithmetic, left: ValueType, right: ValueType) -> ValueType | None:
    both = {left, right}
    if both <= NUMBERS:
        if operator is syntax.Arithmetic.DIVIDE:
            return FLOAT
        if operator is syntax.Arithmetic.MODULO:
            return INTEGER if both == {INTEGER} else None
        return wider(left, right)
    if operator is syntax.Arithmetic.MULTIPLY:
        other = next(iter(both - {INTEGER}), None)
        return other if INTEGER in both and other in DURATIONS else None
    if operator not in {syntax.Arithmetic.ADD, syntax.Arithmetic.SUBTRACT}:
        return None
    if both <= DURATIONS:
        return wider(left, right)
    if operator is syntax.Arithmetic.SUBTRACT and left is right and (left is DATE or left in MOMENTS):
        return DURATION if left is DATE else SPAN
    if operator is syntax.Arithmetic.ADD and left in DURATIONS:
        left, right = right, left
    if left is DATE:
        return DATE if right is DURATION else None
    return left if left in MOMENTS and right in DURATIONS else None


def _have_distance(types: set[ValueType | None]) -> bool:
    return types <= DURATIONS or (len(types) == 1 and types <= {DATE, *MOMENTS})


_NEVER_EQUAL = "values of different types are never equal, and none of them is the lesser"
_DURATION_ADVICE = "write a duration with its unit: `30 days`"
_TEXT_ADVICE = (
    "write a constant in the type of the column, a text with quotes and a number without, or declare the column's type where the "
    "data are read"
)


def _comparison_advice(types: set[ValueType | None]) -> str | None:
    if STRING in types:
        return _TEXT_ADVICE
    if types == MOMENTS:
        return "write the zone of a literal, `2020-01-31T12:30:00Z`, or leave it out; columns are given one where they are read"
    if DATE in types and types & MOMENTS:
        return "`date(T)` is the day of a date-time; a literal is written with its time: `2020-01-31T00:00:00`"
    return _DURATION_ADVICE if types & NUMBERS and types & DURATIONS else None


def _operation_advice(operator: syntax.Arithmetic, types: set[ValueType]) -> str | None:
    if STRING in types:
        return "a rule cannot compute with text: declare the column's type where the data are read"
    if types == MOMENTS:
        return "one of them has a zone and the other has none: give both one where they are read"
    if types == {DATE, SPAN}:
        return "a date has no time of day: add whole days to it, or use a date-time"
    if types & {DATE, *MOMENTS, *DURATIONS}:
        if types & NUMBERS:
            return _DURATION_ADVICE
        if DATE in types and types & MOMENTS:
            return "`date(T)` is the day of a date-time"
        return "the difference of two dates is a duration, and a duration can be added to a date: `D2 <= D1 + 30 days`"
    return "`mod` is for integers; round first" if operator is syntax.Arithmetic.MODULO and types <= NUMBERS else None


def with_article(type_: ValueType | None) -> str:
    return f"an {type_}" if type_ in {INTEGER, INSTANT} else f"a {type_}"
