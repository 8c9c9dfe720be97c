"""Types of expressions, found before any statement is made. What does not fit is reported with its place."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rulescore.data.relations import DURATIONS, MOMENTS, NUMBERS
from rulescore.data.setting import ValueType
from rulescore.errors import Diagnostic, Severity, Span, suggestion
from rulescore.language.moments import UNITS, is_of_days
from rulescore.language.syntax import (
    Aggregate,
    Aggregation,
    Arithmetic,
    Attribute,
    Call,
    Comparison,
    Constant,
    Expression,
    Membership,
    Negative,
    Operation,
    Operator,
    Test,
    Variable,
)

CODES = {
    "E271": "an operation is given a type that it does not take",
    "E272": "a function is unknown, or takes another number of arguments",
    "E273": "two types are compared that never agree",
    "E280": "an integer does not fit into 64 bits",
    "E283": "a rule computes with values of several types",
    "W210": "values are compared, or joined, whose types are never equal",
}

Lookup = Callable[[Variable | Attribute], ValueType | None]
"""The type of a variable or attribute; None where it is not known, which fits everywhere."""

STRING, INTEGER, FLOAT = ValueType.STRING, ValueType.INTEGER, ValueType.FLOAT
BOOLEAN, DATE, DURATION, MIXED = ValueType.BOOLEAN, ValueType.DATE, ValueType.DURATION, ValueType.MIXED
DATETIME, INSTANT, SPAN = ValueType.DATETIME, ValueType.INSTANT, ValueType.SPAN
ORDERED = frozenset({INTEGER, FLOAT, DATE, *MOMENTS, *DURATIONS, STRING})


@dataclass(frozen=True, slots=True)
class Mixture:
    """The types of the values that a variable stands for, and in words which stand where."""

    kinds: frozenset[ValueType]
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes: the types of each argument, whether the last may repeat, how many may be left out, and what it
    gives; `result` None: the type of its arguments."""

    arguments: tuple[frozenset[ValueType], ...]
    result: ValueType | None
    repeats: bool = False
    optional: int = 0

    def takes(self, count: int) -> bool:
        least = len(self.arguments) - self.optional
        return count >= least and (self.repeats or count <= len(self.arguments))

    def argument(self, index: int) -> frozenset[ValueType]:
        return self.arguments[min(index, len(self.arguments) - 1)]


