"""An ontology as the rule file: for every kind of axiom a prediction that breaks it is found, and one that keeps it is not."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys

import pytest

PREFIXES = """\
@prefix : <http://x/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
DISJOINT = " :A owl:disjointWith :B ."
SHAPE = ":S a sh:NodeShape ; sh:targetClass :A ; sh:property [ sh:path :p ; {} ] ."

CASES = [
    # the axiom, the facts, a prediction that breaks it, one that keeps it, the rule, its violations
    (":A owl:disjointWith :B .", ":a a :A .", ":a a :B .", ":a a :C .", "A disjointWith B", 1),
    ("[] a owl:AllDisjointClasses ; owl:members (:A :B) .", ":a a :A .", ":a a :B .", ":b a :B .", "A disjointWith B", 1),
    (
        "[] a owl:AllDisjointClasses ; owl:members (:A :B :C :D) .",
        ":a a :C .",
        ":a a :A .",
        ":a a :E .",
        "AllDisjointClasses A, B, C, …",
        1,
    ),
    (":p owl:propertyDisjointWith :q .", ":a :p :b .", ":a :q :b .", ":b :q :a .", "p propertyDisjointWith q", 1),
    (
        "[] a owl:AllDisjointProperties ; owl:members (:r :p :q) .",
        ":a :p :b .",
        ":a :r :b .",
        ":a :r :c .",
        "p propertyDisjointWith r",
        1,
    ),
    (":p a owl:FunctionalProperty .", ":a :p :b .", ":a :p :c .", ":b :p :c .", "p functional", 2),
    (":p a owl:InverseFunctionalProperty .", ":a :p :b .", ":c :p :b .", ":a :p :c .", "p inverse functional", 2),
    (":p rdfs:domain :A ." + DISJOINT, ":a a :B .", ":a :p :c .", ":c :p :a .", "p domain A", 1),
    (":p rdfs:range :A ." + DISJOINT, ":a a :B .", ":c :p :a .", ":a :p :c .", "p range A", 1),
    (":p a owl:AsymmetricProperty .", ":a :p :b .", ":b :p :a .", ":b :p :c .", "p asymmetric", 2),
    (":p a owl:IrreflexiveProperty .", ":a :p :b .", ":a :p :a .", ":b :p :a .", "p irreflexive", 1),
    (":p owl:inverseOf :q . :p owl:propertyDisjointWith :r .", ":a :r :b .", ":b :q :a .", ":a :q :b .", "p inverseOf q", 1),
    (":p a owl:SymmetricProperty . :p owl:propertyDisjointWith :r .", ":a :r :b .", ":b :p :a .", ":b :p :c .", "p symmetric", 1),
    (
        ":p a owl:TransitiveProperty, owl:IrreflexiveProperty .",
        ":a :p :b .",
        ":b :p :a .",
        ":b :p :c .",
        "p transitive",
        2,
    ),
    (
        ":p rdfs:subPropertyOf :q . :q owl:propertyDisjointWith :r .",
        ":a :r :b .",
        ":a :p :b .",
        ":b :p :a .",
        "p subPropertyOf q",
        1,
    ),
    (
        ":p owl:equivalentProperty :q . :q owl:propertyDisjointWith :r .",
        ":a :r :b .",
        ":a :p :b .",
        ":b :p :a .",
        "p subPropertyOf q",
        1,
    ),
    (
        ":p owl:propertyChainAxiom (:q :s) ; a owl:IrreflexiveProperty .",
        ":a :q :b .",
        ":b :s :a .",
        ":b :s :c .",
        "p propertyChainAxiom q, s",
        1,
    ),
    (":C rdfs:subClassOf :A ." + DISJOINT, ":a a :B .", ":a a :C .", ":b a :C .", "C subClassOf A", 1),
    (":C owl:equivalentClass :A ." + DISJOINT, ":a a :B .", ":a a :C .", ":b a :C .", "C subClassOf A", 1),
    (SHAPE.format("sh:maxCount 0"), ":a a :A .", ":a :p :b .", ":b :p :a .", "A.p maxCount 0", 1),
    (SHAPE.format("sh:maxCount 1"), ":a a :A ; :p :b .", ":a :p :c .", ":b :p :c .", "A.p maxCount 1", 2),
    (SHAPE.format("sh:maxCount 2"), ":a a :A ; :p :b, :c .", ":a :p :d .", ":a :p :c .", "A.p maxCount 2", 1),
    (SHAPE.format("sh:minCount 1"), ":b :p :c .", ":a a :A .", ":b a :A .", "A.p minCount 1", 1),
    (SHAPE.format("sh:class :B"), ":a a :A . :b a :B .", ":a :p :c .", ":a :p :b .", "A.p class B", 1),
    (SHAPE.format("sh:class :B") + " :C rdfs:subClassOf :B .", ":a a :A . :b a :C .", ":a :p :c .", ":a :p :b .", "A.p class B", 1),
    (SHAPE.format("sh:disjoint :q"), ":a a :A ; :q :b .", ":a :p :b .", ":a :p :c .", "A.p disjoint q", 1),
    (
        SHAPE.format("sh:maxCount 1") + " :C rdfs:subClassOf :A .",
        ":a a :C ; :p :b .",
        ":a :p :c .",
        ":b :p :c .",
        "A.p maxCount 1",
        2,
    ),
    (
        ":S a sh:NodeShape ; sh:targetClass :A ; sh:property [ sh:path [ sh:inversePath :p ] ; sh:maxCount 1 ] .",
        ":a a :A . :b :p :a .",
        ":c :p :a .",
        ":a :p :c .",
        "A.^p maxCount 1",
        2,
    ),
    (
        ":A a sh:NodeShape, owl:Class ; sh:property [ sh:path :p ; sh:maxCount 0 ] .",
        ":a a :A .",
        ":a :p :b .",
        ":b :p :a .",
        "A.p maxCount 0",
        1,
    ),
    (
        ":S sh:targetSubjectsOf :q ; sh:property [ sh:path :p ; sh:maxCount 0 ] .",
        ":a :q :b .",
        ":a :p :b .",
        ":b :p :a .",
        "subjects of q.p maxCount 0",
        1,
    ),
    (
        ":S sh:targetObjectsOf :q ; sh:path :p ; sh:maxCount 0 .",
        ":a :q :b .",
        ":b :p :b .",
        ":a :p :a .",
        "objects of q.p maxCount 0",
        1,
    ),
    (":S sh:targetClass :A ; sh:class :B .", ":b a :B .", ":a a :A .", ":b a :A .", "A class B", 1),
    (SHAPE.format("sh:datatype xsd:string"), ":a a :A .", ":a :p 1 .", ':a :p "1" .', "A.p datatype xsd:string", 1),
    (SHAPE.format("sh:datatype xsd:int"), ":a a :A .", ":a :p 1 .", ':a :p "2"^^xsd:int .', "A.p datatype xsd:int", 1),
    (SHAPE.format("sh:datatype rdf:langString"), ":a a :A .", ':a :p "x" .', ':a :p "y"@en .', "A.p datatype rdf:langString", 1),
    (SHAPE.format("sh:nodeKind sh:IRI"), ":a a :A .", ':a :p "x" .', ":a :p :b .", "A.p nodeKind sh:IRI", 1),
    (
        SHAPE.format("sh:nodeKind sh:BlankNodeOrLiteral"),
        ":a a :A .",
        ":a :p :b .",
        ":a :p [] .",
        "A.p nodeKind sh:BlankNodeOrLiteral",
        1,
    ),
    (SHAPE.format("sh:minInclusive 2"), ":a a :A .", ":a :p 1 .", ":a :p 2 .", "A.p minInclusive 2", 1),
    (SHAPE.format("sh:minExclusive 2"), ":a a :A .", ":a :p 2 .", ":a :p 2.5 .", "A.p minExclusive 2", 1),
    (SHAPE.format("sh:maxInclusive 2"), ":a a :A .", ':a :p "1" .', ":a :p 2 .", "A.p maxInclusive 2", 1),
    (SHAPE.format("sh:maxExclusive 2"), ":a a :A .", ":a :p 2 .", ":a :p 1 .", "A.p maxExclusive 2", 1),
    (SHAPE.format("sh:minLength 2"), ":a a :A .", ':a :p "x" .', ':a :p "xy" .', "A.p minLength 2", 1),
    (SHAPE.format("sh:maxLength 2"), ":a a :A .", ":a :p 100 .", ':a :p "xy" .', "A.p maxLength 2", 1),
    (SHAPE.format("sh:maxLength 99"), ":a a :A .", ":a :p [] .", ":a :p :b .", "A.p maxLength 99", 1),
    (SHAPE.format('sh:pattern "^x" ; sh:flags "i"'), ":a a :A .", ':a :p "yx" .', ':a :p "Xy" .', "A.p pattern ^x", 1),
    (SHAPE.format('sh:languageIn ("en")'), ":a a :A .", ':a :p "x"@de .', ':a :p "y"@en-GB .', "A.p languageIn", 1),
    (SHAPE.format("sh:in (:b 1)"), ":a a :A .", ":a :p :c .", ":a :p 1 .", "A.p in", 1),
    (SHAPE.format("sh:hasValue :b"), ":c :p :b .", ":a a :A .", ":c a :A .", "A.p hasValue b", 1),
    (SHAPE.format("sh:equals :q"), ":a a :A ; :p :b ; :q :b .", ":a :p :c .", ":d :p :c .", "A.p equals q", 1),
    (SHAPE.format("sh:lessThan :q"), ":a a :A ; :q 2 .", ":a :p 2 .", ":a :p 1 .", "A.p lessThan q", 1),
    (SHAPE.format("sh:lessThanOrEquals :q"), ":a a :A ; :q 2 .", ":a :p 3 .", ":a :p 2 .", "A.p lessThanOrEquals q", 1),
    (SHAPE.format("sh:node [ sh:class :B ]"), ":a a :A . :b a :B .", ":a :p :c .", ":a :p :b .", "A.p node", 1),
    (
        SHAPE.format("sh:node [ sh:property [ sh:path :q ; sh:minCount 1 ] ]"),
        ":a a :A . :b :q :c .",
        ":a :p :c .",
        ":a :p :b .",
        "A.p node",
        1,
    ),
    (SHAPE.format("sh:not [ sh:class :B ]"), ":a a :A . :b a :B .", ":a :p :b .", ":a :p :c .", "A.p not", 1),
    (
        SHAPE.format("sh:and ([ sh:class :B ] [ sh:class :C ])"),
        ":a a :A . :b a :B . :c a :B, :C .",
        ":a :p :b .",
        ":a :p :c .",
        "A.p and",
        1,
    ),
    (
        SHAPE.format("sh:or ([ sh:class :B ] [ sh:datatype xsd:string ])"),
        ":a a :A . :b a :B .",
        ":a :p 1 .",
        ":a :p :b .",
        "A.p or",
        1,
    ),
    (
        SHAPE.format("sh:xone ([ sh:class :B ] [ sh:class :C ])"),
        ":a a :A . :b a :B . :c a :B, :C .",
        ":a :p :c .",
        ":a :p :b .",
        "A.p xone",
        1,
    ),
    (
        SHAPE.format("sh:qualifiedValueShape [ sh:class :B ] ; sh:qualifiedMaxCount 1"),
        ":a a :A ; :p :b . :b a :B . :c a :B .",
        ":a :p :c .",
        ":a :p :d .",
        "A.p qualifiedMaxCount 1",
        1,
    ),
    (
        SHAPE.format("sh:qualifiedValueShape [ sh:class :B ] ; sh:qualifiedMinCount 1"),
        ":b a :B . :c :p :b .",
        ":a a :A .",
        ":c a :A .",
        "A.p qualifiedMinCount 1",
        1,
    ),
    (
        SHAPE.format("sh:property [ sh:path :q ; sh:class :B ]"),
        ":a a :A ; :p :b . :c a :B .",
        ":b :q :d .",
        ":b :q :c .",
        "A.p.q class B",
        1,
    ),
    (
        ":S sh:targetClass :A ; sh:closed true ; sh:ignoredProperties (rdf:type) ; sh:property [ sh:path :p ] .",
        ":a a :A .",
        ":a :q :b .",
        ":b :q :a .",
        "A closed q",
        1,
    ),
    (
        ":S sh:targetNode :a ; sh:property [ sh:path :p ; sh:maxCount 0 ] .",
        ":c :q :b .",
        ":a :p :b .",
        ":b :p :a .",
        "a.p maxCount 0",
        1,
    ),
    (":S sh:targetClass :A ; sh:equals :p .", ":a a :A ; :p :a .", ":a :p :b .", ":b :p :c .", "A equals p (2)", 1),
    (":S sh:targetClass :A ; sh:disjoint :p .", ":a a :A .", ":a :p :a .", ":b :p :b .", "A disjoint p", 1),
    (":S sh:targetClass :A ; sh:hasValue :a .", ":c :q :b .", ":b a :A .", ":a a :A .", "A hasValue a", 1),
    (":S sh:targetClass :A ; sh:not [ sh:path :p ; sh:minCount 1 ] .", ":a a :A .", ":a :p :b .", ":b :p :c .", "A not", 1),
    (
        ":S sh:targetClass :A ; sh:property [ sh:path (:p [ sh:inversePath :q ]) ; sh:class :B ] .",
        ":a a :A ; :p :b . :d a :B .",
        ":c :q :b .",
        ":d :q :b .",
        "A.p/^q class B",
        1,
    ),
    (
        ":S sh:targetClass :A ; sh:property [ sh:path [ sh:alternativePath (:p :q) ] ; sh:maxCount 1 ] .",
        ":a a :A ; :p :b .",
        ":a :q :c .",
        ":a :q :b .",
        "A.p|q maxCount 1",
        1,
    ),
    (
        ":S sh:targetClass :A ; sh:property [ sh:path [ sh:oneOrMorePath :p ] ; sh:class :B ] .",
        ":b :p :c . :c :p :d . :d a :B .",
        ":b a :A .",
        ":c a :A .",
        "A.p+ class B",
        1,
    ),
    (
        ":S sh:targetClass :A ; sh:property [ sh:path [ sh:zeroOrMorePath :p ] ; sh:minCount 3 ] .",
        ":a :p :b . :b :p :c .",
        ":b a :A .",
        ":a a :A .",
        "A.|p+ minCount 3",
        1,
    ),
    (
        ":S sh:targetClass :A ; sh:property [ sh:path [ sh:zeroOrOnePath :p ] ; sh:class :A ] .",
        ":a a :A .",
        ":a :p :b .",
        ":c :p :b .",
        "A.|p class A",
        1,
    ),
]


