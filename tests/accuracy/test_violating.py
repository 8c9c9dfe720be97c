"""With a truth at hand: how many predictions are right that violate a hard rule, and how many of the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine_side
import rulescore
from generate import plain
from generate.drawing import Generated
from oracle.findings import violating_predictions
from oracle.scores import counts_of
from oracle.tree import Setting
from rulescore.reporting.short import models_listing
from rulescore.scoring.evaluation import RightPredictions

FACTS = [("a", "q", "b"), ("a", "p", "b"), ("a", "r", "b"), ("c", "r", "d"), ("c", "p", "d")]
RULES = "one: p(X, Y) <- r(X, Y). functional p(X -> Y)."
PREDICTED = [("a", "r", "c"), ("a", "r", "d"), ("x", "r", "y"), ("x", "r", "z"), ("a", "r", "b"), ("x", "q", "y")]
TRUTH = [("a", "r", "c"), ("x", "r", "y")]
FOUND = RightPredictions("model", violating=2, violating_right=1, others=3, others_right=1)


def scored(truth: object, **options: Any) -> rulescore.Result:
    return rulescore.score(FACTS, {"model": PREDICTED}, RULES, truth=truth, **options)


def test_right_predictions_are_counted_apart() -> None:
    (found,) = scored(TRUTH).right_results
    assert found == FOUND
    assert (found.wrong, found.wrong_violating) == (3, 1)


def test_known_facts_are_neither_right_nor_wrong() -> None:
    (found,) = scored(rulescore.Truth(TRUTH, known=[("a", "r", "d"), ("a", "r", "c")])).right_results
    assert found == replace(FOUND, violating=1)


def test_without_a_hard_rule_nothing_is_counted() -> None:
    assert scored(TRUTH, kinds={"one": "soft"}).right_results == ()


def test_every_output_has_these_counts(tmp_path: Path) -> None:
    result = scored(TRUTH)
    (row,) = result.models.to_pylist()
    fields = ("violating_right", "others", "others_right", "wrong", "wrong_violating")
    assert [row[field] for field in fields] == [1, 3, 1, 3, 1]
    listing = models_listing(result, detail=True)
    shown = dict(zip((column.heading for column in listing.columns), listing.rows[0], strict=True))
    right = [shown[heading] for heading in ("right of violating", "right of others", "violating of wrong")]
    assert right == ["1 of 2 (50.0%)", "1 of 3 (33.3%)", "1 of 3 (33.3%)"]
    result.save(tmp_path / "result.json")
    assert rulescore.load_result(tmp_path / "result.json").right_results == (FOUND,)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_class_is_right_if_it_is_the_true_one(task: str) -> None:
    rows = [
        {"id": 1, "sex": "f", "survived": 1},
        {"id": 2, "sex": "m", "survived": 0},
        *({"id": number, "sex": sex, "survived": None} for number, sex in ((3, "f"), (4, "f"), (5, "m"), (6, "m"))),
    ]
    table = rulescore.Table(rows, key="id", target="survived", hidden=[3, 4, 5, 6])
    result = rulescore.score(
        None,
        {"model": {3: 0, 4: 0, 5: 0, 6: 0}},
        'women: S = 1 <- person(sex: "f", survived: S).',
        tables={"person": table},
        truth=rulescore.Truth({3: 1, 4: 0, 5: 0, 6: 1}, task=task),
    )
    expected = (RightPredictions("model", 2, 1, 2, 1),) if task == "classification" else ()
    assert result.right_results == expected


def test_no_score_reads_the_truth() -> None:
    wrong = [("y", "r", "x"), ("c", "r", "a")]
    first, second = scored(TRUTH), scored(wrong)
    assert first.right_results != second.right_results
    assert (first.model_results, first.rule_results) == (second.model_results, second.rule_results)


@pytest.mark.slow
@given(plain.settings(), st.data())
def test_right_predictions_are_those_of_the_oracle(generated: Generated, data: st.DataObject) -> None:
    setting = generated.setting
    predicted = sorted(frozenset().union(*setting.predictions.values()), key=str)
    truth = data.draw(st.sets(st.sampled_from(predicted), min_size=1) if predicted else st.just(set()))
    if truth:
        assert by_the_package(setting, generated.text, truth) == by_the_oracle(setting, truth)


def by_the_oracle(setting: Setting, truth: set[Any]) -> list[RightPredictions]:
    counted, found = counts_of(setting), []
    for model, facts in setting.predictions.items():
        bad, new = violating_predictions(setting, model, counted), facts - setting.observed
        others = new - bad
        counts = RightPredictions(model, len(new & bad), len(new & bad & truth), len(others), len(others & truth))
        found += [counts] if new else []
    return found


def by_the_package(setting: Setting, text: str, truth: set[Any]) -> list[RightPredictions]:
    predictions = {model: engine_side.tables(facts) for model, facts in setting.predictions.items()}
    rules = f"{text}\n{engine_side.declarations(setting, text)}"
    options = engine_side.options(setting)
    observed = engine_side.observed_of(setting)
    result = rulescore.score(observed, predictions, rules, truth=engine_side.tables(truth), **options)
    if not any(rule.kind == "hard" for rule in result.rule_results):
        return by_the_oracle(setting, truth)
    return list(result.right_results)
