"""Predictions of Neural-LP and DRUM, facts of ExpressGNN and PSL."""

from __future__ import annotations

from pathlib import Path

import pytest

import rulescore
from rulescore.errors import InputError
from rulescore.formats.facts import expressgnn, neural_lp, psl
from rulescore.readers.foreign import Facts, Fault
from rulescore.readers.sources import observed_streams, prediction_streams


def opened(streams):
    return [batch for stream in streams for batch in stream.open()]


def test_neural_lp_asks_for_heads_and_by_an_inverse_for_tails() -> None:
    [facts] = neural_lp.read(["aunt,5,76,12,5", "niece,1,2,1", "inv_aunt,76,5,80,81,76"])
    assert isinstance(facts, Facts)
    assert list(zip(facts.queries, facts.ranks, facts.arguments[0], facts.predicates, facts.arguments[1], strict=True)) == [
        ("head 0", 1, "12", "aunt", "76"),
        ("head 0", 2, "5", "aunt", "76"),
        ("head 1", 1, "1", "niece", "2"),
        ("tail 0", 1, "5", "aunt", "80"),
        ("tail 0", 2, "5", "aunt", "81"),
        ("tail 0", 3, "5", "aunt", "76"),
    ]


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("aunt,5,76", 1, "expected four fields or more, found 3"),
        ("aunt,5,,5", 8, "a name is empty"),
        ("aunt,5,76,12", 11, "expected the head, `5`, as the last candidate"),
    ],
)
def test_a_line_of_neural_lp_that_does_not_end_with_its_head_is_a_fault(line: str, column: int, message: str) -> None:
    [fault] = neural_lp.read([line])
    assert isinstance(fault, Fault)
    assert (fault.column, fault.message) == (column, message)


def test_plain_triples_with_scores_are_not_neural_lp() -> None:
    assert neural_lp.looks_like(["aunt,5,76,12,5"])
    assert not neural_lp.looks_like(["5,aunt,76,0.5", "aunt,5,76,12,5"])


def test_facts_of_expressgnn_have_any_arity_and_may_be_negative() -> None:
    found = list(expressgnn.read(["father(1, 5)", "!male(0)", " /a/b(c)(x,y) ."], predictions=False))
    assert [(one.predicates, one.arguments, one.negative) for one in found] == [
        (["father", "/a/b(c)"], [["1", "x"], ["5", "y"]], False),
        (["male"], [["0"]], True),
    ]


@pytest.mark.parametrize("line", ["1.0 !p(A, B) v q(B, A)", "f(A,B):-g(B,A).", "f(A,B)<=g(B,A)", "a\tp\tb", "p(a)\tb"])
def test_rules_are_no_facts_of_expressgnn(line: str) -> None:
    assert not expressgnn.looks_like([line])


def test_negative_facts_of_a_fact_file_are_negative_facts(tmp_path: Path) -> None:
    path = tmp_path / "facts.txt"
    path.write_text("p(a, b)\np(c, d)\n!q(a, b)\n")
    with pytest.warns(rulescore.RulescoreWarning, match="read as a fact file of ExpressGNN"):
        result = rulescore.audit(path, "one: q(X, Y) <- p(X, Y).")
    assert (result.summary.facts, result.summary.negatives) == (2, 1)
    assert result.rule_results[0].dataset.refuted == 1
    with pytest.raises(InputError, match=r"E363.*marks some facts as false"):
        rulescore.audit([("a", "p", "b")], "one: q(X, Y) <- p(X, Y).", negatives=path)


def test_a_prediction_is_not_of_a_contrary(tmp_path: Path) -> None:
    path = tmp_path / "model.txt"
    path.write_text("p(a, b)\n!q(a, b)\n")
    with pytest.raises(InputError, match=r"model\.txt:2:1"):
        opened(prediction_streams(path))


def test_psl_facts_are_true_or_false_and_predictions_have_scores(tmp_path: Path) -> None:
    path = tmp_path / "KNOWS.txt"
    path.write_text("a\tb\t1.0\nc\td\t0\n")
    file = rulescore.FactFile(path, format="psl")
    [stream] = observed_streams({"knows": file})
    assert [(batch.predicate, batch.negative, batch.rows["a0"].to_pylist()) for batch in stream.open()] == [
        ("knows", False, ["a"]),
        ("knows", True, ["c"]),
    ]
    [stream] = prediction_streams({"knows": file})
    [batch] = stream.open()
    assert batch.rows["score"].to_pylist() == [1.0, 0.0]
    [stream] = observed_streams(file)
    with pytest.raises(InputError, match=r"E363.*nothing names the predicate"):
        list(stream.open())


@pytest.mark.parametrize(
    ("line", "predictions", "message"),
    [
        ("a\tb", True, "expected a truth value from 0 to 1, found `b`"),
        ("a\tb\t7", True, "expected a truth value from 0 to 1, found `7`"),
        ("a\t\t1", True, "an argument is empty"),
        ("a\tb\t0.5", False, "the truth value is `0.5`, and a fact is true (1) or known to be false (0)"),
    ],
)
def test_faults_of_psl(line: str, predictions: bool, message: str) -> None:
    [fault] = psl.read([line], predictions=predictions)
    assert isinstance(fault, Fault)
    assert fault.message == message
