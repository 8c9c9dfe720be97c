"""Registered predicates: asked once about each tuple that matters, and counted as a rule that says the same without them."""

from __future__ import annotations

import datetime
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import rulescore
from rulescore.arguments.python import make_setting
from rulescore.errors import EngineError, InputError
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import Counts
from rulescore.session.session import Session
from rulescore.setting.model import Function

pytestmark = pytest.mark.slow

DAY = datetime.date(2020, 1, 31)
FACTS = {
    "person": [("ann",), ("bob",), ("cy",)],
    "age": [("ann", 50), ("bob", 30), ("cy", 30)],
    "weight": [("ann", 60.5)],
    "born": [("ann", DAY), ("bob", DAY + datetime.timedelta(days=30))],
    "adult": [("ann", True), ("bob", False)],
    "parent": [("ann", "bob"), ("ann", "cy")],
}
PREDICTED = {"age": [("dan", 45), ("ann", 50), ("eve", 30)], "parent": [("bob", "cy")]}


class Recorder:
    """A function that remembers what it was asked."""

    def __init__(self, answer: Callable[..., object]) -> None:
        self._answer = answer
        self.asked: list[Any] = []

    def __call__(self, *arguments: object) -> object:
        self.asked.append(arguments if len(arguments) > 1 else arguments[0])
        return self._answer(*arguments)


def above_40(number: int) -> bool:
    return number > 40


def evaluated(rules: str, predictions: Any = PREDICTED, **functions: Any) -> Evaluation:
    return rulescore.score(FACTS, {"model": predictions}, rules, functions=functions, threads=1)


def counts(result: Evaluation) -> list[Any]:
    found = [(rule.dataset, {name: own.counts for name, own in rule.models.items()}) for rule in result.rule_results]
    rows = result.contributions.drop_columns(["rule"]).to_pylist()
    return [found, sorted(map(str, rows))]


RULES = [
    "{} <- age(X, N).",
    "not {} <- age(X, N).",
    "{} or person(X) <- age(X, N).",
    "{} and N < 60 <- age(X, N), person(X).",
    "false <- age(X, N), {}.",
    "false <- age(X, N), not {}.",
    "false <- age(X, N), ({} or parent(X, X)).",
    "false <- age(X, N), not ({} and person(X)).",
    "count(N : age(X, N), {}) = 1 <- person(X).",
    "count(X : age(X, N), not {}) <= 1 <- person(_).",
    "false <- person(X), count(N : age(X, N), {}) = 0.",
    "count(C : parent(X, C)) <= 1 <- age(X, N), {}.",
    "false <- person(X), sum(N : age(X, N), ({} or N = 30)) > 40.",
    "false <- parent(X, Y), age(Y, N), not {}, person(X).",
]


@pytest.mark.parametrize(
    "rules",
    [
        "\n".join(RULES),
        "person(X) <- age(X, N), {}. closed person.",
        "age(X, N) <- age(X, N), person(X). refute age(X, N) <- {}.",
        "age(X, N) <- age(X, N). refute age(X, M) <- age(Y, N), {}, N > M.",
        "not age(X, N) <- age(X, N). refute age(X, M) <- N = M + 1, {}.",
    ],
)
def test_counts_are_those_of_the_same_rules_in_the_language(rules: str) -> None:
    asked, said = (rules.replace("{}", condition) for condition in ("above(N)", "N > 40"))
    assert counts(evaluated(asked, above=above_40)) == counts(evaluated(said))


def test_a_function_of_computed_arguments_and_of_aggregates() -> None:
    rules = "above({0}) <- age(X, N).", "{0} > 40 <- age(X, N)."
    for value in ("N + 1", "sum(M : age(X, M)) - 5", "round(N / 1.1)"):
        asked, said = (evaluated(rule.format(value), above=above_40) for rule in rules)
        assert counts(asked) == counts(said)


