"""Facts in: numbered, made distinct, counted; whatever their names are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from sqlglot import parse_one

import rulescore
from rulescore.arguments.python import make_setting
from rulescore.errors import Diagnostic, InputError
from rulescore.language.printer import print_atom
from rulescore.language.syntax import And, Atom, Constant, Falsity, Program, Rule, Variable
from rulescore.session.session import Session
from rulescore.setting.model import ModelPredictions

RULES = "one: p(X, Y) <- q(X, Y). incompatible p, s."
FACTS = {"p": [("a", "b")], "q": [("a", "b"), ("b", "c")], "s": [("b", "c")]}


def refused(setting) -> tuple[Diagnostic, ...]:
    with pytest.raises(InputError) as raised:
        Session(setting)
    return raised.value.problems


def test_e324_two_arities_of_one_predicate_are_told_with_where_they_occur():
    observed = {"p": [("a", "b"), ("b", "c")], "q": [("a",)]}
    predictions = {"model": {"p": [("a",)], "q": [("a", "b", "c")]}}
    first, second = refused(make_setting(observed, predictions, RULES))
    assert (first.code, second.code) == ("E203", "E203")
    assert first.message == "`p` occurs with 1 and 2 arguments"
    assert first.notes[1] == "2 arguments: 2 observed rows"
    assert second.message == "`q` occurs with 1 and 3 arguments"


def test_e324_negative_facts_may_clash_too():
    (problem,) = refused(make_setting(FACTS, None, RULES, negatives={"s": [("a",)]}))
    assert (problem.code, "negative" in problem.notes[0]) == ("E203", True)


def test_e325_a_model_given_twice():
    setting = make_setting(FACTS, {"model": {"q": [("b", "c")]}}, RULES)
    (again,) = setting.predictions
    (problem,) = refused(
        replace(setting, predictions=(again, replace(again, top_k=None), ModelPredictions("other", again.streams)))
    )
    assert problem.code == "E204"
    assert problem.message == "model `model` is given 2 times"


def test_repeated_rows_count_once_and_are_counted():
    observed = {name: rows * 2 for name, rows in FACTS.items()}
    predictions = {"model": {"q": [("b", "c"), ("b", "c"), ("c", "d"), ("a", "b")], "p": [("a", "b")]}}
    once = rulescore.score(FACTS, {"model": {"q": [("b", "c"), ("c", "d"), ("a", "b")], "p": [("a", "b")]}}, RULES)
    found = rulescore.score(observed, predictions, RULES)
    assert (found.summary.facts, found.summary.fact_duplicates) == (4, 4)
    read = found.model_results[0].predictions
    assert (read.rows, read.kept, read.distinct, read.duplicates, read.already_observed) == (5, 5, 4, 1, 3)
    assert found.rule_results == once.rule_results


def test_rows_beyond_top_k_are_read_but_not_kept():
    rows = pa.table({"head": ["a", "b", "c"], "relation": ["q"] * 3, "tail": ["x", "y", "z"], "rank": [1, 2, 3]})
    read = rulescore.score(FACTS, {"model": rows}, RULES, top_k=2).model_results[0].predictions
    assert (read.rows, read.kept, read.distinct, read.duplicates) == (3, 2, 2, 0)


def test_a_repeated_prediction_keeps_its_best_score_and_rank():
    rows = pa.table(
        {
            "head": ["b", "b", "b"],
            "relation": ["q", "q", "q"],
            "tail": ["c", "c", "c"],
            "score": [0.25, 0.75, None],
            "rank": [2, 3, 4],
        }
    )
    evaluation = rulescore.score(FACTS, {"model": rows}, RULES, top_k=4)
    (row,) = evaluation.contributions.to_pylist()
    assert (row["score"], row["rank"], row["refuted"]) == (0.75, 2, 1)


def test_score_and_rank_belong_to_the_model():
    def ranked(rank: int) -> pa.Table:
        return pa.table({"head": ["b"], "relation": ["q"], "tail": ["c"], "score": [1.0 / rank], "rank": [rank]})

    evaluation = rulescore.score(FACTS, {"one": ranked(1), "two": ranked(2)}, RULES, top_k=2)
    assert {(row["model"], row["score"], row["rank"]) for row in evaluation.contributions.to_pylist()} == {
        ("one", 1.0, 1),
        ("two", 0.5, 2),
    }


def test_a_model_without_predictions_is_loaded_as_one():
    evaluation = rulescore.score(FACTS, {"empty": {}, "model": {"q": [("b", "c")]}}, RULES)
    assert [one.name for one in evaluation.model_results] == ["empty", "model"]
    assert evaluation.model_results[0].predictions.rows == 0


def test_w321_negative_facts_that_are_observed_are_counted_and_shown():
    negatives = {"p": [("a", "b"), ("a", "b"), ("z", "z")], "s": [("b", "c")], "new": [("a",)]}
    with Session(make_setting(FACTS, None, RULES, negatives=negatives)) as session:
        assert (session.summary.negatives, session.summary.negatives_observed) == (4, 2)
        (warning,) = session.warnings
        assert (warning.code, warning.message) == ("W321", "2 of 4 negative facts are observed facts too")
        (counts,) = (rule.dataset for rule in session.audit().rule_results)
    # p(a, b) is confirmed and, being known to be false, refuted; p(b, c) is refuted by s(b, c).
    assert (counts.confirmed, counts.refuted, counts.evaluable) == (1, 2, 2)


def test_a_negative_fact_is_no_fact_of_a_body():
    evaluation = rulescore.audit({"p": [("a",)]}, "one: false <- q(X). two: false <- p(X), not q(X).", negatives={"q": [("a",)]})
    assert [rule.dataset.refuted for rule in evaluation.rule_results] == [0, 1]


NAMES = (
    "p",
    "P",
    "pp",
    " p",
    "p ",
    "İ",
    "i",
    "long " * 2000,
    "long " * 2000 + "!",
    'double " quote',
    "single ' quote",
    "back ` tick",
    "back \\ slash",
    "back \\n slash",
    "line\nend",
    "tab\tulator",
    "100%",
    "%s %(a)s {b} ${c} ?",
    "; DROP TABLE facts --",
    "comment */ ends /* begins",
    "__rulescore__fact_2",
    "😀",
    "😀😀",
    "é",
    "e\u0301",
    "\x01n1",
    "\x01s",
    "null",
    "NULL",
    "_",
    "X",
    "1",
    "true",
)


def denial(name: str) -> Rule:
    """No fact `name(name, …)`."""
    return Rule(Falsity(), And((Atom(name, (Constant(name), Variable("X"))),)), name=name)


@pytest.fixture(scope="module")
def odd_names():
    observed = {name: [(name, name), (f"{name}.", name)] for name in NAMES}
    predictions = {"model": {name: [(name, other) for other in NAMES] for name in NAMES}}
    rules = Program(tuple(denial(name) for name in NAMES))
    with Session(make_setting(observed, predictions, rules)) as session:
        yield session


def test_odd_names_of_predicates_constants_and_rules_are_never_confused(odd_names: Session):
    """And they come back as they went in."""
    evaluation = odd_names.evaluate()
    assert odd_names.summary.predicates == len(NAMES)
    assert {rule.info.name: rule.dataset.refuted for rule in evaluation.rule_results} == dict.fromkeys(NAMES, 1)
    totals = {rule.info.name: rule.models["model"].counts.refuted for rule in evaluation.rule_results}
    assert totals == dict.fromkeys(NAMES, len(NAMES))
    listed = {(row["rule"], row["predicate"], *row["arguments"]) for row in evaluation.contributions.to_pylist()}
    assert listed == {(name, name, name, other) for name in NAMES for other in NAMES}


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_odd_names_are_listed_and_their_statement_runs(odd_names: Session, name: str):
    found = odd_names.violations(rule=name, model=None, prediction=None, limit=10)
    (row,) = found.rows
    assert found.total == 1
    assert row.body == (print_atom(Atom(name, (Constant(name), Constant(name)))),)
    counted = odd_names.engine.query(parse_one(odd_names.statement(name), dialect="duckdb"))
    assert counted["refuted"].to_pylist() == [1]


@pytest.mark.slow
def test_a_small_memory_limit_spills_and_gives_the_same_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    random = np.random.default_rng(7)
    size = 400_000
    columns = {
        "head": random.integers(0, 60_000, size).astype(str),
        "relation": random.choice(["p", "q", "r", "s"], size),
        "tail": random.integers(0, 60_000, size).astype(str),
    }
    facts = pa.table(columns)
    predictions = {"model": facts.slice(0, 2_000)}
    rules = "p(X, Y) <- q(X, Z), r(Z, Y). s(X, Y) <- q(Y, X). false <- q(X, Y), s(Y, Z), r(Z, X). incompatible p, r. closed s."
    plenty = rulescore.score(facts, predictions, rules)
    # As in a process that takes 200 MiB beside the database: other tests may have made this one larger.
    monkeypatch.setattr("rulescore.engines.memory.resident", lambda: None)
    monkeypatch.setattr("rulescore.engines.memory._LOADING", 0)
    with Session(make_setting(facts, predictions, rules, memory_limit="270MiB", threads=1, spill_folder=tmp_path)) as session:
        little = session.evaluate()
        spilled = session.engine.query(parse_one("SELECT sum(temporary_storage_bytes) AS n FROM duckdb_memory()"))
        assert spilled["n"][0].as_py() > 0
    assert little.rule_results == plenty.rule_results
    assert sum(rule.dataset.evaluable for rule in plenty.rule_results) > 0


def test_contributions_tell_the_query() -> None:
    """The first of several that one prediction answers; all queries of a model are counted."""
    rows = {"head": ["b", "b", "b"], "relation": ["q"] * 3, "tail": ["c", "c", "d"], "query": ["2", "1", None], "rank": [1, 1, 1]}
    evaluation = rulescore.score(FACTS, {"m": pa.table(rows)}, RULES)
    assert {(tuple(row["arguments"]), row["query"]) for row in evaluation.contributions.to_pylist()} == {(("b", "c"), "1")}
    assert evaluation.model_results[0].predictions.queries == 3
