"""Rules on pairs of rows within a distance, which engines may count by sorting: groups, ties, gaps of exactly the tolerance."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from generate.drawing import Generated, chance
from generate.expressions import days, hours
from oracle.facts import Constant, Fact, Facts, constant
from oracle.tree import (
    And,
    AttributeName,
    Call,
    Comparison,
    Condition,
    Expression,
    Not,
    Operation,
    RowAtom,
    Rule,
    Setting,
    Table,
    Term,
    Test,
    Variable,
    Wildcard,
)
from oracle.values import typed

START = datetime.date(2020, 1, 1)
MIDNIGHT = datetime.datetime(2020, 1, 1)
TIMES = ("date", "datetime", "instant")
A, B, P, Q, Z, K = map(Variable, ("A", "B", "P", "Q", "Z", "K"))


@dataclass(frozen=True)
class Measured:
    """A type of target, its values, and tolerances that some of their gaps meet exactly, in decimals at least."""

    kind: str
    values: tuple[Any, ...]
    tolerances: tuple[Constant, ...]


MEASURED = (
    Measured("float", (0.1, 0.2, 0.3, 0.4, 0.7, 0.8, 1.1), (constant(0.1), constant(0.4), constant(0.30000000000000004))),
    Measured("float", (100.0, 110.0, 121.0, 133.1, 90.0, 0.0, -5.0), (constant(10), constant(11.0), constant(23.1))),
    Measured("float", (2.0**1023, -(2.0**1023), 2.0**1022, 0.0), (constant(2.0**1022), constant(2.0**1023))),
    Measured("integer", (1, 2, 3, 4, 6, 9, -1), (constant(1), constant(2), constant(0), constant(2.5))),
    Measured(
        "date", tuple(START + datetime.timedelta(days=n) for n in (0, 1, 29, 30, 31, 61)), (days(30), days(1), days(0), hours(36))
    ),
    Measured("datetime", tuple(MIDNIGHT + datetime.timedelta(hours=n) for n in (0, 6, 18, 24, 48)), (hours(6), days(1), hours(0))),
    Measured("instant", tuple(MIDNIGHT.replace(hour=n, tzinfo=datetime.UTC) for n in (0, 1, 2, 5)), (hours(1), hours(0.5))),
)
PERCENTAGES = (10, 21, 50)


@st.composite
def tables(draw: st.DrawFn, measured: Measured) -> Table:
    columns = (
        ("id", "integer"),
        ("zip", "string"),
        ("kind", "string"),
        ("surface", "integer"),
        ("price", measured.kind),
        ("held", "boolean"),
    )
    rows = [
        (
            number,
            draw(st.sampled_from(("44", "44", "35", None))),
            draw(st.sampled_from(("house", "house", "flat"))),
            draw(st.sampled_from((1, 2, 0, None))),
            draw(st.sampled_from((*measured.values, *measured.values, None))),
            number == 0 or draw(st.booleans()),
        )
        for number in range(draw(st.integers(3, 9)))
    ]
    derived: tuple[tuple[str, Expression], ...] = ()
    if measured.kind not in TIMES:
        derived = (("unit", Operation("/", AttributeName("price"), AttributeName("surface"))),)
    return Table("sale", ("id",), columns, tuple(rows), "price", "held", derived)


@st.composite
def predictions(draw: st.DrawFn, table: Table, measured: Measured) -> Facts:
    hidden = [row[0] for row in table.rows if row[5]]
    answered = draw(st.lists(st.sampled_from(hidden), unique=True, min_size=1))
    value = st.sampled_from(measured.values).map(typed)
    found: list[Fact] = [(table.predicate("price"), constant(number), draw(value)) for number in answered]
    return frozenset(found)


@st.composite
def rules(draw: st.DrawFn, name: str, table: Table, measured: Measured) -> Rule:
    attribute = "unit" if table.derived and chance(draw, 40) else "price"
    groups = draw(st.lists(st.sampled_from(("zip", "kind")), unique=True))
    filters = draw(st.sampled_from(((), (("kind", constant("house")),), (("zip", constant("44")),))))
    left, right = (draw(rows(key, attribute, value, groups, filters)) for key, value in ((A, P), (B, Q)))
    body: list[Condition] = [left, right]
    if named(left) and named(right) and chance(draw, 60):
        body.append(Comparison(draw(st.sampled_from(("!=", "!=", "!=", "<"))), A, B))
    distance = draw(distances(measured, attribute))
    if chance(draw, 15):
        # The same said as a denial: what the head demanded is what the body now excludes.
        return Rule(name, None, And((*body, Not(distance))))
    if chance(draw, 15):
        body.append(draw(distances(measured, attribute)))
    return Rule(name, distance, And(tuple(body)))


@st.composite
def rows(
    draw: st.DrawFn, key: Variable, attribute: str, value: Variable, groups: list[str], filters: tuple[tuple[str, Constant], ...]
) -> RowAtom:
    shared: dict[str, Term] = {name: {"zip": Z, "kind": K}[name] for name in groups}
    arguments = {**shared, **dict(filters), attribute: value}
    if draw(st.integers(0, 5)):
        arguments = {"id": key, **arguments}
    elif draw(st.booleans()):
        arguments = {"id": Wildcard(), **arguments}
    return RowAtom("sale", tuple(arguments.items()))


def named(row: RowAtom) -> bool:
    return isinstance(dict(row.arguments).get("id"), Variable)


@st.composite
def distances(draw: st.DrawFn, measured: Measured, attribute: str) -> Condition:
    left, right = draw(st.sampled_from(((P, Q), (Q, P))))
    gap = Operation("-", left, right)
    tolerance = draw(st.sampled_from(measured.tolerances))
    forms: list[Condition] = [
        Comparison("<", Call("abs", (gap,)), tolerance),
        Comparison("<=", Call("abs", (gap,)), tolerance),
        Comparison(">=", tolerance, Call("abs", (gap,))),
        Test("within", (left, right, tolerance)),
        Comparison(draw(st.sampled_from(("<", "<=", ">", ">="))), gap, tolerance),
        Comparison(draw(st.sampled_from((">", "="))), Call("abs", (gap,)), tolerance),
    ]
    if measured.kind not in TIMES:
        share = Call("percent", (constant(draw(st.sampled_from(PERCENTAGES))),))
        forms += [Test("within", (left, right, share))] * 2
    return draw(st.sampled_from(forms))


@st.composite
def settings(draw: st.DrawFn) -> Generated:
    measured = draw(st.sampled_from(MEASURED))
    table = draw(tables(measured))
    setting = Setting(
        observed=frozenset(),
        rules=tuple(draw(rules(f"rule{i}", table, measured)) for i in range(draw(st.integers(1, 4)))),
        predictions={f"model{i}": draw(predictions(table, measured)) for i in range(draw(st.integers(1, 2)))},
        tables=(table,),
    )
    return Generated(setting, {})
