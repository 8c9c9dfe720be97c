"""The demands of a shape on one thing, as conditions: how it fails, and how it conforms. A condition on the values of a property is
an aggregate, and aggregates do not nest. So shapes within shapes can be too deep for a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rulescore.language import syntax
from rulescore.language.trees import nodes_in
from rulescore.ontologies.shape_paths import Fresh, Path, UnsayableError, read_path
from rulescore.ontologies.triples import (
    TYPE,
    Graph,
    Iri,
    Literal,
    Node,
    Thing,
    X,
    Y,
    atom,
    constant,
    different,
    equal,
    is_a,
    names,
    short,
)
from rulescore.readers.rdf import SHACL

PATH, PROPERTY = f"{SHACL}path", f"{SHACL}property"

# Properties of a shape that are no conditions: texts for people, targets, parts, and parameters of other properties.
TARGETS = tuple(f"{SHACL}{name}" for name in ("targetClass", "targetSubjectsOf", "targetObjectsOf", "targetNode", "target"))
SILENT = frozenset(
    (
        *TARGETS,
        PATH,
        *(f"{SHACL}{name}" for name in ("name", "description", "message", "severity", "order", "group", "defaultValue")),
        *(f"{SHACL}{name}" for name in ("deactivated", "ignoredProperties", "flags", "qualifiedValueShapesDisjoint")),
        f"{SHACL}qualifiedValueShape",
    )
)
COMPARED = ("minInclusive", "minExclusive", "maxInclusive", "maxExclusive")


@dataclass(frozen=True, slots=True)
class Failure:
    """One way to fail. `parameter`: the parameter of the shape that demands it, such as `sh:class`. `shown`: the parameter with its
    value, for people."""

    parameter: str
    shown: str
    condition: syntax.Condition


@dataclass
class Conditions:
    """Makes the conditions of one rule. `open_shapes`: the shapes that we are inside of. Shapes may refer to themselves."""

    graph: Graph
    fresh: Fresh = field(default_factory=lambda: Fresh({}))
    definitions: dict[str, syntax.Definition] = field(default_factory=dict)
    open_shapes: tuple[Node, ...] = ()

    # Classes

    def is_of(self, term: Thing, name: str) -> syntax.Condition:
        """Whether something is an instance of a class or of a class below it: one atom, over a definition if there are several
        classes."""
        classes = self.graph.below(name)
        if len(classes) == 1:
            return is_a(term, name)
        defined = f"{name}*"
        members = syntax.Membership(Y, tuple(map(syntax.Constant, classes)))
        self.definitions[defined] = syntax.Definition(syntax.Atom(defined, (X,)), syntax.Atom(TYPE, (X, Y)), (members,))
        return syntax.Atom(defined, (term,))

    def at_end(self, term: Thing, name: str, *, of_values: bool) -> syntax.Condition:
        """Whether something is a subject, or a value, of a property. One fact may say so, or several."""
        defined = f"{name}-{'objects' if of_values else 'subjects'}"
        terms = (syntax.Wildcard(), X) if of_values else (X, syntax.Wildcard())
        self.definitions[defined] = syntax.Definition(syntax.Atom(defined, (X,)), syntax.Atom(name, terms))
        return syntax.Atom(defined, (term,))

    def chain(self, name: str) -> None:
        """Define the chains of a property, which a path may be made of."""
        defined = f"{name}+"
        self.definitions[defined] = syntax.Definition(syntax.Atom(defined, (X, Y)), syntax.Atom(name, (X, Y)), chained=True)

    # Failures

    def value_failures(self, shape: Node, value: Thing) -> Iterator[Failure | UnsayableError]:
        """The ways in which a value fails the demands of a shape on each value. The value is a focus node or a value of its
        path."""
        for predicate, argument in self.graph.said_of(shape):
            if predicate.startswith(SHACL) and predicate not in SILENT:
                name = predicate.removeprefix(SHACL)
                if (make := _VALUE_TESTS.get(name)) is None:
                    continue
                try:
                    yield Failure(short(predicate), self.shown(name, argument), make(self, shape, value, argument))
                except UnsayableError as error:
                    yield UnsayableError(f"{short(predicate)} {error.what}")

    def shown(self, name: str, argument: Node) -> str:
        match argument:
            case Iri(value):
                return f"{name} {short(value)}"
            case Literal(text):
                return f"{name} {text}"
            case _:
                return name

    def conforms(self, shape: Node, value: Thing) -> syntax.Condition:
        """Whether a value conforms to a shape."""
        if shape in self.open_shapes:
            raise UnsayableError("of a shape within itself")
        if is_off(self.graph, shape):
            return equal(value, value)
        inner = Conditions(self.graph, self.fresh, self.definitions, (*self.open_shapes, shape))
        failures = [*inner.node_failures(shape, value)]
        return conjunction([opposite(failure) for failure in failures], value)

    def node_failures(self, shape: Node, value: Thing) -> Iterator[syntax.Condition]:
        """All ways in which a thing fails a shape, of a node or of a property, as conditions on the thing."""
        paths = self.graph.objects(shape, PATH)
        if paths:
            path = read_path(self.graph, paths[0])
            for step in (step for way in path.ways for step in way if step.many):
                self.chain(step.predicate)
            yield from self.path_failures(shape, path, value)
            return
        self._refuse_others(shape, of_path=False)
        for failure in self.value_failures(shape, value):
            yield _said(failure)
        for argument in self.graph.objects(shape, f"{SHACL}equals"):
            yield self.unequal(value, argument)
        for other in names(self.graph.objects(shape, f"{SHACL}disjoint")):
            yield atom(other, value, value)
        for part in self.graph.objects(shape, PROPERTY):
            yield syntax.Not(self.conforms(part, value))

    def path_failures(self, shape: Node, path: Path, focus: Thing) -> Iterator[syntax.Condition]:
        self._refuse_others(shape, of_path=True)
        for predicate, argument in self.graph.said_of(shape):
            name = predicate.removeprefix(SHACL)
            if name in ("minCount", "maxCount", "hasValue", "equals", "disjoint", *QUALIFIED, *ORDERED_PAIRS):
                yield from self.property_failures(shape, path, focus, name, argument)
        value = self.fresh.variable("V")
        for failure in self.value_failures(shape, value):
            yield self.some(path, focus, value, _said(failure))
        for part in self.graph.objects(shape, PROPERTY):
            yield self.some(path, focus, value, syntax.Not(self.conforms(part, value)))

    def property_failures(self, shape: Node, path: Path, focus: Thing, name: str, argument: Node) -> Iterator[syntax.Condition]:
        """The ways in which a focus node fails the demands of a shape on all values of its path together."""
        value = self.fresh.variable("V")
        match name, argument:
            case "minCount", Literal(text) if text.isdecimal():
                if int(text) == 1 and path.is_step:
                    yield syntax.Not(path.fact(focus, syntax.Wildcard()))
                elif int(text):
                    yield path.number(focus, syntax.Operator.LESS, int(text), self.fresh, value=value)
            case "maxCount", Literal(text) if text.isdecimal():
                if int(text) == 0 and path.is_step:
                    yield path.fact(focus, syntax.Wildcard())
                else:
                    yield path.number(focus, syntax.Operator.GREATER, int(text), self.fresh, value=value)
            case "hasValue", _:
                if path.is_step:
                    yield syntax.Not(path.fact(focus, constant(argument)))
                else:
                    yield path.number(focus, syntax.Operator.LESS, 1, self.fresh, equal(value, constant(argument)), value=value)
            case (("qualifiedMinCount" | "qualifiedMaxCount"), Literal(text)) if text.isdecimal():
                yield self._qualified(shape, path, focus, name, int(text))
            case "equals", Iri(other):
                if not path.is_step:
                    raise UnsayableError("of a path of several steps")
                yield self.some(path, focus, value, syntax.Not(atom(other, focus, value)))
                yield self.some(Path.of(other), focus, value, syntax.Not(path.fact(focus, value)))
            case "disjoint", Iri(other):
                yield self.some(path, focus, value, atom(other, focus, value))
            case (("lessThan" | "lessThanOrEquals"), Iri(other)):
                least = self.fresh.variable("W")
                yield self.some(path, focus, value, atom(other, focus, least), syntax.Not(ordered(name, value, least)))
            case _:
                raise UnsayableError("with an odd value")

    def _qualified(self, shape: Node, path: Path, focus: Thing, name: str, number: int) -> syntax.Condition:
        value = self.fresh.variable("V")
        shapes = self.graph.objects(shape, f"{SHACL}qualifiedValueShape")
        conditions = [self.conforms(part, value) for part in shapes]
        conditions += [opposite(self.conforms(part, value)) for part in self._siblings(shape) if part not in shapes]
        for condition in conditions:
            _refuse_aggregates(condition)
        operator = syntax.Operator.LESS if name == "qualifiedMinCount" else syntax.Operator.GREATER
        return path.number(focus, operator, number, self.fresh, *conditions, value=value)

    def _siblings(self, shape: Node) -> list[Node]:
        """The shapes that the same parents count, if they may share no value with this one."""
        flags = self.graph.objects(shape, f"{SHACL}qualifiedValueShapesDisjoint")
        if not any(isinstance(flag, Literal) and flag.text in ("true", "1") for flag in flags):
            return []
        beside = (part for parent in self.graph.subjects(PROPERTY, shape) for part in self.graph.objects(parent, PROPERTY))
        return [counted for part in beside for counted in self.graph.objects(part, f"{SHACL}qualifiedValueShape")]

    def some(self, path: Path, focus: Thing, value: syntax.Variable, *tests: syntax.Condition) -> syntax.Condition:
        """Some value of a path meets the tests."""
        for test in tests:
            _refuse_aggregates(test)
        return path.number(focus, syntax.Operator.AT_LEAST, 1, self.fresh, *tests, value=value)

    def unequal(self, focus: Thing, argument: Node) -> syntax.Condition:
        """A condition: a focus node is not the only value of a property."""
        if not isinstance(argument, Iri):
            raise UnsayableError("with an odd value")
        value = self.fresh.variable("V")
        other = self.some(Path.of(argument.value), focus, value, different(value, focus))
        return syntax.Or((syntax.Not(atom(argument.value, focus, focus)), other))

    def _refuse_others(self, shape: Node, *, of_path: bool) -> None:
        known = {*_VALUE_TESTS, "property", "equals", "disjoint", *(_OF_PATHS if of_path else ())}
        for predicate, _ in self.graph.said_of(shape):
            if predicate.startswith(SHACL) and predicate not in SILENT and predicate.removeprefix(SHACL) not in known:
                raise UnsayableError(f"with {short(predicate)}")

    # Tests of one value

    def _class(self, _: Node, value: Thing, argument: Node) -> syntax.Condition:
        if not isinstance(argument, Iri):
            raise UnsayableError("with an odd value")
        return syntax.Not(self.is_of(value, argument.value))

    def _in(self, _: Node, value: Thing, argument: Node) -> syntax.Condition:
        members = tuple(map(constant, self.graph.members(argument)))
        return syntax.Not(syntax.Membership(value, members)) if members else equal(value, value)

    def _same(self, _: Node, value: Thing, argument: Node) -> syntax.Condition:
        return different(value, constant(argument))

    def _conforms(self, _: Node, value: Thing, argument: Node) -> syntax.Condition:
        return opposite(self.conforms(argument, value))

    def _not(self, _: Node, value: Thing, argument: Node) -> syntax.Condition:
        return self.conforms(argument, value)

    def _and(self, _: Node, value: Thing, argument: Node) -> syntax.Condition:
        return disjunction([opposite(self.conforms(part, value)) for part in self.graph.members(argument)], value)

    def _or(self, _: Node, value: Thing, argument: Node) -> syntax.Condition:
        return conjunction([opposite(self.conforms(part, value)) for part in self.graph.members(argument)], value)

    def _xone(self, _: Node, value: Thing, argument: Node) -> syntax.Condition:
        parts = [self.conforms(part, value) for part in self.graph.members(argument)]
        only = [
            syntax.And((part, *(opposite(other) for place, other in enumerate(parts) if place != number)))
            if len(parts) > 1
            else part
            for number, part in enumerate(parts)
        ]
        return opposite(disjunction(only, value))

    def _languages(self, _: Node, value: Thing, argument: Node) -> syntax.Condition:
        return syntax.Not(_test("sh:languageIn", value, *map(constant, self.graph.members(argument))))

    def _pattern(self, shape: Node, value: Thing, argument: Node) -> syntax.Condition:
        flags = [constant(flag) for flag in self.graph.objects(shape, f"{SHACL}flags")]
        return syntax.Not(_test("sh:pattern", value, constant(argument), *flags))


def _simple(name: str) -> Callable[[Conditions, Node, Thing, Node], syntax.Condition]:
    return lambda _conditions, _shape, value, argument: syntax.Not(_test(f"sh:{name}", value, constant(argument)))


_VALUE_TESTS: dict[str, Callable[[Conditions, Node, Thing, Node], syntax.Condition]] = {
    "class": Conditions._class,
    "in": Conditions._in,
    "node": Conditions._conforms,
    "not": Conditions._not,
    "and": Conditions._and,
    "or": Conditions._or,
    "xone": Conditions._xone,
    "languageIn": Conditions._languages,
    "pattern": Conditions._pattern,
    **{name: _simple(name) for name in ("datatype", "nodeKind", *COMPARED, "minLength", "maxLength")},
}
TESTED = frozenset(_VALUE_TESTS)
ORDERED_PAIRS = ("lessThan", "lessThanOrEquals")
QUALIFIED = ("qualifiedMinCount", "qualifiedMaxCount")
_OF_PATHS = ("minCount", "maxCount", "hasValue", *QUALIFIED, *ORDERED_PAIRS)


def ordered(name: str, left: Thing, right: Thing) -> syntax.Condition:
    return _test("sh:maxExclusive" if name == "lessThan" else "sh:maxInclusive", left, right)


def is_off(graph: Graph, shape: Node) -> bool:
    flags = graph.objects(shape, f"{SHACL}deactivated")
    return any(isinstance(value, Literal) and value.text in ("true", "1") for value in flags)


def _test(name: str, *terms: Thing) -> syntax.Atom:
    return syntax.Atom(name, terms)


def _said(failure: Failure | UnsayableError) -> syntax.Condition:
    if isinstance(failure, UnsayableError):
        raise failure
    return failure.condition


def opposite(condition: syntax.Condition) -> syntax.Condition:
    return condition.condition if isinstance(condition, syntax.Not) else syntax.Not(condition)


def conjunction(parts: Sequence[syntax.Condition], value: Thing) -> syntax.Condition:
    """All of some conditions on a value; true if there are none."""
    return syntax.And(tuple(parts)) if len(parts) > 1 else parts[0] if parts else equal(value, value)


def disjunction(parts: Sequence[syntax.Condition], value: Thing) -> syntax.Condition:
    return syntax.Or(tuple(parts)) if len(parts) > 1 else parts[0] if parts else different(value, value)


def _refuse_aggregates(condition: syntax.Condition) -> None:
    if any(isinstance(node, syntax.Aggregate) for node in nodes_in(condition)):
        raise UnsayableError("of values whose own values count")


def parts_of(conditions: Iterable[syntax.Condition]) -> Iterator[syntax.Condition]:
    """The conditions of a body. Each part of a conjunction is a condition of its own."""
    for condition in conditions:
        if isinstance(condition, syntax.And):
            yield from parts_of(condition.conditions)
        else:
            yield condition
