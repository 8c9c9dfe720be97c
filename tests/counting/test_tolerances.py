"""Tolerances taken from the data are what a loop over all pairs finds; every tolerance counts like the number it stands for."""

from __future__ import annotations

import datetime
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import rulescore
from rulescore.arguments.python import make_setting
from rulescore.errors import InputError
from rulescore.scoring.evaluation import Evaluation
from rulescore.session.session import Session, Tolerance
from rulescore.setting.model import Setting

KINDS = {
    "integers": [100, 100, 130, 190, 250, 100, 700, 705, 710, 40],
    "floats": [0.1, 0.2, 0.30000000000000004, 0.7, 0.4, 1e-9, 5.5, 5.5, 6.25, 2.0],
    "wide floats": [1.0, 1e16, 1e300, 2.5, 1e-300, 3.0, 1e15, 7.0, 1e-5, 1.0],
}
ZIPS = ["a", "a", "a", "b", "b", "b", "c", "c", "c", "d"]
HIDDEN = ["train"] * 8 + ["test"] * 2
PAIR = "sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, price: Q)"


def setting(rules: str, prices: list[Any], *, hidden: bool = True, predictions: bool = False) -> Setting:
    columns = {"id": list(range(10)), "zip": ZIPS, "price": prices, "split": HIDDEN}
    masked = {"column": "split", "values": ["test"]} if hidden else None
    table = rulescore.Table(columns, key="id", target="price", hidden=masked)
    models = {"m": pa.table({"id": [8, 9], "prediction": [prices[0], prices[3]]})} if predictions else None
    return make_setting(None, models, rules, tables={"sale": table}, threads=1)


def evaluated(one: Setting) -> Evaluation:
    with Session(one) as session:
        return session.evaluate()


def observed_distances(prices: list[Any], *, distinct: bool, rows: int = 8) -> list[Any]:
    return [abs(prices[i] - prices[j]) for i in range(rows) for j in range(rows) if ZIPS[i] == ZIPS[j] and (i != j or not distinct)]


@pytest.mark.parametrize("end", ["", ", A != B"])
@pytest.mark.parametrize("name", KINDS)
def test_a_quantile_is_the_least_distance_that_a_share_of_the_observed_pairs_keep(name: str, end: str) -> None:
    shares = [0, 0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 1]
    rules = "\n".join(f"within(P, Q, quantile({share})) <- {PAIR}{end}." for share in shares)
    distances = observed_distances(KINDS[name], distinct=bool(end))
    least = [min(d for d in [0, *distances] if sum(one <= d for one in distances) >= share * len(distances)) for share in shares]
    with Session(setting(rules, KINDS[name])) as session:
        found = session.audit().rule_results
    assert [one.tolerance for one in found] == least
    assert all(one.dataset.confirmed >= share * len(distances) for one, share in zip(found, shares, strict=True))


@pytest.mark.parametrize("name", ["integers", "floats"])
def test_a_spread_is_a_multiple_of_the_median_standard_deviation_of_groups(name: str) -> None:
    """Groups of one row have no spread; hidden rows are in no group."""
    prices = KINDS[name]
    deviations = [np.std(prices[0:3], ddof=1), np.std(prices[3:6], ddof=1), np.std(prices[6:8], ddof=1)]
    with Session(setting(f"within(P, Q, spread(2)) <- {PAIR}, A != B.", prices)) as session:
        (found,) = session.audit().rule_results
    assert found.tolerance == pytest.approx(2 * float(np.median(deviations)), rel=1e-12)


@pytest.mark.parametrize("tolerance", ["quantile(0.6)", "spread(0.5)"])
@pytest.mark.parametrize("name", ["integers", "floats"])
def test_a_rule_counts_like_one_with_the_tolerance_it_found(name: str, tolerance: str) -> None:
    """For the data and for predictions: the tolerance is a constant."""
    taken = evaluated(setting(f"within(P, Q, {tolerance}) <- {PAIR}, A != B.", KINDS[name], predictions=True))
    value = taken.rule_results[0].tolerance
    number = evaluated(setting(f"abs(P - Q) <= {value!r} <- {PAIR}, A != B.", KINDS[name], predictions=True))
    for one in ("dataset", "models"):
        assert getattr(taken.rule_results[0], one) == getattr(number.rule_results[0], one)
    assert taken.contributions.drop_columns(["rule"]) == number.contributions.drop_columns(["rule"])


def test_predictions_and_hidden_rows_do_not_change_a_tolerance() -> None:
    rule = f"within(P, Q, quantile(0.5)) <- {PAIR}, A != B."
    without = evaluated(setting(rule, KINDS["integers"])).rule_results[0].tolerance
    other = [*KINDS["integers"][:8], 10**6, -(10**6)]
    assert evaluated(setting(rule, other, predictions=True)).rule_results[0].tolerance == without
    assert evaluated(setting(rule, other, hidden=False)).rule_results[0].tolerance != without


@pytest.mark.parametrize("percent", [0, 10, 33.3, 400])
def test_a_percentage_is_a_distance_of_logarithms_the_same_in_both_directions(percent: float) -> None:
    prices = KINDS["integers"]
    expected = [
        abs(math.log(prices[i]) - math.log(prices[j])) <= math.log(1 + percent / 100)
        for i in range(8)
        for j in range(8)
        if ZIPS[i] == ZIPS[j] and i != j
    ]
    rules = f"within(P, Q, {percent}%) <- {PAIR}, A != B.\nwithin(Q, P, {percent}%) <- {PAIR}, A != B."
    for one in evaluated(setting(rules, prices)).rule_results:
        assert (one.dataset.confirmed, one.dataset.evaluable) == (sum(expected), len(expected))


