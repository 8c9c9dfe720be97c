"""Finds the places that bind a variable and the type that their columns give it, and the variables and columns that need a single
type."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rulescore.errors import Span
from rulescore.language import syntax
from rulescore.language.builtins import FUNCTIONS, TEST_SIGNATURES
from rulescore.language.declarations.refute import Refute
from rulescore.language.trees import Node, attribute_table, conditions_of, nodes_in, variables_in
from rulescore.logic.formula import Relation, RelationColumn, ResolvedAtom, Schema
from rulescore.logic.problems import DECIDABLE, Report, print_column
from rulescore.logic.tables import TableShape
from rulescore.logic.types import Mixture, with_article
from rulescore.setting.model import HiddenColumn, HiddenWhere
from rulescore.values import DURATIONS, NUMBERS, ValueType


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
        return tuple(f"{here}: {example}" for example in self.column.examples)


class Places:
    """The types of variables over all parts of an `or`. Each part binds all variables. `computed`: the variables whose values the
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
                if isinstance(term, syntax.Variable) and term.name not in bound and relation is not None:
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
        # Only values of the same type can be equal to a value of a mixed column.
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
        mixtures = {}
        for variable in self._found:
            if self._type(variable) is ValueType.MIXED:
                parts = self._found[variable]
                places = [place for _, several in parts for place in several]
                kinds = {kind for kind, several in parts if not several and kind is not None}
                kinds |= {kind for place in places for kind in _kinds(place.column)}
                equations = [f"an equation makes it {with_article(kind)}" for kind, several in parts if not several]
                examples = [example for place in places for example in place.examples]
                mixtures[variable] = Mixture(frozenset(kinds), tuple(dict.fromkeys([*examples, *equations])))
        return mixtures

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


_COUNTS = {syntax.Aggregation.COUNT, syntax.Aggregation.COUNT_DISTINCT}


def computed_variables(statement: syntax.Rule | Refute, others: Iterable[str] = ()) -> frozenset[str]:
    """The names of these variables. `others`: variables of the head that its refutations compute with."""
    computed = set(others)
    equal: list[set[str]] = []
    for condition in conditions_of(statement):
        for node in nodes_in(condition):
            match node:
                case syntax.Operation() | syntax.Negative() | syntax.Call():
                    computed |= _variable_names(node)
                case syntax.Test(predicate, arguments) if predicate in DECIDABLE:
                    computed |= _variable_names(*arguments)
                case syntax.Atom(predicate) if (
                    predicate in DECIDABLE
                ):  # the parser reads a test whose arguments are all terms as an atom
                    computed |= {variable.name for variable in variables_in(node)}
                case syntax.Aggregate(function, value) if function not in _COUNTS:
                    computed |= _variable_names(value)
                case syntax.Comparison(operator, left, right) if operator not in {syntax.Operator.EQUAL, syntax.Operator.DIFFERENT}:
                    computed |= _variable_names(left, right)
                case syntax.Comparison(syntax.Operator.EQUAL, syntax.Variable(), syntax.Variable()) | syntax.Let(
                    syntax.Variable(), syntax.Variable()
                ):
                    equal.append({variable.name for variable in variables_in(node)})
                case _:
                    pass
    # Equal variables have the same value: if a statement computes with one, it computes with all.
    for _ in equal:
        for several in equal:
            if several & computed:
                computed |= several
    return frozenset(computed)


def typed_by_body(refute: Refute) -> Refute:
    """The same statement with other names for some variables of its head: the variables that it computes with and that atoms of its
    body also bind. Then we compute with the type of the places in the body, even if the head's argument has another type."""
    nodes = nodes_in(refute.body, negations=False, aggregates=False)
    atoms = [
        node
        for node in nodes
        if isinstance(node, syntax.RowAtom) or (isinstance(node, syntax.Atom) and node.predicate not in DECIDABLE)
    ]
    bound = {term.name for atom in atoms for term in atom.terms if isinstance(term, syntax.Variable)}
    computed = bound & computed_variables(refute)
    renamed = {term: replace(term, name=f"argument {term.name}") for term in variables_in(refute.head) if term.name in computed}
    equations = (syntax.Comparison(syntax.Operator.EQUAL, term, argument, term.span) for term, argument in renamed.items())
    terms = tuple(renamed.get(term, term) if isinstance(term, syntax.Variable) else term for term in refute.head.terms)
    body = replace(refute.body, conditions=(*refute.body.conditions, *equations))
    return replace(refute, head=replace(refute.head, terms=terms), body=body)


def _variable_names(*expressions: syntax.Expression) -> set[str]:
    """The variables outside of aggregates. Variables inside aggregates have values of their own."""
    return {variable.name for expression in expressions for variable in variables_in(expression, aggregates=False)}


ColumnPlace = tuple[str, str | int]
"""A column of a table, or an argument of a predicate by its number."""

