"""Expressions and conditions as SQL. A value that is missing is NULL, a condition that is unknown is NULL: SQL's own logic is
the three-valued one of the definition."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection

from sqlglot import exp

from rulescore.language.syntax import (
    Aggregate,
    And,
    Arithmetic,
    Atom,
    Attribute,
    Call,
    Comparison,
    Condition,
    Constant,
    Expression,
    Let,
    Membership,
    Negative,
    Not,
    Operation,
    Operator,
    Or,
    RowAtom,
    Test,
    Variable,
)
from rulescore.language.trees import variables_in
from rulescore.logic.ranges import is_nonzero, largest
from rulescore.logic.types import LENGTHS, TESTS, Typing
from rulescore.sql.build import all_of, any_of, negation, number
from rulescore.sql.moments import day_of, days, later_day, length_of, span_of
from rulescore.sql.values import TURNED, Comparing, call, cast, compared, compared_with, constant, constant_in, never, try_cast
from rulescore.values.types import DURATIONS, MOMENTS, ValueType

_COMPARISONS: dict[Operator, Comparing] = {
    Operator.EQUAL: exp.EQ,
    Operator.DIFFERENT: exp.NEQ,
    Operator.LESS: exp.LT,
    Operator.AT_MOST: exp.LTE,
    Operator.GREATER: exp.GT,
    Operator.AT_LEAST: exp.GTE,
}
_ARITHMETIC: dict[Arithmetic, type[exp.Binary]] = {
    Arithmetic.ADD: exp.Add,
    Arithmetic.SUBTRACT: exp.Sub,
    Arithmetic.MULTIPLY: exp.Mul,
}
_PARTS = {"year": "YEAR", "month": "MONTH", "day": "DAY"}


def doubles(operation: exp.Binary) -> exp.Binary:
    """Marks a new operation as one of doubles: its result may be infinite or vanish, for which some engines raise an error."""
    operation.type = exp.DType.DOUBLE
    return operation


def is_of_doubles(operation: exp.Expr) -> bool:
    return operation.is_type(exp.DType.DOUBLE)


def when(condition: exp.Expr, value: exp.Expr) -> exp.Expr:
    """The value if the condition holds, else NULL."""
    return exp.Case(ifs=[exp.If(this=condition, true=value)])


def infinity() -> exp.Expr:
    return cast(exp.Literal.string("Infinity"), ValueType.FLOAT)


def finite(value: exp.Expr) -> exp.Expr:
    """The value, but NULL instead of infinity, and of NaN, which is above infinity for engines."""
    return when(exp.LT(this=exp.Abs(this=value.copy()), expression=infinity()), value)


def sum_of_doubles(value: exp.Expr) -> exp.Expr:
    """The sum, NULL if no double holds it. If an intermediate sum is infinite we add up on a smaller scale, on which the sum of any
    possible number of rows stays finite."""
    plain = _typed_sum(value)
    fits = exp.LT(this=exp.Abs(this=plain.copy()), expression=infinity())
    return exp.Case(ifs=[exp.If(this=fits, true=plain)], default=scaled_sum(value.copy()))


def plain_sum(case: exp.Case) -> exp.Expr | None:
    """The plain sum in what `sum_of_doubles` makes, None for any other case: some engines raise an error for an infinite sum."""
    found: exp.Expr = case.args["ifs"][0].args["true"]
    return found if isinstance(found, exp.Sum) and is_of_doubles(found) and case.args.get("default") is not None else None


def scaled_sum(value: exp.Expr) -> exp.Expr:
    scaled = _typed_sum(doubles(exp.Mul(this=_paren(value), expression=constant(2.0**-64))))
    fits = exp.LT(this=exp.Abs(this=scaled.copy()), expression=constant(2.0 ** (1024 - 64)))
    return when(fits, exp.Mul(this=scaled, expression=constant(2.0**64)))


def _typed_sum(value: exp.Expr) -> exp.Sum:
    added = exp.Sum(this=value)
    added.type = exp.DType.DOUBLE
    return added


class Compiler(ABC):
    """Turns expressions and conditions into SQL. Subclasses give the SQL of variables, aggregates and registered tests."""

    @abstractmethod
    def column(self, variable: Variable | Attribute) -> exp.Expr:
        """A new tree for the variable's value."""

    @abstractmethod
    def type(self, variable: Variable | Attribute) -> ValueType | None:
        """The variable's type; None if no value of it is known."""

    @property
    def inexact(self) -> Collection[str]:
        """The keys of integers beyond 64 bits that no double equals."""
        return ()

    def aggregate(self, aggregate: Aggregate) -> exp.Expr:
        raise AssertionError("no aggregates here")

    def registered(self, test: Test) -> exp.Expr:
        raise AssertionError("no registered predicates here")

    def type_of(self, expression: Expression) -> ValueType | None:
        return Typing(self.type, []).expression(expression)

    def condition(self, condition: Condition) -> exp.Expr:
        match condition:
            case Comparison():
                return self._comparison(condition)
            case Membership(value, constants):
                kind, found = self.type_of(value), _paren(self.value(value))
                listed = [constant(one.value) if kind is None else constant_in(one.value, kind) for one in constants]
                possible = [one for one in listed if one is not None]
                return exp.In(this=found, expressions=possible) if possible else never(exp.EQ, found)
            case Test():
                return self._test(condition)
            case Not(inner):
                return negation(self.condition(inner))
            case And(conditions):
                return exp.Paren(this=all_of([self.condition(one) for one in conditions]))
            case Or(conditions):
                return exp.Paren(this=any_of([self.condition(one) for one in conditions]))
            case Atom() | RowAtom() | Let():
                raise AssertionError("resolved before")

    def value(self, expression: Expression) -> exp.Expr:
        """The value of an expression, NULL if it is not finite. A part need not be checked by itself if the whole is not finite
        whenever the part is not."""
        found = self._value(expression)
        return finite(found) if math.isinf(largest(expression, self.type_of)) else found

    def number(self, expression: Expression) -> exp.Expr:
        """A part of an expression as a double, which may be infinite or not a number."""
        return self._as_double(expression, self._value(expression))

    def finite_number(self, expression: Expression) -> exp.Expr:
        """A part of an expression as a double, NULL if it is not finite: used if the whole would not show that."""
        return self._as_double(expression, self.value(expression))

    def _as_double(self, expression: Expression, found: exp.Expr) -> exp.Expr:
        return _paren(found) if self.type_of(expression) is ValueType.FLOAT else cast(found, ValueType.FLOAT)

    def _comparison(self, comparison: Comparison) -> exp.Expr:
        left, right = comparison.left, comparison.right
        kind = _COMPARISONS[comparison.operator]
        types = self.type_of(left), self.type_of(right)
        match left, types[0], right, types[1]:
            case _, None, _, _:
                pass
            case _, _, _, None:
                pass
            case Constant(), _, Constant(), _ if set(types) != DURATIONS:
                pass
            case _, found, Constant(value), _:
                return compared_with(kind, _paren(self.value(left)), found, value)
            case Constant(value), _, _, found:
                return compared_with(TURNED[kind], _paren(self.value(right)), found, value)
            case _, one, _, other:
                return compared(kind, _paren(self.value(left)), one, _paren(self.value(right)), other, self.inexact)
        return kind(this=_paren(self._typed(left, right)), expression=_paren(self._typed(right, left)))

    def _typed(self, expression: Expression, other: Expression) -> exp.Expr:
        """A side of a comparison. If its type is unknown we cast it to the other side's, which the database would not guess."""
        found = self.value(expression)
        wanted = self.type_of(other)
        return cast(found, wanted) if self.type_of(expression) is None and wanted is not None else found

    def _test(self, test: Test) -> exp.Expr:
        if test.predicate not in TESTS:
            return self.registered(test)
        text, part = (self.value(argument) for argument in test.arguments)
        if test.predicate == "contains":
            return exp.GT(this=exp.StrPosition(this=text, substr=part), expression=number(0))
        side = "LEFT" if test.predicate == "starts_with" else "RIGHT"
        return exp.EQ(this=call(side, text, exp.Length(this=part.copy())), expression=part)

    def _value(self, expression: Expression) -> exp.Expr:
        match expression:
            case Variable() | Attribute():
                return self.column(expression)
            case Constant(value):
                return constant(value)
            case Negative(operand):
                turned = exp.Neg(this=_paren(self._value(operand)))
                found = self.type_of(expression)
                # The database would give a literal only as many bits as it needs.
                return turned if found is None or any(variables_in(expression)) else cast(turned, found)
            case Operation():
                return self._operation(expression)
            case Call():
                return self._call(expression)
            case Aggregate():
                return self.aggregate(expression)

    def _operation(self, operation: Operation) -> exp.Expr:
        left, right = operation.left, operation.right
        found = self.type_of(operation)
        if operation.operator is Arithmetic.DIVIDE:
            return _quotient(self.number(left), _nonzero(right, self.finite_number(right)))
        if operation.operator is Arithmetic.MODULO:
            return self._remainder(left, right)
        if found is ValueType.FLOAT:
            return doubles(_ARITHMETIC[operation.operator](this=self.number(left), expression=self.number(right)))
        sides = [_paren(self._value(left)), _paren(self._value(right))]
        if found is ValueType.DATE:
            date, duration = sides if self.type_of(left) is ValueType.DATE else sides[::-1]
            return later_day(_ARITHMETIC[operation.operator], date, duration)
        if self.type_of(left) is self.type_of(right) is ValueType.DATE:
            return days(sides[0], sides[1])
        if found in MOMENTS or found is ValueType.SPAN:
            sides = [self._in_microseconds(one, side) for one, side in zip((left, right), sides, strict=True)]
        if found is not None and not any(variables_in(operation)):  # literals would be 32-bit integers
            sides[0] = cast(sides[0], found)
        return _ARITHMETIC[operation.operator](this=sides[0], expression=sides[1])

    def _in_microseconds(self, expression: Expression, found: exp.Expr) -> exp.Expr:
        return exp.Paren(this=span_of(found)) if self.type_of(expression) is ValueType.DURATION else found

    def _remainder(self, left: Expression, right: Expression) -> exp.Expr:
        """The remainder with the sign of the divisor; engines' own have that of the dividend. We divide by 1 instead of -1, so that
        no step leaves 64 bits: the quotient of the least integer and -1 would."""
        divisor = _paren(self._value(right))
        minus_one = exp.If(this=exp.EQ(this=divisor.copy(), expression=constant(-1)), true=number(1))
        nonzero = exp.If(this=exp.NEQ(this=divisor.copy(), expression=number(0)), true=divisor)
        rest = exp.Mod(this=_paren(self._value(left)), expression=exp.Paren(this=exp.Case(ifs=[minus_one, nonzero])))
        signs = exp.Mul(this=call("SIGN", rest.copy()), expression=call("SIGN", divisor.copy()))
        turned = exp.If(this=exp.LT(this=signs, expression=number(0)), true=divisor.copy())
        return exp.Add(this=rest, expression=exp.Paren(this=exp.Case(ifs=[turned], default=number(0))))

    def _call(self, expression: Call) -> exp.Expr:
        arguments = expression.arguments
        first = arguments[0]
        match expression.function:
            case "round" | "floor" | "ceil" if self.type_of(first) is ValueType.INTEGER:
                return self._value(first)
            case "abs":
                return exp.Abs(this=self._value(first))
            case "min" | "max":
                found = [self._same_type(expression, argument) for argument in arguments]
                kind = "LEAST" if expression.function == "min" else "GREATEST"
                known = all_of([exp.Not(this=exp.Is(this=_paren(one.copy()), expression=exp.null())) for one in found])
                return when(known, call(kind, *found))
            case "round" if len(arguments) == 2:
                assert isinstance(arguments[1], Constant)
                scale = constant(float(10 ** int(arguments[1].value)))  # type: ignore[arg-type]  # checked to be an integer
                value = self.number(first)
                scaled = doubles(exp.Mul(this=value, expression=scale))
                rounded = _quotient(_paren(_rounded(scaled)), scale.copy())
                has_digits = exp.LT(this=exp.Abs(this=value.copy()), expression=constant(2.0**52))
                return exp.Case(ifs=[exp.If(this=has_digits, true=rounded)], default=value.copy())
            case "round":
                return try_cast(_rounded(self.number(first)), ValueType.INTEGER)
            case "floor" | "ceil":
                return try_cast(call(expression.function.upper(), self.number(first)), ValueType.INTEGER)
            case "ln":
                return when(exp.GT(this=self.number(first), expression=number(0)), exp.Ln(this=self.number(first)))
            case "sqrt":
                return when(exp.GTE(this=self.number(first), expression=number(0)), exp.Sqrt(this=self.number(first)))
            case "exp":
                return exp.Exp(this=self.finite_number(first))
            case "power":
                return self._power(first, arguments[1])
            case "length":
                return cast(exp.Length(this=self._value(first)), ValueType.INTEGER)
            case "lower":
                return exp.Lower(this=self._value(first))
            case "upper":
                return exp.Upper(this=self._value(first))
            case "date":
                return day_of(self._value(first))
            case name if name in LENGTHS:
                of_days = self.type_of(first) is ValueType.DURATION
                return length_of(self._value(first), LENGTHS[name], of_days=of_days)
            case part:
                value = self._value(first)
                date = day_of(value) if self.type_of(first) in MOMENTS else value
                return cast(exp.Extract(this=exp.var(_PARTS[part]), expression=date), ValueType.INTEGER)

    def _power(self, base: Expression, exponent: Expression) -> exp.Expr:
        """The power, NULL if it is not a real number: some engines would raise an error."""
        real = any_of(
            [
                exp.GTE(this=self.finite_number(base), expression=number(0)),
                exp.EQ(this=self.finite_number(exponent), expression=exp.Floor(this=self.finite_number(exponent))),
            ]
        )
        zero = all_of(
            [
                exp.EQ(this=self.finite_number(base), expression=number(0)),
                exp.LT(this=self.finite_number(exponent), expression=number(0)),
            ]
        )
        power = exp.Pow(this=self.finite_number(base), expression=self.finite_number(exponent))
        return when(all_of([exp.Paren(this=real), negation(zero)]), power)

    def _same_type(self, whole: Expression, part: Expression) -> exp.Expr:
        if self.type_of(whole) is ValueType.SPAN:
            return self._in_microseconds(part, self._value(part))
        return self.finite_number(part) if self.type_of(whole) is ValueType.FLOAT else self._value(part)


def _rounded(value: exp.Expr) -> exp.Expr:
    """To the nearest whole number, halves away from zero; the engines' own functions do not agree on halves."""
    whole = call("TRUNC", value)
    rest = exp.Abs(this=exp.Sub(this=_paren(value.copy()), expression=whole.copy()))
    half = exp.GTE(this=rest, expression=constant(0.5))
    step = exp.Case(ifs=[exp.If(this=half, true=call("SIGN", value.copy()))], default=number(0))
    return exp.Add(this=whole, expression=step)


def _quotient(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return doubles(exp.Div(this=left, expression=right, typed=True, safe=False))


def _nonzero(divisor: Expression, value: exp.Expr) -> exp.Expr:
    """The divisor, but NULL instead of zero: dividing by zero gives no value."""
    return value if is_nonzero(divisor) else exp.Nullif(this=value, expression=number(0))


def _paren(value: exp.Expr) -> exp.Expr:
    """The value in parentheses, if an operator beside it could bind to a part of it."""
    return exp.Paren(this=value) if isinstance(value, exp.Binary | exp.Neg | exp.Case) else value
