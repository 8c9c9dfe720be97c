"""The confidence of values for a table's target."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rulescore
from rulescore.errors import InputError

PEOPLE = pd.DataFrame({"id": [1, 2, 3, 4, 5], "age": [40, 50, 30, 15, 12], "job": ["yes", "no", None, None, None]})
TABLES = {"person": rulescore.Table(PEOPLE, key="id", target="job", hidden=[3, 4, 5])}
RULES = 'adult: A >= 18 <- person(id: P, age: A, job: "yes").'
VALUES = pd.DataFrame({"id": [3, 4, 5], "prediction": ["yes", "yes", "yes"], "confidence": [0.9, 0.6, 0.3]})


def score(predictions: object) -> rulescore.Result:
    return rulescore.score(None, {"m": predictions}, RULES, tables=TABLES)


@pytest.fixture(params=["frame", "csv", "parquet", "jsonl"])
def given(request: pytest.FixtureRequest, tmp_path: Path) -> object:
    path = tmp_path / f"values.{request.param}"
    match request.param:
        case "csv":
            VALUES.to_csv(path, index=False)
        case "parquet":
            VALUES.to_parquet(path)
        case "jsonl":
            VALUES.to_json(path, orient="records", lines=True)
        case _:
            return VALUES
    return path


def test_a_point_of_the_curve_is_the_score_of_the_predictions_from_there_on(given: object) -> None:
    points = score(given).curve("score").to_pylist()
    assert [point["threshold"] for point in points] == [0.9, 0.6, 0.3]
    for point in points:
        (model,) = score(VALUES[VALUES.confidence >= point["threshold"]]).model_results
        assert (point["hard_score"], point["violating"]) == (model.hard_score.value, model.violating)
    assert [point["violating"] for point in points] == [0, 1, 2]


def test_violations_show_the_confidence(given: object) -> None:
    assert [row["score"] for row in score(given).violations().to_pylist()] == [0.6, 0.3]


def test_equal_predictions_keep_their_best_score_and_unknown_scores_are_unknown() -> None:
    twice = pd.concat([VALUES[:2], VALUES[1:2].assign(confidence=0.7)])
    assert [row["score"] for row in score(twice).violations().to_pylist()] == [0.7]
    partly = VALUES.assign(confidence=[0.9, None, 0.3])
    assert [row["score"] for row in score(partly).violations().to_pylist()] == [None, 0.3]
    with pytest.raises(InputError, match="not all predictions of `m` have a score"):
        score(partly).curve("score")


def test_a_wrong_score_is_an_error() -> None:
    with pytest.raises(InputError, match="NaN or infinite"):
        score(VALUES.assign(confidence=[0.9, float("inf"), 0.1]))
    with pytest.raises(InputError, match="`confidence` is a string"):
        score(VALUES.assign(confidence=["a", "b", "c"]))
    with pytest.raises(InputError, match="both mean score"):
        score(VALUES.assign(score=0.5))


def test_probabilities_of_all_classes_are_refused_with_what_to_write() -> None:
    with pytest.raises(InputError, match="predict_proba"):
        score(np.array([[0.1, 0.9], [0.4, 0.6], [0.7, 0.3]]))


def test_a_target_of_that_name_is_no_score() -> None:
    grades = pd.DataFrame({"id": [1, 2], "score": [3.0, None]})
    tables = {"grade": rulescore.Table(grades, key="id", target="score", hidden=[2])}
    result = rulescore.score(
        None, {"m": pd.DataFrame({"id": [2], "score": [9.0]})}, "S <= 6 <- grade(id: G, score: S).", tables=tables
    )
    assert [(row["value"], row["score"]) for row in result.violations().to_pylist()] == [(9.0, None)]
