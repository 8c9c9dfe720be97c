"""Types of the columns of text files that nobody declares: those of their values, unless rules equate them with text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa

from rulescore.language.syntax import Program
from rulescore.logic.tables import needs, untyped_shapes
from rulescore.logic.text_places import EquatedPlaces, Place
from rulescore.readers.table_rows import value_type
from rulescore.setting.model import HiddenIds, KeyedTable, ModelPredictions, RowStream
from rulescore.values.types import ValueType

PREDICTION = "prediction"

Arguments = Collection[tuple[str, int]]


def _no_facts(_: Arguments) -> set[tuple[str, int]]:
    return set()


@dataclass
class Inference:
    """Finds these types. `of_text`: those arguments of predicates that hold text alone. `whole`: the tables whose first rows do not
    tell the types of all others. `found`: the types of the last call of `typed`, text included, by table and column."""

    program: Program = field(default_factory=lambda: Program(()))
    predictions: tuple[ModelPredictions, ...] = ()
    of_text: Callable[[Arguments], Collection[tuple[str, int]]] = _no_facts
    whole: set[str] = field(default_factory=set)
    found: dict[str, dict[str, ValueType]] = field(default_factory=dict)

    def typed(
        self, tables: tuple[KeyedTable, ...], schemas: Mapping[str, pa.Schema], used: Mapping[str, Collection[str]]
    ) -> tuple[KeyedTable, ...]:
        """The tables, with types for the columns that rules and tables need."""
        shapes = untyped_shapes(tables, schemas)
        wanted = needs(shapes, used)
        self.found = {}
        for table in tables:
            if isinstance(table.rows, RowStream) and table.rows.text is not None and table.name in wanted:
                declared = {*table.rows.text.declared}
                stored = shapes[table.name].stored
                columns = [name for name in wanted[table.name].columns if name in stored and name not in declared]
                self.found[table.name] = self._kinds(table.name, table.rows, columns) if columns else {}
        if any(kind is not ValueType.STRING for kinds in self.found.values() for kind in kinds.values()):
            self._give_way(EquatedPlaces(self.program, shapes), tables, schemas)
        return tuple(
            replace(table, rows=_with_types(table.rows, self.found[table.name])) if table.name in self.found else table
            for table in tables
        )

    def _kinds(self, table: str, rows: RowStream, columns: list[str]) -> dict[str, ValueType]:
        assert rows.text is not None
        kinds = rows.text.infer(columns, whole=table in self.whole)
        if None in kinds.values() and table not in self.whole:
            self.whole.add(table)
            kinds = rows.text.infer(columns, whole=True)
        return {name: kind or ValueType.STRING for name, kind in kinds.items()}

    def _give_way(self, equated: EquatedPlaces, tables: Iterable[KeyedTable], schemas: Mapping[str, pa.Schema]) -> None:
        """Turn types into text where rules equate their columns with text."""
        for table in tables:
            equated.give_text((table.name, column) for column in self._text_columns(table, schemas[table.name]))
            equated.give_text((table.name, column) for column in self._given_as_text(table))
        inferred: list[Place] = [
            (table, column) for table, kinds in self.found.items() for column, kind in kinds.items() if kind is not ValueType.STRING
        ]
        if arguments := equated.arguments(inferred):
            equated.give_text(self.of_text(arguments))
        for table_name, column in equated.with_text(inferred):
            self.found[table_name][str(column)] = ValueType.STRING

    def _text_columns(self, table: KeyedTable, schema: pa.Schema) -> Iterator[str]:
        kinds = {name: value_type(kind) for name, kind in zip(schema.names, schema.types, strict=True)}
        return (name for name, kind in (kinds | self.found.get(table.name, {})).items() if kind is ValueType.STRING)

    def _given_as_text(self, table: KeyedTable) -> Iterator[str]:
        """The columns of key and target for which ids or predictions in Python are texts."""
        hidden = (table.hidden.ids,) if isinstance(table.hidden, HiddenIds) else ()
        predicted = (one.rows for model in self.predictions for one in model.tables if one.table == table.name)
        for rows in (*hidden, *predicted):
            if isinstance(rows, RowStream) and rows.text is None:
                schema = rows.schema()
                names = {**dict(zip(table.key, ("id",), strict=False)), **{one: one for one in table.key if one in schema.names}}
                target = {} if table.target is None else {table.target: PREDICTION}
                for column, name in (names | target).items():
                    if schema.names.count(name) == 1 and value_type(schema.field(name).type) is ValueType.STRING:
                        yield column


def _with_types(rows: object, kinds: Mapping[str, ValueType]) -> RowStream:
    assert isinstance(rows, RowStream)
    assert rows.text is not None
    return rows.text.typed(kinds)
