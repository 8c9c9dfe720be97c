"""The relations that formulas read: typed columns, stored as a table of observed rows and a table of predicted rows."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

from rulescore.values.types import NUMBERS, ValueType


@dataclass(frozen=True, slots=True)
class RelationColumn:
    """A column in the database, and its type; None if the relation has no rows that tell. If the type is mixed, `kinds` are the
    types of its values, and `examples` describe some of them."""

    column: str
    type: ValueType | None
    kinds: frozenset[ValueType] = frozenset()
    examples: tuple[str, ...] = ()

    def may_hold(self, kind: ValueType) -> bool:
        """Whether a value of a type can equal a value of the column."""
        return may_equal(kind, self.kinds or ({self.type} if self.type is not None else {kind}))


def may_equal(kind: ValueType, kinds: AbstractSet[ValueType]) -> bool:
    """Whether a value of a type can equal a value of one of these types. Of two different types, only integers and floats can."""
    return kind in kinds or bool(kind in NUMBERS and NUMBERS & kinds)


@dataclass(frozen=True, slots=True)
class Relation:
    """A predicate of facts, with columns `a0`, `a1`, …, or a table with a key.

    `predicted` has the columns of `observed` and the number of the `prediction`; for facts also `observed`, whether the fact is
    observed already. A prediction takes part in an atom that names one of the columns `from_prediction`. `attributes`: all of a
    table, including those that no rule uses."""

    name: str
    columns: Mapping[str, RelationColumn]
    observed: str
    predicted: str | None = None
    from_prediction: frozenset[str] = frozenset()
    key: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()

    @property
    def is_table(self) -> bool:
        return bool(self.key)


NEGATIVE = "negative "
"""The prefix of the relation of a predicate's negative facts. No predicate that a rule can name begins with it."""


@dataclass(frozen=True)
class Schema:
    """Every relation that formulas read, by name. `inexact`: the keys of their integers beyond 64 bits that no double equals."""

    relations: Mapping[str, Relation]
    inexact: frozenset[str] = frozenset()

    def attribute(self, predicate: str) -> tuple[Relation, str] | None:
        """The table and attribute that a predicate `table.attribute` names."""
        for relation in self._tables:
            if predicate.startswith(f"{relation.name}."):
                attribute = predicate[len(relation.name) + 1 :]
                if attribute in relation.columns:
                    return relation, attribute
        return None

    @cached_property
    def _tables(self) -> tuple[Relation, ...]:
        """The tables, apart from the predicates: there are few tables, but there may be many predicates."""
        return tuple(relation for relation in self.relations.values() if relation.is_table)

    def positions(self, predicate: str) -> tuple[Relation, tuple[str, ...]] | None:
        """The relation that holds a predicate's facts, and its columns in the order of the predicate's arguments."""
        found = self.attribute(predicate)
        if found is not None:
            relation, attribute = found
            return relation, (*relation.key, attribute)
        known = self.relations.get(predicate)
        return None if known is None or known.is_table else (known, tuple(known.columns))
