"""Each metric has the value its definition gives, stays in its range, and moves in its direction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulescore.accuracy.metrics import (
    ACCURACY,
    CLASSIFICATION,
    MACRO_F1,
    MEAN_ABSOLUTE_ERROR,
    R_SQUARED,
    REGRESSION,
    ROOT_MEAN_SQUARED_ERROR,
    Direction,
    Metric,
    measure_accuracy,
)

METRICS: tuple[Metric[Any], ...] = (*REGRESSION, ROOT_MEAN_SQUARED_ERROR, *CLASSIFICATION, MACRO_F1)
by_name = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
values = st.integers(-1000, 1000)
pairs = st.lists(st.tuples(values, values), min_size=2, max_size=20).filter(lambda rows: len({label for label, _ in rows}) > 1)


def value(metric: Metric[Any], labels: Sequence[object], predictions: Sequence[object]) -> float:
    found = metric.measure(labels, predictions).value
    assert found is not None
    return found


def test_the_mean_absolute_error_is_the_mean_distance() -> None:
    assert value(MEAN_ABSOLUTE_ERROR, [10, 20, 30], [11, 18, 30]) == 1


def test_r_squared_compares_with_always_answering_the_mean() -> None:
    assert value(R_SQUARED, [1, 2, 3], [2, 2, 2]) == 0
    assert value(R_SQUARED, [1, 2, 3], [1, 2, 4]) == 0.5
    assert value(R_SQUARED, [1, 2, 3], [3, 2, 1]) == -3


def test_the_root_mean_squared_error_weighs_far_misses_more() -> None:
    assert value(ROOT_MEAN_SQUARED_ERROR, [10, 20], [13, 24]) == pytest.approx((25 / 2) ** 0.5)


def test_macro_f1_counts_rare_classes_like_common_ones() -> None:
    """Of `a` two of two labels are found, with one wrong; of `b` none."""
    assert value(MACRO_F1, ["a", "a", "b"], ["a", "a", "a"]) == pytest.approx((0.8 + 0) / 2)


def test_accuracy_is_the_share_of_right_answers() -> None:
    assert value(ACCURACY, ["a", "b", "c", "c"], ["a", "b", "b", "c"]) == 0.75


def test_accuracy_is_typed() -> None:
    assert value(ACCURACY, [1, 1.0, 2**53, 2**53 + 1], [1.0, 1, 2.0**53, 2.0**53]) == 0.75
    assert value(ACCURACY, [True, False, 1, 1.0, "1"], [1, 0.0, True, True, 1]) == 0
    assert value(ACCURACY, [True, False], [True, True]) == 0.5


@pytest.mark.parametrize(
    ("metric", "labels", "predictions"),
    [
        (R_SQUARED, [1e200, -1e200], [0.0, 0.0]),
        (R_SQUARED, [0.0, 5e-324], [0.0, 0.0]),
        (R_SQUARED, [1.0, 2.0], [1e300, 0.0]),
        (MEAN_ABSOLUTE_ERROR, [1.7e308], [-1.7e308]),
        (MEAN_ABSOLUTE_ERROR, [1.7e308, 1.7e308], [0.0, 0.0]),
    ],
)
def test_what_no_double_holds_is_undefined_with_its_reason(
    metric: Metric[Any], labels: list[float], predictions: list[float]
) -> None:
    found = metric.measure(labels, predictions)
    assert found.value is None
    assert found.reason is not None
    assert "no double holds the result" in found.reason


def test_r_squared_of_equal_labels_is_undefined_with_its_reason() -> None:
    found = R_SQUARED.measure([0.1, 0.1, 0.1], [0.1, 0.2, 0.3])
    assert (found.value, found.reason) == (None, "all labels are equal")


@by_name
def test_a_metric_of_nothing_is_undefined_with_its_reason(metric: Metric[Any]) -> None:
    found = metric.measure([], [])
    assert (found.value, found.reason) == (None, "no label has a prediction")


@by_name
@given(rows=pairs)
def test_a_metric_stays_in_its_range(metric: Metric[Any], rows: list[tuple[int, int]]) -> None:
    labels, predictions = zip(*rows, strict=True)
    found = value(metric, labels, predictions)
    assert (-math.inf if metric.least is None else metric.least) <= found
    assert found <= (math.inf if metric.greatest is None else metric.greatest)


@by_name
@given(rows=pairs, data=st.data())
def test_a_metric_gets_better_when_a_mistake_is_mended(
    metric: Metric[Any], rows: list[tuple[int, int]], data: st.DataObject
) -> None:
    wrong = [index for index, (label, prediction) in enumerate(rows) if label != prediction]
    if not wrong:
        return
    mended = data.draw(st.sampled_from(wrong))
    labels = [label for label, _ in rows]
    predictions = [prediction for _, prediction in rows]
    before = value(metric, labels, predictions)
    after = value(metric, labels, [labels[index] if index == mended else given for index, given in enumerate(predictions)])
    assert after > before if metric.direction is Direction.UP else after < before


@by_name
@given(labels=st.lists(values, min_size=2).filter(lambda labels: len(set(labels)) > 1))
def test_the_truth_is_the_best_there_is(metric: Metric[Any], labels: list[int]) -> None:
    best = metric.greatest if metric.direction is Direction.UP else metric.least
    assert value(metric, labels, labels) == best


def test_only_keys_with_label_and_prediction_are_compared() -> None:
    found = measure_accuracy(REGRESSION, {"a": 1.0, "b": 2.0, "c": 3.0}, {"a": 1.0, "b": 4.0, "d": 100.0})
    assert (found.labels, found.predicted) == (3, 2)
    assert found.measures["mean_absolute_error"].value == 1


def test_the_order_of_the_keys_is_of_no_matter() -> None:
    labels = {"a": 1.0, "b": 2.0, "c": 4.0}
    predictions = {"c": 3.0, "a": 1.5, "b": 2.0}
    turned = dict(reversed(labels.items()))
    assert measure_accuracy(REGRESSION, labels, predictions) == measure_accuracy(REGRESSION, turned, predictions)
