"""How far from zero a number can be, and whether a value can be missing, by the types of what it is computed from."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

from rulescore.language.syntax import (
    Aggregate,
    Arithmetic,
    Attribute,
    Call,
    Constant,
    Expression,
    Negative,
    Operation,
    Variable,
)
from rulescore.values.types import ValueType

TypeOf = Callable[[Expression], ValueType | None]

_INTEGERS = 2.0**63
_DOUBLES = sys.float_info.max
_LOGARITHMS = 746.0
"""No logarithm of a positive double is farther from zero, not even that of the least."""


def largest(expression: Expression, type_of: TypeOf) -> float:
    """A bound on the size of a number if every operation is computed as written; infinite if the number can be infinite or not a
    number."""
    if type_of(expression) is not ValueType.FLOAT:
        return _INTEGERS
    match expression:
        case Constant(int() | float() as value):
            return abs(value)
        case Negative(operand):
            return largest(operand, type_of)
        case Operation(Arithmetic.DIVIDE, left, Constant(int() | float() as divisor)) if divisor:
            return largest(left, type_of) / abs(divisor)
        case Operation(Arithmetic.ADD | Arithmetic.SUBTRACT, left, right):
            return largest(left, type_of) + largest(right, type_of)
        case Operation(Arithmetic.MULTIPLY, left, right):
            found = largest(left, type_of) * largest(right, type_of)
            return math.inf if math.isnan(found) else found
        case Call("abs" | "round", (first, *_)):
            return largest(first, type_of)
        case Call("min" | "max", arguments):  # no argument is infinite
            return min(_DOUBLES, max(largest(one, type_of) for one in arguments))
        case Call("sqrt", (first,)):
            return math.sqrt(largest(first, type_of))
        case Call("days" | "hours" | "minutes" | "seconds"):
            return _INTEGERS
        case Call("ln", (first,)):
            return math.inf if math.isinf(largest(first, type_of)) else _LOGARITHMS
        case Call("exp", (first,)):
            size = largest(first, type_of)
            return math.exp(size) if size < math.log(_DOUBLES) else math.inf
        case Operation() | Call():
            return math.inf
        case Constant() | Variable() | Attribute() | Aggregate():
            return _DOUBLES


def is_nonzero(divisor: Expression) -> bool:
    """Whether a divisor is a number other than zero."""
    return isinstance(divisor, Constant) and divisor.value != 0


def may_be_missing(expression: Expression, type_of: TypeOf, is_known: Callable[[str], bool]) -> bool:
    """Whether an expression can have no value. `is_known`: whether a variable always has a value."""

    def any_of(*parts: Expression) -> bool:
        return any(may_be_missing(part, type_of, is_known) for part in parts)

    match expression:
        case Variable(name):
            return not is_known(name)
        case Constant():
            return False
        case Negative(operand):
            return any_of(operand)
        case Operation(Arithmetic.DIVIDE | Arithmetic.MODULO, _, right) if not is_nonzero(right):
            return True
        case Operation(_, left, right):
            return math.isinf(largest(expression, type_of)) or any_of(left, right)
        case Call("ln" | "sqrt" | "power" | "exp"):
            return True
        case Call("round" | "floor" | "ceil", (first, *_)):
            return type_of(first) is not ValueType.INTEGER or any_of(first)
        case Call(_, arguments):
            return any_of(*arguments)
        case Attribute() | Aggregate():
            return True
