"""Our functions that PostgreSQL lacks: numbers as text, and the microseconds of a timestamp."""

from __future__ import annotations

from sqlglot import exp

from rulescore.sql.dialects.rewriting import rewritten
from rulescore.sql.keys import DECIMAL_TEXT, DOUBLE_TEXT
from rulescore.sql.keys import text as written
from rulescore.sql.moments import MICROSECONDS
from rulescore.sql.values import constant
from rulescore.sql.words import NULL, Sql, all_of, call, case, sql, when
from rulescore.values.moments import FIRST, LAST, UNITS


def spell(statement: exp.Expr) -> exp.Expr:
    return rewritten(statement, _spelt, exp.Anonymous)


def _spelt(node: exp.Expr) -> Sql | None:
    match node.name:
        case found if found == DOUBLE_TEXT:
            return _double_text(Sql(node.expressions[0]))
        case found if found == DECIMAL_TEXT:
            return _decimal_text(Sql(node.expressions[0]))
        case found if found == MICROSECONDS:
            return _microseconds(node.expressions[0])
    return None


def _double_text(value: Sql) -> Sql:
    """A double as Python writes it; a whole one as the integer it is, to the last digit."""
    is_whole = value == call("FLOOR", value)
    return case(
        (all_of(is_whole, value.abs() < constant(2.0**63)), written(value.big())),
        (is_whole, written(_all_digits(value))),
        # PostgreSQL turns to exponents one digit before Python does.
        (value.abs() >= constant(1e15), written(written(value).cast("DECIMAL"))),
        default=written(value),
    )


def _all_digits(value: Sql) -> Sql:
    """A whole double beyond 64 bits as a decimal. PostgreSQL's own cast keeps 15 digits, so we take the double apart: its digits
    fit into 64 bits, and the power of two that is left is exact."""
    logarithm = value.abs().ln() / constant(2.0).ln()
    power = (call("FLOOR", logarithm).integer() - 55).paren()
    digits = (value / call("POWER", constant(2.0), power)).big().cast("DECIMAL")
    return call("TRUNC", digits * call("POWER", sql(2).cast("DECIMAL"), power))


def _decimal_text(value: Sql) -> Sql:
    whole = call("TRUNC", value)
    return when(value == whole, written(whole), _double_text(value.cast("DOUBLE")))


def _microseconds(timestamp: exp.Expr) -> Sql:
    """The microseconds of a timestamp, computed as a numeric: its fraction of a second is exact, and it may be `infinity`."""
    size = Sql(exp.Extract(this=exp.var("EPOCH"), expression=timestamp)) * UNITS["second"]
    return when(size.paren().between(constant(FIRST), constant(LAST)), size.big(), NULL)