@pytest.mark.parametrize(("axiom", "facts", "breaks", "keeps", "rule", "violations"), CASES, ids=[case[0] for case in CASES])
def test_what_breaks_an_axiom_is_found(family, run, axiom, facts, breaks, keeps, rule, violations):
    for name, text in (("o.ttl", axiom), ("f.ttl", facts), ("breaks.ttl", breaks), ("keeps.ttl", keeps)):
        (family / name).write_text(PREFIXES + text, encoding="utf-8")
    predictions = ("--predictions", "breaks.ttl", "--predictions", "keeps.ttl")
    result = run("score", "--rules", "o.ttl", "--facts", "f.ttl", *predictions, "--format", "json", "--quiet")
    (found,) = [one for one in json.loads(result.stdout)["rules"] if one["name"] == rule]
    assert {model: counts["refuted"] for model, counts in found["models"].items()} == {"breaks": violations, "keeps": 0}


LEFT_OUT = """\
:A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :B ], owl:Thing ; rdfs:label "a" .
:C rdfs:subClassOf [ a owl:Class ; owl:complementOf :B ] ; owl:equivalentClass [ owl:unionOf (:A :B) ] .
:p a owl:ObjectProperty, owl:ReflexiveProperty, owl:AsymmetricProperty ; rdfs:range xsd:string .
[] a owl:AllDisjointClasses ; owl:members (:A [ owl:complementOf :B ]) .
<http://x/> a owl:Ontology ; owl:imports <http://y/> ; owl:versionInfo "1" .
:S a sh:NodeShape ; sh:targetClass :A ; sh:sparql [] ; sh:node :Deep ;
  sh:property [ sh:path :p ; sh:uniqueLang true ; sh:maxCount 1 ], [ sh:path [ sh:zeroOrMorePath (:p :q) ] ; sh:maxCount 1 ] .
:Deep sh:property [ sh:path :p ; sh:node [ sh:property [ sh:path :q ; sh:class :B ] ] ], [ sh:path :r ; sh:node :Deep ] .
:T a sh:NodeShape ; sh:property [ sh:path :p ; sh:maxCount 1 ] .
:U a sh:NodeShape ; sh:targetClass :A ; sh:deactivated true ; sh:property [ sh:path :q ; sh:maxCount 1 ] .
:a a :A ; :p :b .
"""


