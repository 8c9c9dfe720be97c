"""What generated formula rules speak of: typed predicates, a table with a key, and values that collide, tie and go missing."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from hypothesis import strategies as st

from generate.drawing import chance
from oracle.facts import Constant, Fact, Facts, Value, constant, given
from oracle.tree import AttributeName, Call, Expression, Operation, Table, Variable
from oracle.values import typed

MOMENTS = (
    datetime.datetime(2020, 1, 31),
    datetime.datetime(2020, 1, 31, 18),
    datetime.datetime(2020, 2, 29, 23, 59, 59, 999_999),
    datetime.datetime(1969, 12, 31, 23, 30),
)
INSTANTS = tuple(one.replace(tzinfo=datetime.UTC) for one in MOMENTS)
DATES = (datetime.date(2020, 1, 31), datetime.date(2020, 2, 29))

# Floats are multiples of 0.25: their sums are exact in any order. A ratio is a quotient: it may be compared, not summed.
POOLS: dict[str, tuple[Value, ...]] = {
    "string": ("a", "b", "Ab"),
    "integer": (-1, 0, 2),
    "float": (-0.5, 1.0, 2.25),
    "date": DATES,
    "datetime": MOMENTS,
    "instant": INSTANTS,
    "boolean": (True, False),
    "ratio": (0.5, 1.0, -1.0),
    # A place of several types. Its values are compared with one another and with others, and nothing is computed with them.
    "mixed": ("a", 2, 2.25, True, DATES[0], MOMENTS[0], INSTANTS[0], 2**53 + 1, 2.0**53),
    # The same of numbers. Those of a table's target are integers, and its predictions are not.
    "number": (2, 2.25, 2**53 + 1, 2.0**53),
}
# Near the ends of what doubles and 64 bits hold. Sums of these doubles are exact, too, or there are none; integers are exact as
# doubles.
LARGE_FLOATS: tuple[Value, ...] = (2.0**1023, -(2.0**1023), 2.0**1021)
LARGE_INTEGERS: tuple[Value, ...] = (-1, 0, 2, 2**62, -(2**63))

VARIABLES: dict[str, tuple[Variable, ...]] = {
    "string": (Variable("X"), Variable("Y"), Variable("Z")),
    "integer": (Variable("N"), Variable("M")),
    "float": (Variable("F"), Variable("G")),
    "date": (Variable("D"), Variable("E")),
    "datetime": (Variable("S"), Variable("T")),
    "instant": (Variable("I"), Variable("J")),
    "boolean": (Variable("B"),),
    "ratio": (Variable("Q"), Variable("R")),
    "mixed": (Variable("U"), Variable("K")),
    "number": (Variable("V"), Variable("W")),
}
SIGNATURES: tuple[tuple[str, ...], ...] = (
    ("string",),
    ("string", "string"),
    ("string", "integer"),
    ("string", "float"),
    ("string", "date"),
    ("string", "datetime"),
    ("instant", "instant"),
    ("integer",),
    ("integer", "float"),
    ("string", "integer", "float"),
    ("mixed",),
    ("mixed", "mixed"),
    ("string", "mixed"),
    ("number",),
    ("integer", "number"),
)
UNCOMPUTED = ("mixed", "number")
NUMBERS = ("integer", "float", "ratio")
PREDICATES = ("p", "q", "r", "s")


@dataclass(frozen=True)
class Schema:
    """Types of plain predicates, a table or none with the types of its attributes, and the values of each type. `literals`: the
    constants that rules may name at places of several types."""

    predicates: Mapping[str, tuple[str, ...]]
    table: Table | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    pools: Mapping[str, tuple[Value, ...]] = field(default_factory=lambda: POOLS)
    literals: Mapping[tuple[str, int], tuple[Constant, ...]] = field(default_factory=dict)

    def constants(self, kind: str) -> tuple[Constant, ...]:
        return tuple(map(given if kind in UNCOMPUTED else constant, self.pools[kind]))

    @property
    def may_leave_64_bits(self) -> bool:
        return self.pools["integer"] == LARGE_INTEGERS

    @property
    def key_types(self) -> tuple[str, ...]:
        return tuple(self.attributes[name] for name in self.table.key) if self.table is not None else ()

    def attribute_signatures(self) -> dict[str, tuple[str, ...]]:
        """Attributes as predicates, but for the key's own columns and the one that hides rows."""
        if self.table is None:
            return {}
        names = [name for name in self.attributes if name not in self.table.key and name != self.table.hidden]
        return {self.table.predicate(name): (*self.key_types, self.attributes[name]) for name in names}

    def signatures(self) -> dict[str, tuple[str, ...]]:
        return {**self.predicates, **self.attribute_signatures()}


@st.composite
def pools(draw: st.DrawFn, *, large_integers: bool) -> Mapping[str, tuple[Value, ...]]:
    """The values of each type, now and then large ones."""
    found = dict(POOLS)
    if chance(draw, 15):
        found["float"] = LARGE_FLOATS
    if large_integers and chance(draw, 15):
        found["integer"] = LARGE_INTEGERS
    return found


def with_literals(schema: Schema, observed: Facts) -> Schema:
    """A schema that knows the literals of places of several types: a rule may name those of a type that some fact has there."""
    found: dict[tuple[str, int], set[str]] = {}
    for name, *arguments in observed:
        for place, one in enumerate(arguments):
            if schema.predicates[name][place] == "mixed":
                found.setdefault((name, place), set()).add(one.type)
    literals = {place: tuple(one for one in schema.constants("mixed") if one.type in types) for place, types in found.items()}
    return replace(schema, literals=literals)