_TEXT = frozenset({STRING})
_DAY = frozenset({DATE, *MOMENTS})
_MEASURES = NUMBERS | DURATIONS
LENGTHS = {"days": UNITS["day"], "hours": UNITS["hour"], "minutes": UNITS["minute"], "seconds": UNITS["second"]}
"""How long a duration is, in a unit of so many microseconds: a float, an integer if the duration is of days."""
FUNCTIONS = {
    "abs": Signature((_MEASURES,), None),
    "min": Signature((ORDERED, ORDERED), None, repeats=True),
    "max": Signature((ORDERED, ORDERED), None, repeats=True),
    "round": Signature((NUMBERS, frozenset({INTEGER})), INTEGER, optional=1),
    "floor": Signature((NUMBERS,), INTEGER),
    "ceil": Signature((NUMBERS,), INTEGER),
    "ln": Signature((NUMBERS,), FLOAT),
    "exp": Signature((NUMBERS,), FLOAT),
    "sqrt": Signature((NUMBERS,), FLOAT),
    "power": Signature((NUMBERS, NUMBERS), FLOAT),
    "length": Signature((_TEXT,), INTEGER),
    "lower": Signature((_TEXT,), STRING),
    "upper": Signature((_TEXT,), STRING),
    "year": Signature((_DAY,), INTEGER),
    "month": Signature((_DAY,), INTEGER),
    "day": Signature((_DAY,), INTEGER),
    "date": Signature((MOMENTS,), DATE),
    **dict.fromkeys(LENGTHS, Signature((DURATIONS,), FLOAT)),
}
TESTS = {
    "starts_with": Signature((_TEXT, _TEXT), BOOLEAN),
    "ends_with": Signature((_TEXT, _TEXT), BOOLEAN),
    "contains": Signature((_TEXT, _TEXT), BOOLEAN),
}
"""Built-in tests of values; `within` is replaced by a comparison before types are looked at."""


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
    """Finds types, collecting problems on the way. A type is None where it is unknown or a problem was reported below. `mixtures`:
    what is known of variables of mixed type, by name."""

    def __init__(self, lookup: Lookup, problems: list[Diagnostic], mixtures: Mapping[str, Mixture] | None = None) -> None:
        self._lookup, self._problems = lookup, problems
        self._mixtures = mixtures or {}

    def expression(self, expression: Expression) -> ValueType | None:
        match expression:
            case Variable() | Attribute():
                return self._lookup(expression)
            case Constant(value):
                self.constant(expression)
                return type_of_value(value)
            case Operation():
                return self._operation(expression)
            case Negative(operand):
                found = self._computed(operand)
                return found if self._need(found, _MEASURES, "`-`", operand.span) else None
            case Call():
                return self._call(expression)
            case Aggregate():
                return self._aggregate(expression)

    def _computed(self, expression: Expression) -> ValueType | None:
        """The type of what is ordered or computed with, which has to be one."""
        found = self.expression(expression)
        if found is not MIXED:
            return found
        name = expression.name if isinstance(expression, Variable) else ""
        place = expression.span.place() if expression.span is not None else None
        problem = Diagnostic(
            "E283",
            f"`{name.rpartition(' ')[2]}` stands for values of several types, and nothing can be computed with them",
            place,
            notes=self._mixtures[name].examples if name in self._mixtures else (),
            helps=("leave out the values that do not belong there, or declare the column's type where they are read",),
        )
        if problem not in self._problems:
            self._problems.append(problem)
        return None

    def comparison(self, comparison: Comparison) -> None:
        ordered = comparison.operator not in {Operator.EQUAL, Operator.DIFFERENT}
        if not ordered and isinstance(comparison.left, Variable) and isinstance(comparison.right, Variable):
            self._variables(comparison.left, comparison.right, comparison.span)
            return
        look = self._computed if ordered else self.expression
        left, right = look(comparison.left), look(comparison.right)
        if not self._may_be(comparison.left, right, comparison.span) or not self._may_be(comparison.right, left, comparison.span):
            return
        if self._compared(left, right, comparison.span) and ordered and BOOLEAN in {left, right}:
            self._problem("E271", f"`{comparison.operator}` does not take a boolean", comparison.span, "use `=` or `!=`")

    def _variables(self, left: Variable, right: Variable, span: Span | None) -> None:
        """Two variables may be asked whether they are equal, whatever they stand for."""
        types = self.expression(left), self.expression(right)
        if not agree(*types):
            message = f"{with_article(types[0])} is compared with {with_article(types[1])}, and the two are never equal"
            helps = (advice,) if (advice := _comparison_advice(set(types))) else ()
            place = span.place() if span is not None else None
            self._problems.append(Diagnostic("W210", message, place, helps=helps, severity=Severity.WARNING))

    def _may_be(self, expression: Expression, other: ValueType | None, span: Span | None) -> bool:
        """Whether a variable of mixed type can have a value of another."""
        mixture = self._mixtures.get(expression.name) if isinstance(expression, Variable) else None
        if mixture is None or any(agree(kind, other) for kind in mixture.kinds):
            return True
        kinds = " and ".join(sorted(with_article(one) for one in mixture.kinds))
        message = f"{with_article(other)} is compared with what is {kinds} elsewhere, and never that"
        self._problem("E273", message, span, None, _NEVER_EQUAL)
        return False

    def membership(self, membership: Membership) -> None:
        found = self.expression(membership.value)
        for constant in membership.constants:
            self.constant(constant)
            if self._may_be(membership.value, type_of_value(constant.value), constant.span):
                self._compared(found, type_of_value(constant.value), constant.span)

    def test(self, test: Test) -> None:
        """A built-in test; the arguments of registered ones may have any type."""
        signature = TESTS.get(test.predicate)
        look = self.expression if signature is None else self._computed
        types = [look(argument) for argument in test.arguments]
        if signature is not None:
            self._fits(test.predicate, signature, test.arguments, types, test.span)

    def distance(self, left: Expression, right: Expression, span: Span | None, *, relative: bool) -> bool:
        """Whether `within` can tell how far two values are apart."""
        types = self._computed(left), self._computed(right)
        if None in types or set(types) <= NUMBERS or (not relative and _have_distance(set(types))):
            return True
        wanted = "two numbers and a percentage" if relative else "two numbers, two dates, two date-times or two durations"
        self._problem("E271", f"`within` takes {wanted}, not {with_article(types[0])} and {with_article(types[1])}", span, None)
        return False

    def constant(self, constant: Constant) -> None:
        """A constant of a rule, wherever it stands."""
        if isinstance(constant.value, int) and not -(2**63) <= constant.value < 2**63:
            message = "this integer is too large: those that rules of this form compare have 64 bits"
            self._problem("E280", message, constant.span, "write it as a float, with a point or an exponent")

    def _compared(self, left: ValueType | None, right: ValueType | None, span: Span | None) -> bool:
        if agree(left, right):
            return True
        message = f"{with_article(left)} is compared with {with_article(right)}"
        self._problem("E273", message, span, _comparison_advice({left, right}), _NEVER_EQUAL)
        return False

    def _operation(self, operation: Operation) -> ValueType | None:
        left, right = self._computed(operation.left), self._computed(operation.right)
        if left is None or right is None:
            known = wider(left, right)
            return FLOAT if operation.operator is Arithmetic.DIVIDE else known if known in NUMBERS else None
        found = _operation_type(operation.operator, left, right)
        if found is None:
            shown = f"`{operation.operator}` does not take {with_article(left)} and {with_article(right)}"
            self._problem("E271", shown, operation.span, _operation_advice(operation.operator, {left, right}))
        return found

    def _call(self, call: Call) -> ValueType | None:
        signature = FUNCTIONS.get(call.function)
        types = [self._computed(argument) for argument in call.arguments]
        if signature is None:
            meant = suggestion(call.function, FUNCTIONS)
            advice = f"did you mean `{meant}`?" if meant else f"the functions are {', '.join(FUNCTIONS)}"
            self._problem("E272", f"there is no function `{call.function}`", call.span, advice)
            return None
        if not self._fits(call.function, signature, call.arguments, types, call.span):
            return signature.result
        if call.function == "round" and len(call.arguments) == 2:
            digits = call.arguments[1]
            if not (isinstance(digits, Constant) and isinstance(digits.value, int) and 0 <= digits.value <= 15):
                self._problem("E271", "the second argument of `round` is not a number of digits", digits.span, "write 0 to 15")
            return INTEGER if types[0] is INTEGER else FLOAT
        if call.function in LENGTHS and types[0] is DURATION:
            return INTEGER
        if signature.result is not None:
            return signature.result
        found = types[0]
        for argument, other in zip(call.arguments[1:], types[1:], strict=True):
            self._compared(found, other, argument.span)
            found = wider(found, other)
        return found

    def _fits(
        self,
        name: str,
        signature: Signature,
        arguments: Sequence[Expression],
        types: Sequence[ValueType | None],
        span: Span | None,
    ) -> bool:
        if not signature.takes(len(arguments)):
            least = len(signature.arguments) - signature.optional
            most = "" if signature.repeats else f" to {len(signature.arguments)}" if signature.optional else ""
            count = f"{least}{most}{' or more' if signature.repeats else ''}"
            shown = f"`{name}` takes {count} argument{'s' if count != '1' else ''}, not {len(arguments)}"
            self._problem("E272", shown, span, None)
            return False
        fits = [self._need(found, signature.argument(i), f"`{name}`", arguments[i].span or span) for i, found in enumerate(types)]
        return all(fits)

    def _aggregate(self, aggregate: Aggregate) -> ValueType | None:
        counts = aggregate.function in {Aggregation.COUNT, Aggregation.COUNT_DISTINCT}
        found = self.expression(aggregate.value) if counts else self._computed(aggregate.value)
        match aggregate.function:
            case Aggregation.COUNT | Aggregation.COUNT_DISTINCT:
                return INTEGER
            case Aggregation.SUM:
                return found if self._need(found, _MEASURES, "`sum`", aggregate.value.span) else None
            case Aggregation.AVERAGE:
                self._need(found, NUMBERS, "`avg`", aggregate.value.span)
                return FLOAT
            case Aggregation.LEAST | Aggregation.GREATEST:
                return found if self._need(found, ORDERED, f"`{aggregate.function}`", aggregate.value.span) else None

    def _need(self, found: ValueType | None, wanted: frozenset[ValueType], what: str, span: Span | None) -> bool:
        if found is None or found in wanted:
            return True
        # Whoever takes durations takes those of days and all others.
        *others, last = [with_article(one) for one in ValueType if one in wanted and one is not SPAN]
        expected = f"{', '.join(others)} or {last}" if others else last
        self._problem("E271", f"{what} takes {expected}, not {with_article(found)}", span, None)
        return False

    def _problem(self, code: str, message: str, span: Span | None, advice: str | None, note: str | None = None) -> None:
        place = span.place() if span is not None else None
        notes, helps = (note,) if note else (), (advice,) if advice else ()
        self._problems.append(Diagnostic(code, message, place, notes=notes, helps=helps))


