"""Curves: every point is what `score` finds with as many answers."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rulescore
from generate.few import FEW
from rulescore.errors import InputError
from shared_data import shared

FACTS = [
    ("ann", "wife", "bob"),
    ("bob", "father", "cid"),
    ("ann", "mother", "cid"),
    ("dot", "wife", "eli"),
    ("eli", "father", "fay"),
    ("gil", "mother", "fay"),
]
RULES = """
mothers: mother(X, Z) <- wife(X, Y), father(Y, Z).
@hard @weight(3) parents: father(Y, Z) <- wife(X, Y), mother(X, Z).
@hard selfless: false <- wife(X, X).
functional mother(X, Y) on Y -> X.
functional father(X, Y) on Y -> X.
"""
PEOPLE = ["ann", "bob", "cid", "dot", "eli", "fay", "gil"]


def columns(result: rulescore.Result) -> dict[str, tuple[int | None, int, float | None, float | None]]:
    """A curve has no hard score without evaluable groundings of hard rules."""
    hard = [rule for rule in result.rule_results if rule.kind == "hard"]
    return {
        one.name: (
            one.violating,
            one.evaluable,
            one.hard_score.value if any(rule.models[one.name].counts.evaluable for rule in hard) else None,
            one.soft_score.value,
        )
        for one in result.model_results
    }


def points(table) -> dict[tuple[float, str], tuple[int | None, int, float | None, float | None]]:
    first = table.column_names[0]
    return {
        (row[first], row["model"]): (row["violating"], row["evaluable"], row["hard_score"], row["soft_score"])
        for row in table.to_pylist()
    }


answers = st.lists(
    st.tuples(
        st.sampled_from(PEOPLE),
        st.sampled_from(["wife", "father", "mother"]),
        st.sampled_from(PEOPLE),
        st.sampled_from([0.0, 0.5, 1.0, -2.0]),
        st.integers(1, 3),
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.slow
@FEW
@given(answers, answers)
@pytest.mark.filterwarnings("ignore::rulescore.RulescoreWarning")
def test_every_point_is_what_score_finds_with_that_top_k(first, second) -> None:
    models = {"first": first, "second": second}
    found = points(rulescore.score(FACTS, models, RULES, top_k="all").curve(at=range(1, 4)))
    for k in range(1, 4):
        for model, expected in columns(rulescore.score(FACTS, models, RULES, top_k=k)).items():
            assert found[k, model] == expected


@pytest.mark.slow
@FEW
@given(answers)
@pytest.mark.filterwarnings("ignore::rulescore.RulescoreWarning")
def test_every_threshold_is_what_score_finds_with_the_answers_from_that_score(rows) -> None:
    scored = [row[:4] for row in rows]
    found = points(rulescore.score(FACTS, {"m": scored}, RULES).curve("score", at=[1.0, 0.5, 0.0, -2.0]))
    kept = {str(threshold): [row for row in scored if row[3] >= threshold] for threshold in (1.0, 0.5, 0.0, -2.0)}
    alone = columns(rulescore.score(FACTS, kept, RULES))
    assert {str(threshold): point for (threshold, _), point in found.items()} == alone


def test_ranks_that_follow_from_queries_and_scores_are_known() -> None:
    frame = {"head": ["ann", "gil", "dot"], "relation": ["wife"] * 3, "tail": ["ann", "gil", "dot"]}
    rows = pa.table({**frame, "query": ["a", "a", "b"], "score": [0.5, 0.75, 0.25]})
    found = rulescore.score(FACTS, {"m": rows}, RULES, top_k="all")
    assert found.curve().select(["k", "violating"]).to_pylist() == [{"k": 1, "violating": 2}, {"k": 2, "violating": 3}]


def test_a_curve_runs_to_the_last_rank_and_thresholds_to_the_lowest_score() -> None:
    rows = [("ann", "wife", "ann", score, rank) for score, rank in ((0.5, 2), (0.25, 3))]
    rows += [("bob", "wife", "bob", 0.125, 4)]
    result = rulescore.score(FACTS, {"m": rows}, RULES, top_k="all")
    assert result.curve()["k"].to_pylist() == [1, 2, 3, 4]
    assert result.curve()["violating"].to_pylist() == [0, 1, 1, 2]
    assert result.curve("score")["threshold"].to_pylist() == [0.5, 0.125]


def test_a_curve_over_what_predictions_do_not_have_is_refused() -> None:
    result = rulescore.score(FACTS, {"m": [("ann", "wife", "ann")]}, RULES)
    with pytest.raises(InputError, match=r"E330.*\n.*curve\(\"score\"\)"):
        result.curve()
    with pytest.raises(InputError, match="E330"):
        result.curve("score")
    with pytest.raises(InputError, match="a curve runs over `rank` or `score`"):
        result.curve("time")
    with pytest.raises(InputError, match="a curve over ranks needs ranks or queries"):
        rulescore.score(FACTS, {"m": [("ann", "wife", "ann")]}, RULES, top_k="all")


@pytest.mark.slow
def test_the_curves_of_three_real_models_are_those_of_ten_runs() -> None:
    rules = """
    aunt(X, Z) <- sister(X, Y), father(Y, Z). uncle(X, Z) <- brother(X, Y), father(Y, Z).
    son(X, Z) <- brother(X, Y), son(Y, Z). wife(X, Y) <- husband(Y, X). extract incompatible.
    functional husband(X, Y) on Y -> X.
    """
    models = {name: shared(f"predictions/family-{name}.top10.tsv.gz") for name in ("anyburl", "compgcn", "transe")}
    facts = shared("family/train.txt")
    found = points(rulescore.score(facts, models, rules, top_k="all").curve())
    assert len(found) == 30
    for k in (1, 2, 5, 10):
        for model, expected in columns(rulescore.score(facts, models, rules, top_k=k)).items():
            assert found[k, model] == expected
            assert math.isfinite(found[k, model][2])
    assert found[10, "transe"][0] > found[1, "transe"][0] > 0
