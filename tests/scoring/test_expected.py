"""Expected violations are the mean over all draws of predictions, each draw as likely as its probabilities say."""

from __future__ import annotations

from itertools import product
from math import prod

import pandas as pd
import pytest

import rulescore
from rulescore.errors import InputError

PEOPLE = pd.DataFrame(
    {
        "id": range(6),
        "age": [40, 50, 30, 15, 12, 60],
        "job": ["yes", "no", "yes", None, None, None],
        "town": ["a", "a", "b", "a", "a", "b"],
    }
)
HIDDEN = [3, 4, 5]
TABLES = {"person": rulescore.Table(PEOPLE, key="id", target="job", hidden=HIDDEN)}
RULES = """\
adult: A >= 18 <- person(id: P, age: A, job: "yes").
alike: J = K <- person(id: P, town: T, job: J), person(id: Q, town: T, job: K), P != Q.
"""
PROBABILITIES = {3: {"yes": 0.25, "no": 0.75}, 4: {"yes": 0.5, "no": 0.5}, 5: {"yes": 0.9, "no": 0.1}}


def score(predictions: dict[str, object]) -> rulescore.Result:
    return rulescore.score(None, predictions, RULES, tables=TABLES)


def test_the_expected_number_is_the_mean_over_all_draws() -> None:
    classes = {
        name: pd.DataFrame({"id": HIDDEN, "prediction": name, "score": [PROBABILITIES[key][name] for key in HIDDEN]})
        for name in ("yes", "no")
    }
    totals: dict[str, list[float]] = {"adult": [0.0, 0.0], "alike": [0.0, 0.0]}
    for row in score(classes).expected_violations().to_pylist():
        totals[row["rule"]][0] += row["refuted"]
        totals[row["rule"]][1] += row["evaluable"]
    draws = {"adult": [0.0, 0.0], "alike": [0.0, 0.0]}
    for drawn in product(("yes", "no"), repeat=3):
        chance = prod(PROBABILITIES[key][name] for key, name in zip(HIDDEN, drawn, strict=True))
        result = score({"m": pd.DataFrame({"id": HIDDEN, "prediction": list(drawn)})})
        for rule in result.rule_results:
            counts = rule.models["m"].counts
            draws[rule.info.name][0] += chance * counts.refuted
            draws[rule.info.name][1] += chance * counts.evaluable
    assert totals["adult"] == pytest.approx(draws["adult"])
    assert totals["alike"] == pytest.approx(draws["alike"])
    assert totals["adult"][0] == pytest.approx(0.75)


@pytest.mark.parametrize(("scores", "said"), [([0.5, None, 0.5], "has no score"), ([0.5, 7.0, 0.5], "has the score 7")])
def test_scores_that_are_no_probabilities_are_refused(scores, said) -> None:
    with pytest.raises(InputError, match=said):
        score({"m": pd.DataFrame({"id": HIDDEN, "prediction": "yes", "score": scores})}).expected_violations()


def test_facts_have_expected_violations_too() -> None:
    facts = [("p", "r", "a"), ("q", "r", "b")]
    predictions = [("p", "r", "c", 0.5), ("q", "r", "b", 0.25), ("q", "r", "c", 1.0)]
    result = rulescore.score(facts, {"m": predictions}, "@check functional r(X -> Y).")
    (row,) = result.expected_violations().to_pylist()
    # Each wrong tail stands in either place of the pair.
    assert (row["refuted"], row["evaluable"]) == (2 * 0.5 + 2 * 1.0, 2 * 0.5 + 2 * 1.0)