def test_a_percentage_of_what_has_no_logarithm_is_neither_kept_nor_broken() -> None:
    prices = [0, -5, 100, 110, 10, 0, 1, 1, 1, 1]
    (found,) = evaluated(setting(f"within(P, Q, 20%) <- {PAIR}, A != B.", prices)).rule_results
    assert (found.dataset.confirmed, found.dataset.refuted) == (2, 2)


def test_dates_are_within_a_duration() -> None:
    day = datetime.date(2020, 1, 31)
    prices = [day + datetime.timedelta(days=n) for n in (0, 14, 15, 0, 1, 2, 3, 4, 5, 6)]
    (found,) = evaluated(setting(f"within(P, Q, 2 weeks) <- {PAIR}, A != B.", prices, hidden=False)).rule_results
    assert (found.dataset.refuted, found.dataset.evaluable) == (2, 18)


@pytest.mark.parametrize(
    "body",
    [
        "sale(id: A, price: P), sale(id: B, zip: Z, price: Q)",
        "sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, price: Q), P > 3",
    ],
)
@pytest.mark.parametrize("tolerance", ["quantile(0.5)", "spread(1)"])
def test_e279_a_body_that_no_tolerance_can_be_taken_from(body: str, tolerance: str) -> None:
    with pytest.raises(InputError) as raised:
        Session(setting(f"within(P, Q, {tolerance}) <- {body}.", KINDS["integers"]))
    (problem,) = raised.value.problems
    assert problem.code == "E119"
    assert problem.message == f"the tolerance by `{tolerance.partition('(')[0]}` cannot be taken from the data"
    assert "two rows of one table" in problem.helps[0]


@pytest.mark.parametrize(
    "body",
    [
        'sale(zip: "nowhere", price: P), sale(zip: "nowhere", price: Q)',
        # the data have no row of it, and one is predicted
        'sale(id: A, zip: "d", price: P), sale(id: B, zip: "d", price: Q)',
        # one row, and another is predicted
        "sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, price: Q), A != B, A in {7, 8}, B in {7, 8}",
    ],
)
@pytest.mark.parametrize("tolerance", ["quantile(0.5)", "spread(1)"])
def test_w281_without_a_pair_in_the_data_a_rule_has_no_groundings(body: str, tolerance: str) -> None:
    rules = f"one: within(P, Q, {tolerance}) <- {body}.\nother: P > 0 <- sale(price: P)."
    with Session(setting(rules, KINDS["integers"], predictions=True)) as session:
        evaluation = session.evaluate()
        assert session.violations(rule="one", model="m", prediction=None, limit=10).total == 0
        assert session.violations(rule="one", model=None, prediction=None, limit=10).total == 0
    one, other = evaluation.rule_results
    assert (one.dataset.evaluable, one.models["m"].counts.evaluable, one.tolerance) == (0, 0, None)
    assert (other.dataset.evaluable, other.models["m"].counts.evaluable) == (8, 2)
    (warning,) = [one for one in evaluation.warnings if one.code == "W281"]
    assert warning.message == (
        f"`{tolerance.partition('(')[0]}` has no two rows of the data to take a tolerance from: the rule has no groundings"
    )


@pytest.mark.parametrize("tolerance", ["quantile(0.5)", "spread(1)"])
def test_e279_a_tolerance_is_taken_from_numbers(tolerance: str) -> None:
    dates = [datetime.date(2020, 1, 1 + n) for n in range(10)]
    with pytest.raises(InputError) as raised:
        Session(setting(f"within(P, Q, {tolerance}) <- {PAIR}.", dates))
    (problem,) = raised.value.problems
    assert (problem.code, problem.message) == (
        "E119",
        f"`{tolerance.partition('(')[0]}` takes a tolerance from numbers, not from dates, date-times or durations",
    )


@pytest.mark.parametrize("tolerance", ["quantile(0.5)", "spread(1)"])
def test_e281_a_tolerance_of_values_that_are_too_large(tolerance: str) -> None:
    with pytest.raises(InputError) as raised:
        Session(setting(f"within(P, Q, {tolerance}) <- {PAIR}.", [1e308, -1e308, *map(float, range(8))]))
    (problem,) = raised.value.problems
    assert problem.code == "E264"


def test_a_spread_is_finite_where_squares_are_not() -> None:
    prices = [n * 1e300 for n in (1, 2, 3, 1, 2, 3, 1, 2, 3, 4)]
    (found,) = evaluated(setting(f"within(P, Q, spread(1)) <- {PAIR}.", prices)).rule_results
    assert found.tolerance == pytest.approx(1e300, rel=1e-9)


@pytest.mark.parametrize("name", ["integers", "floats"])
def test_the_grid_has_the_counts_that_rules_with_those_tolerances_have(name: str) -> None:
    limits = [0, 0.1, 30, 60.0, 610, 1e6]
    body = f"{PAIR}, A != B"
    rows = setting(f"a: abs(P - Q) < 7 <- {body}.\nb: within(P, Q, 1%) <- {body}.\nc: P > Q <- {body}.", KINDS[name])
    with Session(rows, grid=True) as session:
        plain = session.tolerance_grid([Tolerance(one) for one in limits])
        relative = session.tolerance_grid([Tolerance(one, relative=True) for one in (0, 10, 50)])
    rules = "\n".join(f"abs(P - Q) < {one!r} <- {body}." for one in limits)
    rules += "\n" + "\n".join(f"within(P, Q, {one}%) <- {body}." for one in (0, 10, 50))
    expected = [one.dataset for one in evaluated(setting(rules, KINDS[name])).rule_results]
    assert [row.counts for row in (*plain, *relative)] == expected
    assert {row.rule.name for row in plain} == {"a"}
    assert {row.rule.name for row in relative} == {"b"}
