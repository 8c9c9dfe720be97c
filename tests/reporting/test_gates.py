"""Reports of gates: their words, their numbers, and names that try to break them."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from rulescore.reporting.gates import Verdict, WorstRule, render_junit, render_summary, verdicts
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.gate_outcomes import judge
from rulescore.scoring.gates import parse_gate


def test_without_data_the_worst_rules_have_no_rows(evaluation: Evaluation) -> None:
    (found,) = verdicts(judge([parse_gate("hard > 0", models=("compgcn",))], evaluation), evaluation, None)
    assert [(worst.rule.info.name, worst.row) for worst in found.worst] == [("false <- s(X), w(X)", None)]
    (met,) = verdicts(judge([parse_gate("hard > 9999", models=("compgcn",))], evaluation), evaluation, None)
    assert met.worst == ()


EVIL = (
    "</failure><script>alert(1)</script>",
    "a]]>b&amp;\"'",
    "\x00\x1b[31m\ud800\uffff",
    "|a|`b``c`",
    "` ",
    "[x](http://evil.example) @someone ![i](http://e) **b** <img src=x>",
    "line\nbreak\u2028\r| x |",
    "",
)


@pytest.mark.parametrize("evil", EVIL)
def test_names_stay_names(evaluation: Evaluation, evil: str) -> None:
    named = _renamed(evaluation, evil)
    outcomes = judge([parse_gate("hard > 0", name=evil)], named)
    worst = tuple(WorstRule(replace(rule, info=replace(rule.info, name=evil, text=evil)), evil) for rule in named.rule_results[:1])
    found = [Verdict(outcome, () if outcome.met else worst) for outcome in outcomes]
    suite = ElementTree.fromstring(render_junit(found).encode())[0]
    assert [child.tag for case in suite for child in case] == ["failure"] * len(found)
    html = MarkdownIt("commonmark").enable("table").render(render_summary(named, found)).replace("\uffff", "")
    tags = ElementTree.fromstring(f"<r>{html}</r>")
    allowed = {"r", "h3", "table", "thead", "tbody", "tr", "th", "td", "code", "strong", "p", "ul", "li"}
    assert {tag.tag for tag in tags.iter()} <= allowed
    assert {len(list(row)) for row in tags.iter("tr")} == {4, 5}
    assert {strong.text for strong in tags.iter("strong")} <= {"failed"}


def _renamed(evaluation: Evaluation, name: str) -> Evaluation:
    (model, *_) = evaluation.model_results
    rules = tuple(replace(rule, models={name: rule.models[model.name]}) for rule in evaluation.rule_results)
    return replace(evaluation, model_results=(replace(model, name=name),), rule_results=rules)
