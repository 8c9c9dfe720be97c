"""The relations that formulas read: facts of the predicates they name, with their constants as typed values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from rulescore.engines.base import Engine
from rulescore.language.printer import print_term
from rulescore.language.syntax import Constant
from rulescore.loading.facts import Loaded
from rulescore.loading.tables.loaded import LoadedTable, TableColumn
from rulescore.logic.plan import LiteralName
from rulescore.logic.refutation import identity
from rulescore.logic.schema import NEGATIVE, Relation, RelationColumn
from rulescore.readers.table_rows import ARROW_TYPES
from rulescore.sql import relations as sql
from rulescore.sql.constant_types import OTHER, TYPES, WHOLE, Position, long_integers, position_types
from rulescore.sql.names import argument, candidate_table, fact_table
from rulescore.values.keys import equals_double, text_of, value_of
from rulescore.values.types import NUMBERS, ValueType


def fact_relations(engine: Engine, loaded: Loaded, predicates: Iterable[str]) -> tuple[dict[str, Relation], frozenset[str]]:
    """A relation for each predicate, and another for its negative facts if it has any; and the keys of integers beyond 64 bits that
    no double equals."""
    wanted = sorted(set(predicates) & loaded.vocabulary.predicates.keys())
    builder = _RelationBuilder(engine, loaded, wanted)
    found: dict[str, Relation] = {}
    for name in wanted:
        known = loaded.vocabulary.predicates[name]
        columns = builder.columns(name)
        found[name] = builder.observed(name, columns, predicted=bool(known.predicted))
        if known.negative:
            found[f"{NEGATIVE}{name}"] = builder.negative(name, columns)
    return found, builder.beyond


def table_relations(tables: Mapping[str, LoadedTable]) -> dict[str, Relation]:
    return {
        name: Relation(
            name,
            {attribute: _table_column(table, one) for attribute, one in table.columns.items()},
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


@dataclass(frozen=True, slots=True)
class _Place:
    """The constants at an argument of a predicate: their types, each with the key of an example and where that occurs."""

    examples: Mapping[str, tuple[str, str]]
    given_floats: bool
    inexact: tuple[str, str] | None
    """An integer that no double equals."""

    def column(self, name: str) -> RelationColumn:
        examples = dict(self.examples)
        kinds = frozenset(TYPES[mark] for mark in examples)
        floats = OTHER in examples or self.given_floats
        if floats and self.inexact is not None:
            examples[WHOLE] = self.inexact
        shown = tuple(_example(mark, *examples[mark]) for mark in sorted(examples))
        if (len(kinds) > 1 and not kinds <= NUMBERS) or (kinds and floats and self.inexact is not None):
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
        for one in predicates:
            self._by_arity.setdefault(loaded.vocabulary.predicates[one].arity, []).append(one)
        self._positions = [one for arity, several in self._by_arity.items() for one in self._places_of(arity, several)]
        for place, key, mark, where in self._rows():
            self._examples.setdefault(place, {}).setdefault(mark, (key, where))
        self.beyond: frozenset[str] = frozenset()
        self._inexact = self._inexact_integers()

    def _places_of(self, arity: int, predicates: Sequence[str]) -> Iterator[Position]:
        """The positions of the constants of some predicates of one arity: every argument, in facts and in predictions."""
        positive = [self._literal(one) for one in predicates]
        for number in range(arity):
            if arity in self._loaded.fact_arities:
                literals = [*positive, *(self._literal(one, negative=True) for one in predicates)]
                yield Position(fact_table(arity), number, literals)
            if arity in self._loaded.candidate_arities:
                yield Position(candidate_table(arity), number, positive)

    def _rows(self) -> Iterator[tuple[tuple[str, int], str, str, str]]:
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
        rows = "predictions" if position.source == candidate_table(arity) else "negative facts" if negative else "facts"
        return (predicate, position.number), f"in the {rows}"

    def _inexact_integers(self) -> dict[tuple[str, int], tuple[str, str]]:
        """For each argument that has floats too, an integer that no double equals. `beyond` gets all such integers beyond 64
        bits."""
        floats = {place for place, marks in self._examples.items() if OTHER in marks or place in self._loaded.floats}
        if not floats:
            return {}
        found: dict[tuple[str, int], tuple[str, str]] = {}
        for row in self._engine.query(long_integers(self._positions)).to_pylist():
            place, where = self._named(row)
            value = int(text_of(row["key"]))
            if place in floats and not equals_double(value):
                found.setdefault(place, (row["key"], where))
                if not -(2**63) <= value < 2**63:
                    self.beyond |= {row["key"]}
        return found

    def columns(self, predicate: str) -> dict[str, RelationColumn]:
        return {argument(i): self._place(predicate, i).column(argument(i)) for i in range(self._arity(predicate))}

    def _place(self, predicate: str, number: int) -> _Place:
        place = (predicate, number)
        return _Place(self._examples.get(place, {}), place in self._loaded.floats, self._inexact.get(place))

    def observed(self, name: str, columns: Mapping[str, RelationColumn], *, predicted: bool) -> Relation:
        arity = len(columns)
        observed = self._create("observed", fact_table(arity), name, columns, there=arity in self._loaded.fact_arities)
        answers = None
        if predicted:
            answers = self._create("predicted", candidate_table(arity), name, columns, there=True)
        return Relation(name, columns, observed, answers, frozenset(columns) if predicted else frozenset())

    def negative(self, name: str, columns: Mapping[str, RelationColumn]) -> Relation:
        table = self._create("negative", fact_table(len(columns)), name, columns, there=True)
        return Relation(f"{NEGATIVE}{name}", columns, table)

    def _create(self, kind: str, source: str, name: str, columns: Mapping[str, RelationColumn], *, there: bool) -> str:
        self._made += 1
        target = sql.relation_table(kind, self._made)
        types = [one.type or ValueType.STRING for one in columns.values()]
        if there:
            extra = ("prediction", "observed") if kind == "predicted" else ()
            literal = self._literal(name, negative=kind == "negative")
            if self._engine.capabilities.cheap_statements:
                self._engine.run(sql.create_relation(target, source, literal, types, extra))
            else:
                self._engine.run(sql.create_view(target, self._keys(source, len(types), extra), literal, types, extra))
        else:
            fields = zip(columns, types, strict=True)
            self._engine.load(target, pa.table({field: pa.array([], ARROW_TYPES[one]) for field, one in fields}))
        return target

    def _keys(self, source: str, arity: int, extra: tuple[str, ...]) -> str:
        """A table of the facts of all predicates with the keys of their constants: an engine without cheap statements makes one,
        and a view on it for each predicate."""
        if source not in self._decoded:
            literals = [self._literal(one, negative=negative) for one in self._by_arity[arity] for negative in (False, True)]
            self._decoded[source] = sql.relation_table("keys", len(self._decoded))
            self._engine.run(sql.create_keys(self._decoded[source], source, arity, literals, extra))
        return self._decoded[source]

    def _arity(self, predicate: str) -> int:
        return self._loaded.vocabulary.predicates[predicate].arity

    def _literal(self, predicate: str, *, negative: bool = False) -> int:
        return self._loaded.literal(LiteralName(predicate, identity(self._arity(predicate)), negative))
