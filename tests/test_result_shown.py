"""A result in every format, from Python."""

from __future__ import annotations

import json

import pytest

import rulescore

FACTS = {"sister": [("alice", "daniel"), ("eve", "adam")], "wife": [("mary", "john")]}
RULES = "never: false <- wife(X, Y), sister(X, Y).\nwife(X, Y) <- sister(X, Y).\nincompatible wife, sister.\n"


@pytest.fixture(scope="module")
def result() -> rulescore.Result:
    return rulescore.score(FACTS, {"m": {"wife": [("alice", "daniel")]}}, RULES)


def test_a_result_is_one_line(result: rulescore.Result) -> None:
    assert repr(result) == "<Result of 2 rules and 1 model: m RVS hard 1.00, RVS soft 0.500>"
    many = rulescore.score(FACTS, {f"m{number}": {"wife": [("alice", "daniel")]} for number in range(50)}, RULES)
    assert "\n" not in repr(many)
    assert len(repr(many)) < 200
    assert repr(rulescore.audit(FACTS, RULES)) == "<Result of 2 rules and 0 models>"


def test_a_notebook_shows_the_short_answer(result: rulescore.Result) -> None:
    html = result._repr_html_()
    assert "RVS hard" in html
    assert "rules:2" in html
    assert "<code>wife(X, Y) &lt;- sister(X, Y)</code>" in html


def test_every_format_can_be_had(result: rulescore.Result) -> None:
    assert "Violations of each rule" in result.to_text()
    assert "Rules over the observed facts" in result.to_text(detail=True)
    assert result.to_markdown("models").startswith("### Models")
    assert r"\begin{table}" in result.to_latex()
    assert r"\texttt{" in result.to_latex("rules")
    assert result.to_csv("models").startswith("model,")
    assert result.to_csv().startswith("rule,text,")
    assert json.loads(result.to_json("models"))["listing"] == "score_models"
    assert json.loads(result.to_json())["version"] == 1


def test_violations_are_asked_for_again(result: rulescore.Result) -> None:
    assert result.to_text("violations").startswith("Violations\n")
    rows = json.loads(result.to_json("violations"))["rows"]
    assert {row["rule"] for row in rows} == {"never", "rules:2"}


def test_a_table_that_there_is_not_is_told(result: rulescore.Result) -> None:
    with pytest.raises(rulescore.InputError, match="did you mean `models`"):
        result.to_text("modles")


def test_the_name_of_an_unnamed_rule_can_be_given() -> None:
    predictions = {"m": {"wife": [("alice", "daniel")]}}
    result = rulescore.score(FACTS, predictions, RULES, weights={"rules:2": 3}, kinds={"rules:2": "hard"})
    assert [(rule.info.name, rule.info.weight, str(rule.kind)) for rule in result.rule_results][1] == ("rules:2", 3, "hard")
    assert result.rules["rule"].to_pylist() == ["never", "rules:2"]
    assert result.rules["text"].to_pylist()[1] == "wife(X, Y) <- sister(X, Y)"
