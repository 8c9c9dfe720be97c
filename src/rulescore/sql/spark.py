"""What Spark wants said otherwise. Its FLOOR and CEIL give whole numbers of 64 bits, its TRUNC cuts dates, its days are intervals.

Statements are built for every engine alike. `adapted` rewrites what Spark has no words for; `careful` adds up counts in 128 bits,
at a price, for statements in which 64 bits were not enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from sqlglot import exp

from rulescore.language.moments import DAY, FIRST, LAST, UNITS
from rulescore.sql.build import Select, all_of, column, equal, identifier, name, named, number
from rulescore.sql.keys import DECIMAL_TEXT, DOUBLE_TEXT
from rulescore.sql.letters import translated
from rulescore.sql.moments import MICROSECONDS
from rulescore.sql.values import call, constant

_WIDE = "DECIMAL(38, 0)"
_FRACTIONS = "DECIMAL(8, 6)"

# Functions of libraries that Spark cannot do without: a double in the fewest digits, and a whole number of any length.
_SHORTEST = ("com.fasterxml.jackson.core.io.NumberOutput", "toString")
_WHOLE = ("org.apache.commons.lang3.math.NumberUtils", "createBigInteger")

# Where a row stands among all rows: the number of its task in the upper bits, its place there in the lower 33.
PLACE = name("place")
_BITS = 33


def adapted(statement: exp.Expr) -> exp.Expr:
    """A statement as Spark understands it, changed in place."""
    _tell_steps_apart(statement)
    for cast in statement.find_all(exp.TryCast):
        cast.set("safe", True)  # else the printer takes it for a cast of a Spark that had no other
    _look_up(statement)
    _carry(statement)
    _ask_later(statement)
    for node in list(statement.find_all(*_OTHERWISE))[::-1]:
        found = _otherwise(node)
        if found is not None:
            node.replace(found)
    return statement


def _tell_steps_apart(statement: exp.Expr) -> None:
    """The printer puts the steps of all parts of a statement together, so that no two may have one name."""
    for number_of, steps in enumerate(list(statement.find_all(exp.With))[::-1]):
        for step in steps.expressions:
            step.set("materialized", None)
            old, new = step.alias, f"{step.alias}_{number_of}"
            step.args["alias"].set("this", identifier(new))
            assert steps.parent is not None
            for one in steps.parent.find_all(exp.Table):
                if one.name == old:
                    one.set("this", identifier(new))


def _look_up(statement: exp.Expr) -> None:
    """Answers of registered predicates are looked up by a membership that depends on nothing: a query that asks about what other
    queries find for each row has no plan."""
    for query in list(statement.find_all(exp.Subquery))[::-1]:
        if not isinstance(query.parent, exp.From | exp.Join) and (answer := _membership(query)) is not None:
            query.replace(answer)


def _carry(statement: exp.Expr) -> None:
    """A query within a condition of a query within a condition does not see the outermost one. The query in whose condition it
    stands brings the columns along with its own rows."""
    numbers = count()
    while True:
        found: dict[int, tuple[exp.Select, list[exp.Column]]] = {}
        for one in statement.find_all(exp.Column):
            crossed = _crossed(one)
            if len(crossed) > 1:
                asking = crossed[0].find_ancestor(exp.Select)
                assert asking is not None
                found.setdefault(id(asking), (asking, []))[1].append(one)
        if not found:
            return
        for asking, columns in found.values():
            _bring_along(asking, columns, numbers)


def _bring_along(query: exp.Select, columns: Sequence[exp.Column], numbers: Iterator[int]) -> None:
    """Add columns of a query around to the first rows that a query reads, and let what stands further within read them there."""
    rows = query.args["from_"].this
    alias = rows.alias_or_name
    fields = {one.sql(): one for one in columns}
    names = {text: name(f"outer_{next(numbers)}") for text in fields}
    wider = Select().select(exp.Star(), *(named(one.copy(), names[text]) for text, one in fields.items())).from_(rows.copy())
    rows.replace(wider.subquery(alias=alias, copy=False))
    for one in columns:
        one.replace(column(alias, names[one.sql()]))


def _ask_later(statement: exp.Expr) -> None:
    """Conditions of inner joins that hold queries are asked of what is joined: joins themselves have no room for them."""
    for join in list(statement.find_all(exp.Join)):
        condition = join.args.get("on")
        if condition is None or join.side or not condition.find(exp.Subquery, exp.Exists):
            continue
        parts = _parts(condition)
        later = [part for part in parts if part.find(exp.Subquery, exp.Exists)]
        join.set("on", all_of(part for part in parts if part not in later))
        query = join.parent
        assert isinstance(query, Select)
        query.where(*later)


def _parts(condition: exp.Expr) -> list[exp.Expr]:
    return list(condition.flatten()) if isinstance(condition, exp.And) else [condition]


def _crossed(one: exp.Column) -> list[exp.Expr]:
    """The queries within conditions that lie between a column and the query that reads its table, innermost first."""
    found: list[exp.Expr] = []
    node = one.parent
    while node is not None:
        if isinstance(node, exp.Select) and one.table in _read_by(node):
            return found
        if isinstance(node, exp.Exists | exp.Subquery) and not isinstance(node.parent, exp.From | exp.Join):
            found.append(node)
        node = node.parent
    return []


def _read_by(query: exp.Select) -> set[str]:
    joins = query.args.get("joins") or []
    first = query.args.get("from_")
    return {one.this.alias_or_name for one in ([first, *joins] if first is not None else joins)}


def _membership(node: exp.Subquery) -> exp.Expr | None:
    """The answer of a registered predicate as a question whether values are among those of a table; None for any other query."""
    query = node.this
    if not isinstance(query, exp.Select) or not query.meta.get("answers"):
        return None
    (answer,) = query.expressions
    conditions = _parts(query.args["where"].this)
    own, asked = [one.this for one in conditions], [one.expression for one in conditions]
    ways = [(answer, exp.true()), (exp.Not(this=answer.copy()), exp.false())]
    return exp.Case(ifs=[exp.If(this=_among(query, own, asked, one), true=value) for one, value in ways])


def _among(query: exp.Select, own: list[exp.Expr], asked: list[exp.Expr], only: exp.Expr) -> exp.Expr:
    known = [exp.Not(this=exp.Is(this=one.copy(), expression=exp.null())) for one in own]
    rows = Select().select(*(one.copy() for one in own)).from_(query.args["from_"].this.copy()).where(*known, only.copy())
    values = [one.copy() for one in asked]
    left = values[0] if len(values) == 1 else exp.Tuple(expressions=values)
    return exp.In(this=left, query=exp.Subquery(this=rows))


_OTHERWISE = (exp.Anonymous, exp.Floor, exp.ArrayAgg, exp.Unnest, exp.Add, exp.Sub, exp.Collate, exp.Lower, exp.Upper)


def _otherwise(node: exp.Expr) -> exp.Expr | None:
    match node:
        case exp.Floor():
            return _floor(node.this)
        case exp.Anonymous(this="FLOOR"):
            return _floor(node.expressions[0])
        case exp.Anonymous(this="CEIL"):
            return exp.Neg(this=exp.Paren(this=_floor(exp.Neg(this=exp.Paren(this=node.expressions[0])))))
        case exp.Anonymous(this="TRUNC"):
            value = node.expressions[0]
            return exp.Mul(this=call("SIGN", value), expression=_floor(exp.Abs(this=value.copy())))
        case exp.ArrayAgg() if isinstance(node.this, exp.Order):
            return call("SORT_ARRAY", exp.ArrayAgg(this=node.this.this))
        case exp.Unnest():
            return named(call("EXPLODE", node.expressions[0]), node.alias)
        case exp.Lower() | exp.Upper():
            return translated(node, node.this, call(node.key.upper(), node.this.copy()))
        case exp.Collate(this=exp.Expr() as value):  # strings are in the order of their code points already
            return value
        case exp.Anonymous() if node.name == DOUBLE_TEXT:
            return _double_text(node.expressions[0])
        case exp.Anonymous() if node.name == MICROSECONDS:
            return _microseconds(node.expressions[0], zoned=node.meta["zoned"])
        case exp.Anonymous() if node.name == DECIMAL_TEXT:
            return _decimal_text(node.expressions[0])
        case exp.Sub() if node.meta.get("days"):
            return exp.Paren(this=exp.Sub(this=_day(node.this), expression=_day(node.expression)))
        case exp.Add() | exp.Sub() if node.meta.get("date"):
            moved = type(node)(this=_day(node.this), expression=_big(node.expression))
            return call("DATE_FROM_UNIX_DATE", exp.cast(moved, "INT", copy=False))
    return None


def _day(date: exp.Expr) -> exp.Expr:
    """The number of a day, in 64 bits: Spark's own arithmetic of dates begins again at the other end of its 32 bits."""
    return _big(call("UNIX_DATE", date))


