"""Predictions that come batch by batch have the scores that they have at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rulescore
from rulescore.errors import InputError
from rulescore.integrations.torch import TableRuleViolation, TripleRuleViolation

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("torch")]

ENTITIES = ["alice", "bob", "christopher", "daniel"]
RELATIONS = ["mother", "father", "sister", "wife"]
FACTS = [("alice", "mother", "bob"), ("christopher", "father", "bob"), ("alice", "sister", "daniel")]
RULES = "@hard siblings: false <- sister(X, Y), wife(X, Y)."


@pytest.fixture(params=["list", "numpy", "torch"])
def batch(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """Makes a batch of a list. One process imports torch, when the first of these tests runs."""
    if request.param == "torch":
        import torch

        return torch.tensor
    return np.array if request.param == "numpy" else lambda values: values


def test_triples_come_by_ids(batch: Callable[[Any], Any]) -> None:
    metric = TripleRuleViolation(RULES, FACTS, entities=ENTITIES, relations=dict(enumerate(RELATIONS)))
    metric.update(batch([[0, 3, 2]]), batch([0.5]))
    assert metric.compute()["rvs_hard"] == 0
    metric.update(batch([[0, 3, 3], [1, 3, 2]]), batch([[0.25], [0.125]]))
    found = metric.compute()
    assert (found["rvs_hard"], found["violating_predictions"]) == (1, 1)
    assert math.isnan(found["rvs_soft"])
    assert metric.result().model_results[0].predictions.rows == 3
    metric.reset()
    metric.update(batch([[0, 3, 2]]))
    assert metric.compute()["rvs_hard"] == 0


def test_triples_come_by_labels_and_the_best_are_kept() -> None:
    metric = TripleRuleViolation(RULES, FACTS, top_k=1)
    metric.update([("alice", "wife", "christopher")], [0.9], queries=["q"])
    metric.update([("alice", "wife", "daniel")], [0.8], queries=["q"])
    assert metric.compute()["rvs_hard"] == 0
    metric.update([("alice", "wife", "daniel")], [0.7], queries=["r"])
    assert metric.compute()["rvs_hard"] == 1


def test_values_come_by_keys(batch: Callable[[Any], Any]) -> None:
    rows = [{"id": i, "price": None if i > 2 else 10.0 * i} for i in range(1, 7)]
    table = rulescore.Table(rows, key="id", target="price", hidden=[3, 4, 5, 6])
    metric = TableRuleViolation("@hard floor: P >= 5 <- sale(price: P).", "sale", table)
    metric.update(batch([3, 4]), batch([[6.0], [4.0]]))
    metric.update(batch([5]), batch([1.0]))
    assert metric.compute()["rvs_hard"] == 2


def test_a_network_that_is_being_trained_is_scored() -> None:
    import torch

    table = rulescore.Table([{"id": 1, "x": 1.0, "y": 0.5}, {"id": 2, "x": 2.0, "y": None}], key="id", target="y", hidden=[2])
    metric = TableRuleViolation("@hard small: Y < 1 <- point(y: Y).", "point", table)
    layer = torch.nn.Linear(1, 1, dtype=torch.bfloat16)
    torch.nn.init.constant_(layer.weight, 2)
    torch.nn.init.zeros_(layer.bias)
    metric.update([2], layer(torch.tensor([[2.0]], dtype=torch.bfloat16)))
    assert metric.compute()["rvs_hard"] == 1


def test_classes_have_labels_and_keys_several_columns() -> None:
    rows = [{"year": 1, "number": n, "legs": n, "kind": "bird" if n == 2 else None} for n in (2, 3, 4)]
    table = rulescore.Table(rows, key=("year", "number"), target="kind", hidden=[(1, 3), (1, 4)])
    metric = TableRuleViolation('@hard two: L <= 2 <- animal(legs: L, kind: "bird").', "animal", table, classes=["dog", "bird"])
    metric.update([(1, 3), (1, 4)], np.array([0.1, 0.9]).round().astype(int))
    assert metric.compute()["rvs_hard"] == 1


def test_what_does_not_fit_is_told() -> None:
    metric = TripleRuleViolation(RULES, FACTS, entities=ENTITIES, relations=RELATIONS)
    with pytest.raises(InputError, match="E570"):
        metric.compute()
    with pytest.raises(InputError, match=r"E570.*1 of `head`.*2 of `score`"):
        metric.update([[0, 3, 2]], [0.5, 0.6])
    with pytest.raises(InputError, match=r"E570.*`4` has no label among `entities`"):
        metric.update([[4, 3, 2]])
    with pytest.raises(InputError, match=r"E570.*three columns"):
        metric.update([[4, 3]])