def test_each_tuple_is_asked_once_whatever_asks() -> None:
    """Over the data and for predictions, in several rules, in body and head, and again when violations are listed."""
    function = Recorder(above_40)
    rules = "above(N) <- age(X, N).\nfalse <- age(X, N), above(N).\ncount(M : age(X, M), above(M)) <= 1 <- person(X)."
    with Session(make_setting(FACTS, {"model": PREDICTED}, rules, functions={"above": function})) as session:
        session.evaluate()
        session.violations(rule=None, model=None, prediction=None, limit=10)
        session.violations(rule=None, model="model", prediction=None, limit=10)
    assert sorted(function.asked) == [30, 45, 50]


@pytest.mark.parametrize(
    ("rule", "asked"),
    [
        ("false <- age(X, N), N > 40, above(N).", [45, 50]),
        ("false <- age(X, N), person(X), not parent(X, _), above(N).", [30]),
        ("above(N) <- age(X, N), N < 40.", [30]),
        ("age(X, N) <- age(X, N), N > 45. refute age(X, N) <- above(N), N > 0.", [50]),
        ("age(X, M) <- age(X, M), M < 40. refute age(X, M) <- age(Y, N), N > M + 15, above(N).", [50]),
        ("false <- nothing(N), above(N).", []),
        ("above(N) <- nothing(N).", []),
    ],
)
def test_what_other_conditions_exclude_is_not_asked(rule: str, asked: list[int]) -> None:
    function = Recorder(above_40)
    evaluated(rule, above=function)
    assert sorted(function.asked) == asked


def test_values_come_as_python_knows_them() -> None:
    function = Recorder(lambda *_: True)
    evaluated(
        "f(X, N, W, T, B, D) <- age(X, N), weight(X, W), adult(X, T), born(X, B), born(Y, C), let D = C - B, Y != X.", f=function
    )
    assert function.asked == [("ann", 50, 60.5, True, DAY, datetime.timedelta(days=30))]
    assert [type(one) for one in function.asked[0]] == [str, int, float, bool, datetime.date, datetime.timedelta]


def test_date_times_come_as_python_knows_them() -> None:
    moment = datetime.datetime(2020, 1, 31, 12, 0, 0, 1)
    facts = {"at": [("a", moment, moment.replace(tzinfo=datetime.UTC))]}
    asked = Recorder(lambda *arguments: True)
    rulescore.audit(facts, "f(T, I, T - 2020-01-31T00:00) <- at(X, T, I).", functions={"f": asked}, threads=1)
    ((clock, instant, span),) = asked.asked
    assert (clock, instant, span) == (moment, moment.replace(tzinfo=datetime.UTC), moment - datetime.datetime(2020, 1, 31))


def test_arrow_functions_take_an_array_for_each_argument() -> None:
    types: list[pa.DataType] = []

    def function(*columns: pa.Array) -> pa.Array:
        assert all(isinstance(column, pa.Array) for column in columns)
        types.extend(column.type for column in columns)
        return pa.array([True] * len(columns[0]))

    rule = "f(X, N, W, T, B, D) <- age(X, N), weight(X, W), adult(X, T), born(X, B), let D = B - B."
    result = evaluated(rule, f=Function("f", function, arrow=True))
    assert result.rule_results[0].dataset.confirmed == 1
    assert types == [pa.string(), pa.int64(), pa.float64(), pa.bool_(), pa.date32(), pa.duration("s")]


def test_arguments_of_two_types_in_one_rule_are_kept_apart() -> None:
    function = Recorder(lambda one: one in ("ann", 30))
    (result,) = evaluated("f(X) or f(N) <- age(X, N).", predictions={}, f=function).rule_results
    assert (result.dataset.confirmed, result.dataset.refuted) == (3, 0)
    assert set(function.asked) == {"ann", "bob", "cy", 30, 50}


def test_one_function_may_take_one_argument_and_two() -> None:
    function = Recorder(lambda *arguments: len(arguments) == 2)
    (result,) = evaluated("f(X) or f(X, N) <- age(X, N).", predictions={}, f=function).rule_results
    assert (result.dataset.confirmed, result.dataset.refuted) == (3, 0)


def test_true_and_one_are_two_arguments() -> None:
    facts = {"flag": [(True,)], "number": [(1,)]}
    function = Recorder(lambda one: isinstance(one, bool))
    result = rulescore.audit(facts, "f(X) <- flag(X).\nf(X) <- number(X).", functions={"f": function})
    assert [rule.dataset.confirmed for rule in result.rule_results] == [1, 0]
    assert function.asked == [True, 1]