def test_axioms_that_are_not_understood_are_counted_and_named(family, run):
    (family / "o.ttl").write_text(PREFIXES + LEFT_OUT, encoding="utf-8")
    result = run("check", "--rules-only", "o.ttl")
    assert result.exit_code == 0
    kinds = "rdfs:subClassOf with an expression, owl:equivalentClass with an expression, owl:ReflexiveProperty and others"
    assert f"warning[W152]: 12 axioms of o.ttl are not understood, and left out: {kinds}\n" in result.stderr
    notes = [line.removeprefix(" = note: ") for line in result.stderr.splitlines() if line.startswith(" = note: ")]
    assert notes == [
        "rdfs:subClassOf with an expression: 2, of A, C",
        "owl:equivalentClass with an expression: 1, of C",
        "owl:ReflexiveProperty: 1, of p",
        "rdfs:range of a datatype: 1, of p",
        "owl:AllDisjointClasses with an expression: 1",
        "owl:imports: 1, of x",
        "sh:sparql: 1, of S",
        "sh:node of values whose own values count: 1, of A",
        "sh:uniqueLang: 1, of A.p",
        "a path of many steps of several properties: 1, of A",
        "a shape without a target: 1, of T",
    ]


def test_every_syntax_is_read_and_nothing_is_said_twice(family, run):
    text = PREFIXES + ":A owl:disjointWith :B . :B owl:disjointWith :A . :p owl:inverseOf :q . :q owl:inverseOf :p ."
    (family / "o.ttl").write_text(text, encoding="utf-8")
    (family / "o.trig.gz").write_bytes(gzip.compress(text.encode()))
    shown = [run("rules", "--rules", name, "--format", "csv").stdout for name in ("o.ttl", "o.trig.gz")]
    assert len(shown[0].splitlines()) == 4
    assert shown[1].replace("o.trig.gz", "o.ttl") == shown[0]


