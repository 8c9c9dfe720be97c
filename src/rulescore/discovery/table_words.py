"""Writes rules about rows of a table as syntax trees, with variables named after columns, and round numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from rulescore.language import syntax
from rulescore.values import Value

_KEYS = ("A", "B")
_STEPS = (1, 5, 2)
_EXACT = 2**53  # doubles represent every whole number below this


def variables_of(attributes: Iterable[str]) -> dict[str, str]:
    """A variable for each attribute, such as `Price` for `price`. `OtherPrice` stays free for another row."""
    used = set(_KEYS)
    names: dict[str, str] = {}
    for attribute in attributes:
        word = re.sub(r"\W", "_", attribute)
        word = word[:1].upper() + word[1:]
        word = word if word[:1].isupper() else f"Value_{word}"
        number, name = 1, word
        while {name, f"Other{name}"} & used:
            number += 1
            name = f"{word}_{number}"
        used |= {name, f"Other{name}"}
        names[attribute] = name
    return names


def row_of(table: str, terms: Mapping[str, syntax.Term]) -> syntax.RowAtom:
    return syntax.RowAtom(table, tuple(terms.items()))


def rule_of(head: syntax.Head, *body: syntax.Condition) -> syntax.Rule:
    return syntax.Rule(head, syntax.And(body))


def pair_of(
    table: str,
    key: Sequence[str],
    shared: Mapping[str, syntax.Term],
    own: Mapping[str, syntax.Term],
    other: Mapping[str, syntax.Term],
) -> tuple[syntax.Condition, ...]:
    """Two different rows of a table that share some values, each with values of its own."""
    parts = [name for name in key if name not in shared]
    numbers = [""] if len(parts) == 1 else [str(place + 1) for place in range(len(parts))]
    first, second = (
        {name: syntax.Variable(f"{letter}{number}") for name, number in zip(parts, numbers, strict=True)} for letter in _KEYS
    )
    differ: list[syntax.Condition] = [syntax.Comparison(syntax.Operator.DIFFERENT, first[name], second[name]) for name in parts]
    return (
        row_of(table, {**first, **shared, **own}),
        row_of(table, {**second, **shared, **other}),
        differ[0] if len(differ) == 1 else syntax.Or(tuple(differ)),
    )


def compared(left: syntax.Variable, operator: syntax.Operator, right: syntax.Variable | int | float) -> syntax.Comparison:
    """A comparison with a variable or a number. We write the number `5.0` as `5`."""
    if isinstance(right, float) and right.is_integer() and abs(right) < _EXACT:
        right = int(right)
    return syntax.Comparison(operator, left, right if isinstance(right, syntax.Variable) else syntax.Constant(right))


def one_of(variable: syntax.Variable, values: Sequence[Value]) -> syntax.Head:
    if len(values) == 1:
        return syntax.Comparison(syntax.Operator.EQUAL, variable, syntax.Constant(values[0]))
    return syntax.Membership(variable, tuple(map(syntax.Constant, values)))


def roundest(above: float, upto: float) -> int | float:
    """The number with the fewest digits that is greater than the first and at most the second."""
    if above < 0 <= upto:
        return 0
    for exponent in range(18, -13, -1):
        for step in _STEPS:
            number = _multiple(math.floor(upto / (step * 10.0**exponent)) * step, exponent)
            if above < number <= upto:
                return number
    return upto


def roundest_below(least: float, below: float) -> int | float:
    """The number with the fewest digits that is at least the first and less than the second."""
    number = roundest(-below, -least)
    return -number


def round_grid(least: float, greatest: float) -> list[int | float]:
    """The numbers 1, 2 and 5 times a power of ten from one number to another."""
    if not 0 < least <= greatest:
        return []
    exponents = range(math.floor(math.log10(least)), math.ceil(math.log10(greatest)) + 1)
    numbers = [_multiple(step, exponent) for exponent in exponents for step in (1, 2, 5)]
    return [number for number in numbers if least <= number <= greatest]


def _multiple(count: int, exponent: int) -> int | float:
    """The double nearest to a decimal number: a power of ten computed as a double would be off."""
    return count * 10**exponent if exponent >= 0 else float(f"{count}e{exponent}")
