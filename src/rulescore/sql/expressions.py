"""Expressions and conditions as SQL. A value that is missing is NULL, a condition that is unknown is NULL: SQL's own logic is
the three-valued one of the definition."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from operator import add, eq, ge, gt, le, lt, mul, ne, sub

from sqlglot import exp

from rulescore.language import syntax
from rulescore.language.trees import variables_in
from rulescore.logic.types import LENGTHS, TESTS, Typing, is_nonzero, largest
from rulescore.sql.moments import day_of, days, later_day, length_of, span_of
from rulescore.sql.values import TURNED, Comparing, cast, compared, compared_with, constant, constant_in, never, try_cast
from rulescore.sql.words import Sql, all_of, any_of, call, case, sql, when
from rulescore.values import DURATIONS, MOMENTS, ValueType

_COMPARISONS: dict[syntax.Operator, Comparing] = {
    syntax.Operator.EQUAL: eq,
    syntax.Operator.DIFFERENT: ne,
    syntax.Operator.LESS: lt,
    syntax.Operator.AT_MOST: le,
    syntax.Operator.GREATER: gt,
    syntax.Operator.AT_LEAST: ge,
}
_ARITHMETIC: dict[syntax.Arithmetic, Callable[[Sql, Sql], Sql]] = {
    syntax.Arithmetic.ADD: add,
    syntax.Arithmetic.SUBTRACT: sub,
    syntax.Arithmetic.MULTIPLY: mul,
}
_PARTS = {"year": "YEAR", "month": "MONTH", "day": "DAY"}


def doubles(operation: Sql) -> Sql:
    """Marks a new operation as an operation on doubles. Its result may be infinite or vanish, and some engines raise an error
    then."""
    operation.node.type = exp.DType.DOUBLE
    return operation


def is_of_doubles(operation: exp.Expr) -> bool:
    return operation.is_type(exp.DType.DOUBLE)


def infinity() -> Sql:
    return cast(sql("Infinity"), ValueType.FLOAT)


def finite(value: Sql) -> Sql:
    """The value, but NULL instead of infinity, and of NaN, which is above infinity for engines."""
    return when(value.abs() < infinity(), value)


def sum_of_doubles(value: Sql) -> Sql:
    """The sum, NULL if no double holds it. If an intermediate sum is infinite we add up on a smaller scale, on which the sum of any
    possible number of rows stays finite."""
    plain = doubles(value.sum())
    return when(plain.abs() < infinity(), plain, scaled_sum(value))


def plain_sum(case: exp.Case) -> exp.Expr | None:
    """The plain sum in what `sum_of_doubles` makes, None for any other case: some engines raise an error for an infinite sum."""
    amount: exp.Expr = case.args["ifs"][0].args["true"]
    return amount if isinstance(amount, exp.Sum) and is_of_doubles(amount) and case.args.get("default") is not None else None


def scaled_sum(value: Sql) -> Sql:
    scaled = doubles(doubles(_paren(value) * constant(2.0**-64)).sum())
    return when(scaled.abs() < constant(2.0 ** (1024 - 64)), scaled * constant(2.0**64))


class Compiler(ABC):
    """Turns expressions and conditions into SQL. Subclasses give the SQL of variables, aggregates and registered tests."""

    @abstractmethod
    def column(self, variable: syntax.Variable | syntax.Attribute) -> Sql:
        """A new tree for the variable's value."""

    @abstractmethod
    def type(self, variable: syntax.Variable | syntax.Attribute) -> ValueType | None:
        """The variable's type; None if no value of it is known."""

    @property
    def inexact(self) -> Collection[str]:
        """The keys of integers beyond 64 bits that no double equals."""
        return ()

    def aggregate(self, aggregate: syntax.Aggregate) -> Sql:
        raise AssertionError("no aggregates here")

    def registered(self, test: syntax.Test) -> Sql:
        raise AssertionError("no registered predicates here")

    def type_of(self, expression: syntax.Expression) -> ValueType | None:
        return Typing(self.type, []).expression(expression)

    def condition(self, condition: syntax.Condition) -> Sql:
        match condition:
            case syntax.Comparison():
                return self._comparison(condition)
            case syntax.Membership(value, constants):
                kind, type_ = self.type_of(value), _paren(self.value(value))
                listed = [constant(member.value) if kind is None else constant_in(member.value, kind) for member in constants]
                possible = [member for member in listed if member is not None]
                return type_.is_in(possible) if possible else never(eq, type_)
            case syntax.Test():
                return self._test(condition)
            case syntax.Not(inner):
                return ~self.condition(inner)
            case syntax.And(conditions):
                return all_of(*map(self.condition, conditions)).paren()
            case syntax.Or(conditions):
                return any_of(*map(self.condition, conditions)).paren()
            case syntax.Atom() | syntax.RowAtom() | syntax.Let():
                raise AssertionError("resolved before")

    def value(self, expression: syntax.Expression) -> Sql:
        """The value of an expression, NULL if it is not finite. We do not check a part if an infinite part always makes the whole
        infinite, too."""
        value_sql = self._value(expression)
        return finite(value_sql) if math.isinf(largest(expression, self.type_of)) else value_sql

    def number(self, expression: syntax.Expression) -> Sql:
        """A part of an expression as a double, which may be infinite or not a number."""
        return self._as_double(expression, self._value(expression))

    def finite_number(self, expression: syntax.Expression) -> Sql:
        """A part of an expression as a double; NULL if it is not finite. We use it if the whole would not show that."""
        return self._as_double(expression, self.value(expression))

    def _as_double(self, expression: syntax.Expression, value: Sql) -> Sql:
        return _paren(value) if self.type_of(expression) is ValueType.FLOAT else cast(value, ValueType.FLOAT)

    def _comparison(self, comparison: syntax.Comparison) -> Sql:
        left, right = comparison.left, comparison.right
        kind = _COMPARISONS[comparison.operator]
        types = self.type_of(left), self.type_of(right)
        match left, types[0], right, types[1]:
            case _, None, _, _:
                pass
            case _, _, _, None:
                pass
            case syntax.Constant(), _, syntax.Constant(), _ if set(types) != DURATIONS:
                pass
            case _, type_, syntax.Constant(value), _:
                return compared_with(kind, _paren(self.value(left)), type_, value)
            case syntax.Constant(value), _, _, type_:
                return compared_with(TURNED[kind], _paren(self.value(right)), type_, value)
            case _, other_type, _, other:
                return compared(kind, _paren(self.value(left)), other_type, _paren(self.value(right)), other, self.inexact)
        return kind(_paren(self._typed(left, right)), _paren(self._typed(right, left)))

    def _typed(self, expression: syntax.Expression, other: syntax.Expression) -> Sql:
        """A side of a comparison. If its type is unknown we cast it to the other side's, which the database would not guess."""
        value = self.value(expression)
        wanted = self.type_of(other)
        return cast(value, wanted) if self.type_of(expression) is None and wanted is not None else value

    def _test(self, test: syntax.Test) -> Sql:
        if test.predicate not in TESTS:
            return self.registered(test)
        text, part = (self.value(argument) for argument in test.arguments)
        if test.predicate == "contains":
            return Sql(exp.StrPosition(this=text.node, substr=part.node)) > 0
        side = "LEFT" if test.predicate == "starts_with" else "RIGHT"
        return call(side, text, part.length()) == part

    def _value(self, expression: syntax.Expression) -> Sql:
        match expression:
            case syntax.Variable() | syntax.Attribute():
                return self.column(expression)
            case syntax.Constant(value):
                return constant(value)
            case syntax.Negative(operand):
                turned = -self._operand(operand)
                type_ = self.type_of(expression)
                # We cast literals, because the database would give each only as many bits as it needs.
                return turned if type_ is None or any(variables_in(expression)) else cast(turned, type_)
            case syntax.Operation():
                return self._operation(expression)
            case syntax.Call():
                return self._call(expression)
            case syntax.Aggregate():
                return self.aggregate(expression)

    def _operation(self, operation: syntax.Operation) -> Sql:
        left, right = operation.left, operation.right
        type_ = self.type_of(operation)
        if operation.operator is syntax.Arithmetic.DIVIDE:
            return doubles(self.number(left) / _nonzero(right, self.finite_number(right)))
        if operation.operator is syntax.Arithmetic.MODULO:
            return self._remainder(left, right)
        if type_ is ValueType.FLOAT:
            return doubles(_ARITHMETIC[operation.operator](self.number(left), self.number(right)))
        sides = [self._operand(left), self._operand(right)]
        if type_ is ValueType.DATE:
            date, duration = sides if self.type_of(left) is ValueType.DATE else sides[::-1]
            return later_day(_ARITHMETIC[operation.operator], date, duration)
        if self.type_of(left) is self.type_of(right) is ValueType.DATE:
            return days(sides[0], sides[1])
        if type_ in MOMENTS or type_ is ValueType.SPAN:
            sides = [self._in_microseconds(operand, side) for operand, side in zip((left, right), sides, strict=True)]
        if type_ is not None and not any(variables_in(operation)):  # without the cast, both literals would be 32-bit integers
            sides[0] = cast(sides[0], type_)
        return _ARITHMETIC[operation.operator](sides[0], sides[1])

    def _operand(self, expression: syntax.Expression) -> Sql:
        """An operand of a computation. If its type is unknown, the value is missing, and the database must not take it for text."""
        value = self._value(expression)
        return _paren(value) if self.type_of(expression) is not None else cast(value, ValueType.INTEGER)

    def _in_microseconds(self, expression: syntax.Expression, value: Sql) -> Sql:
        return span_of(value).paren() if self.type_of(expression) is ValueType.DURATION else value

    def _remainder(self, left: syntax.Expression, right: syntax.Expression) -> Sql:
        """The remainder with the divisor's sign; engines' own remainders have the dividend's sign. We divide by 1 instead of -1,
        because the quotient of the least integer and -1 does not fit into 64 bits."""
        divisor = self._operand(right)
        rest = self._operand(left) % case((divisor == constant(-1), 1), (divisor != 0, divisor)).paren()
        return rest + when(call("SIGN", rest) * call("SIGN", divisor) < 0, divisor, 0).paren()

    def _call(self, expression: syntax.Call) -> Sql:
        arguments = expression.arguments
        first = arguments[0]
        match expression.function:
            case "round" | "floor" | "ceil" if self.type_of(first) is ValueType.INTEGER:
                return self._value(first)
            case "abs":
                return self._operand(first).abs()
            case "min" | "max":
                arguments_alike = [self._same_type(expression, argument) for argument in arguments]
                kind = "LEAST" if expression.function == "min" else "GREATEST"
                return when(all_of(*(_paren(argument).is_known() for argument in arguments_alike)), call(kind, *arguments_alike))
            case "round" if len(arguments) == 2:
                assert isinstance(arguments[1], syntax.Constant)
                scale = constant(float(10 ** int(arguments[1].value)))  # type: ignore[arg-type]  # checked to be an integer
                value = self.number(first)
                rounded = doubles(_paren(_rounded(doubles(value * scale))) / scale)
                return when(value.abs() < constant(2.0**52), rounded, value)
            case "round":
                return try_cast(_rounded(self.number(first)), ValueType.INTEGER)
            case "floor" | "ceil":
                return try_cast(call(expression.function.upper(), self.number(first)), ValueType.INTEGER)
            case "ln":
                return when(self.number(first) > 0, self.number(first).ln())
            case "sqrt":
                return when(self.number(first) >= 0, Sql(exp.Sqrt(this=self.number(first).node)))
            case "exp":
                return Sql(exp.Exp(this=self.finite_number(first).node))
            case "power":
                return self._power(first, arguments[1])
            case "length":
                return cast(self._value(first).length(), ValueType.INTEGER)
            case "lower":
                return self._value(first).lower()
            case "upper":
                return self._value(first).upper()
            case "date":
                return day_of(self._value(first))
            case name if name in LENGTHS:
                of_days = self.type_of(first) is ValueType.DURATION
                return length_of(self._value(first), LENGTHS[name], of_days=of_days)
            case part:
                value = self._value(first)
                date = day_of(value) if self.type_of(first) in MOMENTS else value
                return cast(Sql(exp.Extract(this=exp.var(_PARTS[part]), expression=date.node)), ValueType.INTEGER)

    def _power(self, base: syntax.Expression, exponent: syntax.Expression) -> Sql:
        """The power, NULL if it is not a real number: some engines would raise an error."""
        x, y = self.finite_number(base), self.finite_number(exponent)
        real = any_of(x >= 0, y == y.floor())
        return when(all_of(real.paren(), ~all_of(x == 0, y < 0)), Sql(exp.Pow(this=x.node, expression=y.node)))

    def _same_type(self, whole: syntax.Call, part: syntax.Expression) -> Sql:
        if self.type_of(part) is None:
            known = [type_ for argument in whole.arguments if (type_ := self.type_of(argument)) is not None]
            return cast(self._value(part), known[0]) if known else self._value(part)
        if self.type_of(whole) is ValueType.SPAN:
            return self._in_microseconds(part, self._value(part))
        return self.finite_number(part) if self.type_of(whole) is ValueType.FLOAT else self._value(part)


def _rounded(value: Sql) -> Sql:
    """To the nearest whole number, halves away from zero; the engines' own functions do not agree on halves."""
    whole = call("TRUNC", value)
    return whole + when((_paren(value) - whole).abs() >= constant(0.5), call("SIGN", value), 0)


def _nonzero(divisor: syntax.Expression, value: Sql) -> Sql:
    """The divisor, but NULL instead of zero: dividing by zero gives no value."""
    return value if is_nonzero(divisor) else value.null_if(0)


def _paren(value: Sql) -> Sql:
    """The value in parentheses, if a neighbouring operator could bind to a part of it."""
    return value.paren() if isinstance(value.node, exp.Binary | exp.Neg | exp.Case) else value