def test_a_file_with_another_ending_is_turtle_if_the_format_is_named(family, run):
    (family / "axioms.txt").write_text(PREFIXES + ":A owl:disjointWith :B .", encoding="utf-8")
    assert "looks like Turtle" in run("rules", "--rules", "axioms.txt").stderr
    shown = run("rules", "--rules", "axioms.txt", "--rules-format", "ontology", "--format", "csv").stdout
    assert "A disjointWith B," in shown


def test_names_of_two_vocabularies_are_told_apart(family, run):
    text = PREFIXES + "@prefix y: <http://y/> . :A owl:disjointWith :B . y:A owl:disjointWith y:B ."
    (family / "o.ttl").write_text(text, encoding="utf-8")
    shown = run("rules", "--rules", "o.ttl", "--format", "csv").stdout
    assert "A disjointWith B," in shown
    assert "A disjointWith B (2)," in shown


def test_an_ontology_refutes_what_other_rules_conclude(family, run):
    """A prediction keeps all axioms, and a rule of another file concludes what they forbid."""
    (family / "o.ttl").write_text(PREFIXES + ":p owl:propertyDisjointWith :r .", encoding="utf-8")
    (family / "more.rules").write_text("more: `http://x/p`(X, Y) <- `http://x/q`(Y, X).", encoding="utf-8")
    (family / "f.ttl").write_text(PREFIXES + ":a :r :b .", encoding="utf-8")
    (family / "m.ttl").write_text(PREFIXES + ":b :q :a .", encoding="utf-8")
    rules = ("--rules", "o.ttl", "--rules", "more.rules")
    result = run("violations", *rules, "--facts", "f.ttl", "--predictions", "m.ttl")
    assert "refuted by  :r(:a, :b)" in result.stdout


