"""Which columns rules equate with text. The type that we infer for a column gives way to text there: texts equal nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from rulescore.language.signatures import FUNCTIONS, TESTS
from rulescore.language.syntax import (
    Atom,
    Attribute,
    Call,
    Comparison,
    Condition,
    Constant,
    Expression,
    Let,
    Membership,
    Operator,
    Program,
    RowAtom,
    Term,
    Test,
    Variable,
    Wildcard,
)
from rulescore.language.trees import Node, nodes_in
from rulescore.logic.tables import TableShape
from rulescore.logic.vocabulary import attribute_table, conditions_of
from rulescore.setting.model import HiddenColumn, HiddenWhere
from rulescore.values.types import ValueType

Place = tuple[str, str | int]
"""A column of a table, or an argument of a predicate by its number."""

_Group = tuple[object, ...]
_TEXT: _Group = ("text",)


class EquatedPlaces:
    """Groups of places that rules, joins and definitions equate. `shapes`: the tables; their types do not matter."""

    def __init__(self, program: Program, shapes: Mapping[str, TableShape]) -> None:
        self._shapes = shapes
        self._above: dict[_Group, _Group] = {}
        for number, statement in enumerate(program.statements):
            for condition in conditions_of(statement):
                self._read(condition, ("statement", number))
        for name, shape in shapes.items():
            self._read_table(name, shape)

    def give_text(self, places: Iterable[Place]) -> None:
        """Say that these places hold text."""
        for place in places:
            self._join(("place", *place), _TEXT)

    def with_text(self, columns: Iterable[Place]) -> set[Place]:
        """Those of some columns that are equated with text."""
        return {place for place in columns if self._group(("place", *place)) == self._group(_TEXT)}

    def arguments(self, columns: Collection[Place]) -> set[tuple[str, int]]:
        """The arguments of predicates that are equated with some of these columns."""
        groups = {self._group(("place", *place)) for place in columns}
        places = [group for group in self._above if group[0] == "place" and isinstance(group[2], int)]
        return {(str(place[1]), int(str(place[2]))) for place in places if self._group(place) in groups}

    def _read_table(self, name: str, shape: TableShape) -> None:
        for attribute, definition in shape.derived.items():
            self._read(definition, ("table", name))
            self._join(self._column(name, attribute), self._term(definition, ("table", name)))
        for reached in shape.table.reached:
            here = name
            for hop in reached.hops:
                self._join(("place", here, hop.column), ("place", hop.table, hop.other))
                here = hop.table
        match shape.table.hidden:
            case HiddenColumn(column, values) if any(isinstance(value, str) for value in values):
                self._join(self._column(name, column), _TEXT)
            case HiddenWhere(condition):
                self._read(condition, ("table", name))
            case _:
                pass

    def _read(self, root: Condition | Expression, scope: _Group) -> None:
        for node in nodes_in(root):
            for left, right in self._equated(node, scope):
                self._join(left, right)

    def _equated(self, node: Node, scope: _Group) -> Iterator[tuple[_Group, _Group]]:
        match node:
            case RowAtom(table, arguments) if table in self._shapes:
                yield from ((self._column(table, name), self._term(term, scope)) for name, term in arguments)
            case Atom(predicate, terms):
                yield from zip(self._places(predicate, len(terms)), (self._term(term, scope) for term in terms), strict=True)
                yield from self._text_arguments(predicate, terms, scope)
            case Test(predicate, arguments):
                yield from self._text_arguments(predicate, arguments, scope)
            case Call(function, arguments):
                yield from self._text_arguments(function, arguments, scope)
            case Comparison(Operator.EQUAL | Operator.DIFFERENT, left, right):
                yield self._term(left, scope), self._term(right, scope)
            case Let(variable, value):
                yield self._term(variable, scope), self._term(value, scope)
            case Membership(value, constants):
                yield from ((self._term(value, scope), self._term(constant, scope)) for constant in constants)
            case _:
                pass

    def _text_arguments(
        self, name: str, arguments: Iterable[Expression | Wildcard], scope: _Group
    ) -> Iterator[tuple[_Group, _Group]]:
        """The arguments of functions and tests that take text and nothing else."""
        signature = FUNCTIONS.get(name) or TESTS.get(name)
        for number, argument in enumerate(arguments):
            if signature is not None and signature.argument(number) == {ValueType.STRING}:
                yield self._term(argument, scope), _TEXT

    def _places(self, predicate: str, arity: int) -> list[_Group]:
        table = attribute_table(predicate, self._shapes)
        if table is None:
            return [("place", predicate, number) for number in range(arity)]
        columns = [self._column(table, name) for name in (*self._shapes[table].table.key, predicate[len(table) + 1 :])]
        return columns[:arity] + [("nothing", object()) for _ in range(arity - len(columns))]

    def _term(self, term: Expression | Term, scope: _Group) -> _Group:
        """The group of a variable, an attribute, or a text. Anything else is in a group of its own."""
        match term:
            case Variable(name):
                return (*scope, name)
            case Attribute(name):
                return self._column(str(scope[1]), name)
            case Constant(str()):
                return _TEXT
            case Call(function) if FUNCTIONS[function].result is ValueType.STRING:
                return _TEXT
            case _:
                return ("nothing", object())

    def _column(self, table: str, attribute: str) -> _Group:
        """An attribute or, if it is reached, the column where it lies."""
        reached = self._shapes[table].reached.get(attribute)
        return ("place", table, attribute) if reached is None else ("place", reached.hops[-1].table, reached.column)

    def _group(self, place: _Group) -> _Group:
        while (above := self._above.setdefault(place, place)) != place:
            self._above[place] = self._above[above]  # a shorter way for the next time
            place = above
        return place

    def _join(self, left: _Group, right: _Group) -> None:
        self._above[self._group(left)] = self._group(right)