def test_an_integer_and_the_float_of_its_value_are_one_argument() -> None:
    function = Recorder(above_40)
    rulescore.audit({"a": [(50,)], "b": [(50.0,), (0.5,)]}, "f(X) <- a(X).\nf(X) <- b(X).", functions={"f": function})
    assert function.asked == [50, 0.5]


def test_without_an_answer_a_head_is_undecided_and_a_body_does_not_hold() -> None:
    rules = "f(N) <- age(X, N).\nnot f(N) <- age(X, N).\nfalse <- age(X, N), f(N).\nfalse <- age(X, N), not f(N)."
    rules += "\nf(N) or N > 40 <- age(X, N).\nf(N) and N > 40 <- age(X, N)."
    found = [one.dataset for one in evaluated(rules, f=lambda _: None).rule_results]
    assert [(one.confirmed, one.refuted) for one in found] == [(0, 0), (0, 0), (0, 0), (0, 0), (1, 0), (0, 2)]


def test_missing_arguments_are_not_asked_about_and_have_no_answer() -> None:
    table = rulescore.Table({"id": [1, 2, 3], "rooms": [2, 0, None], "price": [10.0, 20.0, 30.0]}, key="id")
    function = Recorder(lambda unit: unit > 3)
    rules = "f(P / R) <- sale(price: P, rooms: R).\nnot f(P / R) <- sale(price: P, rooms: R)."
    result = rulescore.audit(None, rules, tables={"sale": table}, functions={"f": function})
    assert [(one.dataset.confirmed, one.dataset.refuted) for one in result.rule_results] == [(1, 0), (0, 1)]
    assert function.asked == [5.0]


def test_predicted_values_of_tables_are_asked_about() -> None:
    columns = {"id": [1, 2, 3], "price": [10.0, 20.0, 99.0], "surface": [2, 2, 5], "split": ["train", "train", "test"]}
    table = rulescore.Table(
        columns, key="id", target="price", hidden={"column": "split", "values": ["test"]}, derived={"unit": "price / surface"}
    )
    function = Recorder(lambda unit: unit > 7)
    result = rulescore.score(
        None,
        {"m": pa.table({"id": [3], "prediction": [40.0]})},
        "f(U) <- sale(unit: U).",
        tables={"sale": table},
        functions={"f": function},
    )
    assert sorted(function.asked) == [5.0, 8.0, 10.0]
    assert result.rule_results[0].models["m"].counts.confirmed == 1


@pytest.mark.parametrize(
    "answer",
    [
        lambda column: pc.greater(column, 40),
        lambda column: pa.chunked_array([pc.greater(column, 40)]),
        lambda column: column.to_numpy() > 40,
        lambda column: [one > 40 for one in column.to_pylist()],
        lambda column: tuple(np.bool_(one > 40) for one in column.to_pylist()),
        lambda column: pd.Series(column.to_numpy() > 40),
        lambda column: pl.Series(column.to_numpy() > 40),
    ],
    ids=["array", "chunked", "numpy", "list", "numpy scalars", "pandas", "polars"],
)
def test_arrow_functions_may_answer_with_any_sequence(answer: Callable[[Any], object]) -> None:
    rule = "above(N) <- age(X, N)."
    assert counts(evaluated(rule, above=Function("above", answer, arrow=True))) == counts(evaluated(rule, above=above_40))


def test_an_arrow_function_may_leave_some_unanswered() -> None:
    function = Function("f", lambda column: pa.array([None if one == 30 else True for one in column.to_pylist()]), arrow=True)
    (result,) = evaluated("f(N) <- age(X, N).", f=function).rule_results
    assert (result.dataset.confirmed, result.dataset.refuted) == (1, 0)


def failure(rule: str, **functions: Any) -> Any:
    with pytest.raises(InputError) as raised:
        evaluated(rule, **functions)
    (problem,) = raised.value.problems
    return problem


