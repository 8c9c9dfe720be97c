"""The passes for Spark. Functions and operators have other names or meanings there: FLOOR and CEIL give whole numbers of 64 bits,
TRUNC cuts dates, days are intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from sqlglot import exp

from rulescore.sql.dialect import Dialect, conjuncts, innermost_first, nodes, rewritten, tables_read_by, translated
from rulescore.sql.expressions import is_of_doubles
from rulescore.sql.moments import MICROSECONDS, has_zone, is_date, is_days
from rulescore.sql.names import is_answers_table, name
from rulescore.sql.query import select
from rulescore.sql.values import DECIMAL_TEXT, DOUBLE_TEXT, constant
from rulescore.sql.words import TRUE, Sql, all_of, call, case, identifier, sql, when
from rulescore.values import DAY, FIRST, LAST, UNITS

_FRACTIONS = "DECIMAL(8, 6)"
_OTHERWISE = (exp.Anonymous, exp.TryCast, exp.Floor, exp.ArrayAgg, exp.Unnest, exp.Add, exp.Sub, exp.Collate, exp.Lower, exp.Upper)


def spell(statement: exp.Expr) -> exp.Expr:
    return rewritten(statement, _otherwise, *_OTHERWISE)


def _otherwise(node: exp.Expr) -> Sql | exp.Expr | None:
    match node:
        case exp.TryCast():  # without this, sqlglot prints CAST, because old Spark had no TRY_CAST
            return exp.TryCast(this=node.this, to=node.to, safe=True)
        case exp.Floor():
            return _floor(Sql(node.this))
        case exp.Anonymous(this="FLOOR"):
            return _floor(Sql(node.expressions[0]))
        case exp.Anonymous(this="CEIL"):
            return -_floor(-Sql(node.expressions[0]).paren()).paren()
        case exp.Anonymous(this="TRUNC"):
            value = Sql(node.expressions[0])
            return call("SIGN", value) * _floor(value.abs())
        case exp.ArrayAgg() if isinstance(node.this, exp.Order):
            return call("SORT_ARRAY", exp.ArrayAgg(this=node.this.this))
        case exp.Unnest():
            return call("EXPLODE", node.expressions[0]).named(node.alias)
        case exp.Lower() | exp.Upper():
            return translated(node, Sql(node.this), call(node.key.upper(), node.this))
        case exp.Collate(this=exp.Expr() as value):  # Spark already orders strings by their code points
            return value
        case exp.Anonymous() if node.name == DOUBLE_TEXT:
            return double_text(Sql(node.expressions[0]))
        case exp.Anonymous() if node.name == MICROSECONDS:
            return _microseconds(Sql(node.expressions[0]))
        case exp.Anonymous() if node.name == DECIMAL_TEXT:
            return decimal_text(Sql(node.expressions[0]))
        case exp.Sub() if is_days(node):
            return (_day(node.this) - _day(node.expression)).paren()
        case exp.Add() | exp.Sub() if is_date(node):
            moved = type(node)(this=_day(node.this).node, expression=sql(node.expression).big().node)
            return call("DATE_FROM_UNIX_DATE", Sql(moved).integer())
    return None


def _day(date: Sql | exp.Expr) -> Sql:
    """The number of a day, in 64 bits: Spark's own date arithmetic wraps around at 32 bits."""
    return call("UNIX_DATE", date).big()


def _microseconds(timestamp: Sql) -> Sql:
    """The microseconds of a timestamp. We add up the parts of a timestamp without a zone: Spark would assume the session's zone."""
    microseconds = call("UNIX_MICROS", timestamp)
    if not has_zone(timestamp.node):
        microseconds = _day(timestamp.cast("DATE")) * DAY
        for unit in ("hour", "minute", "second"):
            part = Sql(exp.Extract(this=exp.var(unit.upper()), expression=timestamp.node))
            exact = part.cast(_FRACTIONS)  # seconds have fractions, and parts read as small integers would have 32 bits
            microseconds = microseconds + (exact * UNITS[unit]).big()
    return when(microseconds.paren().between(constant(FIRST), constant(LAST)), microseconds)


def _floor(value: Sql) -> Sql:
    """The whole number below a double, as a double: the nearest one, or the one before it."""
    nearest = call("RINT", value)
    step = when(nearest > value.paren(), sql(1).cast("DOUBLE"), sql(0).cast("DOUBLE"))
    return (nearest - step).paren()


# Numbers as text, in Python's notation.


# Functions of Java libraries that every Spark has. They write a double in the fewest digits, and a whole number of any length.
_SHORTEST = ("com.fasterxml.jackson.core.io.NumberOutput", "toString")
_WHOLE = ("org.apache.commons.lang3.math.NumberUtils", "createBigInteger")


