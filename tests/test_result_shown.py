"""A result in every format, from Python."""

from __future__ import annotations

import json
import pickle

import duckdb
import polars as pl
import pyarrow as pa
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
    assert repr(rulescore.audit(FACTS, RULES)) == "<Result of 2 rules; the data break 1>"


def test_a_notebook_shows_the_short_answer(result: rulescore.Result) -> None:
    html = result._repr_html_()
    assert "RVS hard" in html
    assert "rules:2" in html
    assert "<code>wife(X, Y) &lt;- sister(X, Y)</code>" in html


def test_a_notebook_shows_tables_as_score_prints_them(result: rulescore.Result) -> None:
    html = result.models._repr_html_()
    assert html.count("<th") < 8 < result.models.num_columns
    assert "RVS hard" in html
    assert "<code>wife(X, Y) &lt;- sister(X, Y)</code>" in result.rules._repr_html_()
    assert "0 rows of" in result.accuracy._repr_html_()
    assert repr(result.rules) == "<2 rows of 27 columns>"


def test_tables_are_taken_for_arrow_tables(result: rulescore.Result) -> None:
    assert pa.table(result.models).column("model").to_pylist() == ["m"]
    assert duckdb.from_arrow(result.rules).filter("kind = 'hard'").count("*").fetchall() == [(1,)]
    assert pl.DataFrame(result.rules)["rule"].to_list() == ["never", "rules:2"]
    assert result.rules.schema.names[:2] == ["rule", "text"]
    assert [row["rule"] for row in result.rules.to_pylist()] == result.rules["rule"].to_pylist() == ["never", "rules:2"]
    assert len(result.rules) == 2
    assert result.models.to_pandas()["model"].tolist() == result.models.to_polars()["model"].to_list() == ["m"]


def test_tables_go_to_other_processes(result: rulescore.Result) -> None:
    sent = pickle.dumps(result.rules)
    assert pickle.loads(sent).to_pylist() == result.rules.to_pylist()
    assert len(sent) < 2 * len(pickle.dumps(result.rules.table))


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
