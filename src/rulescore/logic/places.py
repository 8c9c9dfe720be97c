"""The places that bind a variable, and the type that their columns give it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from rulescore.errors import Span
from rulescore.language.syntax import Variable
from rulescore.logic.formula import ResolvedAtom
from rulescore.logic.problems import Report, print_column
from rulescore.logic.schema import Relation, RelationColumn, Schema
from rulescore.logic.types import Mixture, with_article
from rulescore.values.types import DURATIONS, NUMBERS, ValueType


@dataclass(frozen=True, slots=True)
class BindingPlace:
    """An argument of an atom that binds a variable."""

    relation: Relation
    name: str
    span: Span | None

    @property
    def column(self) -> RelationColumn:
        return self.relation.columns[self.name]

    @property
    def examples(self) -> tuple[str, ...]:
        here = print_column(self.relation, self.name)
        if not self.column.examples and self.column.type is not None:
            return (f"{here} is {with_article(self.column.type)}",)
        return tuple(f"{here}: {one}" for one in self.column.examples)


class Places:
    """The types of variables over all parts of an `or`, each of which binds all of them. `computed`: the variables whose values the
    statement orders or computes with; they need one type."""

    def __init__(self, schema: Schema, report: Report, computed: Collection[str]) -> None:
        self._schema, self._report, self._computed = schema, report, computed
        self._found: dict[str, list[tuple[ValueType | None, tuple[BindingPlace, ...]]]] = {}

    def read(self, atoms: Iterable[ResolvedAtom], bound: Collection[str]) -> None:
        """Read the atoms of one part. A variable of several atoms stands for the values that their columns have in common."""
        here: dict[str, list[BindingPlace]] = {}
        for atom in atoms:
            relation = self._schema.relations.get(atom.relation)
            for name, term in atom.arguments if relation is not None else ():
                if isinstance(term, Variable) and term.name not in bound and relation is not None:
                    here.setdefault(term.name, []).append(BindingPlace(relation, name, term.span))
        for variable, places in here.items():
            self._found.setdefault(variable, []).append((self._in_common(variable, places), tuple(places)))

    def compute(self, variable: str, kind: ValueType | None) -> None:
        """Note a variable that an equation of one part binds, and its type."""
        self._found.setdefault(variable, []).append((kind, ()))

    def _in_common(self, variable: str, places: Sequence[BindingPlace]) -> ValueType | None:
        kinds = {place.column.type for place in places} - {None}
        for place in places[1:]:
            if not any(place.column.may_hold(kind) for kind in _kinds(places[0].column)):
                self._report.never_equal(variable, place.span, (*places[0].examples, *place.examples))
        # A value of a mixed column equals the others only if it has their type.
        typed = [place.column.type for place in places if place.column.type not in (None, ValueType.MIXED)]
        if not typed:
            return next(iter(kinds), None)
        return ValueType.FLOAT if set(typed) == NUMBERS else typed[0]

    @property
    def binding(self) -> dict[str, list[BindingPlace]]:
        """The places that bind each variable."""
        return {variable: [place for _, places in parts for place in places] for variable, parts in self._found.items()}

    @property
    def types(self) -> dict[str, ValueType | None]:
        return {variable: self._type(variable) for variable in self._found}

    def _type(self, variable: str) -> ValueType | None:
        kinds = {kind for kind, _ in self._found[variable]} - {None}
        if len(kinds) < 2:
            return next(iter(kinds), None)
        if kinds <= DURATIONS:
            return ValueType.SPAN
        return ValueType.FLOAT if kinds <= NUMBERS and variable in self._computed else ValueType.MIXED

    @property
    def mixtures(self) -> dict[str, Mixture]:
        """For each variable of mixed type, which values stand where."""
        found = {}
        for variable in self._found:
            if self._type(variable) is ValueType.MIXED:
                parts = self._found[variable]
                places = [place for _, several in parts for place in several]
                kinds = {kind for kind, several in parts if not several and kind is not None}
                kinds |= {kind for place in places for kind in _kinds(place.column)}
                given = [f"an equation makes it {with_article(kind)}" for kind, several in parts if not several]
                examples = [one for place in places for one in place.examples]
                found[variable] = Mixture(frozenset(kinds), tuple(dict.fromkeys([*examples, *given])))
        return found

    @property
    def doubles(self) -> list[tuple[str, str]]:
        """The relations and columns of integers that a variable of type float reads."""
        return [
            (place.relation.name, place.name)
            for variable, parts in self._found.items()
            if self._type(variable) is ValueType.FLOAT
            for kind, places in parts
            if kind is ValueType.INTEGER
            for place in places
            if place.column.type is ValueType.INTEGER
        ]


def _kinds(column: RelationColumn) -> frozenset[ValueType]:
    return column.kinds or frozenset({column.type} if column.type is not None else ValueType)
