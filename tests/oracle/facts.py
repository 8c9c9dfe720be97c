"""Constants and facts. A fact is a tuple: the predicate's name, then its arguments. An argument is a pair of a type and a value,
because in Python `True == 1` and here it is not."""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import Any, NamedTuple

Value = str | int | float | bool | datetime.date


class Constant(NamedTuple):
    """A typed constant: two are equal iff type and value are. Integers and floats are one type and compare by value."""

    type: str
    value: Any


class Double(Constant):
    """A number that is given, or computed with, as a float. It equals the integer of its value."""

    __slots__ = ()


Fact = tuple[Any, ...]
Facts = frozenset[Fact]


def constant(value: Value) -> Constant:
    if isinstance(value, bool):
        return Constant("boolean", value)
    if isinstance(value, int | float):
        return Constant("number", Fraction(value))
    if isinstance(value, datetime.datetime):
        # With a zone it is an instant, which any zone may name; without one a clock's reading.
        return Constant("datetime", value) if value.tzinfo is None else Constant("instant", value.astimezone(datetime.UTC))
    if isinstance(value, datetime.date):
        return Constant("date", value)
    return Constant("string", value)


def given(value: Value) -> Constant:
    """The constant of a value, which remembers whether it is given as a float."""
    found = constant(value)
    return Double(*found) if isinstance(value, float) else found


def fact(predicate: str, *values: Value) -> Fact:
    return (predicate, *(constant(value) for value in values))