def _microseconds(timestamp: exp.Expr, *, zoned: bool) -> exp.Expr:
    """Those of a timestamp without a zone by its parts: Spark would take it for one of the session's zone."""
    found = call("UNIX_MICROS", timestamp)
    if not zoned:
        day = _day(exp.cast(timestamp.copy(), "DATE", copy=False))
        found = exp.Mul(this=day, expression=number(DAY))
        for unit in ("hour", "minute", "second"):
            part = exp.Extract(this=exp.var(unit.upper()), expression=timestamp.copy())
            exact = exp.cast(part, _FRACTIONS, copy=False)  # of seconds; small integers would have 32 bits
            found = exp.Add(this=found, expression=_big(exp.Mul(this=exact, expression=number(UNITS[unit]))))
    fits = exp.Between(this=exp.Paren(this=found), low=constant(FIRST), high=constant(LAST))
    return exp.Case(ifs=[exp.If(this=fits, true=found.copy())])


def _floor(value: exp.Expr) -> exp.Expr:
    """The whole number below a double, as a double: the nearest one, or the one before it."""
    nearest = call("RINT", value)
    above = exp.GT(this=nearest.copy(), expression=exp.Paren(this=value.copy()))
    step = exp.Case(ifs=[exp.If(this=above, true=_double(1))], default=_double(0))
    return exp.Paren(this=exp.Sub(this=nearest, expression=step))


