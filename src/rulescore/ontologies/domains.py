"""The domains and ranges that an ontology declares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rulescore.ontologies.triples import DATATYPES, Graph, Iri, Node, Triple, names
from rulescore.readers.rdf import OWL, RDFS, XSD

Side = tuple[str, bool]
"""A property and whether its values are meant: its range, else its domain."""

_SCHEMA = ("http://schema.org/", "https://schema.org/")
_EACH = {f"{RDFS}domain": False, f"{RDFS}range": True}
_ANY = {f"{place}{name}Includes": name == "range" for place in _SCHEMA for name in ("domain", "range")}


def declared_domains(triples: Iterable[Triple]) -> Mapping[Side, tuple[frozenset[str], ...]]:
    """For each side, sets of classes. A thing fits if it is an instance of a class of every set. Each class comes with those below
    it. Several `rdfs:domain` of a property are several sets, a union of OWL and all `domainIncludes` of schema.org are one. A side
    whose classes we cannot tell, such as a datatype, is left out."""
    graph = Graph(triples)
    sides: dict[Side, list[frozenset[str]]] = {}
    included: dict[Side, set[str]] = {}
    for subject, predicate, value in graph.triples:
        if not isinstance(subject, Iri):
            continue
        if predicate in _EACH:
            if classes := _classes(graph, value):
                sides.setdefault((subject.value, _EACH[predicate]), []).append(classes)
        elif predicate in _ANY:
            included.setdefault((subject.value, _ANY[predicate]), set()).update(_classes(graph, value))
    for side, several in included.items():
        sides.setdefault(side, []).append(frozenset(several))
    return {side: tuple(several) for side, several in sides.items()}


def _classes(graph: Graph, node: Node) -> frozenset[str]:
    unions = graph.objects(node, f"{OWL}unionOf")
    named = names(graph.members(unions[0]) if unions else [node])
    return frozenset(below for name in named if name not in DATATYPES and not name.startswith(XSD) for below in graph.below(name))
