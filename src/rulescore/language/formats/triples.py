"""The statements of an RDF file, by subject and predicate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SHACL = "http://www.w3.org/ns/shacl#"
XSD = "http://www.w3.org/2001/XMLSchema#"
TYPE = f"{RDF}type"

SUBCLASS = f"{RDFS}subClassOf"

_PREFIXES = {RDF: "rdf", RDFS: "rdfs", OWL: "owl", SHACL: "sh", XSD: "xsd"}


@dataclass(frozen=True, slots=True)
class Iri:
    value: str


@dataclass(frozen=True, slots=True)
class Blank:
    label: str


@dataclass(frozen=True, slots=True)
class Literal:
    text: str
    datatype: str


Node = Iri | Blank | Literal
Triple = tuple[Node, str, Node]


def short(name: str) -> str:
    """An IRI of the vocabulary with its usual prefix, any other by its last part."""
    for place, prefix in _PREFIXES.items():
        if name.startswith(place):
            return f"{prefix}:{name.removeprefix(place)}"
    return name.rstrip("/#").replace("#", "/").rpartition("/")[2] or name


class Graph:
    """Triples in the order of the file. `elsewhere`: what other files say of the classes below others."""

    def __init__(self, triples: Iterable[Triple], elsewhere: Iterable[Triple] = ()) -> None:
        self.triples = tuple(dict.fromkeys(triples))
        self._below: dict[Node, list[Node]] = {}
        self._objects: dict[tuple[Node, str], list[Node]] = {}
        self._subjects: dict[tuple[str, Node], list[Node]] = {}
        self._said: dict[Node, list[tuple[str, Node]]] = {}
        for subject, predicate, value in self.triples:
            self._objects.setdefault((subject, predicate), []).append(value)
            self._subjects.setdefault((predicate, value), []).append(subject)
            self._said.setdefault(subject, []).append((predicate, value))
        for subject, predicate, value in dict.fromkeys((*self.triples, *elsewhere)):
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
        """The members of a list; a list that comes back to itself ends there."""
        found: list[Node] = []
        seen: set[Node] = set()
        while head not in seen and (first := self.objects(head, f"{RDF}first")):
            seen.add(head)
            found.append(first[0])
            head = next(iter(self.objects(head, f"{RDF}rest")), Iri(f"{RDF}nil"))
        return found

    def below(self, name: str) -> list[str]:
        """The names of a class and of the classes that are below it."""
        found = {name: None}
        waiting = [name]
        while waiting:
            for one in self._below.get(Iri(waiting.pop()), ()):
                if isinstance(one, Iri) and one.value not in found:
                    found[one.value] = None
                    waiting.append(one.value)
        return list(found)


def names(nodes: Iterable[Node]) -> Iterator[str]:
    return (node.value for node in nodes if isinstance(node, Iri))