def double_text(value: Sql) -> Sql:
    """A double in Python's notation. A whole double is written as an integer, to the last digit.

    Java itself writes the fewest digits that identify the double only from version 19 on. A library that Spark has with it does so
    on any version, except for a few of the smallest doubles, where it writes two digits and one would do."""
    size = value.abs()
    whole = value == call("RINT", value)
    shortest = call("REFLECT", *_SHORTEST, value, TRUE)
    # A double that is not whole has at most 16 digits before its point. If it is at least a ten-thousandth, it has at most 20
    # digits behind it.
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
    """A whole double beyond 64 bits, by its digits in base 16; the last of them are zeros."""
    zeros = ((call("LOG2", value.abs()) - 55).paren() / 4).integer()
    digits = call("HEX", (value.abs() / call("POWER", constant(16.0), zeros)).big())
    written = call("CONCAT", when(value < 0, "-0x", "0x"), digits, call("REPEAT", "0", zeros))
    return call("REFLECT", *_WHOLE, written)


def decimal_text(value: Sql) -> Sql:
    """A decimal as text. We look at its digits to see whether it is whole, because Spark compares two decimals in one scale, and
    may cut digits of both."""
    text = value.cast("TEXT")
    whole = call("RLIKE", text, "^-?[0-9]+([.]0*)?$")
    return when(whole, call("REGEXP_REPLACE", text, "[.]0*$", ""), double_text(text.cast("DOUBLE")))


# In Spark, a subquery in the condition of another subquery cannot read columns of the outermost query. So we add those columns
# to the rows of the subquery between them.


def carry_outer_columns(statement: exp.Expr) -> exp.Expr:
    numbers = count()
    while True:
        carried: dict[int, tuple[exp.Select, list[exp.Column]]] = {}
        for node in nodes(statement):
            if isinstance(node, exp.Column) and len(crossed := _crossed(node)) > 1:
                asking = crossed[0].find_ancestor(exp.Select)
                assert asking is not None
                carried.setdefault(id(asking), (asking, []))[1].append(node)
        if not carried:
            return statement
        for asking, columns in carried.values():
            _bring_along(asking, columns, numbers)


def _bring_along(query: exp.Select, columns: Sequence[exp.Column], numbers: Iterator[int]) -> None:
    """Add columns of an outer query to the first rows that a query reads, and let its subqueries read them there."""
    rows = query.args["from_"].this
    alias = rows.alias_or_name
    fields = {column.sql(): column for column in columns}
    names = {text: name(f"outer_{next(numbers)}") for text in fields}
    wider = select("*", **{names[text]: outer_column.copy() for text, outer_column in fields.items()}).from_(rows.copy())
    rows.replace(wider.subquery(alias))
    for column in columns:
        column.replace(exp.Column(this=identifier(names[column.sql()]), table=identifier(alias)))


def _crossed(column: exp.Column) -> list[exp.Expr]:
    """The subqueries between a column and the query that reads the column's table, innermost first. They stand in conditions."""
    conditions: list[exp.Expr] = []
    node = column.parent
    while node is not None:
        if isinstance(node, exp.Select) and column.table in tables_read_by(node):
            return conditions
        if isinstance(node, exp.Exists | exp.Subquery) and not isinstance(node.parent, exp.From | exp.Join):
            conditions.append(node)
        node = node.parent
    return []


# Looks up answers of registered predicates with `IN` and a query that is not correlated. Spark cannot plan a correlated query about
# values that other queries find.


def look_up_answers(statement: exp.Expr) -> exp.Expr:
    return rewritten(statement, _membership, exp.Subquery)


def _membership(node: exp.Expr) -> exp.Expr | None:
    """The lookup of a registered predicate's answer as a test whether a table has these values; None for any other query."""
    query = node.this
    if not isinstance(query, exp.Select) or isinstance(node.parent, exp.From | exp.Join) or not _asks_for_answer(query):
        return None
    (verdict,) = query.expressions
    conditions = conjuncts(query.args["where"].this)
    own, asked = [condition.this for condition in conditions], [condition.expression for condition in conditions]
    ways = [(verdict, exp.true()), (exp.Not(this=verdict.copy()), exp.false())]
    return exp.Case(ifs=[exp.If(this=_among(query, own, asked, condition), true=value) for condition, value in ways])


def _asks_for_answer(query: exp.Select) -> bool:
    source = query.args.get("from_")
    return source is not None and isinstance(source.this, exp.Table) and is_answers_table(source.this.name)


def _among(query: exp.Select, own: list[exp.Expr], asked: list[exp.Expr], only: exp.Expr) -> exp.Expr:
    known = [exp.Not(this=exp.Is(this=field.copy(), expression=exp.null())) for field in own]
    rows = select(*(field.copy() for field in own)).from_(query.args["from_"].this.copy()).where(*known, only.copy())
    values = [field.copy() for field in asked]
    left = values[0] if len(values) == 1 else exp.Tuple(expressions=values)
    return exp.In(this=left, query=rows.subquery())