def _double(value: int) -> exp.Expr:
    return exp.cast(number(value), "DOUBLE", copy=False)


def _double_text(value: exp.Expr) -> exp.Expr:
    """A double as Python writes it; a whole one as the integer it is, to the last digit.

    Java writes the fewest digits that mean the double from version 19 on. A library that Spark has with it does so on any, but
    for a few of the smallest doubles, where it writes two digits and one would do."""
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
        exp.If(this=all_of([whole, fits]), true=_string(_big(value.copy()))),
        exp.If(this=whole.copy(), true=_all_digits(value)),
        exp.If(this=plain, true=unpadded),
        exp.If(this=all_of([tiny, enough]), true=one_digit),
    ]
    return exp.Case(ifs=ways, default=two_digits)


def _all_digits(value: exp.Expr) -> exp.Expr:
    """A whole double beyond 64 bits, by its digits to the base of 16, of which the last ones are zeros."""
    logarithm = exp.Sub(this=call("LOG2", exp.Abs(this=value.copy())), expression=number(55))
    zeros = exp.cast(_quotient(exp.Paren(this=logarithm), number(4)), "INT", copy=False)
    scale = call("POWER", constant(16.0), zeros)
    digits = call("HEX", _big(_quotient(exp.Abs(this=value.copy()), scale)))
    sign = exp.Case(
        ifs=[exp.If(this=exp.LT(this=value, expression=number(0)), true=exp.Literal.string("-0x"))],
        default=exp.Literal.string("0x"),
    )
    written = call("CONCAT", sign, digits, call("REPEAT", exp.Literal.string("0"), zeros.copy()))
    return call("REFLECT", *map(exp.Literal.string, _WHOLE), written)


