"""The scorer in scikit-learn's own cross-validation and search."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rulescore
from rulescore.errors import InputError
from rulescore.sklearn import rule_violation_scorer

# One process imports scikit-learn, when the first of these tests runs.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("sklearn")]

RULES = """
@hard floor: P >= 50 <- sale(price: P).
@soft near: abs(P - Q) < 40 <- sale(row: A, zip: Z, price: P), sale(row: B, zip: Z, price: Q), A != B.
"""


def sales() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    surface = rng.uniform(10, 100, 60)
    prices = 2 * surface + rng.normal(0, 10, 60)
    return pd.DataFrame({"zip": rng.integers(0, 4, 60), "surface": surface, "price": prices}, index=range(100, 160))


def scorer(**options: Any) -> Any:
    return rule_violation_scorer(RULES, data=sales(), target="price", table="sale", **options)


def test_cross_validation_has_the_scores_that_are_computed_by_hand() -> None:
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import KFold, cross_validate

    data, folds = sales(), KFold(3)
    scoring = {one.name: one for one in (scorer(), scorer(measure="rvs_soft"), scorer(measure="violating_predictions"))}
    found = cross_validate(LinearRegression(), data[["surface"]], data["price"], cv=folds, scoring={**scoring, "r2": "r2"})
    assert found["test_r2"].min() > 0.8
    for fold, (known, hidden) in enumerate(folds.split(data)):
        model = LinearRegression().fit(data[["surface"]].iloc[known], data["price"].iloc[known])
        predicted = model.predict(data[["surface"]].iloc[hidden])
        rows = [
            {"row": i, "zip": row.zip, "price": row.price} for i, row in zip(data.index, data.itertuples(index=False), strict=True)
        ]
        table = rulescore.Table(rows, key="row", target="price", hidden=[rows[i]["row"] for i in hidden])
        answers = {rows[i]["row"]: value for i, value in zip(hidden, predicted, strict=True)}
        (one,) = rulescore.score(None, {"m": answers}, RULES, tables={"sale": table}).model_results
        assert found["test_neg_rvs_hard"][fold] == -one.hard_score.value
        assert found["test_neg_rvs_soft"][fold] == -one.soft_score.value
        assert found["test_neg_violating_predictions"][fold] == -(predicted < 50).sum() < 0


def test_the_true_targets_of_hidden_rows_change_nothing() -> None:
    from sklearn.linear_model import LinearRegression

    data = sales()
    rows = data.sample(20, random_state=1)
    model = LinearRegression().fit(data[["surface"]], data["price"])
    falsified = data.assign(price=data["price"].where(~data.index.isin(rows.index), -1e6))
    scores = {
        rule_violation_scorer(RULES, data=one, target="price", table="sale", measure="rvs_soft")(model, rows[["surface"]], y)
        for one in (data, falsified)
        for y in (None, rows["price"])
    }
    assert len(scores) == 1


def constant(value: float) -> Any:
    from sklearn.dummy import DummyRegressor

    return DummyRegressor(strategy="constant", constant=value).fit([[0.0]], [value])


def test_a_search_finds_what_respects_the_rules() -> None:
    from sklearn.model_selection import GridSearchCV

    data = sales()
    search = GridSearchCV(constant(0.0), {"constant": [10.0, 60.0, 20.0]}, scoring=scorer(), cv=2)
    assert search.fit(data[["surface"]], data["price"]).best_params_ == {"constant": 60.0}


def test_classes_are_predicted_and_keys_may_be_a_column() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(2)
    animals = pl.DataFrame({"id": [f"a{i}" for i in range(40)], "legs": rng.integers(0, 5, 40)})
    animals = animals.with_columns(kind=pl.when(pl.col("legs") > 2).then(pl.lit("dog")).otherwise(pl.lit("bird")))
    rules = '@hard two: L <= 2 <- animal(legs: L, kind: "bird").'
    found = rule_violation_scorer(rules, data=animals, target="kind", table="animal", key="id")
    good = DecisionTreeClassifier().fit(animals.select("legs").to_numpy(), animals["kind"].to_list())
    poor = LogisticRegression().fit([[0], [1]], ["dog", "bird"])

    class ByLegs:
        def __init__(self, model: Any) -> None:
            self.model = model

        def predict(self, frame: pl.DataFrame) -> Any:
            return self.model.predict(frame.select("legs").to_numpy())

    assert found(ByLegs(good), animals.head(20)) == 0 > found(ByLegs(poor), animals.head(20))


def test_what_is_undefined_is_not_a_number() -> None:
    data = sales()
    found = rule_violation_scorer(
        "@hard floor: P >= 50 <- sale(price: P).", data=data, target="price", table="sale", measure="rvs_soft"
    )
    assert math.isnan(found(constant(10.0), data.head(5)))


def test_a_scorer_can_be_sent_to_other_processes() -> None:
    data = sales()
    assert pickle.loads(pickle.dumps(scorer()))(constant(10.0), data.head(5)) == scorer()(constant(10.0), data.head(5)) == -5


def test_what_cannot_be_scored_is_told() -> None:
    with pytest.raises(InputError, match=r"(?s)E570.*did you mean `rvs_hard`"):
        scorer(measure="rvs_hrd")
    with pytest.raises(InputError, match=r"E570.*`X`, a ndarray"):
        scorer()(constant(0.0), sales().to_numpy())
    data = sales().assign(row=1)
    with pytest.raises(InputError, match=r"E570.*index as `row`"):
        rule_violation_scorer(RULES, data=data, target="price", table="sale")(constant(0.0), data)


def test_rules_are_checked_before_anything_is_trained() -> None:
    data = pd.DataFrame({"id": [1, 2], "size": [1.0, 2.0], "price": [3.0, 4.0]})
    with pytest.raises(InputError, match="E2"):
        rule_violation_scorer("P > 0 <- sale(id: A, prize: P).", data=data, target="price", table="sale", key="id")
