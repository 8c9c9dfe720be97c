"""Shapes of SHACL as rules. A shape is about the facts as they are: an absent fact is missing.

Things of a class below the target's are targets as well, if one of the files says that the class is below.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rulescore.language.formats.statements import (
    Made,
    NotUnderstood,
    X,
    Y,
    Z,
    atom,
    constraint,
    denial,
    different,
    is_a,
    refutation,
)
from rulescore.language.formats.triples import OWL, RDFS, SHACL, TYPE, Blank, Graph, Iri, Literal, Node, names, short
from rulescore.language.syntax import (
    Aggregate,
    Aggregation,
    And,
    Atom,
    Comparison,
    Condition,
    Constant,
    Not,
    Operator,
    Or,
    Statement,
    Term,
    Variable,
    Wildcard,
)

_TARGETS = tuple(f"{SHACL}{name}" for name in ("targetClass", "targetSubjectsOf", "targetObjectsOf", "targetNode", "target"))
_PATH, _PROPERTY = f"{SHACL}path", f"{SHACL}property"
_KINDS = (Iri(f"{SHACL}NodeShape"), Iri(f"{SHACL}PropertyShape"))

# Texts for people, the targets of a shape, and its parts.
_SILENT = frozenset(
    (
        *_TARGETS,
        _PATH,
        _PROPERTY,
        *(f"{SHACL}{name}" for name in ("name", "description", "message", "severity", "order", "group", "defaultValue")),
        f"{SHACL}deactivated",
    )
)


@dataclass(frozen=True, slots=True)
class _Target:
    """The things that a shape is about, as a condition on X, and in words."""

    condition: Condition
    shown: str


@dataclass(frozen=True, slots=True)
class _Path:
    predicate: str
    inverse: bool

    def atom(self, left: Term, right: Term) -> Atom:
        return atom(self.predicate, right, left) if self.inverse else atom(self.predicate, left, right)

    @property
    def shown(self) -> str:
        return f"inverse of {short(self.predicate)}" if self.inverse else short(self.predicate)


def read_shapes(graph: Graph) -> Iterator[Made]:
    """The rules of all shapes that have a target; we read a shape that others refer to with them."""
    for shape in dict.fromkeys(_shapes(graph)):
        targets = []
        for found in _targets(graph, shape):
            if isinstance(found, NotUnderstood):
                yield found
            else:
                targets.append(found)
        if graph.objects(shape, _PATH):
            yield from _property_shape(graph, shape, targets)
        else:
            yield from _node_shape(graph, shape, targets)


def _shapes(graph: Graph) -> Iterator[Node]:
    for subject, predicate, value in graph.triples:
        if predicate in _TARGETS or (predicate == TYPE and value in _KINDS and not _is_part(graph, subject)):
            yield subject


def _is_part(graph: Graph, shape: Node) -> bool:
    return bool(graph.subjects(_PROPERTY, shape)) or isinstance(shape, Blank)


def _targets(graph: Graph, shape: Node) -> Iterator[_Target | NotUnderstood]:
    found = False
    for predicate, value in graph.said_of(shape):
        if predicate not in _TARGETS:
            continue
        found = True
        match value:
            case Iri(name) if predicate == f"{SHACL}targetClass":
                yield _Target(_of_class(graph, X, name), short(name))
            case Iri(name) if predicate == f"{SHACL}targetSubjectsOf":
                yield _Target(atom(name, X, Wildcard()), f"subjects of {short(name)}")
            case Iri(name) if predicate == f"{SHACL}targetObjectsOf":
                yield _Target(atom(name, Wildcard(), X), f"objects of {short(name)}")
            case _:
                yield NotUnderstood(short(predicate), _shown(shape))
    if isinstance(shape, Iri) and (graph.is_a(shape, f"{RDFS}Class") or graph.is_a(shape, f"{OWL}Class")):
        yield _Target(_of_class(graph, X, shape.value), short(shape.value))
    elif not found:
        yield NotUnderstood("a shape without a target", _shown(shape))


def _of_class(graph: Graph, term: Term, name: str) -> Condition:
    kinds = tuple(is_a(term, one) for one in graph.below(name))
    return kinds[0] if len(kinds) == 1 else Or(kinds)


def _of_no(graph: Graph, term: Term, name: str) -> list[Not]:
    return [Not(is_a(term, one)) for one in graph.below(name)]


def _is_off(graph: Graph, shape: Node) -> bool:
    return any(isinstance(value, Literal) and value.text in ("true", "1") for value in graph.objects(shape, f"{SHACL}deactivated"))


def _node_shape(graph: Graph, shape: Node, targets: list[_Target]) -> Iterator[Made]:
    if _is_off(graph, shape):
        return
    for predicate, value in graph.said_of(shape):
        if predicate == _PROPERTY:
            yield from _property_shape(graph, value, targets)
        elif predicate == f"{SHACL}class" and isinstance(value, Iri):
            for target in targets:
                yield denial(f"{target.shown} class {short(value.value)}", target.condition, *_of_no(graph, X, value.value))
        elif predicate.startswith(SHACL) and predicate not in _SILENT:
            yield NotUnderstood(short(predicate), _shown(shape))


def _property_shape(graph: Graph, shape: Node, targets: list[_Target]) -> Iterator[Made]:
    if _is_off(graph, shape) or not targets:
        return
    about = ", ".join(target.shown for target in targets)
    path = _path(graph, shape)
    for predicate, value in graph.said_of(shape):
        if not predicate.startswith(SHACL) or predicate in _SILENT - {_PROPERTY}:
            continue
        if path is None:
            yield NotUnderstood(f"{short(predicate)} of a path", about)
            continue
        made: list[Made] = [one for target in targets for one in _constraint(graph, target, path, predicate, value)]
        yield from made or [NotUnderstood(short(predicate), f"{about}.{path.shown}")]


def _path(graph: Graph, shape: Node) -> _Path | None:
    match graph.objects(shape, _PATH):
        case [Iri(name)]:
            return _Path(name, inverse=False)
        case [Blank() as node]:
            inverse = list(names(graph.objects(node, f"{SHACL}inversePath")))
            return _Path(inverse[0], inverse=True) if inverse else None
        case _:
            return None


def _constraint(graph: Graph, target: _Target, path: _Path, predicate: str, value: Node) -> Iterator[Statement]:
    """The rules of one constraint; none if we do not understand it."""
    name = f"{target.shown}.{path.shown} {short(predicate).removeprefix('sh:')}"
    match predicate.removeprefix(SHACL), value:
        case "maxCount", Literal(text) if text.isdecimal():
            yield from _at_most(f"{name} {int(text)}", target, path, int(text))
        case "minCount", Literal(text) if text.isdecimal():
            yield constraint(f"{name} {int(text)}", _count(path, Operator.AT_LEAST, int(text)), target.condition)
        case "class", Iri(kind):
            others = _of_no(graph, Y, kind)
            yield denial(f"{name} {short(kind)}", target.condition, path.atom(X, Y), *others)
            yield refutation(path.atom(X, Y), target.condition, *others)
        case "disjoint", Iri(other):
            yield denial(f"{name} {short(other)}", target.condition, path.atom(X, Y), atom(other, X, Y))
            yield refutation(path.atom(X, Y), target.condition, atom(other, X, Y))
            yield refutation(atom(other, X, Y), target.condition, path.atom(X, Y))
        case _:
            return


def _at_most(name: str, target: _Target, path: _Path, number: int) -> Iterator[Statement]:
    match number:
        case 0:
            yield denial(name, target.condition, path.atom(X, Y))
            yield refutation(path.atom(X, Y), target.condition)
        case 1:
            another = path.atom(X, Z), different(Y, Z)
            yield denial(name, target.condition, path.atom(X, Y), *another)
            yield refutation(path.atom(X, Y), target.condition, *another)
        case _:
            yield constraint(name, _count(path, Operator.AT_MOST, number), target.condition)


def _count(path: _Path, operator: Operator, number: int) -> Comparison:
    value = Variable("V")
    return Comparison(operator, Aggregate(Aggregation.COUNT, value, And((path.atom(X, value),))), Constant(number))


def _shown(shape: Node) -> str | None:
    return next(map(short, names([shape])), None)
