"""Formats are recognised from content, said aloud, and overruled by what the user says."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import rulescore
from case_files import all_cases
from other_rules import problem, reading, rules
from rulescore.arguments.python import make_setting
from rulescore.errors import InputError, Source
from rulescore.language.reading import RuleChoice, RuleSource, read_rules
from rulescore.language.rule_formats import RuleFormat, recognise, rule_formats
from rulescore.language.words import OWN_FORMAT, WeighBy, format_names
from rulescore.reporting.json import schema

ANYBURL = """\
20\t16\t0.8\taunt(X,Y) <= sister(X,A), father(A,Y)
9\t3\t0.3333\taunt(X,e1) <= sister(X,A)
5\t2\t0.4\twife(X,e1) <=
8\t8\t1.0\twife(X,Y) <= husband(Y,X)
"""
FACTS = [("a", "sister", "b"), ("b", "father", "c"), ("a", "mother", "c"), ("e", "husband", "f")]


def test_every_format_is_in_the_table() -> None:
    assert [OWN_FORMAT, *sorted(rule_formats())] == list(format_names())


def test_no_rule_of_a_case_is_taken_for_another_tool_s() -> None:
    lines = [line.strip() for case in all_cases() for line in case.rule_text.splitlines()]
    assert [line for line in lines if recognise(line) is not None] == []


OF_LINES = {name: form for name, form in rule_formats().items() if not form.endings}


@pytest.mark.parametrize("form", OF_LINES.values(), ids=list(OF_LINES))
def test_the_example_of_every_format_is_recognised(form: RuleFormat) -> None:
    assert recognise(form.example.replace("⇥", "\t")) is form


@pytest.mark.parametrize(
    "text",
    [
        "p(X) <- q(X).",
        "f(A,B) :- tail(A,C), f(C,B).",
        "# AnyBURL\nincompatible p, q.",
        "@confidence(0.5) @support(3)\np(X) <- q(X, 3), X <= 5.",
        "closed *.",
        "2 * N > 40 <- age(X, N).",
        "3 > N or q(X) :- age(X, N).",
        "20 <= N ← age(X, N).",
        "",
        "\n# nothing\n",
    ],
)
def test_our_own_rules_are_nobody_elses(text: str) -> None:
    assert recognise(text) is None
    assert reading(text).told == ()


def test_what_nobody_knows_is_refused_with_the_formats_there_are() -> None:
    found = problem("# rules\nif sister and father then aunt\n")
    assert found.code == "E151"
    assert found.place is not None
    assert (found.place.line, found.place.column) == (2, 1)
    assert all(f"`{one}`" in found.notes[1] for one in rule_formats())
    assert "--rules-format" in found.helps[0]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("5 aunt 76\nHeads: 5\t1\t\nTails: \n", "an AnyBURL ranking"),
        ("alice\tsister\tdaniel\ndaniel\tfather\temma\n", "triples"),
        ("head\trelation\ttail\tscore\nalice\tsister\tdaniel\t1\n", "triples"),
        ("head,relation,tail\na,p,b\n", "rows with commas"),
        ("wife,ina,bob,bob,ina\n", "rows with commas"),
        ("father(1, 5)\n!male(0)\n", "facts of ExpressGNN"),
        ("0\talice\n1\tbob\n", "a dictionary of ids"),
        ("@prefix : <http://x/> .\n:a :p :b .\n", "Turtle"),
        ("<http://e/a> <http://e/p> <http://e/b> .\n", "N-Triples"),
        ('<?xml version="1.0"?>\n<rdf:RDF/>\n', "RDF/XML"),
        ('{"rules": []}\n', "JSON"),
    ],
)
def test_data_that_are_given_as_rules_are_named(text: str, what: str) -> None:
    found = problem(text)
    assert found.code == "E151"
    assert found.message.startswith(f"the file looks like {what}")
    assert found.helps


def test_a_format_that_is_named_overrules() -> None:
    assert problem("1.0\taunt\tsister\tfather", "anyburl").code == "E152"
    assert problem(ANYBURL, "rulescore").code.startswith("E1")
    with pytest.raises(InputError, match="did you mean `anyburl`"):
        make_setting(FACTS, None, rulescore.RuleFile(__file__, format="anybrl"))


@pytest.mark.parametrize(
    ("choice", "lines"),
    [
        (RuleChoice(), [1, 2, 4]),
        (RuleChoice(min_confidence=0.8), [1, 4]),
        (RuleChoice(min_support=8), [1, 4]),
        (RuleChoice(max_length=1), [2, 4]),
        (RuleChoice(heads=("aunt",)), [1, 2]),
        (RuleChoice(heads=("aunt", "wife"), max_length=1, min_confidence=0.5), [4]),
    ],
)
def test_rules_are_chosen_by_what_the_miner_says(choice: RuleChoice, lines: list[int]) -> None:
    found = read_rules([RuleSource("f", ANYBURL, choice=choice)])
    assert [rule.span.place().line for rule in found.program.rules if rule.span] == lines
    assert ("of them chosen" in found.told[0].message) is (len(lines) < 3)


def test_rules_are_weighed_by_what_their_tool_says_if_one_asks() -> None:
    def weights(text: str, by: WeighBy | None) -> list[float]:
        return [rule.weight for rule in read_rules([RuleSource("f", text, choice=RuleChoice(weigh_by=by))]).program.rules]

    assert weights("20\t16\t0.8\taunt(X,Y) <= sister(X,A), father(A,Y)", WeighBy.CONFIDENCE) == [0.8]
    assert weights("20\t16\t0.8\taunt(X,Y) <= sister(X,A), father(A,Y)", None) == [1]
    assert weights("@weight(3) aunt(X, Y) <- uncle(X, Y).", WeighBy.CONFIDENCE) == [3]
    clauses = "2.5 !son(y, x) v father(x, y)\n1.0 !sister(x, y) v aunt(x, y)"
    assert weights(clauses, WeighBy.WEIGHT) == [2.5, 1]
    with pytest.raises(InputError, match=r"(?s)E152.*-2\.5.*f:1:1"):
        weights("-2.5\taunt\tsister\tfather\n", WeighBy.WEIGHT)


def test_a_rule_that_states_no_confidence_is_not_judged_by_it() -> None:
    text = "p(X) <- q(X). @confidence(0.2) p(X) <- r(X). closed p."
    found = read_rules([RuleSource("f", text, choice=RuleChoice(min_confidence=0.5))])
    assert len(found.program.rules) == 1
    assert len(found.program.declarations) == 1
    assert found.told[0].message == "f: 2 rules read, 1 of them chosen"


def test_files_of_several_formats_are_one_program() -> None:
    found = read_rules([Source("a", ANYBURL), Source("b", "1.0\taunt\tsister\tfather"), Source("c", "closed aunt.")])
    assert len(found.program.statements) == 5
    assert [one.message.split(",")[0] for one in found.told if one.code == "W151"] == ["a: AnyBURL rules", "b: UniKER rules"]


def test_problems_of_all_files_come_together() -> None:
    with pytest.raises(InputError) as raised:
        read_rules([Source("a", ANYBURL + "x\n"), Source("b", "p(X) <-"), Source("c", "no rules")])
    assert [one.place.name for one in raised.value.problems if one.place] == ["a", "b", "c"]


def test_python_reads_them_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "mined.rules"
    path.write_text(ANYBURL)
    with pytest.warns(rulescore.RulescoreWarning, match=r"mined\.rules: AnyBURL rules, 3 read, 1 with an empty body set aside"):
        result = rulescore.audit(FACTS, [path, "incompatible aunt, mother."])
    assert [one.info.name for one in result.rule_results] == ["mined.rules:1", "mined.rules:2", "mined.rules:4"]
    assert (result.rule_results[0].info.confidence, result.rule_results[0].info.support) == (0.8, 16)
    assert result.rule_results[0].dataset.refuted == 1
    chosen = rulescore.RuleFile(path, min_confidence=0.8, head="aunt")
    with pytest.warns(rulescore.RulescoreWarning, match="1 of them chosen"):
        assert len(rulescore.audit(FACTS, [chosen, "incompatible aunt, mother."]).rule_results) == 1


def test_text_is_recognised_too() -> None:
    assert rules("1.0\taunt\tsister\tfather\n1.0\twife\thusband_v\n") == [
        "aunt(X, Y) <- sister(X, Z), father(Z, Y)",
        "wife(X, Y) <- husband(Y, X)",
    ]


def test_a_saved_result_tells_what_was_read(tmp_path: Path) -> None:
    (tmp_path / "mined.rules").write_text(ANYBURL)
    rules = [rulescore.RuleFile(tmp_path / "mined.rules", "anyburl", min_confidence=0.5, head="aunt"), "closed aunt."]
    with pytest.warns(rulescore.RulescoreWarning):
        result = rulescore.audit(FACTS, rules)
    result.save(tmp_path / "result.json")
    jsonschema.validate(json.loads((tmp_path / "result.json").read_text()), schema())
    loaded = rulescore.load_result(tmp_path / "result.json")
    assert [(one.code, one.severity) for one in loaded.warnings] == [(one.code, one.severity) for one in result.warnings]
    assert loaded.run is not None
    assert loaded.run.options["rules"] == {
        str(tmp_path / "mined.rules"): {
            "format": "anyburl",
            "min_confidence": 0.5,
            "min_support": None,
            "max_length": None,
            "heads": ["aunt"],
            "weigh_by": None,
        }
    }
