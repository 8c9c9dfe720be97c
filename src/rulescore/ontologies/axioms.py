"""Axioms of OWL and shapes of SHACL, as rules and declarations.

An axiom that forbids something becomes a hard rule, and a declaration by which it refutes the heads of other rules. An axiom that
concludes something becomes a rule whose kind the data decide. A class is a constant, and its members are facts of `rdf:type`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations

from rulescore.language import syntax
from rulescore.language.declarations.functional import Functional
from rulescore.language.declarations.incompatible import IncompatibleGroup, IncompatiblePair
from rulescore.language.trees import atoms_in
from rulescore.ontologies.shape_tests import TEST_NAMES
from rulescore.ontologies.shapes import read_shapes
from rulescore.ontologies.triples import (
    DATATYPES,
    TYPE,
    Graph,
    Iri,
    Made,
    Node,
    NotUnderstood,
    Triple,
    X,
    Y,
    Z,
    atom,
    denial,
    different,
    equal,
    implication,
    is_a,
    names,
    refutation,
    short,
)
from rulescore.readers.rdf import OWL, RDFS, SHACL, XSD

_CHAIN = f"{OWL}propertyChainAxiom"


@dataclass(frozen=True, slots=True)
class Ontology:
    """`left_out`: axioms that we do not understand, in words, with the names of their subjects."""

    program: syntax.Program
    left_out: tuple[NotUnderstood, ...]


def read_ontology(triples: Iterable[Triple], below: Iterable[Triple] = (), predicates: Sequence[str] = ()) -> Ontology:
    """The rules and declarations of an ontology. Each stands once, even if the file says it several times. `below`, `predicates`:
    what other files say that shapes need to know."""
    graph = Graph(triples, below, predicates)
    statements: list[syntax.Statement] = []
    left_out: list[NotUnderstood] = []
    for made in (*_axioms(graph), *read_shapes(graph)):
        if isinstance(made, NotUnderstood):
            left_out.append(made)
        else:
            statements.append(made)
    return Ontology(syntax.Program((*_predicates(statements), *_distinct(statements))), tuple(dict.fromkeys(left_out)))


def has_shapes(triples: Iterable[Triple]) -> bool:
    return any(predicate.startswith(SHACL) for _, predicate, _ in triples)


def _distinct(statements: Iterable[syntax.Statement]) -> Iterator[syntax.Statement]:
    """Statements without repetitions, with a unique name for each rule."""
    seen: set[object] = set()
    taken: Counter[str | None] = Counter()
    for statement in statements:
        said = (statement.head, statement.body) if isinstance(statement, syntax.Rule) else statement
        if said in seen:
            continue
        seen.add(said)
        if isinstance(statement, syntax.Rule):
            taken[statement.name] += 1
            yield statement if taken[statement.name] == 1 else _renamed(statement, f"{statement.name} ({taken[statement.name]})")
        else:
            yield statement


def _renamed(rule: syntax.Rule, name: str) -> syntax.Rule:
    return replace(rule, name=name)


def _predicates(statements: Iterable[syntax.Statement]) -> list[syntax.PredicateDeclaration]:
    """Declares every property that a rule names. So a property without facts is not reported as a misspelt name."""
    rules = [statement for statement in statements if isinstance(statement, syntax.Rule)]
    definitions = [statement for statement in statements if isinstance(statement, syntax.Definition)]
    parts = [part for rule in rules for part in (rule.head, rule.body)] + [definition.fact for definition in definitions]
    others = {*TEST_NAMES, *(definition.head.predicate for definition in definitions)}
    atoms = (atom for part in parts for atom in atoms_in(part) if isinstance(atom, syntax.Atom))
    properties = dict.fromkeys(atom.predicate for atom in atoms if atom.predicate not in others)
    return [syntax.PredicateDeclaration(name, 2) for name in properties]


def _axioms(graph: Graph) -> Iterator[Made]:
    for subject, predicate, value in graph.triples:
        if predicate == TYPE:
            yield from _typed(graph, subject, value)
        elif predicate == _CHAIN:
            yield _chained(graph, subject, value)
        elif predicate in _READERS:
            yield from _related(subject, predicate, value)
        elif predicate.startswith((OWL, RDFS)) and predicate not in _SILENT and isinstance(subject, Iri):
            yield NotUnderstood(short(predicate), short(subject.value))


def _typed(graph: Graph, subject: Node, kind: Node) -> Iterator[Made]:
    if not isinstance(kind, Iri):
        return
    if isinstance(subject, Iri) and (read := _CHARACTERISTICS.get(kind.value)):
        yield from read(subject.value, short(subject.value))
    elif kind.value in _GROUPS:
        yield from _group(graph, subject, kind.value)
    elif kind.value.startswith(OWL) and kind.value not in _KINDS:
        yield NotUnderstood(short(kind.value), short(subject.value) if isinstance(subject, Iri) else None)


def _related(subject: Node, predicate: str, value: Node) -> Iterator[Made]:
    if not isinstance(subject, Iri) or not isinstance(value, Iri):
        yield NotUnderstood(f"{short(predicate)} with an expression", next(map(short, names((subject, value))), None))
    elif predicate in _CONCLUDING and (value.value in _EVERYTHING or value == subject):
        return
    elif odd := _odd(subject.value, predicate, value.value):
        yield NotUnderstood(f"{short(predicate)} {odd}", short(subject.value))
    else:
        yield from _READERS[predicate](subject.value, value.value)


def _odd(subject: str, predicate: str, value: str) -> str | None:
    """Why we do not understand an axiom about two names, in words; None if we do."""
    if value in DATATYPES or value.startswith(XSD):
        return "of a datatype"
    if value == f"{OWL}Nothing":
        return "of owl:Nothing"
    return "itself" if predicate == f"{OWL}propertyDisjointWith" and subject == value else None


def _chained(graph: Graph, subject: Node, value: Node) -> Made:
    links = graph.members(value)
    chain = list(names(links))
    if isinstance(subject, Iri) and chain and len(chain) == len(links):
        return _chain(subject.value, chain)
    return NotUnderstood(f"{short(_CHAIN)} with an expression", next(map(short, names((subject,))), None))


_MOST_DISJOINT = 200


def _group(graph: Graph, subject: Node, kind: str) -> Iterator[Made]:
    lists = graph.objects(subject, f"{OWL}members")
    nodes = [node for head in lists for node in graph.members(head)]
    members = sorted(set(names(nodes)))
    if len(members) < len(set(nodes)) or len(members) < 2:
        yield NotUnderstood(f"{short(kind)} with an expression", None)
    elif kind == f"{OWL}AllDisjointProperties" and len(members) > _MOST_DISJOINT:
        # Each pair of properties makes a rule, so a large group makes too many.
        yield NotUnderstood(f"{short(kind)} of more than {_MOST_DISJOINT} properties", None)
    elif kind == f"{OWL}AllDisjointProperties":
        for left, right in combinations(members, 2):
            yield _never_both(left, right)
        yield IncompatibleGroup(tuple(members))
    elif len(members) == 2:
        yield from _disjoint_classes(*members)
    else:
        yield from _several_classes(members)


def _disjoint_classes(left: str, right: str) -> Iterator[syntax.Statement]:
    first, second = sorted((left, right))
    yield denial(f"{short(first)} disjointWith {short(second)}", is_a(X, first), is_a(X, second))
    yield refutation(is_a(X, first), is_a(X, second))
    yield refutation(is_a(X, second), is_a(X, first))


def _several_classes(classes: Sequence[str]) -> Iterator[syntax.Statement]:
    """One rule for all classes, since a hundred classes would make thousands of pairs. Declarations are cheap. We write a
    declaration about two atoms, so the rules that it refutes stay Horn rules."""
    some = tuple(map(syntax.Constant, classes))
    both = syntax.Membership(Y, some), syntax.Membership(Z, some)
    types = syntax.Atom(TYPE, (X, Y)), syntax.Atom(TYPE, (X, Z))
    shown = ", ".join(map(short, classes[:3])) + (", …" if len(classes) > 3 else "")
    yield denial(f"AllDisjointClasses {shown}", *types, *both, syntax.Comparison(syntax.Operator.LESS, Y, Z))
    yield from (refutation(is_a(X, left), is_a(X, right)) for left, right in permutations(classes, 2))


def _never_both(left: str, right: str) -> syntax.Statement:
    first, second = sorted((left, right))
    return denial(f"{short(first)} propertyDisjointWith {short(second)}", atom(first, X, Y), atom(second, X, Y))


def _disjoint_properties(left: str, right: str) -> Iterator[syntax.Statement]:
    yield _never_both(left, right)
    yield IncompatibleGroup(tuple(sorted((left, right))))


def _functional(name: str, shown: str) -> Iterator[syntax.Statement]:
    yield denial(f"{shown} functional", atom(name, X, Y), atom(name, X, Z), different(Y, Z))
    yield Functional(name, 2, (0,), (1,))


def _inverse_functional(name: str, shown: str) -> Iterator[syntax.Statement]:
    yield denial(f"{shown} inverse functional", atom(name, X, Z), atom(name, Y, Z), different(X, Y))
    yield Functional(name, 2, (1,), (0,))


def _asymmetric(name: str, shown: str) -> Iterator[syntax.Statement]:
    yield denial(f"{shown} asymmetric", atom(name, X, Y), atom(name, Y, X))
    yield IncompatiblePair(atom(name, X, Y), atom(name, Y, X))


def _irreflexive(name: str, shown: str) -> Iterator[syntax.Statement]:
    yield denial(f"{shown} irreflexive", atom(name, X, X))
    yield refutation(atom(name, X, Y), equal(X, Y))


def _symmetric(name: str, shown: str) -> Iterator[syntax.Statement]:
    yield implication(f"{shown} symmetric", atom(name, Y, X), atom(name, X, Y))


def _transitive(name: str, shown: str) -> Iterator[syntax.Statement]:
    yield implication(f"{shown} transitive", atom(name, X, Z), atom(name, X, Y), atom(name, Y, Z))


def _domain(name: str, kind: str) -> Iterator[syntax.Statement]:
    yield implication(f"{short(name)} domain {short(kind)}", is_a(X, kind), atom(name, X, Y))


def _range(name: str, kind: str) -> Iterator[syntax.Statement]:
    yield implication(f"{short(name)} range {short(kind)}", is_a(Y, kind), atom(name, X, Y))


def _subclass(below: str, above: str) -> Iterator[syntax.Statement]:
    yield implication(f"{short(below)} subClassOf {short(above)}", is_a(X, above), is_a(X, below))


def _equal_classes(left: str, right: str) -> Iterator[syntax.Statement]:
    yield from (*_subclass(left, right), *_subclass(right, left))


def _subproperty(below: str, above: str) -> Iterator[syntax.Statement]:
    yield implication(f"{short(below)} subPropertyOf {short(above)}", atom(above, X, Y), atom(below, X, Y))


def _equal_properties(left: str, right: str) -> Iterator[syntax.Statement]:
    yield from (*_subproperty(left, right), *_subproperty(right, left))


def _inverse(first: str, second: str) -> Iterator[syntax.Statement]:
    for left, right in ((first, second), (second, first)):
        yield implication(f"{short(left)} inverseOf {short(right)}", atom(left, Y, X), atom(right, X, Y))


def _chain(name: str, links: Sequence[str]) -> syntax.Statement:
    steps = [syntax.Variable(f"X{number}") for number in range(len(links) + 1)]
    body = [atom(link, left, right) for link, left, right in zip(links, steps, steps[1:], strict=False)]
    return implication(f"{short(name)} propertyChainAxiom {', '.join(map(short, links))}", atom(name, steps[0], steps[-1]), *body)


_CHARACTERISTICS: dict[str, Callable[[str, str], Iterator[syntax.Statement]]] = {
    f"{OWL}FunctionalProperty": _functional,
    f"{OWL}InverseFunctionalProperty": _inverse_functional,
    f"{OWL}AsymmetricProperty": _asymmetric,
    f"{OWL}IrreflexiveProperty": _irreflexive,
    f"{OWL}SymmetricProperty": _symmetric,
    f"{OWL}TransitiveProperty": _transitive,
}
_READERS: dict[str, Callable[[str, str], Iterator[syntax.Statement]]] = {
    f"{RDFS}domain": _domain,
    f"{RDFS}range": _range,
    f"{RDFS}subClassOf": _subclass,
    f"{RDFS}subPropertyOf": _subproperty,
    f"{OWL}disjointWith": _disjoint_classes,
    f"{OWL}propertyDisjointWith": _disjoint_properties,
    f"{OWL}equivalentClass": _equal_classes,
    f"{OWL}equivalentProperty": _equal_properties,
    f"{OWL}inverseOf": _inverse,
}
_GROUPS = (f"{OWL}AllDisjointClasses", f"{OWL}AllDisjointProperties")

# An axiom says nothing if it puts a name below these, makes it an instance of these, or puts it below itself. Reasoners write such
# lines.
_EVERYTHING = frozenset((f"{OWL}Thing", f"{RDFS}Resource", f"{OWL}topObjectProperty", f"{OWL}topDataProperty"))
_CONCLUDING = frozenset(f"{RDFS}{name}" for name in ("subClassOf", "subPropertyOf", "domain", "range"))

# If a subject has one of these types, its other statements describe it.
_KINDS = frozenset(
    f"{OWL}{name}"
    for name in (
        "Class",
        "ObjectProperty",
        "DatatypeProperty",
        "AnnotationProperty",
        "OntologyProperty",
        "Ontology",
        "NamedIndividual",
        "Thing",
        "Restriction",
        "DeprecatedClass",
        "DeprecatedProperty",
        "Axiom",
        "Annotation",
        "AllDifferent",
    )
)

# We report no problem for these: texts for people, parts of axioms that we read as a whole, and statements that two names differ.
_SILENT = frozenset(
    (
        *(f"{RDFS}{name}" for name in ("label", "comment", "seeAlso", "isDefinedBy", "member")),
        *(f"{OWL}{name}" for name in ("versionInfo", "versionIRI", "priorVersion", "backwardCompatibleWith", "deprecated")),
        *(f"{OWL}{name}" for name in ("members", "differentFrom", "distinctMembers")),
    )
)
