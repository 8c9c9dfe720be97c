"""Values of expressions: Python values, None if one is missing. Literal, and no code of the package in it.

Numbers are Python integers and floats, so that arithmetic on floats is that of IEEE doubles; what is not finite is missing.
Integers are as large as they get: an engine that leaves 64 bits must say so, and one that gives a number must give this one.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from oracle.facts import Constant, Double, constant

Raw = Any
DAY = datetime.timedelta(days=1)


def as_double(one: Constant) -> Constant:
    return Double(*one) if one.type == "number" else one


def is_integer(number: Fraction) -> bool:
    """Whether a number is an integer of 64 bits; all others are doubles."""
    return number.denominator == 1 and -(2**63) <= number < 2**63


def raw(one: Constant | None) -> Raw:
    if one is None or one.type != "number":
        return None if one is None else one.value
    return float(one.value) if isinstance(one, Double) or not is_integer(one.value) else int(one.value)


def typed(value: Raw) -> Constant | None:
    """The constant of a value; a missing value is none, and neither is what is not finite."""
    if finite(value) is None:
        return None
    if isinstance(value, float):
        return as_double(constant(value))
    return Constant("duration", value) if isinstance(value, datetime.timedelta) else constant(value)


def finite(value: Raw) -> Raw:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def operate(operator: str, left: Raw, right: Raw) -> Raw:
    if left is None or right is None:
        return None
    match operator:
        case "+":
            return finite(left + right)
        case "-":
            return finite(left - right)
        case "*":
            return finite(left * right)
        case "/":
            return None if right == 0 else finite(float(left) / float(right))
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
        return finite(FUNCTIONS[function](*arguments))
    except OverflowError:
        return None


def half_away(value: Raw, digits: int | None = None) -> Raw:
    """The nearest number of so many digits; of two, the one farther from zero. Without digits, an integer."""
    scale = Fraction(10) ** (digits or 0)
    magnitude = math.floor(abs(Fraction(value)) * scale + Fraction(1, 2))
    signed = magnitude if value >= 0 else -magnitude
    if isinstance(value, int):
        return value
    return whole(value, signed) if digits is None else float(signed / scale)


def whole(value: Raw, rounded: int) -> int | None:
    """What a double is rounded to, missing if it has more than 64 bits; an integer is rounded already."""
    return rounded if isinstance(value, int) or is_integer(Fraction(rounded)) else None


def extreme(choose: Callable[..., Raw], values: tuple[Raw, ...]) -> Raw:
    """The least or the greatest. Integers and floats together are floats."""
    found = choose(values)
    return float(found) if any(isinstance(value, float) for value in values) else found


def capital(letter: str) -> str:
    """One letter for one; a letter without such a capital stays."""
    if letter == "ß":
        return "ẞ"
    return next((found for found in (letter.upper(), letter.title()) if len(found) == 1), letter)


def logarithm(value: Raw) -> Raw:
    return math.log(value) if value > 0 else None


def square_root(value: Raw) -> Raw:
    return math.sqrt(value) if value >= 0 else None


def power(base: Raw, exponent: Raw) -> Raw:
    try:
        return math.pow(base, exponent)
    except ValueError:
        return None


def length(duration: datetime.timedelta, unit: datetime.timedelta) -> Raw:
    """How many units a duration is: the quotient of two doubles."""
    microsecond = datetime.timedelta(microseconds=1)
    return float(duration // microsecond) / float(unit // microsecond)


FUNCTIONS: dict[str, Callable[..., Raw]] = {
    "abs": abs,
    "min": lambda *values: extreme(min, values),
    "max": lambda *values: extreme(max, values),
    "round": half_away,
    "floor": lambda value: whole(value, math.floor(value)),
    "ceil": lambda value: whole(value, math.ceil(value)),
    "ln": logarithm,
    "exp": math.exp,
    "sqrt": square_root,
    "power": power,
    "length": len,
    "lower": lambda text: "".join(one.lower()[0] for one in text),
    "upper": lambda text: "".join(map(capital, text)),
    "date": lambda moment: moment.date(),
    "days": lambda duration: length(duration, DAY),
    "hours": lambda duration: length(duration, datetime.timedelta(hours=1)),
    "minutes": lambda duration: length(duration, datetime.timedelta(minutes=1)),
    "seconds": lambda duration: length(duration, datetime.timedelta(seconds=1)),
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


def added(values: list[Raw]) -> Raw:
    """A sum, missing if it is no finite double; what it comes to on the way does not matter."""
    found = sum(values, datetime.timedelta()) if any(isinstance(one, datetime.timedelta) for one in values) else sum(values)
    if finite(found) is None:
        exact = sum(map(Fraction, values))
        return float(exact) if abs(exact) < Fraction(2) ** 1024 * (1 - Fraction(1, 2**54)) else None
    return found


def aggregate(function: str, values: list[Raw]) -> Raw:
    """Of the values of all inner groundings, missing ones among them."""
    present = [value for value in map(finite, values) if value is not None]
    match function:
        case "count":
            return len(values)
        case "count_distinct":
            return len(set(map(typed, present)))
        case "sum":
            return added(present)
        case "avg":
            return operate("/", added(present), len(present))
        case "min":
            return min(present, default=None)
        case "max":
            return max(present, default=None)
        case _:
            raise ValueError(function)
