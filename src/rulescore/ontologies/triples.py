"""The statements of an RDF file, by subject and predicate, and the statements of rules that ontologies need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rulescore.language import syntax
from rulescore.language.declarations.refute import Refute
from rulescore.readers.rdf import OWL, RDF, RDFS, USUAL_PREFIXES
from rulescore.values import Value

TYPE = f"{RDF}type"

SUBCLASS = f"{RDFS}subClassOf"

DATATYPES = frozenset((f"{RDFS}Literal", f"{RDF}langString", f"{RDF}PlainLiteral", f"{OWL}real", f"{OWL}rational"))
"""Names of datatypes outside of XML Schema."""


@dataclass(frozen=True, slots=True)
class Iri:
    value: str


@dataclass(frozen=True, slots=True)
class Blank:
    label: str


@dataclass(frozen=True, slots=True)
class Literal:
    """`value`: the constant that stands for it in facts; None: its text."""

    text: str
    datatype: str
    value: Value | None = None


Node = Iri | Blank | Literal
Triple = tuple[Node, str, Node]


def short(name: str) -> str:
    """An IRI of the vocabulary with its usual prefix, any other by its last part."""
    for place, prefix in USUAL_PREFIXES.items():
        if name.startswith(place):
            return f"{prefix}:{name.removeprefix(place)}"
    return name.rstrip("/#").replace("#", "/").rpartition("/")[2] or name


class Graph:
    """Triples in the order of the file, and what its surroundings say: `below`, triples of other files that put a class below
    another, and the `predicates` of all facts."""

    def __init__(self, triples: Iterable[Triple], below: Iterable[Triple] = (), predicates: Sequence[str] = ()) -> None:
        self.triples = tuple(dict.fromkeys(triples))
        self.predicates = predicates
        self._below: dict[Node, list[Node]] = {}
        self._objects: dict[tuple[Node, str], list[Node]] = {}
        self._subjects: dict[tuple[str, Node], list[Node]] = {}
        self._said: dict[Node, list[tuple[str, Node]]] = {}
        for subject, predicate, value in self.triples:
            self._objects.setdefault((subject, predicate), []).append(value)
            self._subjects.setdefault((predicate, value), []).append(subject)
            self._said.setdefault(subject, []).append((predicate, value))
        for subject, predicate, value in dict.fromkeys((*self.triples, *below)):
            if predicate == SUBCLASS:
                self._below.setdefault(value, []).append(subject)

    def objects(self, subject: Node, predicate: str) -> list[Node]:
        return self._objects.get((subject, predicate), [])

    def subjects(self, predicate: str, value: Node) -> list[Node]:
        return self._subjects.get((predicate, value), [])

    def said_of(self, subject: Node) -> list[tuple[str, Node]]:
        return self._said.get(subject, [])

    def is_a(self, subject: Node, kind: str) -> bool:
        return Iri(kind) in self.objects(subject, TYPE)

    def members(self, head: Node) -> list[Node]:
        """The members of a list. If the list refers back to itself, it ends there."""
        members: list[Node] = []
        seen: set[Node] = set()
        while head not in seen and (first := self.objects(head, f"{RDF}first")):
            seen.add(head)
            members.append(first[0])
            head = next(iter(self.objects(head, f"{RDF}rest")), Iri(f"{RDF}nil"))
        return members

    def below(self, name: str) -> list[str]:
        """The names of a class and of the classes that are below it."""
        classes = {name: None}
        waiting = [name]
        while waiting:
            for subclass in self._below.get(Iri(waiting.pop()), ()):
                if isinstance(subclass, Iri) and subclass.value not in classes:
                    classes[subclass.value] = None
                    waiting.append(subclass.value)
        return list(classes)


def names(nodes: Iterable[Node]) -> Iterator[str]:
    return (node.value for node in nodes if isinstance(node, Iri))


Thing = syntax.Variable | syntax.Constant
"""What stands for a thing in a rule."""

X, Y, Z = syntax.Variable("X"), syntax.Variable("Y"), syntax.Variable("Z")


@dataclass(frozen=True, slots=True)
class NotUnderstood:
    """An axiom in words, and the name of its subject, if it has one."""

    axiom: str
    about: str | None


Made = syntax.Statement | NotUnderstood


def atom(predicate: str, left: syntax.Term, right: syntax.Term) -> syntax.Atom:
    return syntax.Atom(predicate, (left, right))


def is_a(term: syntax.Term, kind: str) -> syntax.Atom:
    return syntax.Atom(TYPE, (term, syntax.Constant(kind)))


def constant(node: Node) -> syntax.Constant:
    match node:
        case Iri(value):
            return syntax.Constant(value)
        case Blank(label):
            return syntax.Constant(label)
        case Literal(text, _, value):
            return syntax.Constant(text if value is None else value)


def equal(left: syntax.Expression, right: syntax.Expression) -> syntax.Comparison:
    return syntax.Comparison(syntax.Operator.EQUAL, left, right)


def different(left: syntax.Expression, right: syntax.Expression) -> syntax.Comparison:
    return syntax.Comparison(syntax.Operator.DIFFERENT, left, right)


def denial(name: str, *body: syntax.Condition) -> syntax.Rule:
    return constraint(name, syntax.Falsity(), *body)


def constraint(name: str, head: syntax.Head, *body: syntax.Condition) -> syntax.Rule:
    """A hard rule, even if the data violate it."""
    return syntax.Rule(head, syntax.And(body), name, syntax.Kind.HARD)


def implication(name: str, head: syntax.Atom, *body: syntax.Condition) -> syntax.Rule:
    return syntax.Rule(head, syntax.And(body), name)


def refutation(head: syntax.Atom, *body: syntax.Condition) -> Refute:
    return Refute(head, syntax.And(body))
