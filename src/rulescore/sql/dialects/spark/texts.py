"""Numbers as text, as Python writes them."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.values import constant
from rulescore.sql.words import TRUE, Sql, all_of, call, case, sql, when

# Functions of libraries that every Spark has: a double in the fewest digits, and a whole number of any length.
_SHORTEST = ("com.fasterxml.jackson.core.io.NumberOutput", "toString")
_WHOLE = ("org.apache.commons.lang3.math.NumberUtils", "createBigInteger")


def double_text(value: Sql) -> Sql:
    """A double as Python writes it; a whole one as the integer it is, to the last digit.

    Java itself writes the fewest digits that identify the double only from version 19 on. A library that Spark has with it does so
    on any version, except for a few of the smallest doubles, where it writes two digits and one would do."""
    size = value.abs()
    whole = value == call("RINT", value)
    shortest = call("REFLECT", *_SHORTEST, value, TRUE)
    # A double that is not whole has 16 digits before its point at most, and down to a ten-thousandth 20 behind it.
    padded = shortest.cast("DECIMAL(38, 22)").cast("TEXT")
    unpadded = Sql(exp.Trim(this=padded.node, expression=sql("0").node, position="TRAILING"))
    one_digit = call("FORMAT_STRING", "%.0e", value)
    exponent = call("LOWER", call("REPLACE", shortest, ".0E", "E"))
    return case(
        (all_of(whole, size < constant(2.0**63)), value.big().cast("TEXT")),
        (whole, _all_digits(value)),
        (size >= constant(1e-4), unpadded),
        (all_of(size < constant(1e-300), one_digit.cast("DOUBLE") == value), one_digit),
        default=call("REGEXP_REPLACE", exponent, "e-([0-9])$", "e-0$1"),
    )


def _all_digits(value: Sql) -> Sql:
    """A whole double beyond 64 bits, by its digits in base 16, of which the last are zeros."""
    zeros = ((call("LOG2", value.abs()) - 55).paren() / 4).integer()
    digits = call("HEX", (value.abs() / call("POWER", constant(16.0), zeros)).big())
    written = call("CONCAT", when(value < 0, "-0x", "0x"), digits, call("REPEAT", "0", zeros))
    return call("REFLECT", *_WHOLE, written)


def decimal_text(value: Sql) -> Sql:
    """A decimal as text. We test its digits whether it is whole: Spark compares two decimals of different scales in one scale,
    which may cut the digits of both."""
    text = value.cast("TEXT")
    whole = call("RLIKE", text, "^-?[0-9]+([.]0*)?$")
    return when(whole, call("REGEXP_REPLACE", text, "[.]0*$", ""), double_text(text.cast("DOUBLE")))