@st.composite
def schemas(draw: st.DrawFn, *, large_integers: bool = False) -> Schema:
    """Few signatures for several predicates, so that some of them can be incompatible."""
    values = draw(pools(large_integers=large_integers))
    chosen = draw(st.lists(st.sampled_from(SIGNATURES), min_size=1, max_size=3, unique=True))
    predicates = {name: draw(st.sampled_from(chosen)) for name in PREDICATES}
    if draw(st.integers(0, 2)) == 0:
        return Schema(predicates, pools=values)
    table, types = draw(tables(values))
    return Schema(predicates, table, types, values)


# Tables


@st.composite
def tables(draw: st.DrawFn, values: Mapping[str, tuple[Value, ...]]) -> tuple[Table, dict[str, str]]:
    key = draw(st.sampled_from((("id",), ("id",), ("zone", "number"))))
    target = draw(st.sampled_from(("float", "float", "integer", "string", "date", "datetime", "instant", "boolean", "number")))
    types = {**({"id": "integer"} if key == ("id",) else {"zone": "string", "number": "integer"})}
    types |= {"kind": "string", "surface": "integer", "price": target, "held": "boolean"}
    if chance(draw, 30):
        types["day"] = "date"
    if chance(draw, 20):
        types["at"] = draw(st.sampled_from(("datetime", "instant")))
    if chance(draw, 20):
        types["sold"] = "boolean"
    stored = types | ({"price": "integer"} if target == "number" else {})
    pool = values | {"number": tuple(one for one in values["number"] if isinstance(one, int))}
    every_key = list(product(*(values[types[name]] for name in key)))
    keys = draw(st.lists(st.sampled_from(every_key), min_size=2, max_size=min(6, len(every_key)), unique=True))
    rows = tuple((*one, *(draw(cells(name, pool[kind])) for name, kind in types.items() if name not in key)) for one in keys)
    # At least one row is hidden: a table that says which are hidden and has none is refused.
    place = list(types).index("held")
    rows = ((*rows[0][:place], True, *rows[0][place + 1 :]), *rows[1:])
    derived = draw(derived_attributes(target))
    table = Table("sale", key, tuple(stored.items()), rows, "price", "held", tuple((name, value) for name, _, value in derived))
    return table, {**types, **{name: kind for name, kind, _ in derived}}


def cells(name: str, pool: tuple[Value, ...]) -> st.SearchStrategy[Any]:
    """Values, and now and then none. Whether a row is hidden is always known."""
    values = st.sampled_from((0, 1, 2) if name == "surface" else pool)
    return values if name == "held" else st.one_of(values, values, values, values, st.none())


PRICE, SURFACE = AttributeName("price"), AttributeName("surface")
BY_TARGET: dict[str, list[tuple[str, str, Expression]]] = {
    "float": [
        ("unit", "ratio", Operation("/", PRICE, SURFACE)),
        ("double", "float", Operation("*", PRICE, constant(2))),
        ("lower_bound", "float", Call("min", (PRICE, SURFACE))),
    ],
    "integer": [
        ("unit", "ratio", Operation("/", PRICE, SURFACE)),
        ("rest", "integer", Operation("mod", PRICE, SURFACE)),
    ],
    "string": [("small", "string", Call("lower", (PRICE,)))],
    "date": [("since", "integer", Call("year", (PRICE,)))],
    "datetime": [("on", "date", Call("date", (PRICE,)))],
    "instant": [("later", "instant", Operation("+", PRICE, Constant("duration", datetime.timedelta(hours=6))))],
    "boolean": [],
    "number": [],
}
OF_OTHERS: list[tuple[str, str, Expression]] = [("size", "integer", Operation("+", SURFACE, constant(1)))]
OF_DERIVED: list[tuple[str, str, Expression]] = [("unit_half", "ratio", Operation("/", AttributeName("unit"), constant(2)))]


@st.composite
def derived_attributes(draw: st.DrawFn, target: str) -> list[tuple[str, str, Expression]]:
    found = [one for one in (*BY_TARGET[target], *OF_OTHERS) if chance(draw, 50)]
    if any(name == "unit" for name, _, _ in found) and chance(draw, 30):
        found += OF_DERIVED
    return found


# Facts and predictions


def facts(schema: Schema, *, least: int, most: int) -> st.SearchStrategy[Facts]:
    every: list[Fact] = [
        (name, *arguments) for name, kinds in schema.predicates.items() for arguments in product(*map(schema.constants, kinds))
    ]
    return st.frozensets(st.sampled_from(every), min_size=min(least, len(every)), max_size=most)


@st.composite
def predictions(draw: st.DrawFn, schema: Schema, observed: Facts) -> Facts:
    """A model predicts facts, or values for hidden rows of the table."""
    table = schema.table
    hidden = [] if table is None else [row for row in table.rows if dict(zip(dict(table.columns), row, strict=True))["held"]]
    if table is not None and hidden and chance(draw, 70):
        answered = draw(st.lists(st.sampled_from(hidden), min_size=1, unique=True))
        return frozenset(draw(predicted_value(schema, row)) for row in answered)
    new = draw(facts(schema, least=3, most=6))
    again = draw(st.frozensets(st.sampled_from(sorted(observed, key=str)), max_size=1)) if observed else frozenset()
    return new | again


@st.composite
def predicted_value(draw: st.DrawFn, schema: Schema, row: tuple[Any, ...]) -> Fact:
    assert schema.table is not None
    cells_of_row = dict(zip(dict(schema.table.columns), row, strict=True))
    key = tuple(typed(cells_of_row[name]) for name in schema.table.key)
    value = draw(st.sampled_from(schema.constants(schema.attributes["price"])))
    return (schema.table.predicate("price"), *key, value)
