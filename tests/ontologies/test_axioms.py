"""Axioms as statements, from triples that are made here: no file and no parser of RDF."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulescore.errors import Source
from rulescore.language.parser import parse
from rulescore.language.printer import print_program, print_statement
from rulescore.language.syntax import PredicateDeclaration
from rulescore.ontologies.axioms import read_ontology
from rulescore.ontologies.triples import TYPE, Blank, Graph, Iri, Literal, NotUnderstood, short
from rulescore.readers.rdf import OWL, RDF, RDFS, SHACL, XSD

A, B, C, P, Q = (Iri(f"http://x/{name}") for name in "ABCPQ")
NODE = Blank("n")


def said(*triples):
    """What is read, without the declared predicates, with short names."""
    found = read_ontology(triples)
    texts = (print_statement(one) for one in found.program.statements if not isinstance(one, PredicateDeclaration))
    return [text.replace(f"`{TYPE}`", "type").replace("http://x/", "") for text in texts]


def test_an_axiom_is_a_hard_rule_and_what_refutes():
    assert said((B, f"{OWL}disjointWith", A)) == [
        '@hard\n`A disjointWith B`: false <- type(X, "A"), type(X, "B").',
        'refute type(X, "A") <- type(X, "B").',
        'refute type(X, "B") <- type(X, "A").',
    ]
    assert said((P, TYPE, Iri(f"{OWL}InverseFunctionalProperty"))) == [
        "@hard\n`P inverse functional`: false <- `P`(X, Z), `P`(Y, Z), X != Y.",
        "functional `P`(X, Y) on Y -> X.",
    ]


def test_what_concludes_is_a_rule_of_no_declared_kind():
    assert said((P, f"{RDFS}range", A)) == ['`P range A`: type(Y, "A") <- `P`(X, Y).']
    assert said((P, f"{OWL}inverseOf", Q), (Q, f"{OWL}inverseOf", P)) == [
        "`P inverseOf Q`: `P`(Y, X) <- `Q`(X, Y).",
        "`Q inverseOf P`: `Q`(Y, X) <- `P`(X, Y).",
    ]


def test_a_shape_is_about_the_classes_below_its_target():
    shape = (Iri("http://x/S"), f"{SHACL}targetClass", A), (Iri("http://x/S"), f"{SHACL}property", NODE)
    limits = (NODE, f"{SHACL}path", P), (NODE, f"{SHACL}maxCount", Literal("2", f"{XSD}integer"))
    below = (B, f"{RDFS}subClassOf", A)
    marks = '@hard @tags("sh:maxCount") @about(X, "P")\n'
    assert marks + '`A.P maxCount 2`: count(V : `P`(X, V)) <= 2 <- type(X, "A").' in said(*shape, *limits)
    with_class = said(*shape, *limits, below)
    assert 'define `A*`(X) <- type(X, Y), Y in {"A", "B"}.' in with_class
    assert marks + "`A.P maxCount 2`: count(V : `P`(X, V)) <= 2 <- `A*`(X)." in with_class


def test_every_property_that_a_rule_names_is_declared():
    found = read_ontology([(P, f"{RDFS}domain", A), (Q, TYPE, Iri(f"{OWL}SymmetricProperty"))])
    declared = [one.predicate for one in found.program.declarations if isinstance(one, PredicateDeclaration)]
    assert declared == [TYPE, P.value, Q.value]


@pytest.mark.parametrize(
    ("triple", "axiom", "about"),
    [
        ((A, f"{RDFS}subClassOf", NODE), "rdfs:subClassOf with an expression", "A"),
        ((NODE, f"{RDFS}subClassOf", A), "rdfs:subClassOf with an expression", "A"),
        ((P, f"{RDFS}range", Iri(f"{RDFS}Literal")), "rdfs:range of a datatype", "P"),
        ((A, f"{RDFS}subClassOf", Iri(f"{OWL}Nothing")), "rdfs:subClassOf of owl:Nothing", "A"),
        ((A, f"{OWL}hasKey", NODE), "owl:hasKey", "A"),
        ((P, f"{OWL}propertyDisjointWith", P), "owl:propertyDisjointWith itself", "P"),
        ((A, f"{OWL}sameAs", B), "owl:sameAs", "A"),
        ((P, f"{OWL}propertyChainAxiom", NODE), "owl:propertyChainAxiom with an expression", "P"),
        ((NODE, TYPE, Iri(f"{OWL}NegativePropertyAssertion")), "owl:NegativePropertyAssertion", None),
        ((NODE, TYPE, Iri(f"{OWL}AllDisjointClasses")), "owl:AllDisjointClasses with an expression", None),
    ],
)
def test_what_is_not_understood_is_told(triple, axiom, about):
    found = read_ontology([triple])
    assert found.left_out == (NotUnderstood(axiom, about),)
    assert found.program.statements == ()


@pytest.mark.parametrize(
    "triple",
    [
        (A, f"{RDFS}label", Literal("a", f"{XSD}string")),
        (A, f"{RDFS}subClassOf", Iri(f"{OWL}Thing")),
        (A, TYPE, Iri(f"{OWL}Class")),
        (A, f"{OWL}differentFrom", B),
        (A, f"{RDFS}subClassOf", A),
        (A, "http://x/p", B),
    ],
)
def test_what_says_nothing_is_passed_over(triple):
    found = read_ontology([triple])
    assert (found.program.statements, found.left_out) == ((), ())


def test_circles_end():
    graph = Graph([(A, f"{RDFS}subClassOf", B), (B, f"{RDFS}subClassOf", A), (NODE, f"{RDF}first", A), (NODE, f"{RDF}rest", NODE)])
    assert graph.below(A.value) == [A.value, B.value]
    assert graph.members(NODE) == [A]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("http://x/y#Person", "Person"),
        ("http://x/Person/", "Person"),
        ("urn:isbn:7", "urn:isbn:7"),
        (f"{OWL}Thing", "owl:Thing"),
        ("#", "#"),
    ],
)
def test_names_are_shown_by_their_last_part(name, shown):
    assert short(name) == shown


_NODES = st.sampled_from([A, B, C, P, Q, NODE, Blank("m"), Literal("2", f"{XSD}integer"), Iri("http://y/A"), Iri("a `b` \\")])
_KINDS = ("Functional", "InverseFunctional", "Asymmetric", "Irreflexive", "Symmetric", "Transitive")
_TYPES = [Iri(f"{OWL}{kind}Property") for kind in _KINDS] + [Iri(f"{OWL}AllDisjointClasses"), Iri(f"{SHACL}NodeShape")]
_RELATIONS = [
    *(f"{RDFS}{name}" for name in ("domain", "range", "subClassOf", "subPropertyOf")),
    *(f"{OWL}{name}" for name in ("disjointWith", "propertyDisjointWith", "inverseOf", "members", "propertyChainAxiom")),
    *(
        f"{SHACL}{name}"
        for name in (
            *(
                "targetClass",
                "targetSubjectsOf",
                "targetNode",
                "property",
                "path",
                "inversePath",
                "alternativePath",
                "zeroOrOnePath",
            ),
            *("minCount", "maxCount", "class", "disjoint", "equals", "lessThan", "hasValue", "in", "datatype", "pattern", "closed"),
            *("node", "not", "and", "or", "xone", "qualifiedValueShape", "qualifiedMinCount", "deactivated", "message"),
        )
    ),
    *(f"{RDF}{name}" for name in ("first", "rest")),
]
_TRIPLES = st.one_of(
    st.tuples(_NODES, st.sampled_from(_RELATIONS), _NODES),
    st.tuples(_NODES, st.just(TYPE), st.sampled_from(_TYPES)),
)


@given(st.lists(_TRIPLES, max_size=12))
def test_whatever_stands_in_a_file_the_rules_can_be_read_again(triples):
    found = read_ontology(triples)
    text = print_program(found.program)
    assert parse(Source("ontology", text)) == found.program
    names = [rule.name for rule in found.program.rules]
    assert len(set(names)) == len(names)
