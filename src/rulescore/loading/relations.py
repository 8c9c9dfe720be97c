"""The relations that formulas read: facts of the predicates they name, with their constants as typed values (0009)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from rulescore.engines.base import Engine
from rulescore.language.printer import print_term
from rulescore.language.syntax import Constant, Definition, Term, Variable
from rulescore.loading.facts import Loaded
from rulescore.loading.tables import LoadedTable, TableColumn
from rulescore.logic.formula import NEGATIVE, Relation, RelationColumn
from rulescore.readers.table_rows import ARROW_TYPES
from rulescore.sql import facts as sql
from rulescore.sql.facts import OTHER, TYPES, WHOLE, Position, long_integers, position_types
from rulescore.sql.names import argument, fact_table, prediction_table
from rulescore.sql.query import Select, create, every_row, view
from rulescore.values import NUMBERS, ValueType, equals_double, key_of, text_of, value_of


def fact_relations(engine: Engine, loaded: Loaded, predicates: Iterable[str]) -> tuple[dict[str, Relation], frozenset[str]]:
    """A relation for each predicate, and another for its negative facts if it has any; and the keys of integers beyond 64 bits that
    no double equals."""
    wanted = sorted(set(predicates) & loaded.vocabulary.predicates.keys())
    builder = _RelationBuilder(engine, loaded, wanted)
    relations: dict[str, Relation] = {}
    for name in wanted:
        known = loaded.vocabulary.predicates[name]
        columns = builder.columns(name)
        relations[name] = builder.observed(name, columns, predicted=bool(known.predicted))
        if known.negative:
            relations[f"{NEGATIVE}{name}"] = builder.negative(name, columns)
    return relations, builder.beyond


def defined_relations(
    engine: Engine, loaded: Loaded, definitions: Iterable[Definition], relations: Mapping[str, Relation]
) -> dict[str, Relation]:
    """A relation for each definition, made of the relation of the facts that it picks from."""
    made: dict[str, Relation] = {}
    for number, definition in enumerate(definitions):
        picks = relations[definition.fact.predicate]
        terms = definition.fact.terms
        places = [terms.index(term) for term in definition.head.terms]
        columns = {argument(i): replace(picks.columns[argument(place)], column=argument(i)) for i, place in enumerate(places)}
        literal = loaded.fact_literal(definition.fact.predicate)
        part = sql.Part(literal, tuple(places), tuple(_among(definition)), tuple(_alike(terms)))
        types = [column.type or ValueType.STRING for column in columns.values()]
        source = fact_table(len(terms)) if len(terms) in loaded.fact_arities else None
        empty = pa.table({field: pa.array([], ARROW_TYPES[kind]) for field, kind in zip(columns, types, strict=True)})
        observed, predicted = (sql.relation_table(f"defined_{kind}", number) for kind in ("observed", "predicted"))
        if source is None:
            engine.load(observed, empty)
        elif definition.chained:
            ends = _chain_ends(engine, part.of(source, "f"), number)
            _make(engine, observed, sql.decoded_rows(every_row(ends), types, ()))
        else:
            _make(engine, observed, sql.part_of_facts(part, source, types))
        takes_part = picks.predicted is not None and not definition.chained
        if takes_part:
            _make(engine, predicted, sql.part_of_predictions(part, prediction_table(len(terms)), source, types))
        made[definition.head.predicate] = Relation(
            definition.head.predicate,
            columns,
            observed,
            predicted if takes_part else None,
            frozenset(columns) if takes_part else frozenset(),
        )
    return made


def _chain_ends(engine: Engine, links: Select, number: int) -> str:
    """A table of the ends of all chains of links, by the numbers of constants. Python computes them once, on every engine."""
    following: dict[int, set[int]] = {}
    for link in engine.query(links).to_pylist():
        following.setdefault(link["a0"], set()).add(link["a1"])
    ends = [(start, end) for start in following for end in _reached(start, following)]
    table = sql.relation_table("defined_chains", number)
    columns = (pa.array([pair[place] for pair in ends], pa.int32()) for place in (0, 1))
    engine.load(table, pa.table(dict(zip((argument(0), argument(1)), columns, strict=True))))
    return table


def _reached(start: int, following: Mapping[int, set[int]]) -> set[int]:
    reached: set[int] = set()
    waiting = [start]
    while waiting:
        new = following.get(waiting.pop(), set()) - reached
        reached |= new
        waiting.extend(new)
    return reached


def _make(engine: Engine, target: str, rows: Select) -> None:
    engine.run(create(target, rows) if engine.capabilities.cheap_statements else view(target, rows))


def _among(definition: Definition) -> Iterator[tuple[int, tuple[str, ...]]]:
    """For each position of the fact, the keys of the constants that it may have, if the definition lists them."""
    for place, term in enumerate(definition.fact.terms):
        if isinstance(term, Constant):
            yield place, (key_of(term.value),)
        for member in definition.members:
            if member.value == term:
                yield place, tuple(key_of(constant.value) for constant in member.constants)


def _alike(terms: Sequence[Term]) -> Iterator[tuple[int, int]]:
    """The positions of a variable that stands twice."""
    for place, term in enumerate(terms):
        if isinstance(term, Variable) and terms.index(term) < place:
            yield terms.index(term), place


def table_relations(tables: Mapping[str, LoadedTable]) -> dict[str, Relation]:
    return {
        name: Relation(
            name,
            {attribute: _table_column(table, column) for attribute, column in table.columns.items()},
            table.observed,
            table.predicted,
            table.from_target if table.predicted is not None else frozenset(),
            table.key,
            tuple(table.attributes),
        )
        for name, table in tables.items()
    }


def _table_column(table: LoadedTable, column: TableColumn) -> RelationColumn:
    if column.type is not ValueType.MIXED:
        return RelationColumn(column.name, column.type)
    examples = (f"the integer `{table.inexact}`, which no float equals, among rows or predictions", "fractions in predictions")
    return RelationColumn(column.name, ValueType.MIXED, NUMBERS, examples)


def _column(
    name: str, examples: Mapping[str, tuple[str, str]], given_floats: bool, inexact: tuple[str, str] | None
) -> RelationColumn:
    """An argument of a predicate. `examples`: the types of its constants, each with the key of an example and where that occurs;
    `inexact`: an integer that no double equals. Types are for computing only: two constants are equal by value, whatever the
    columns they stand in (0009)."""
    kinds = frozenset(TYPES[mark] for mark in examples)
    floats = OTHER in examples or given_floats
    if floats and inexact is not None:
        examples = {**examples, WHOLE: inexact}
    shown = tuple(_example(mark, *examples[mark]) for mark in sorted(examples))
    if (len(kinds) > 1 and not kinds <= NUMBERS) or (kinds and floats and inexact is not None):
        return RelationColumn(name, ValueType.MIXED, kinds, shown)
    if kinds and kinds <= NUMBERS:
        return RelationColumn(name, ValueType.FLOAT if floats else ValueType.INTEGER, examples=shown)
    return RelationColumn(name, next(iter(kinds), None), examples=shown)


def _example(mark: str, key: str, where: str) -> str:
    value = value_of(key)
    if isinstance(value, int) and not isinstance(value, bool):
        inexact = "" if equals_double(value) else ", which no float equals,"
        return f"the integer `{value}`{inexact} {where}"
    return f"the {TYPES[mark]} `{print_term(Constant(value))}` {where}"


class _RelationBuilder:
    def __init__(self, engine: Engine, loaded: Loaded, predicates: Sequence[str]) -> None:
        self._engine, self._loaded = engine, loaded
        self._made = 0
        self._examples: dict[tuple[str, int], dict[str, tuple[str, str]]] = {}
        self._decoded: dict[str, str] = {}
        self._by_arity: dict[int, list[str]] = {}
        for predicate in predicates:
            self._by_arity.setdefault(loaded.vocabulary.predicates[predicate].arity, []).append(predicate)
        self._positions = [place for arity, several in self._by_arity.items() for place in self._places_of(arity, several)]
        for place, key, mark, where in self._typed_places():
            self._examples.setdefault(place, {}).setdefault(mark, (key, where))
        self.beyond: frozenset[str] = frozenset()
        self._inexact = self._inexact_integers()

    def _places_of(self, arity: int, predicates: Sequence[str]) -> Iterator[Position]:
        """The positions of the constants of some predicates of one arity: every argument, in facts and in predictions."""
        positive = [self._literal(predicate) for predicate in predicates]
        for number in range(arity):
            if arity in self._loaded.fact_arities:
                literals = [*positive, *(self._literal(predicate, negative=True) for predicate in predicates)]
                yield Position(fact_table(arity), number, literals)
            if arity in self._loaded.prediction_arities:
                yield Position(prediction_table(arity), number, positive)

    def _typed_places(self) -> Iterator[tuple[tuple[str, int], str, str, str]]:
        if self._positions:
            for row in self._engine.query(position_types(self._positions)).to_pylist():
                place, where = self._named(row)
                yield place, row["example"], row["mark"], where

    def _named(self, row: Mapping[str, Any]) -> tuple[tuple[str, int], str]:
        """The predicate and the number of the argument that a row is about, and in words the kind of facts."""
        position = self._positions[row["place"]]
        predicate = self._loaded.predicate_name(row["literal"])
        negative = row["literal"] != self._literal(predicate)
        arity = self._loaded.vocabulary.predicates[predicate].arity
        rows = "predictions" if position.source == prediction_table(arity) else "negative facts" if negative else "facts"
        return (predicate, position.number), f"in the {rows}"

    def _inexact_integers(self) -> dict[tuple[str, int], tuple[str, str]]:
        """For each argument that also has floats, an integer that no double equals. `beyond` gets all such integers beyond 64
        bits."""
        floats = {place for place, marks in self._examples.items() if OTHER in marks or place in self._loaded.floats}
        if not floats:
            return {}
        integers: dict[tuple[str, int], tuple[str, str]] = {}
        for row in self._engine.query(long_integers(self._positions)).to_pylist():
            place, where = self._named(row)
            value = int(text_of(row["key"]))
            if place in floats and not equals_double(value):
                integers.setdefault(place, (row["key"], where))
                if not -(2**63) <= value < 2**63:
                    self.beyond |= {row["key"]}
        return integers

    def columns(self, predicate: str) -> dict[str, RelationColumn]:
        columns = {}
        for number in range(self._arity(predicate)):
            place, name = (predicate, number), argument(number)
            columns[name] = _column(name, self._examples.get(place, {}), place in self._loaded.floats, self._inexact.get(place))
        return columns

    def observed(self, name: str, columns: Mapping[str, RelationColumn], *, predicted: bool) -> Relation:
        arity = len(columns)
        observed = self._create("observed", fact_table(arity), name, columns, there=arity in self._loaded.fact_arities)
        of_models = None
        if predicted:
            of_models = self._create("predicted", prediction_table(arity), name, columns, there=True)
        return Relation(name, columns, observed, of_models, frozenset(columns) if predicted else frozenset())

    def negative(self, name: str, columns: Mapping[str, RelationColumn]) -> Relation:
        table = self._create("negative", fact_table(len(columns)), name, columns, there=True)
        return Relation(f"{NEGATIVE}{name}", columns, table)

    def _create(self, kind: str, source: str, name: str, columns: Mapping[str, RelationColumn], *, there: bool) -> str:
        self._made += 1
        target = sql.relation_table(kind, self._made)
        types = [column.type or ValueType.STRING for column in columns.values()]
        if there:
            extra = ("prediction", "observed") if kind == "predicted" else ()
            literal = self._literal(name, negative=kind == "negative")
            if self._engine.capabilities.cheap_statements:
                self._engine.run(sql.create_relation(target, source, literal, types, extra))
            else:
                self._engine.run(sql.create_view(target, self._keys(source, len(types), extra), literal, types, extra))
        else:
            fields = zip(columns, types, strict=True)
            self._engine.load(target, pa.table({field: pa.array([], ARROW_TYPES[kind]) for field, kind in fields}))
        return target

    def _keys(self, source: str, arity: int, extra: tuple[str, ...]) -> str:
        """A table of the facts of all predicates with the keys of their constants: an engine without cheap statements makes one,
        and a view on it for each predicate."""
        if source not in self._decoded:
            literals = [
                self._literal(predicate, negative=negative) for predicate in self._by_arity[arity] for negative in (False, True)
            ]
            self._decoded[source] = sql.relation_table("keys", len(self._decoded))
            self._engine.run(sql.create_keys(self._decoded[source], source, arity, literals, extra))
        return self._decoded[source]

    def _arity(self, predicate: str) -> int:
        return self._loaded.vocabulary.predicates[predicate].arity

    def _literal(self, predicate: str, *, negative: bool = False) -> int:
        return self._loaded.fact_literal(predicate, negative=negative)