# Spark allows no subqueries in the conditions of joins: for inner joins we move such conditions into WHERE.


def ask_after_joins(statement: exp.Expr) -> exp.Expr:
    for join in nodes(statement):
        condition = join.args.get("on")
        if not isinstance(join, exp.Join) or condition is None or join.side or not condition.find(exp.Subquery, exp.Exists):
            continue
        parts = conjuncts(condition)
        later = [part for part in parts if part.find(exp.Subquery, exp.Exists)]
        join.set("on", all_of(*(Sql(part) for part in parts if part not in later)).node.copy())
        query = join.parent
        assert isinstance(query, exp.Select)
        query.where(*later, copy=False)
    return statement


# Gives each step a name of its own, because the printer collects the steps of all parts of a statement.


def tell_steps_apart(statement: exp.Expr) -> exp.Expr:
    for number_of, steps in enumerate(innermost_first(statement, exp.With)):
        names = {step.alias: f"{step.alias}_{number_of}" for step in steps.expressions}
        for step in steps.expressions:
            step.set("materialized", None)
            step.args["alias"].set("this", identifier(names[step.alias]))
        assert steps.parent is not None
        for node in nodes(steps.parent):
            if isinstance(node, exp.Table) and node.name in names:
                node.set("this", identifier(names[node.name]))
    return statement


# Adds counts up in 128 bits, for statements in which 64 bits overflowed. That is slower.


_WIDE = "DECIMAL(38, 0)"


def widen_sums(statement: exp.Expr) -> exp.Expr:
    for node in innermost_first(statement, exp.Sum):
        if is_of_doubles(node):
            continue
        factor = node.this.this if isinstance(node.this, exp.Mul) else node.this
        factor.replace(exp.cast(factor.copy(), _WIDE, copy=False))
    return statement


# Numbers rows by their places, because a window over all rows would send them all through one task.


# The place of a row among all rows. The upper bits have the number of its task, the lower 33 bits its place in the task.
PLACE = name("place")
_BITS = 33


@dataclass(frozen=True, slots=True)
class Numbering:
    """A query with a column that numbers its rows. `rows`: the query without that column, with the `keys` that give the order as
    further columns. `field` is the number's column, `value` its expression, with a placeholder for the number, which counts from
    1."""

    rows: exp.Select
    fields: tuple[str, ...]
    keys: tuple[str, ...]
    field: str
    value: exp.Expr


def unordered(query: exp.Expr) -> exp.Expr:
    """A query without its ORDER BY: we keep its rows as a table, in which their order means nothing."""
    plain = query.copy()
    plain.set("order", None)
    return plain


def numbering(query: exp.Expr) -> Numbering | None:
    """The window by which a query numbers its rows, over all of them; None if there is no such window."""
    if not isinstance(query, exp.Select):
        return None
    rows = query.copy()
    for projection in rows.expressions:
        window = projection.find(exp.Window)
        if window is None or not isinstance(window.this, exp.RowNumber) or window.args.get("partition_by"):
            continue
        fields = tuple(field.alias_or_name for field in rows.expressions)
        order = window.args.get("order")
        keys = [ordered.this.copy() for ordered in order.expressions] if order is not None else []
        window.replace(exp.Placeholder())
        names = tuple(name(f"key_{i}") for i in range(len(keys)))
        others = [field for field in rows.expressions if field is not projection]
        rows.set("expressions", [*others, *(Sql(key).named(alias).node for key, alias in zip(keys, names, strict=True))])
        return Numbering(rows, fields, names, projection.alias, exp.Paren(this=projection.this))
    return None


def task() -> exp.Expr:
    """The task that made a row, from its place."""
    return _task().node


def _task() -> Sql:
    return call("SHIFTRIGHT", _place(), _BITS).integer()


def numbered(numbering: Numbering, starts: Sequence[int]) -> list[exp.Expr]:
    """The columns of rows, with the row number computed from the place: `starts` has the number of rows before each task."""
    before = call("ELEMENT_AT", exp.Array(expressions=[sql(start).big().node for start in starts]), _task() + 1)
    within = Sql(exp.BitwiseAnd(this=_place(), expression=sql((1 << _BITS) - 1).node)).paren()
    value = numbering.value.copy()
    for gap in list(value.find_all(exp.Placeholder)):
        gap.replace((before + within + 1).paren().node.copy())
    fields = {field: exp.column(identifier(field)) for field in numbering.fields}
    return [Sql(value.this).named(field).node if field == numbering.field else column for field, column in fields.items()]


def _place() -> exp.Expr:
    return exp.column(identifier(PLACE))


SPARK = Dialect("spark", (tell_steps_apart, look_up_answers, carry_outer_columns, ask_after_joins, spell), (widen_sums,))