def _operation_type(operator: Arithmetic, left: ValueType, right: ValueType) -> ValueType | None:
    both = {left, right}
    if both <= NUMBERS:
        if operator is Arithmetic.DIVIDE:
            return FLOAT
        if operator is Arithmetic.MODULO:
            return INTEGER if both == {INTEGER} else None
        return wider(left, right)
    if operator is Arithmetic.MULTIPLY:
        other = next(iter(both - {INTEGER}), None)
        return other if INTEGER in both and other in DURATIONS else None
    if operator not in {Arithmetic.ADD, Arithmetic.SUBTRACT}:
        return None
    if both <= DURATIONS:
        return wider(left, right)
    if operator is Arithmetic.SUBTRACT and left is right and (left is DATE or left in MOMENTS):
        return DURATION if left is DATE else SPAN
    if operator is Arithmetic.ADD and left in DURATIONS:
        left, right = right, left
    if left is DATE:
        return DATE if right is DURATION else None
    return left if left in MOMENTS and right in DURATIONS else None


def _have_distance(types: set[ValueType | None]) -> bool:
    return types <= DURATIONS or (len(types) == 1 and types <= {DATE, *MOMENTS})


_NEVER_EQUAL = "values of different types are never equal, and none of them is the lesser"
_DURATION_ADVICE = "write a duration with its unit: `30 days`"
_TEXT_ADVICE = "declare the column's type where the data are read, or write the constant as a string if they hold text"


def _comparison_advice(types: set[ValueType | None]) -> str | None:
    if STRING in types:
        return _TEXT_ADVICE
    if types == MOMENTS:
        return "write the zone of a literal, `2020-01-31T12:30:00Z`, or leave it out; columns are given one where they are read"
    if DATE in types and types & MOMENTS:
        return "`date(T)` is the day of a date-time; a literal is written with its time: `2020-01-31T00:00:00`"
    return _DURATION_ADVICE if types & NUMBERS and types & DURATIONS else None


def _operation_advice(operator: Arithmetic, types: set[ValueType]) -> str | None:
    if STRING in types:
        return "text is nothing to compute with: declare the column's type where the data are read"
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
    return "`mod` is for integers; round first" if operator is Arithmetic.MODULO and types <= NUMBERS else None


def with_article(found: ValueType | None) -> str:
    return f"an {found}" if found in {INTEGER, INSTANT} else f"a {found}"