def test_e291_an_exception_names_the_function_the_arguments_and_the_rule() -> None:
    problem = failure("old: f(X, N) <- age(X, N), N > 40.", f=lambda name, number: number / 0)
    assert (problem.code, problem.message) == ("E291", "function `f` failed on ('ann', 50): ZeroDivisionError: division by zero")
    assert problem.notes == ("for rule `old` (<rules>:1:1)",)


def test_e291_a_function_that_ends_the_process_fails_like_any_other() -> None:
    for arrow in (False, True):
        problem = failure("old: f(X) <- age(X, N), N > 40.", f=Function("f", lambda *_: sys.exit(0), arrow=arrow))
        assert problem.code == "E291"
        assert problem.message.endswith("SystemExit: 0")


def test_e291_a_function_of_another_number_of_arguments() -> None:
    problem = failure("f(N) <- age(X, N).", f=lambda name, number: True)
    assert problem.code == "E291"
    assert "TypeError" in problem.message


def test_e291_an_arrow_function_fails_on_arrays() -> None:
    problem = failure("f(X, N) <- age(X, N).", f=Function("f", lambda *_: 1 // 0, arrow=True))
    assert problem.message.startswith("function `f` failed on arrays of (string, int64): ZeroDivisionError")


@pytest.mark.parametrize("answer", ["yes", 1, 0.0, [True], np.int64(1)])
def test_e292_an_answer_that_is_neither_true_nor_false(answer: object) -> None:
    problem = failure("f(N) <- age(X, N), N > 40.", f=lambda _: answer)
    assert (problem.code, problem.message) == ("E291", f"function `f` answered `{answer!r}` to (50)")
    assert problem.helps == ("return True, False, or None where it cannot be said",)


@pytest.mark.parametrize(
    ("answer", "shown"), [([True], "1 answer"), ([True] * 5, "5 answers"), (True, "1 answer"), ([], "0 answers")]
)
def test_e292_an_arrow_function_gives_an_answer_to_each_question(answer: object, shown: str) -> None:
    problem = failure("f(N) <- age(X, N).", f=Function("f", lambda _: answer, arrow=True))
    assert (problem.code, problem.message) == ("E291", f"function `f` gave {shown} to 2 questions")
    assert problem.helps == ("return an array as long as the arguments",)


def test_e292_an_arrow_answer_of_another_type() -> None:
    problem = failure("f(N) <- age(X, N).", f=Function("f", lambda column: pc.add(column, 1), arrow=True))
    assert problem.code == "E291"


def test_a_predicate_of_the_data_goes_before_a_function_of_its_name() -> None:
    function = Recorder(lambda _: False)
    (result,) = evaluated("person(X) <- age(X, N). closed person.", person=function).rule_results
    assert (result.dataset.confirmed, function.asked) == (3, [])


def test_answers_are_asked_for_as_often_as_they_depend_on_each_other() -> None:
    facts = {"n": [(1,), (2,), (3,), (4,)]}
    rule = (
        "even(T) <- n(N), S = count(K : n(K), even(K), K >= N), R = count(L : n(L), even(L + S)), "
        "T = count(J : n(J), even(J + R + 1))."
    )
    # S is 2, 2, 1, 1; R is 2 for each, and T is 2.
    result = rulescore.audit(facts, rule, functions={"even": lambda number: number % 2 == 0})
    assert result.rule_results[0].dataset == Counts(4, 0, 4)


def test_the_timeout_ends_calls_that_take_too_long_together() -> None:
    calls: list[str] = []

    def slow(person: str) -> bool:
        calls.append(person)
        time.sleep(0.2)
        return True

    with pytest.raises(EngineError, match=r"function `slow` was stopped after 0\.1 seconds, the `timeout` .*, and 1 call of 3"):
        rulescore.audit(FACTS, "slow(X) <- person(X).", functions={"slow": slow}, timeout=0.1)
    assert len(calls) == 1


class Silent:
    def __repr__(self) -> str:
        raise ValueError


def test_e292_an_answer_that_cannot_be_written() -> None:
    with pytest.raises(InputError, match=r"E291.*answered `<Silent>` to"):
        rulescore.audit({"q": [("a",)]}, "f(X) <- q(X).", functions={"f": lambda value: Silent()})
