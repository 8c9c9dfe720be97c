"""What formulas read: relations with typed columns, each stored as a table of observed rows and one of predicted rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from rulescore.data.setting import ValueType

NUMBERS = frozenset({ValueType.INTEGER, ValueType.FLOAT})
DURATIONS = frozenset({ValueType.DURATION, ValueType.SPAN})
MOMENTS = frozenset({ValueType.DATETIME, ValueType.INSTANT})


@dataclass(frozen=True, slots=True)
class RelationColumn:
    """A column in the database, and its type; None if the relation has no rows to tell. If it is mixed, `kinds` are the types of
    its values, and `examples` say in words which stand there."""

    column: str
    type: ValueType | None
    kinds: frozenset[ValueType] = frozenset()
    examples: tuple[str, ...] = ()

    def may_hold(self, kind: ValueType) -> bool:
        """Whether a value of a type can equal one of the column's."""
        kinds = self.kinds or ({self.type} if self.type is not None else {kind})
        return kind in kinds or bool(kind in NUMBERS and NUMBERS & kinds)


@dataclass(frozen=True, slots=True)
class Relation:
    """A predicate of facts, with columns `a0`, `a1`, …, or a table with a key.

    `predicted` has the columns of `observed` and the number of the `prediction`; for facts also `observed`, whether the fact is
    observed already. A prediction takes part in an atom that names one of the columns `from_prediction`. `attributes`: all that a
    table has, those among them that nothing asks for too."""

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
"""What the name of the relation of a predicate's negative facts begins with; no predicate a rule can name is called so."""


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
        """Few, where predicates may be many."""
        return tuple(relation for relation in self.relations.values() if relation.is_table)

    def positions(self, predicate: str) -> tuple[Relation, tuple[str, ...]] | None:
        """The relation that holds a predicate's facts, and its columns in the order of the predicate's arguments."""
        found = self.attribute(predicate)
        if found is not None:
            relation, attribute = found
            return relation, (*relation.key, attribute)
        known = self.relations.get(predicate)
        return None if known is None or known.is_table else (known, tuple(known.columns))
