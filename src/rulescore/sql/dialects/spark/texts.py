"""Numbers as text, as Python writes them."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.build import all_of, big, call, constant, equal, number

# Functions of libraries that every Spark has: a double in the fewest digits, and a whole number of any length.
_SHORTEST = ("com.fasterxml.jackson.core.io.NumberOutput", "toString")
_WHOLE = ("org.apache.commons.lang3.math.NumberUtils", "createBigInteger")


def double_text(value: exp.Expr) -> exp.Expr:
    """A double as Python writes it; a whole one as the integer it is, to the last digit.

    Java itself writes the fewest digits that identify the double only from version 19 on. A library that Spark has with it does so
    on any version, except for a few of the smallest doubles, where it writes two digits and one would do."""
    size = exp.Abs(this=value.copy())
    whole = equal(value.copy(), call("RINT", value.copy()))
    fits = exp.LT(this=size, expression=constant(2.0**63))
    plain = exp.GTE(this=size.copy(), expression=constant(1e-4))
    shortest = call("REFLECT", *map(exp.Literal.string, _SHORTEST), value.copy(), exp.true())
    # A double that is not whole has 16 digits before its point at most, and down to a ten-thousandth 20 behind it.
    padded = _string(exp.cast(shortest.copy(), "DECIMAL(38, 22)", copy=False))
    unpadded = exp.Trim(this=padded, expression=exp.Literal.string("0"), position="TRAILING")
    one_digit = call("FORMAT_STRING", exp.Literal.string("%.0e"), value.copy())
    tiny = exp.LT(this=size.copy(), expression=constant(1e-300))
    enough = equal(exp.cast(one_digit.copy(), "DOUBLE", copy=False), value.copy())
    exponent = call("LOWER", call("REPLACE", shortest, exp.Literal.string(".0E"), exp.Literal.string("E")))
    two_digits = call("REGEXP_REPLACE", exponent, exp.Literal.string("e-([0-9])$"), exp.Literal.string("e-0$1"))
    ways = [
        exp.If(this=all_of([whole, fits]), true=_string(big(value.copy()))),
        exp.If(this=whole.copy(), true=_all_digits(value)),
        exp.If(this=plain, true=unpadded),
        exp.If(this=all_of([tiny, enough]), true=one_digit),
    ]
    return exp.Case(ifs=ways, default=two_digits)


def _all_digits(value: exp.Expr) -> exp.Expr:
    """A whole double beyond 64 bits, by its digits in base 16, of which the last are zeros."""
    logarithm = exp.Sub(this=call("LOG2", exp.Abs(this=value.copy())), expression=number(55))
    zeros = exp.cast(_quotient(exp.Paren(this=logarithm), number(4)), "INT", copy=False)
    scale = call("POWER", constant(16.0), zeros)
    digits = call("HEX", big(_quotient(exp.Abs(this=value.copy()), scale)))
    sign = exp.Case(
        ifs=[exp.If(this=exp.LT(this=value, expression=number(0)), true=exp.Literal.string("-0x"))],
        default=exp.Literal.string("0x"),
    )
    written = call("CONCAT", sign, digits, call("REPEAT", exp.Literal.string("0"), zeros.copy()))
    return call("REFLECT", *map(exp.Literal.string, _WHOLE), written)


def decimal_text(value: exp.Expr) -> exp.Expr:
    """A decimal as text. We test its digits whether it is whole: Spark compares two decimals of different scales in one scale,
    which may cut the digits of both."""
    whole = call("RLIKE", _string(value.copy()), exp.Literal.string("^-?[0-9]+([.]0*)?$"))
    digits = call("REGEXP_REPLACE", _string(value.copy()), exp.Literal.string("[.]0*$"), exp.Literal.string(""))
    nearest = exp.cast(_string(value), "DOUBLE", copy=False)
    return exp.Case(ifs=[exp.If(this=whole, true=digits)], default=double_text(nearest))


def _string(value: exp.Expr) -> exp.Expr:
    return exp.cast(value, "TEXT", copy=False)


def _quotient(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Div(this=left, expression=right, typed=True, safe=False)
