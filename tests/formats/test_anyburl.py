"""AnyBURL's rules."""

from __future__ import annotations

import gzip
from collections import Counter

import pytest

from other_rules import note, problem, reading, rules
from rulescore.errors import Source
from rulescore.language.printer import rule_names
from rulescore.language.reading import read_rules
from rulescore.language.syntax import Atom, Constant, Variable
from rulescore.language.trees import nodes_in
from shared_data import shared

LINE = "2000\t216\t0.108\tGENE_GO(X,Y) <= GENE_CATALYSIS_GENE(X,A), GENE_CATALYSIS_GENE(A,B), GENE_GO(B,Y)"


def test_a_rule_keeps_confidence_and_support() -> None:
    found = reading(LINE)
    (rule,) = found.program.rules
    assert (rule.confidence, rule.support, rule.weight) == (0.108, 216, 1)
    assert rules(LINE) == ["GENE_GO(X, Y) <- GENE_CATALYSIS_GENE(X, A), GENE_CATALYSIS_GENE(A, B), GENE_GO(B, Y)"]
    assert note(LINE) == "f.txt: AnyBURL rules, 1 read"
    assert found.foreign


def test_constants_are_text_whatever_they_look_like() -> None:
    (rule,) = reading("924\t2\t0.002\tnephew(X,921) <= niece(1.5,X)").program.rules
    assert [node.value for part in (rule.head, rule.body) for node in nodes_in(part) if isinstance(node, Constant)] == [
        "921",
        "1.5",
    ]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("P27(Q75612,Y) <= P30(Y,Q49)", 'P27("Q75612", Y) <- P30(Y, "Q49")'),
        ("r(X,me_myself_i) <= s(X,A)", "r(X, X) <- s(X, A)"),
        ("r(X,aa) <= s(me_myself_i,X)", "r(X, aa) <- s(X, X)"),
        ("/a/b./c-d(X,/m/09) <= http://x.org/p#q(X,A)", '`/a/b./c-d`(X, "/m/09") <- `http://x.org/p#q`(X, A)'),
        ("r(X,Paris, France) <= s(X,A)", 'r(X, "Paris, France") <- s(X, A)'),
        ("r(Lee (actor),Y) <= s(A,Y), t(B,Lee (actor))", 'r("Lee (actor)", Y) <- s(A, Y), t(B, "Lee (actor)")'),
        ("r (of)(X,Y) <= s(X,Y)", "`r (of)`(X, Y) <- s(X, Y)"),
        ("born in(X,Y) <= s(X,Y)", "`born in`(X, Y) <- s(X, Y)"),
    ],
)
def test_names_and_the_word_for_oneself(rule: str, expected: str) -> None:
    assert rules(f"9\t3\t0.5\t{rule}") == [expected]


def test_rules_with_an_empty_body_are_set_aside_and_counted() -> None:
    text = f"5\t2\t0.4\trel(X,cc) <= \n{LINE}\n5\t2\t0.4\trel(cc,Y) <=\n"
    found = reading(text)
    assert [one.code for one in found.told] == ["W151", "W152"]
    assert found.told[0].message == "f.txt: AnyBURL rules, 1 read, 2 with an empty body set aside"
    assert "2 of 3" in found.told[1].message
    assert rule_names(found.program) == ["f.txt:2"]


@pytest.mark.parametrize(
    ("line", "column", "said"),
    [
        ("12\t3\tnephew(X,Y) <= son(X,Y)", 1, "3 columns instead of 4"),
        ("x\t3\t0.4\tnephew(X,Y) <= son(X,Y)", 1, "not a count"),
        ("12\t3\tabc\tnephew(X,Y) <= son(X,Y)", 6, "not a confidence"),
        ("12\t3\t1.4\tnephew(X,Y) <= son(X,Y)", 6, "between 0 and 1"),
        ("12\t3\t0.4\tnephew(X,Y) <- son(X,Y)", 10, "`head <= body`"),
        ("12\t3\t0.4\tnephew(X,Y) <= son(X,Y), brother", 35, "an atom with a variable"),
        ("12\t3\t0.4\tnephew(X,Y) <= son(X,Y),", 25, "an atom with a variable"),
        ("12\t3\t0.4\tnephew(X,Y) <= son(aa)", 25, "an atom with a variable"),
        ("12\t3\t0.4\tnephew(X,Y) <= son(X,A), X!=A, sister(A,Y)", 35, "no comparisons"),
    ],
)
def test_a_line_that_is_not_understood_is_located_and_the_format_named(line: str, column: int, said: str) -> None:
    found = problem(f"{LINE}\n{LINE}\n{line}\n{LINE}")
    assert found.code == "E152"
    assert found.place is not None
    assert (found.place.line, found.place.column) == (3, column)
    assert "AnyBURL" in found.message
    assert said in found.message


def test_a_file_of_odd_numbers_is_still_of_anyburl() -> None:
    assert "AnyBURL" in problem("12\t3\t0,4\tnephew(X,Y) <= son(X,Y)").message


def test_problems_point_at_the_atom() -> None:
    (rule,) = reading("9\t3\t0.5\tr(X,aa) <= s(X,A), t(A,B)").program.rules
    atoms = [rule.head, *rule.body.conditions]
    assert all(isinstance(one, Atom) and one.span for one in atoms)
    text = "9\t3\t0.5\tr(X,aa) <= s(X,A), t(A,B)"
    assert [text[one.span.start : one.span.end] for one in atoms if one.span] == ["r(X,aa)", "s(X,A)", "t(A,B)"]


@pytest.mark.slow
def test_all_rules_of_the_published_family_are_read() -> None:
    with gzip.open(shared("anyburl/family.rules.gz"), "rt", encoding="utf-8") as file:
        text = file.read()
    program = read_rules([Source("family.rules.gz", text)]).program
    assert len(program.rules) == 256_776
    for line, rule in list(zip(text.splitlines(), program.rules, strict=True))[::997]:
        assert sum(len(one.terms) for one in (rule.head, *rule.body.conditions) if isinstance(one, Atom)) == line.count("(") * 2
    kinds = Counter(type(term) for rule in program.rules for term in nodes_in(rule.head) if isinstance(term, Variable | Constant))
    assert kinds[Constant] > kinds[Variable] / 4