@pytest.mark.parametrize(
    ("rules", "below"), [("s.ttl o.ttl", ""), ("o.ttl s.ttl", ""), ("s.ttl", "f"), ("s.ttl o.ttl", "f"), ("s.ttl", "")]
)
def test_classes_are_below_others_by_all_rule_files_and_facts(family, run, rules, below):
    """A reptile is a pet by the file of the shape; a lizard is a reptile by another file, or by the facts."""
    shape = (
        ":Reptile rdfs:subClassOf :Pet . :S a sh:NodeShape ; sh:targetClass :Human ; sh:property [ sh:path :has ; sh:class :Pet ] ."
    )
    lizard = ":Lizard rdfs:subClassOf :Reptile ."
    (family / "s.ttl").write_text(PREFIXES + shape, encoding="utf-8")
    (family / "o.ttl").write_text(PREFIXES + lizard, encoding="utf-8")
    facts = ":amy a :Human ; :has :bo . :bo a :Lizard ."
    (family / "f.ttl").write_text(PREFIXES + facts + (lizard if below else ""), encoding="utf-8")
    given = [word for name in rules.split() for word in ("--rules", name)]
    result = run("violations", "--dataset", *given, "--facts", "f.ttl", "--format", "json")
    assert json.loads(result.stdout)["total"] == (1 if (rules, below) == ("s.ttl", "") else 0)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("o.ttl", ":a a :A .\n", "error[E317]: the prefix : has not been declared\n --> o.ttl:1:1"),
        ("o.ttl", "<http://x/a> <http://x/p> 7 .", "error[E363]: `o.ttl` has no axioms and no shapes"),
        ("o.owl", "<owl>", "error[E317]: "),
    ],
)
def test_a_file_that_is_no_ontology_is_an_error(family, run, name, text, message):
    (family / name).write_text(text, encoding="utf-8")
    result = run("check", "--rules-only", name)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_missing_ontology_is_an_error(run):
    result = run("check", "--rules-only", "missing.ttl")
    assert result.exit_code == 2
    assert "missing.ttl" in result.stderr


