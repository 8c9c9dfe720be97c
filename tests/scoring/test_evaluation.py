"""An evaluation's tables say what its results say, with null for undefined."""

from __future__ import annotations

import pyarrow as pa
import pytest

from rulescore.errors import InputError, RulescoreError
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import Counts, DataSummary, PredictionCounts, RuleInfo
from rulescore.scoring.score import score

SUMMARY = DataSummary(facts=3, fact_duplicates=0, negatives=0, negatives_observed=0, constants=4, predicates=3)
PREDICTIONS = PredictionCounts(rows=5, kept=4, distinct=3, duplicates=1, already_observed=2)
QUARTER = Counts(3, 1, 4)
CONTRIBUTION = {
    "model": "one",
    "rule": "a",
    "predicate": "p",
    "arguments": ["x", "y"],
    "score": None,
    "rank": 1,
    "confirmed": 0,
    "refuted": 1,
    "evaluable": 1,
}


def evaluation(dataset: Counts = QUARTER, models: tuple[str, ...] = ("one", "two")) -> Evaluation:
    rules = [RuleInfo("a", "p(X) <- q(X)"), RuleInfo("b", "p(X) <- s(X)")]
    found = [Counts(1, 1, 2), Counts()]
    results = score(rules, [dataset, Counts()], dict.fromkeys(models, found), dict.fromkeys(models, PREDICTIONS))
    return Evaluation("definition", *results, SUMMARY, contributions_table=pa.Table.from_pylist([CONTRIBUTION]))


def test_rules_have_one_row_per_rule_and_model() -> None:
    rows = evaluation().rules.to_pylist()
    assert [(row["rule"], row["model"]) for row in rows] == [("a", "one"), ("a", "two"), ("b", "one"), ("b", "two")]
    assert rows[0] == {
        "rule": "a",
        "text": "p(X) <- q(X)",
        "kind": "soft",
        "kind_reason": "the data contradict it (1 of 4)",
        "unrefutable": False,
        "weight": 1.0,
        "confidence": None,
        "support": None,
        "dataset_confirmed": 3,
        "dataset_refuted": 1,
        "dataset_evaluable": 4,
        "dataset_rate": 0.25,
        "rate_bound": None,
        "rate_bound_reason": "the data break the rule",
        "largest_group": None,
        "largest_group_share": None,
        "largest_group_share_reason": "the rule's groundings are not counted by groups",
        "tolerance": None,
        "model": "one",
        "confirmed": 1,
        "refuted": 1,
        "evaluable": 2,
        "rate": 0.5,
        "score": 2.0,
        "score_reason": None,
        "share": 1.0,
        "share_reason": None,
    }


def test_without_models_there_is_one_row_per_rule() -> None:
    rows = evaluation(models=()).rules.to_pylist()
    assert [(row["rule"], row["model"], row["confirmed"], row["score"]) for row in rows] == [
        ("a", None, None, None),
        ("b", None, None, None),
    ]


def test_models_have_one_row_each() -> None:
    rows = evaluation().models.to_pylist()
    assert [row["model"] for row in rows] == ["one", "two"]
    assert rows[0]["soft_score"] == 2.0
    assert (rows[0]["hard_score"], rows[0]["hard_score_reason"]) == (None, "there is no hard rule")
    assert [rows[0][name] for name in ("rows", "kept", "predictions", "duplicates", "already_observed")] == [5, 4, 3, 1, 2]


def test_an_empty_evaluation_has_typed_tables() -> None:
    empty = Evaluation("definition", (), (), SUMMARY)
    assert empty.rules.schema == evaluation().rules.schema
    assert empty.models.schema == evaluation().models.schema
    assert empty.contributions.schema.field("arguments").type == pa.list_(pa.string())


def test_a_count_that_no_int64_holds_is_not_rounded() -> None:
    huge = 10**30 + 1
    rows = evaluation(Counts(huge, 1, huge + 1)).rules.to_pylist()
    assert int(rows[0]["dataset_confirmed"]) == huge


def test_a_count_that_no_table_holds_is_an_error() -> None:
    with pytest.raises(RulescoreError, match="38 digits"):
        _ = evaluation(Counts(10**38, 1, 10**38 + 1)).rules


def test_pandas_frames_have_nullable_types() -> None:
    import pandas

    frame = evaluation().to_pandas()
    assert str(frame.dtypes["confirmed"]) == "Int64"
    assert str(frame.dtypes["score"]) == "Float64"
    assert isinstance(frame.dtypes["rule"], pandas.StringDtype)
    assert frame["score"][0] == 2.0
    assert frame["score"][2] is pandas.NA
    assert list(evaluation().to_pandas("contributions")["arguments"][0]) == ["x", "y"]


def test_polars_frames_have_nulls() -> None:
    import polars

    frame = evaluation().to_polars("rules")
    assert frame["score"].to_list() == [2.0, 2.0, None, None]
    assert frame.schema["confirmed"] == polars.Int64
    assert evaluation().to_polars("contributions")["arguments"].to_list() == [["x", "y"]]


def test_an_unknown_table_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(InputError, match="did you mean `models`"):
        evaluation().to_pandas("model")
