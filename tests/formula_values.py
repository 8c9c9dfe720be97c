"""Values of expressions: Python values, None where one is missing. Literal, and no code of the package in it.

Numbers are Python integers and floats, so that arithmetic on floats is that of IEEE doubles. Not-a-number and infinity may
arise inside an expression; a whole expression that ends in one is missing.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from oracle import Constant, constant

Raw = Any
DAY = datetime.timedelta(days=1)


def raw(one: Constant | None) -> Raw:
    if one is None or one.type != "number":
        return None if one is None else one.value
    return int(one.value) if one.value.denominator == 1 else float(one.value)


def typed(value: Raw) -> Constant | None:
    """The constant of a value; a missing value is none, and neither is what is not finite."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return Constant("duration", value) if isinstance(value, datetime.timedelta) else constant(value)


def finite(value: Raw) -> Raw:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def operate(operator: str, left: Raw, right: Raw) -> Raw:
    if left is None or right is None:
        return None
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return None if right == 0 else float(left) / float(right)
        case "mod":
            if not isinstance(left, int) or not isinstance(right, int):
                raise TypeError("mod is for integers")
            return None if right == 0 else left % right
        case _:
            raise ValueError(operator)


def call(function: str, arguments: list[Raw]) -> Raw:
    if any(argument is None for argument in arguments):
        return None
    try:
        return FUNCTIONS[function](*arguments)
    except OverflowError:
        return math.inf


def half_away(value: Raw, digits: int = 0) -> Raw:
    """The nearest number of so many digits; of two, the one farther from zero. Without digits, an integer."""
    scale = Fraction(10) ** digits
    magnitude = math.floor(abs(Fraction(value)) * scale + Fraction(1, 2))
    signed = magnitude if value >= 0 else -magnitude
    return signed if digits == 0 else float(signed / scale)


def logarithm(value: Raw) -> Raw:
    return math.log(value) if value > 0 else None


def square_root(value: Raw) -> Raw:
    return math.sqrt(value) if value >= 0 else None


def power(base: Raw, exponent: Raw) -> Raw:
    try:
        return math.pow(base, exponent)
    except ValueError:
        return None


FUNCTIONS: dict[str, Callable[..., Raw]] = {
    "abs": abs,
    "min": min,
    "max": max,
    "round": half_away,
    "floor": math.floor,
    "ceil": math.ceil,
    "ln": logarithm,
    "exp": math.exp,
    "sqrt": square_root,
    "power": power,
    "length": len,
    "lower": str.lower,
    "upper": str.upper,
    "year": lambda date: date.year,
    "month": lambda date: date.month,
    "day": lambda date: date.day,
}


def compare(operator: str, left: Raw, right: Raw) -> bool | None:
    """True, false, or None: unknown. Values of two types are different; which is less is no question to ask of them."""
    left, right = finite(left), finite(right)
    if left is None or right is None:
        return None
    match operator:
        case "=":
            return typed(left) == typed(right)
        case "!=":
            return typed(left) != typed(right)
        case "<":
            return bool(left < right)
        case "<=":
            return bool(left <= right)
        case ">":
            return bool(left > right)
        case ">=":
            return bool(left >= right)
        case _:
            raise ValueError(operator)


def within_share(left: Raw, right: Raw, percent: Raw) -> bool | None:
    """Symmetric: the distance of the logarithms."""
    distance = operate("-", call("ln", [left]), call("ln", [right]))
    return compare("<=", call("abs", [distance]), math.log(1 + percent / 100))


def built_in_test(predicate: str, arguments: list[Raw]) -> bool | None:
    if any(argument is None for argument in arguments):
        return None
    match predicate, arguments:
        case "starts_with", [text, start]:
            return bool(text.startswith(start))
        case "ends_with", [text, end]:
            return bool(text.endswith(end))
        case "contains", [text, part]:
            return part in text
        case "within", [left, right, tolerance]:
            return compare("<=", call("abs", [operate("-", left, right)]), tolerance)
        case _:
            raise ValueError(f"`{predicate}` of {len(arguments)} arguments is no test")


def aggregate(function: str, values: list[Raw]) -> Raw:
    """Of the values of all inner groundings, missing ones among them."""
    present = [value for value in map(finite, values) if value is not None]
    match function:
        case "count":
            return len(values)
        case "count_distinct":
            return len(set(map(typed, present)))
        case "sum":
            return sum(present)
        case "avg":
            return float(sum(present)) / len(present) if present else None
        case "min":
            return min(present, default=None)
        case "max":
            return max(present, default=None)
        case _:
            raise ValueError(function)
