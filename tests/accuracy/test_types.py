"""Sem@k is what its definition says, and for k = 1 what rules of domains and ranges find."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import rulescore
from rulescore.accuracy.answers import ModelAnswers
from rulescore.accuracy.links import RankedQuery, TypedQuery, declared_sides, observed_sides, type_accuracy, typed_queries
from rulescore.errors import InputError
from rulescore.reporting.json import schema

# The small example that is worked by hand below: two relations, five entities with types, three queries.
TYPES = {"person": {"ann", "bob"}, "city": {"rome", "oslo"}, "country": {"italy"}}
DECLARED = {("lives_in", False): [{"person"}], ("lives_in", True): [{"city"}], ("capital_of", True): [{"country"}]}
QUERIES = [
    TypedQuery(RankedQuery(True, "lives_in", "ann"), ["rome", "italy", "oslo", "bob"]),
    TypedQuery(RankedQuery(True, "capital_of", "rome"), ["oslo", "italy", "rome", "ann"]),
    TypedQuery(RankedQuery(False, "lives_in", "rome"), ["bob", "ann", "unknown", "oslo"]),
    TypedQuery(RankedQuery(False, "capital_of", "italy"), ["bob", "ann", "rome", "oslo"]),
]


def test_a_small_example_by_hand() -> None:
    """Tails: lives_in(ann, ?) has a city first, two cities among its best three, two among four; capital_of(rome, ?) has no country
    first, one among three and among four. Heads: lives_in(?, rome) has persons first and second; `unknown` has no type, and counts
    as wrong. Nothing is declared of the heads of capital_of, so that its query is left out. As the published program does it,
    the mean over queries is taken for each side, and the figure is the mean of both sides."""
    found = type_accuracy("model", QUERIES, declared_sides(DECLARED, TYPES), (1, 3, 4))
    values = {(one.metric, one.part): one.value for one in found.measures}
    assert values["sem_at_1", "tail"] == (1 + 0) / 2
    assert values["sem_at_3", "tail"] == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert values["sem_at_4", "tail"] == pytest.approx((2 / 4 + 1 / 4) / 2)
    assert (values["sem_at_1", "head"], values["sem_at_3", "head"], values["sem_at_4", "head"]) == (1, pytest.approx(2 / 3), 0.5)
    assert values["sem_at_1", "both"] == (1 + 0.5) / 2
    assert values["sem_at_4", "both"] == pytest.approx((0.5 + 0.375) / 2)
    assert (found.asked, found.answered) == (4, 3)


def test_what_is_observed_on_a_side_fits_there() -> None:
    fitting = observed_sides([("lives_in", "ann", "rome"), ("lives_in", "bob", "oslo"), ("person", "ann")])
    found = type_accuracy("model", QUERIES, fitting, (1, 4))
    assert {one.metric: one.value for one in found.measures if one.part == "tail"} == {"sem_at_1": 1, "sem_at_4": 0.5}


def test_more_answers_than_there_are_have_no_share() -> None:
    found = type_accuracy("model", QUERIES[:1], declared_sides(DECLARED, TYPES), (5,))
    assert [one.reason for one in found.measures] == [
        "no ranking has more than 4 answers",
        "there is no query",
        "no ranking has more than 4 answers",
    ]


def test_a_class_without_members_is_told() -> None:
    found = type_accuracy("model", QUERIES, declared_sides(DECLARED, {"city": TYPES["city"]}), (1,))
    assert found.reason == "nothing is known to be a `person`, `country`"
    assert found.answered == 1


def test_known_facts_are_left_out_but_for_the_truth_of_the_query() -> None:
    answers = ModelAnswers(
        [("lives_in", "ann", "rome"), ("lives_in", "ann", "oslo"), ("lives_in", "ann", "italy")],
        tails=[True] * 3,
        test_rows=[0] * 3,
    )
    known = {("lives_in", "ann", "rome"), ("lives_in", "ann", "oslo")}
    (found,) = typed_queries(answers, known, [("lives_in", "ann", "oslo")])
    assert found.answers == ["oslo", "italy"]


FACTS = [
    *(("person", one) for one in ("ann", "bob", "cid", "dan")),
    *(("city", one) for one in ("rome", "oslo", "bonn")),
    ("country", "italy"),
]
TRIPLES = [("ann", "lives_in", "rome"), ("rome", "capital_of", "italy")]
# The best answer to each query for a tail; four of them are of the range that is declared.
BEST = [
    ("bob", "lives_in", "oslo"),
    ("cid", "lives_in", "ann"),
    ("dan", "lives_in", "bonn"),
    ("bonn", "capital_of", "italy"),
    ("oslo", "capital_of", "italy"),
    ("dan", "works_in", "ann"),
]
RULES = """
lives: city(Y) <- lives_in(X, Y).
capital: country(Y) <- capital_of(X, Y).
closed city. closed country.
"""


@pytest.fixture
def schema_file(tmp_path: Path) -> Path:
    path = tmp_path / "schema.tsv"
    path.write_text("relation\tdomain\trange\nlives_in\tperson\tcity\ncapital_of\tcity\tcountry\n")
    return path


def observed() -> dict[str, list[tuple[str, ...]]]:
    found: dict[str, list[tuple[str, ...]]] = {}
    for predicate, entity in FACTS:
        found.setdefault(predicate, []).append((entity,))
    for head, relation, tail in TRIPLES:
        found.setdefault(relation, []).append((head, tail))
    return found


def answers_frame(rows: list[tuple[str, str, str]]):
    import pyarrow as pa

    heads, relations, tails = zip(*rows, strict=True)
    return pa.table(
        {"query_direction": ["tail"] * len(rows), "head": heads, "relation": relations, "tail": tails, "rank": [1] * len(rows)}
    )


def test_for_the_best_answer_it_is_what_rules_of_ranges_find(schema_file: Path) -> None:
    """A query whose best answer breaks the rule of its relation's range is one that Sem@1 does not count; what has no range stands
    in no rule, and is left out of both."""
    result = rulescore.score(
        observed(), {"model": answers_frame(BEST)}, RULES, truth=rulescore.Truth(domains=schema_file, hits=(1,))
    )
    sem = result.accuracy_results[0].measure("sem_at_1", "tail")
    evaluable = sum(one.models["model"].counts.evaluable for one in result.rule_results)
    refuted = sum(one.models["model"].counts.refuted for one in result.rule_results)
    assert (sem.count, evaluable, refuted) == (5, 5, 1)
    assert sem.value == 1 - refuted / evaluable == 0.8
    assert result.model_results[0].violating == 1
    jsonschema.validate(json.loads(result.to_json()), schema())


def test_the_same_with_type_facts_and_with_types_of_their_own(schema_file: Path) -> None:
    """`rome type city` says what the unary fact `city(rome)` says, observed or in a file that is read for this alone."""
    typed = [(entity, "type", name) for name, entity in FACTS]
    rules = 'lives: type(Y, "city") <- lives_in(X, Y). capital: type(Y, "country") <- capital_of(X, Y). closed type.'
    inside = rulescore.score([*TRIPLES, *typed], {"model": answers_frame(BEST)}, rules, truth=rulescore.Truth(domains=schema_file))
    counts = [one.models["model"].counts for one in inside.rule_results]
    value = inside.accuracy_results[0].measure("sem_at_1", "tail").value
    assert value == 1 - sum(one.refuted for one in counts) / sum(one.evaluable for one in counts) == 0.8
    truth = rulescore.Truth(domains=schema_file, types=typed)
    outside = rulescore.score([*TRIPLES, ("a", "type", "b")], {"model": answers_frame(BEST)}, rules, truth=truth)
    assert outside.accuracy_results[0].measure("sem_at_1", "tail").value == 0.8


def test_for_observed_types_it_is_what_rules_of_observed_sides_find() -> None:
    """What is observed as the tail of a relation, written down as a class, is the range of a rule."""
    facts = [*TRIPLES, ("eve", "lives_in", "oslo")]
    sides = {f"range_{relation}": [] for relation in ("lives_in", "capital_of")}
    for _, relation, tail in facts:
        sides[f"range_{relation}"].append((tail,))
    given: dict[str, list[tuple[str, ...]]] = {**sides}
    for head, relation, tail in facts:
        given.setdefault(relation, []).append((head, tail))
    rules = """lives: range_lives_in(Y) <- lives_in(X, Y). capital: range_capital_of(Y) <- capital_of(X, Y).
    closed range_lives_in. closed range_capital_of."""
    result = rulescore.score(given, {"model": answers_frame(BEST)}, rules, truth=rulescore.Truth(domains="observed", hits=(1,)))
    counts = [one.models["model"].counts for one in result.rule_results]
    refuted, evaluable = sum(one.refuted for one in counts), sum(one.evaluable for one in counts)
    assert result.accuracy_results[0].measure("sem_at_1", "tail").value == 1 - refuted / evaluable == pytest.approx(3 / 5)


def test_a_file_without_its_columns_is_refused(tmp_path: Path) -> None:
    (tmp_path / "schema.tsv").write_text("lives_in\tperson\tcity\ncapital_of\tcity\tcountry\n")
    with pytest.raises(InputError, match="E320"):
        rulescore.score(TRIPLES, {"m": TRIPLES}, RULES, truth=rulescore.Truth(domains=tmp_path / "schema.tsv"))


def rule(relation: str) -> str:
    return f"false <- `http://x/{relation}`(X, Y), `rdf:type`(X, _)."


ONTOLOGY = """\
@prefix : <http://x/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix schema: <http://schema.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Dog rdfs:subClassOf :Animal . :Puppy rdfs:subClassOf :Dog .
:keeps rdfs:domain :Person ; rdfs:range :Animal, :Tame .
:likes rdfs:range [ a owl:Class ; owl:unionOf (:Person :Animal) ] ; rdfs:domain [ a owl:Restriction ] .
:age rdfs:range xsd:integer .
:owns schema:rangeIncludes :Animal, :Person .
"""


def test_domains_are_those_of_an_ontology(tmp_path: Path) -> None:
    """All ranges of a property together, any class of a union, and the classes below each; not expressions and datatypes."""
    (tmp_path / "o.ttl").write_text(ONTOLOGY)
    facts = [
        ("rex", "rdf:type", "Puppy"),
        ("rex", "rdf:type", "Tame"),
        ("wolf", "rdf:type", "Animal"),
        ("ann", "rdf:type", "Person"),
    ]
    facts = [tuple(f"http://x/{part}" if part != "rdf:type" else part for part in fact) for fact in facts]
    for relation, fits in (
        ("keeps", {"rex"}),
        ("likes", {"rex", "wolf", "ann"}),
        ("owns", {"rex", "wolf", "ann"}),
        ("age", None),
    ):
        for answer in ("rex", "wolf", "ann"):
            predicted = answers_frame([("http://x/ann", f"http://x/{relation}", f"http://x/{answer}")])
            truth = rulescore.Truth(domains=tmp_path / "o.ttl", hits=(1,))
            result = rulescore.score(
                facts, {"m": predicted}, f"functional `http://x/{relation}`(X -> Y). {rule(relation)}", truth=truth
            )
            (accuracy,) = result.accuracy_results
            if fits is None:
                assert accuracy.reason == "of no relation that is asked for a domain or range is known"
            else:
                assert accuracy.measure("sem_at_1", "tail").value == float(answer in fits)


def test_an_ontology_without_domains_is_refused(tmp_path: Path) -> None:
    (tmp_path / "o.ttl").write_text("<http://x/a> <http://x/b> <http://x/c> .")
    with pytest.raises(InputError, match="declares no domains and ranges of classes"):
        rulescore.score(TRIPLES, {"m": TRIPLES}, RULES, truth=rulescore.Truth(domains=tmp_path / "o.ttl"))
