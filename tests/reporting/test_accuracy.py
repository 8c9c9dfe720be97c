"""Accuracy stands beside scores: one row a model, and undefined has its reason."""

from __future__ import annotations

import pytest

import rulescore
from rulescore.accuracy.metrics import REGRESSION, measure_accuracy
from rulescore.reporting.accuracy import accuracy_listing, rule_scores_listing
from rulescore.scoring.evaluation import Evaluation


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    observed = [("a", "q", "b"), ("a", "p", "b"), ("c", "q", "d"), ("c", "s", "d"), ("e", "s", "f")]
    predictions = {"one": [("e", "q", "f")], "other": [("a", "p", "c")]}
    rules = "incompatible p, s.\nfollows: p(X, Y) <- q(X, Y).\nnever: false <- p(X, Y), s(X, Y)."
    return rulescore.score(observed, predictions, rules)


def test_a_model_has_its_accuracy_and_its_scores_in_one_row(evaluation: Evaluation) -> None:
    labels = {1: 10.0, 2: 20.0, 3: 30.0}
    accuracies = {
        "one": measure_accuracy(REGRESSION, labels, {1: 11.0, 2: 22.0}),
        "other": measure_accuracy(REGRESSION, labels, labels),
    }
    listing = accuracy_listing(evaluation, REGRESSION, accuracies)
    keys = [column.key for column in listing.columns]
    one, other = (dict(zip(keys, row, strict=True)) for row in listing.rows)
    assert (one["model"], one["labels"], one["predicted"], one["mean_absolute_error"]) == ("one", 3, 2, 1.5)
    assert (other["mean_absolute_error"], other["r_squared"]) == (0, 1)
    models = {model.name: model for model in evaluation.model_results}
    assert (one["hard_score"], one["soft_score"]) == (models["one"].hard_score.mark, models["one"].soft_score.value)
    assert (one["hard_score"], one["soft_score"]) == ("0, none judged", 2)


def test_an_undefined_measure_has_its_reason_in_a_note(evaluation: Evaluation) -> None:
    nothing = measure_accuracy(REGRESSION, {1: 10.0}, {})
    something = measure_accuracy(REGRESSION, {1: 10.0}, {1: 10.0})
    listing = accuracy_listing(evaluation, REGRESSION, {"one": nothing, "other": something})
    assert [row[3:5] for row in listing.rows] == [(None, None), (0, None)]
    assert [note for note in listing.notes if not note.startswith("0, none judged ")] == [
        "– MAE of one: no label has a prediction",
        "– R² of one: no label has a prediction",
        "– R² of other: all labels are equal",
        "– RVS soft of other: no soft rule has a defined score",
        "– soft mean of other: no soft rule has a defined score",
    ]


def test_a_reason_that_is_true_of_all_models_is_said_once(evaluation: Evaluation) -> None:
    nothing = measure_accuracy(REGRESSION, {1: 10.0}, {})
    listing = accuracy_listing(evaluation, REGRESSION, {"one": nothing, "other": nothing})
    assert listing.notes[:2] == ("– MAE: no label has a prediction", "– R²: no label has a prediction")


def test_a_rule_has_its_counts_and_the_score_of_each_model(evaluation: Evaluation) -> None:
    listing = rule_scores_listing(evaluation)
    assert [column.key for column in listing.columns] == ["rule", "kind", "refuted", "evaluable", "rate", "one", "other"]
    assert listing.rows == (("follows", "soft", 1, 2, 0.5, 2.0, None), ("never", "hard", 0, 0, None, "0, none judged", 0))
