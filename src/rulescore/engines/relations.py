"""The relations that formulas read: facts of the predicates they name, with their constants as typed values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa

from rulescore.data.relations import NEGATIVE, Relation, RelationColumn
from rulescore.data.setting import ValueType
from rulescore.engines.base import Engine, KeepingEngine
from rulescore.engines.loading import Loaded
from rulescore.engines.tables import LoadedTable
from rulescore.logic.plan import LiteralName
from rulescore.logic.refutation import identity
from rulescore.sql import relations as sql
from rulescore.sql.build import argument, arguments, candidate_table, fact_table
from rulescore.sql.constant_types import Position, position_types

_ARROW = {
    ValueType.STRING: pa.string(),
    ValueType.INTEGER: pa.int64(),
    ValueType.FLOAT: pa.float64(),
    ValueType.BOOLEAN: pa.bool_(),
    ValueType.DATE: pa.date32(),
}


def fact_relations(engine: Engine, loaded: Loaded, predicates: Iterable[str]) -> dict[str, Relation]:
    """A relation for each predicate, and one for its negative facts where it has any."""
    wanted = sorted(set(predicates) & loaded.vocabulary.predicates.keys())
    builder = _Builder(engine, loaded, wanted)
    found: dict[str, Relation] = {}
    for name in wanted:
        known = loaded.vocabulary.predicates[name]
        types = builder.types(name)
        found[name] = builder.observed(name, types, predicted=bool(known.predicted))
        if known.negative:
            found[f"{NEGATIVE}{name}"] = builder.negative(name, types)
    return found


def table_relations(tables: Mapping[str, LoadedTable]) -> dict[str, Relation]:
    return {
        name: Relation(
            name,
            {attribute: RelationColumn(one.name, one.type) for attribute, one in table.columns.items()},
            table.observed,
            table.predicted,
            table.from_target if table.predicted is not None else frozenset(),
            table.key,
            tuple(table.attributes),
        )
        for name, table in tables.items()
    }


class _Builder:
    def __init__(self, engine: Engine, loaded: Loaded, predicates: Sequence[str]) -> None:
        self._engine, self._loaded = engine, loaded
        self._made = 0
        self._marks: dict[tuple[int, int], dict[str, bool]] = {}
        self._decoded: dict[str, str] = {}
        self._by_arity: dict[int, list[str]] = {}
        for one in predicates:
            self._by_arity.setdefault(loaded.vocabulary.predicates[one].arity, []).append(one)
        positions = [one for arity, several in self._by_arity.items() for one in self._positions(arity, several)]
        for row in engine.query(position_types(positions)).to_pylist() if positions else ():
            marks = self._marks.setdefault((row["literal"], positions[row["place"]].number), {})
            marks[row["mark"]] = marks.get(row["mark"], False) or bool(row["float"])

    def _positions(self, arity: int, predicates: Sequence[str]) -> Iterator[Position]:
        """Where constants of predicates of an arity stand: every argument, in facts and in predictions."""
        positive = [self._literal(one) for one in predicates]
        for number in range(arity):
            if arity in self._loaded.fact_arities:
                literals = [*positive, *(self._literal(one, negative=True) for one in predicates)]
                yield Position(fact_table(arity), number, literals)
            if arity in self._loaded.candidate_arities:
                yield Position(candidate_table(arity), number, positive)

    def types(self, predicate: str) -> list[tuple[ValueType | None, bool]]:
        """The type of each argument, and whether it has one: where types are mixed, constants are known by their keys."""
        found = []
        for position in range(self._loaded.vocabulary.predicates[predicate].arity):
            marks: dict[str, bool] = {}
            for literal in (self._literal(predicate), self._literal(predicate, negative=True)):
                for mark, is_float in self._marks.get((literal, position), {}).items():
                    marks[mark] = marks.get(mark, False) or is_float
            found.append(_type(marks))
        return found

    def observed(self, name: str, types: list[tuple[ValueType | None, bool]], *, predicted: bool) -> Relation:
        arity = len(types)
        observed = self._create("observed", fact_table(arity), name, types, there=arity in self._loaded.fact_arities)
        answers = None
        if predicted:
            answers = self._create("predicted", candidate_table(arity), name, types, there=True)
        columns = _columns(types)
        return Relation(name, columns, observed, answers, frozenset(columns) if predicted else frozenset())

    def negative(self, name: str, types: list[tuple[ValueType | None, bool]]) -> Relation:
        table = self._create("negative", fact_table(len(types)), name, types, there=True)
        return Relation(f"{NEGATIVE}{name}", _columns(types), table)

    def _create(self, kind: str, source: str, name: str, types: list[tuple[ValueType | None, bool]], *, there: bool) -> str:
        self._made += 1
        target = sql.relation_table(kind, self._made)
        if there:
            extra = ("prediction", "observed") if kind == "predicted" else ()
            wanted = [None if mixed else (found or ValueType.STRING) for found, mixed in types]
            literal = self._literal(name, negative=kind == "negative")
            if isinstance(self._engine, KeepingEngine):
                self._engine.run(sql.create_view(target, self._keys(source, len(types), extra), literal, wanted, extra))
            else:
                self._engine.run(sql.create_relation(target, source, literal, wanted, extra))
        else:
            fields = zip(arguments(len(types)), types, strict=True)
            self._engine.load(target, pa.table({c: pa.array([], _ARROW[t or ValueType.STRING]) for c, (t, _) in fields}))
        return target

    def _keys(self, source: str, arity: int, extra: Sequence[str]) -> str:
        """A table of the facts of all predicates with the keys of their constants: an engine for which every statement is a burden
        makes one, and a view on it for each predicate."""
        if source not in self._decoded:
            literals = [self._literal(one, negative=negative) for one in self._by_arity[arity] for negative in (False, True)]
            self._decoded[source] = sql.relation_table("keys", len(self._decoded))
            self._engine.run(sql.create_keys(self._decoded[source], source, arity, literals, extra))
        return self._decoded[source]

    def _literal(self, predicate: str, *, negative: bool = False) -> int:
        arity = self._loaded.vocabulary.predicates[predicate].arity
        return self._loaded.literal(LiteralName(predicate, identity(arity), negative))


def _type(marks: Mapping[str, bool]) -> tuple[ValueType | None, bool]:
    if not marks:
        return None, False
    if len(marks) > 1:
        return ValueType.STRING, True
    mark, is_float = next(iter(marks.items()))
    if mark == "n":
        return (ValueType.FLOAT if is_float else ValueType.INTEGER), False
    return sql.LETTERS[mark], False


def _columns(types: list[tuple[ValueType | None, bool]]) -> dict[str, RelationColumn]:
    return {argument(i): RelationColumn(argument(i), found) for i, (found, _) in enumerate(types)}
