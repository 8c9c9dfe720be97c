"""AMIE's rules, with and without the log around them."""

from __future__ import annotations

import pytest

from other_rules import note, problem, reading, rules

LINE = "?m  hasNeighbor  ?b  ?g  wasBornIn  ?a  ?g  wasBornIn  ?m   => ?a  hasNeighbor  ?b\t0.14893617\t0.5\t1.0\t77\t154\t77\t?b"
LOG = """\
Loading files...
  Finished loading family.tsv, using 0 MB
Using HeadCoverage as pruning metric with minimum threshold 0.01
Rule\tHead Coverage\tStd Confidence\tPCA Confidence\tPositive Examples\tBody size\tPCA Body size\tFunctional variable
"""
NEWER = "Rule\tHead Coverage\tPca Confidence\tStandard Confidence\tSupport Ratio\tSupport"


def test_a_rule_keeps_confidence_and_support() -> None:
    (rule,) = reading(LINE).program.rules
    assert (rule.confidence, rule.support, rule.tags, rule.weight) == (0.5, 77, ("pca_confidence=1.0",), 1)
    assert rules(LINE) == ["hasNeighbor(?a, ?b) <- hasNeighbor(?m, ?b), wasBornIn(?g, ?a), wasBornIn(?g, ?m)"]


def test_log_text_is_set_aside_and_counted() -> None:
    assert note(f"{LOG}{LINE}\nMining done in 31 ms\n1 rules mined.\n") == "f.txt: AMIE rules, 1 read, 5 lines of log set aside"
    assert note(f"{NEWER}\n{LINE}\n") == "f.txt: AMIE rules, 1 read"


def test_titles_say_which_column_is_which() -> None:
    (rule,) = reading(f"{NEWER}\n?a  r  ?b   => ?a  s  ?b\t0.1\t0.9\t0.3\t0.01\t12").program.rules
    assert (rule.confidence, rule.support, rule.tags) == (0.3, 12, ("pca_confidence=0.9",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("?a  r  ?x  ?b  r  ?x  ?a!=?b   => ?a  s  ?b", "s(?a, ?b) <- r(?a, ?x), r(?b, ?x), ?a != ?b"),
        ("?a!=?b ?a  r  ?x  ?b  r  ?x   => ?a  s  ?b", "s(?a, ?b) <- r(?a, ?x), r(?b, ?x), ?a != ?b"),
        ("?a  r  ?b  ?a  differentFrom  ?b   => ?a  s  ?b", "s(?a, ?b) <- r(?a, ?b), ?a != ?b"),
        ("?a  <http://x.org/r>  New York   => ?a  s  921", 's(?a, "921") <- `<http://x.org/r>`(?a, "New York")'),
    ],
)
def test_inequalities_and_names(text: str, expected: str) -> None:
    assert rules(f"{text}\t0.1\t0.5\t0.5\t3") == [expected]


def test_inequalities_that_older_versions_do_not_print_are_told() -> None:
    """Two neighbours of one place may be one: AMIE has counted them apart. A file with printed inequalities says so itself."""
    found = [one for one in reading(f"{LINE}\n?a  r  ?b   => ?a  s  ?b\t1\t1\t1\t1\n").told if one.code == "W154"]
    assert [one.message for one in found] == [
        "1 of 2 rules of f.txt may mean two different entities and not say so: the first of them by `?a` and `?m`"
    ]
    assert "--distinct-variables" in found[0].helps[0]
    newer = "?a!=?b ?a  r  ?x  ?b  r  ?x   => ?a  s  ?b\t1\t1\t1\t1\n"
    assert [one.code for one in reading(f"{newer}{LINE}\n").told] == ["W151"]
    assert [one.code for one in reading("?a  r  ?b  ?b  r  ?c   => ?a  s  ?c\t1\t1\t1\t1\n").told] == ["W151"]


def test_a_decimal_comma_is_one() -> None:
    (rule,) = reading("?a  r  ?b   => ?a  s  ?b\t0,14\t0,5\t1,0\t77,0").program.rules
    assert (rule.confidence, rule.support, rule.tags) == (0.5, 77, ("pca_confidence=1.0",))


def test_a_rule_without_figures_is_a_rule() -> None:
    (rule,) = reading("?a  r  ?b   => ?a  s  ?b").program.rules
    assert (rule.confidence, rule.support, rule.tags) == (None, None, ())


@pytest.mark.parametrize(
    ("line", "column", "said"),
    [
        ("?a  r  ?b  ?c   => ?a  s  ?b\t1\t1\t1\t3", 1, "three terms each"),
        ("?a  r  ?b   => ?a  s\t1\t1\t1\t3", 16, "three terms each"),
        ("?a  r  ?b   => ?a  s  ?b  ?c  t  ?d\t1\t1\t1\t3", 16, "one atom"),
        ("?a  r  ?b  ?a  s  ?b\t1\t1\t1\t3", 1, "one arrow"),
        ("?a  r  ?b   => ?a  s  ?b\t1\tx\t1\t3", 28, "a number"),
        ("?a  r  ?b   => ?a  s  ?b\t1\t1.5\t1\t3", 28, "between 0 and 1"),
    ],
)
def test_a_line_that_is_not_understood_is_located(line: str, column: int, said: str) -> None:
    found = problem(f"{LINE}\n{line}")
    assert found.place is not None
    assert (found.code, found.place.line, found.place.column) == ("E152", 2, column)
    assert said in found.message