_Group = tuple[object, ...]
_TEXT: _Group = ("text",)


class EquatedPlaces:
    """Groups of places that rules, joins and definitions equate. `shapes`: the tables; their types do not matter."""

    def __init__(self, program: syntax.Program, shapes: Mapping[str, TableShape]) -> None:
        self._shapes = shapes
        self._above: dict[_Group, _Group] = {}
        for number, statement in enumerate(program.statements):
            for condition in conditions_of(statement):
                self._join_equated(condition, ("statement", number))
        for name, shape in shapes.items():
            self._read_table(name, shape)

    def give_text(self, places: Iterable[ColumnPlace]) -> None:
        """Say that these places hold text."""
        for place in places:
            self._join(("place", *place), _TEXT)

    def with_text(self, columns: Iterable[ColumnPlace]) -> set[ColumnPlace]:
        """The columns, among these, that are equated with text."""
        return {place for place in columns if self._group(("place", *place)) == self._group(_TEXT)}

    def arguments(self, columns: Collection[ColumnPlace]) -> set[tuple[str, int]]:
        """The arguments of predicates that are equated with some of these columns."""
        groups = {self._group(("place", *place)) for place in columns}
        places = [group for group in self._above if group[0] == "place" and isinstance(group[2], int)]
        return {(str(place[1]), int(str(place[2]))) for place in places if self._group(place) in groups}

    def _read_table(self, name: str, shape: TableShape) -> None:
        for attribute, definition in shape.derived.items():
            self._join_equated(definition, ("table", name))
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
                self._join_equated(condition, ("table", name))
            case _:
                pass

    def _join_equated(self, root: syntax.Condition | syntax.Expression, scope: _Group) -> None:
        for node in nodes_in(root):
            for left, right in self._equated(node, scope):
                self._join(left, right)

    def _equated(self, node: Node, scope: _Group) -> Iterator[tuple[_Group, _Group]]:
        match node:
            case syntax.RowAtom(table, arguments) if table in self._shapes:
                yield from ((self._column(table, name), self._term(term, scope)) for name, term in arguments)
            case syntax.Atom(predicate, terms):
                yield from zip(self._places(predicate, len(terms)), (self._term(term, scope) for term in terms), strict=True)
                yield from self._text_arguments(predicate, terms, scope)
            case syntax.Test(predicate, arguments):
                yield from self._text_arguments(predicate, arguments, scope)
            case syntax.Call(function, arguments):
                yield from self._text_arguments(function, arguments, scope)
            case syntax.Comparison(syntax.Operator.EQUAL | syntax.Operator.DIFFERENT, left, right):
                yield self._term(left, scope), self._term(right, scope)
            case syntax.Let(variable, value):
                yield self._term(variable, scope), self._term(value, scope)
            case syntax.Membership(value, constants):
                yield from ((self._term(value, scope), self._term(constant, scope)) for constant in constants)
            case _:
                pass

    def _text_arguments(
        self, name: str, arguments: Iterable[syntax.Expression | syntax.Wildcard], scope: _Group
    ) -> Iterator[tuple[_Group, _Group]]:
        """The arguments of functions and tests that take text and nothing else."""
        signature = FUNCTIONS.get(name) or TEST_SIGNATURES.get(name)
        for number, argument in enumerate(arguments):
            if signature is not None and signature.argument(number) == {ValueType.STRING}:
                yield self._term(argument, scope), _TEXT

    def _places(self, predicate: str, arity: int) -> list[_Group]:
        table = attribute_table(predicate, self._shapes)
        if table is None:
            return [("place", predicate, number) for number in range(arity)]
        columns = [self._column(table, name) for name in (*self._shapes[table].table.key, predicate[len(table) + 1 :])]
        return columns[:arity] + [("nothing", object()) for _ in range(arity - len(columns))]

    def _term(self, term: syntax.Expression | syntax.Term, scope: _Group) -> _Group:
        """The group of a variable, an attribute, or a text. Anything else is in a group of its own."""
        match term:
            case syntax.Variable(name):
                return (*scope, name)
            case syntax.Attribute(name):
                return self._column(str(scope[1]), name)
            case syntax.Constant(str()):
                return _TEXT
            case syntax.Call(function) if FUNCTIONS[function].result is ValueType.STRING:
                return _TEXT
            case _:
                return ("nothing", object())

    def _column(self, table: str, attribute: str) -> _Group:
        """An attribute or, if it is reached, the column where it lies."""
        reached = self._shapes[table].reached.get(attribute)
        return ("place", table, attribute) if reached is None else ("place", reached.hops[-1].table, reached.column)

    def _group(self, place: _Group) -> _Group:
        while (above := self._above.setdefault(place, place)) != place:
            self._above[place] = self._above[above]  # we shorten the path to the group's root for the next search
            place = above
        return place

    def _join(self, left: _Group, right: _Group) -> None:
        self._above[self._group(left)] = self._group(right)
