"""Types of places and of variables: what a rule is computed with, by how values were given."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

import rulescore
from rulescore.scoring.results import Counts
from rulescore.setting.model import FactFile

BIG = 2**53
GROWS = "X + 1 = X <- p(X)."
"""True of 2^53 as a double, false of it as an integer."""


def counts(facts: object, rules: str, predictions: object = None) -> Counts:
    scored = rulescore.score(facts, predictions, rules) if predictions is not None else rulescore.audit(facts, rules)
    return scored.rule_results[0].dataset


@pytest.mark.parametrize("predictions", [None, {"m": {"p": [(0.5,)]}}, {"m": {"p": [(3,)]}}])
def test_whole_floats_are_computed_with_as_floats_whatever_a_model_predicts(predictions: object) -> None:
    assert counts({"p": [(float(BIG),)]}, GROWS, predictions) == Counts(1, 0, 1)


def test_integers_are_computed_with_as_integers() -> None:
    assert counts({"p": [(BIG,)]}, GROWS) == Counts(0, 1, 1)


def test_floats_do_not_overflow_as_integers_would() -> None:
    assert counts({"p": [(1e18,), (1.0,)]}, "X * X > 0 <- p(X).") == Counts(2, 0, 2)


@pytest.mark.parametrize(("kind", "expected"), [("float", Counts(1, 0, 1)), ("integer", Counts(0, 1, 1))])
def test_a_column_s_declared_type_is_what_its_numbers_are(tmp_path: object, kind: str, expected: Counts) -> None:
    path = tmp_path / "p.csv"  # type: ignore[operator]
    path.write_text(f"value\n{BIG}\n")
    assert counts(FactFile(path, predicate="p", header=True, types={"value": kind}), GROWS) == expected


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([float(BIG)], pa.float64()), Counts(1, 0, 1)),
        (pa.array([BIG], pa.int64()), Counts(0, 1, 1)),
        (pa.array([BIG], pa.int64()).cast(pa.decimal128(30, 2)), Counts(1, 0, 1)),
        (pa.array([BIG], pa.int64()).cast(pa.decimal128(30, 0)), Counts(0, 1, 1)),
    ],
    ids=["float", "integer", "decimal with a scale", "decimal without"],
)
def test_a_frame_s_column_says_what_its_numbers_are(column: pa.Array, expected: Counts) -> None:
    assert counts({"p": pa.table({"value": column})}, GROWS) == expected


def test_triples_tell_floats_of_one_relation_from_integers_of_another() -> None:
    facts = [("a", "p", float(BIG)), ("a", "q", BIG)]
    assert counts(facts, "X + 1 = X <- p(_, X).") == Counts(1, 0, 1)
    assert counts(facts, "X + 1 = X <- q(_, X).") == Counts(0, 1, 1)


def test_n_triples_tell_doubles_from_integers(tmp_path: object) -> None:
    path = tmp_path / "facts.nt"  # type: ignore[operator]
    schema = "http://www.w3.org/2001/XMLSchema#"
    path.write_text(f'<a> <p> "{BIG}"^^<{schema}double> .\n<a> <q> "{BIG}"^^<{schema}integer> .\n')
    assert counts(path, "X + 1 = X <- p(_, X).") == Counts(1, 0, 1)
    assert counts(path, "X + 1 = X <- q(_, X).") == Counts(0, 1, 1)


def test_computing_with_several_types_names_a_value_of_each_and_where_it_stands() -> None:
    with pytest.raises(rulescore.InputError) as caught:
        counts({"p": [(1,)]}, "X > 0 <- p(X).", {"m": {"p": [("x",)]}})
    assert caught.value.problems[0].code == "E271"
    assert caught.value.problems[0].notes == (
        "argument 1 of `p`: the integer `1` in the facts",
        "argument 1 of `p`: the string `x` in the predictions",
    )


@pytest.mark.parametrize("rule", ["X > 0 <- p(X).", "X > 0 <- (n(X) or q(X)).", "sum(X : p(X)) > 0 <- q(_)."])
def test_an_integer_that_no_float_equals_is_not_computed_with_beside_floats(rule: str) -> None:
    facts = {"p": [(BIG + 1,), (0.5,)], "n": [(BIG + 1,)], "q": [(0.5,)]}
    with pytest.raises(rulescore.InputError) as caught:
        counts(facts, rule)
    problem = caught.value.problems[0]
    assert problem.code == "E271"
    assert f"the integer `{BIG + 1}`, which no float equals" in " ".join((problem.message, *problem.notes))


def test_integers_of_one_side_of_an_or_are_floats_beside_those_of_the_other() -> None:
    facts = {"n": [(BIG,)], "q": [(0.5,)]}
    assert counts(facts, "X + 1 = X <- (n(X) or q(X)).") == Counts(1, 1, 2)


def test_a_function_is_asked_about_values_of_several_types_as_they_are() -> None:
    asked = []

    def known(value: object) -> bool:
        asked.append(value)
        return isinstance(value, str)

    result = rulescore.audit({"p": [(1,), ("1",), (True,)]}, "known(X) <- p(X).", functions={"known": known})
    assert result.rule_results[0].dataset == Counts(1, 2, 3)
    assert sorted(map(repr, asked)) == ["'1'", "1", "True"]


def test_a_function_of_arrays_is_not_asked_about_values_of_several_types() -> None:
    function = rulescore.Function("known", lambda values: pa.nulls(len(values), pa.bool_()), arrow=True)
    with pytest.raises(rulescore.InputError) as caught:
        rulescore.audit({"p": [(1,), ("1",)]}, "known(X) <- p(X).", functions={"known": function})
    assert [one.code for one in caught.value.problems] == ["E271"]


def sales(*targets: int | None) -> rulescore.Table:
    rows = [{"id": number, "price": target} for number, target in enumerate(targets)]
    return rulescore.Table(rows, key="id", target="price", hidden=f"id >= {len(targets) - 2}")


def test_a_target_that_no_float_equals_is_equal_to_itself_beside_fractions() -> None:
    table = {"sale": sales(BIG + 1, None, None)}
    rules = f"P = {BIG + 1} <- sale(price: P). P != 2.5 <- sale(price: P)."
    first, second = rulescore.score(None, {"m": {1: 2.5}, "n": {2: BIG}}, rules, tables=table).rule_results
    assert (first.dataset, second.dataset) == (Counts(1, 0, 1), Counts(1, 0, 1))
    assert [one.counts for one in first.models.values()] == [Counts(0, 1, 1), Counts(0, 1, 1)]
    assert [one.counts for one in second.models.values()] == [Counts(0, 1, 1), Counts(1, 0, 1)]


def test_a_target_that_no_float_equals_is_not_computed_with_beside_fractions() -> None:
    table = {"sale": sales(BIG + 1, None, None)}
    with pytest.raises(rulescore.InputError) as caught:
        rulescore.score(None, {"m": {1: 2.5}}, "P > 0 <- sale(price: P).", tables=table)
    (problem,) = caught.value.problems
    assert problem.code == "E271"
    assert str(BIG + 1) in problem.notes[0]
    found = rulescore.score(None, {"m": {1: 2}}, f"P > {BIG}.0 <- sale(price: P).", tables=table).rule_results[0]
    assert found.dataset == Counts(1, 0, 1)


@pytest.mark.parametrize("derived", ["price - 1", "double / 3"])
def test_what_is_derived_from_a_target_that_no_float_equals_is_not_computed_beside_fractions(derived: str) -> None:
    rows = [{"id": number, "price": price} for number, price in enumerate((BIG + 1, None))]
    table = rulescore.Table(rows, key="id", target="price", hidden=[1], derived={"double": "price * 2", "other": derived})
    with pytest.raises(rulescore.InputError) as caught:
        rulescore.score(None, {"m": {1: 2.5}}, "P > 0 <- sale(other: P).", tables={"sale": table})
    (problem,) = caught.value.problems
    assert problem.code == "E351"
    assert problem.notes == (f"`other` cannot be computed from them beside the integer {BIG + 1}, which no float equals",)


def test_a_prediction_that_no_float_equals_stands_beside_fractions_of_another_model() -> None:
    predictions = {"m": {1: 2.5}, "n": {2: BIG + 1}}
    rules = f"P != {BIG} <- sale(price: P)."
    (found,) = rulescore.score(None, predictions, rules, tables={"sale": sales(7, None, None)}).rule_results
    assert [one.counts for one in found.models.values()] == [Counts(1, 0, 1), Counts(1, 0, 1)]


def test_a_prediction_that_is_not_finite_is_named_beside_integers_that_no_float_equals() -> None:
    table = {"sale": sales(BIG + 1, None, None)}
    with pytest.raises(rulescore.InputError) as caught:
        rulescore.score(None, {"m": {1: math.nan}}, "P = 1 <- sale(price: P).", tables=table)
    assert [one.code for one in caught.value.problems] == ["E351"]


def test_a_join_of_types_that_are_never_equal_is_a_warning() -> None:
    result = rulescore.audit({"p": [("1",)], "q": [(1,)]}, "1 < 2 <- p(X), q(X), 1 < 2.")
    assert result.rule_results[0].dataset == Counts(0, 0, 0)
    assert [one.code for one in result.warnings if one.code not in {"W203", "W212"}] == ["W210"]