@pytest.mark.slow
def test_a_process_of_its_own_scores_with_an_ontology(family):
    for name, text in (("o.ttl", ":A owl:disjointWith :B ."), ("f.ttl", ":a a :A ."), ("m.ttl", ":a a :B .")):
        (family / name).write_text(PREFIXES + text, encoding="utf-8")
    command = [sys.executable, "-m", "rulescore", "score", "--rules", "o.ttl", "--facts", "f.ttl", "--predictions", "m.ttl"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=family, check=False)
    assert done.returncode == 0
    assert "1 of 1 (100.0%)" in done.stdout


@pytest.mark.slow
def test_an_ontology_is_said_aloud_and_converted(tmp_path):
    (tmp_path / "kin.ttl").write_text(PREFIXES + ":mother a owl:FunctionalProperty ; rdfs:comment 'one each' .")
    command = [sys.executable, "-m", "rulescore", "rules", "convert", "kin.ttl", "--to", "rulescore"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert found.stderr.strip() == "note[W151]: kin.ttl: an ontology, 1 rule read"
    assert "functional `http://x/mother`(X -> Y)." in found.stdout


REPORT = """\
:S a sh:NodeShape ; sh:targetClass :A ;
  sh:property [ sh:path :p ; sh:datatype xsd:integer ; sh:message "numbers only" ] ;
  sh:property [ sh:path [ sh:inversePath :q ] ; sh:minCount 1 ] .
"""


def test_a_list_of_rules_has_the_prefixes_of_their_files_for_people(family, run):
    (family / "s.ttl").write_text(PREFIXES + REPORT, encoding="utf-8")
    shown = run("rules", "--rules", "s.ttl").stdout
    assert ":p(X, Y), not `sh:datatype`(Y, xsd:integer)" in shown
    assert "http://" not in shown
    assert "`http://x/p`(X, Y)" in run("rules", "--rules", "s.ttl", "--format", "csv").stdout


def test_build_pages_have_the_prefixes_of_rdf_files(family, run):
    (family / "s.ttl").write_text(PREFIXES + REPORT, encoding="utf-8")
    (family / "f.ttl").write_text(PREFIXES + ':a a :A ; :p "old" . :b :q :a .', encoding="utf-8")
    asked = ("audit", "--facts", "f.ttl", "--rules", "s.ttl", "--fail-if", "refuted > 0", "--quiet")
    assert run(*asked, "--junit", "gates.xml", "--summary", "summary.md").exit_code == 1
    for name in ("gates.xml", "summary.md"):
        text = (family / name).read_text(encoding="utf-8")
        assert "rdf:type(:a, :A), :p(:a, old)" in text
        assert "http://x/" not in text


def test_violations_of_shapes_have_the_columns_of_a_validation_report(family, run):
    (family / "s.ttl").write_text(PREFIXES + REPORT, encoding="utf-8")
    (family / "f.ttl").write_text(PREFIXES + ':a a :A ; :p "old" . :b :q :c .', encoding="utf-8")
    listed = run("violations", "--dataset", "--facts", "f.ttl", "--rules", "s.ttl", "--format", "json", "--quiet")
    names = ("constraint", "focus_node", "result_path", "result_value", "result_message")
    rows = {tuple(row[name] for name in names) for row in json.loads(listed.stdout)["rows"]}
    assert rows == {
        ("sh:datatype", "http://x/a", "http://x/p", "old", "numbers only"),
        ("sh:minCount", "http://x/a", "^<http://x/q>", None, None),
    }
    broken = "rdf:type(:a, :A) and :p(:a, old) are observed, and not `sh:datatype`(old, xsd:integer), which the rule forbids"
    assert [row["sentence"] for row in json.loads(listed.stdout)["rows"]] == [
        f"{broken}: numbers only",
        "rdf:type(:a, :A) is observed, but there is no :q(V, :a)",
    ]


def test_iris_have_the_prefixes_of_the_files_for_people(family, run):
    """Fields that programs join by keep the IRIs. Prefixes of facts serve rules in our own language, too."""
    (family / "f.ttl").write_text("@prefix ex: <http://y/v#> . ex:a ex:p ex:b .", encoding="utf-8")
    (family / "r.rules").write_text(
        '@hard r: false <- `http://y/v#p`(X, "http://y/v#b"), `http://z/q`(X, _). predicate `http://z/q`/2.'
    )
    asked = ("--facts", "f.ttl", "--rules", "r.rules", "--quiet")
    shown = "ex:p(X, ex:b), `http://z/q`(X, _)"
    for form in ("table", "markdown", "latex"):
        assert "ex:p(X, ex:b)" in run("audit", *asked, "--format", form).stdout
    assert shown in run("audit", *asked).stdout.replace("\n", "")
    assert json.loads(run("audit", *asked, "--format", "json").stdout)["rows"][0]["text"].startswith("false <- `http://y/v#p`")
