"""LightGBM and XGBoost learn with the objective."""

from __future__ import annotations

import lightgbm
import numpy as np
import pytest
import xgboost

import rulescore
from rulescore.boosting import objective
from rulescore.mending.numeric import NumericSteps, numeric_steps

RULES = "near: abs(P - Q) <= 20 <- sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, price: Q), A != B."
SIZES = np.arange(40.0) % 20
ZIPS = np.arange(40) // 20
PRICES = 100 + 400 * ZIPS + SIZES
HIDDEN = list(range(0, 40, 2))
# Half of what a model is to learn is mistyped, so it would break the rule.
LABELS = np.array([PRICES[key] + (300 if key % 4 else 0) for key in HIDDEN])
INPUTS = np.stack([SIZES, ZIPS], axis=1)[HIDDEN]


@pytest.fixture(scope="module")
def steps() -> NumericSteps:
    rows = [{"id": key, "zip": f"z{ZIPS[key]}", "price": PRICES[key]} for key in range(40)]
    return numeric_steps(RULES, "sale", rulescore.Table(rows, key="id", target="price", hidden=HIDDEN), HIDDEN)


def by_lightgbm(steps: NumericSteps, weight: float, base: str) -> np.ndarray:
    data = lightgbm.Dataset(INPUTS, LABELS, init_score=np.full(len(LABELS), LABELS.mean()))
    parameters = {"objective": objective(steps, weight=weight, base=base), "min_data_in_leaf": 1, "num_threads": 1, "verbose": -1}
    model = lightgbm.train({**parameters, "learning_rate": 0.3}, data, num_boost_round=60)
    return np.asarray(model.predict(INPUTS)) + LABELS.mean()


def by_xgboost(steps: NumericSteps, weight: float, base: str) -> np.ndarray:
    data = xgboost.DMatrix(INPUTS, LABELS, base_margin=np.full(len(LABELS), LABELS.mean()))
    made = objective(steps, weight=weight, base=base)
    return np.asarray(xgboost.train({"nthread": 1, "max_depth": 4}, data, 60, obj=made).predict(data))


@pytest.mark.parametrize("base", ["squared", "absolute"])
@pytest.mark.parametrize("train", [by_lightgbm, by_xgboost])
def test_boosted_trees_break_rules_less_often_with_a_weight(steps: NumericSteps, train: object, base: str) -> None:
    def refuted(weight: float) -> int:
        values = train(steps, weight, base)  # type: ignore[operator]
        assert values.shape == LABELS.shape
        return int(steps.contributions(values)["near"][:, 1].sum())

    plain, mended = refuted(0.0), refuted(3.0)
    assert mended < 0.7 * plain


def test_without_a_weight_the_trees_are_those_of_the_library(steps: NumericSteps) -> None:
    data = xgboost.DMatrix(INPUTS, LABELS, base_margin=np.zeros(len(LABELS)))
    own = xgboost.train({"nthread": 1, "max_depth": 4, "objective": "reg:squarederror"}, data, 20).predict(data)
    made = xgboost.train({"nthread": 1, "max_depth": 4}, data, 20, obj=objective(steps, weight=0.0)).predict(data)
    assert made == pytest.approx(own)