def _decimal_text(value: exp.Expr) -> exp.Expr:
    """By its digits: two decimals of different scales are compared as decimals of one, which may cut the digits of both."""
    whole = call("RLIKE", _string(value.copy()), exp.Literal.string("^-?[0-9]+([.]0*)?$"))
    digits = call("REGEXP_REPLACE", _string(value.copy()), exp.Literal.string("[.]0*$"), exp.Literal.string(""))
    nearest = exp.cast(_string(value), "DOUBLE", copy=False)
    return exp.Case(ifs=[exp.If(this=whole, true=digits)], default=_double_text(nearest))


def _string(value: exp.Expr) -> exp.Expr:
    return exp.cast(value, "TEXT", copy=False)


def _quotient(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Div(this=left, expression=right, typed=True, safe=False)


def careful(statement: exp.Expr) -> exp.Expr:
    """A statement, changed in place, that adds up whole numbers in 128 bits. Sums of doubles are marked as such."""
    for node in list(statement.find_all(exp.Sum))[::-1]:
        if node.meta.get("doubles"):
            continue
        factor = node.this.this if isinstance(node.this, exp.Mul) else node.this
        factor.replace(exp.cast(factor.copy(), _WIDE, copy=False))
    return statement


@dataclass(frozen=True, slots=True)
class Numbering:
    """A query one of whose columns numbers its rows. `rows`: the query without it, with the `keys` that give the order as further
    columns. `field` is the number's column and `value` what it holds, with a placeholder for the number that counts from 1."""

    rows: Select
    fields: tuple[str, ...]
    keys: tuple[str, ...]
    field: str
    value: exp.Expr


def numbering(query: exp.Expr) -> Numbering | None:
    """A query that numbers its rows by a window over all of them, which would take them through one task."""
    if not isinstance(query, Select):
        return None
    for projection in query.expressions:
        window = projection.find(exp.Window)
        if window is None or not isinstance(window.this, exp.RowNumber) or window.args.get("partition_by"):
            continue
        fields = tuple(one.alias_or_name for one in query.expressions)
        order = window.args.get("order")
        keys = [one.this.copy() for one in order.expressions] if order is not None else []
        window.replace(exp.Placeholder())
        names = tuple(name(f"key_{i}") for i in range(len(keys)))
        query.set("expressions", [one for one in query.expressions if one is not projection])
        query.select(*(named(key, alias) for key, alias in zip(keys, names, strict=True)))
        return Numbering(query, fields, names, projection.alias, exp.Paren(this=projection.this))
    return None


def task() -> exp.Expr:
    """The task that made a row, from its place."""
    return exp.cast(call("SHIFTRIGHT", _place(), number(_BITS)), "INT", copy=False)


def numbered(found: Numbering, starts: Sequence[int]) -> list[exp.Expr]:
    """The columns of rows whose number follows from their place: `starts` has the number of rows before those of each task."""
    before = call("ELEMENT_AT", exp.Array(expressions=[_big(number(one)) for one in starts]), _sum(task(), number(1)))
    within = exp.Paren(this=exp.BitwiseAnd(this=_place(), expression=number((1 << _BITS) - 1)))
    for gap in list(found.value.find_all(exp.Placeholder)):
        gap.replace(exp.Paren(this=_sum(_sum(before, within), number(1))))
    return [named(found.value.this, one) if one == found.field else exp.column(identifier(one)) for one in found.fields]


def _place() -> exp.Expr:
    return exp.column(identifier(PLACE))


def _sum(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Add(this=left, expression=right)


def _big(value: exp.Expr) -> exp.Expr:
    return exp.cast(value, "BIGINT", copy=False)
