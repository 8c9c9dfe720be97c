"""Ranks become MRR, Hits@k and mean ranks; what rankings do not tell is bounded, and the bounds hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulescore.accuracy.answers import Ranking, Ranks, rank_measures, rank_of
from rulescore.scoring.evaluation import AccuracyMeasure
from rulescore.setting.choices import Ties


def ranks(*found: float, tails: list[bool] | None = None) -> Ranks:
    values = np.array(found, dtype=float)
    return Ranks(values, values, None if tails is None else np.array(tails))


def figures(found: tuple[AccuracyMeasure, ...], part: str = "both") -> dict[str, float | None]:
    return {one.metric: one.value for one in found if one.part == part}


def test_the_figures_are_those_of_their_definitions() -> None:
    found = figures(rank_measures(ranks(1, 2, 4, 4), hits=(1, 3)))
    assert found == {"mrr": (1 + 1 / 2 + 1 / 4 + 1 / 4) / 4, "hits_at_1": 1 / 4, "hits_at_3": 1 / 2, "mean_rank": 11 / 4}


def test_a_truth_that_was_not_found_counts_among_the_queries() -> None:
    found = rank_measures(ranks(1, np.inf))
    assert figures(found) == {"mrr": 0.5, "hits_at_1": 0.5, "hits_at_3": 0.5, "hits_at_10": 0.5, "mean_rank": None}
    assert found[-1].reason == "the truth of a query was not found"


def test_directions_are_measured_together_and_apart() -> None:
    found = rank_measures(ranks(1, 2, 2, tails=[True, False, False]), hits=(1,))
    assert [figures(found, part)["hits_at_1"] for part in ("both", "head", "tail")] == [1 / 3, 0, 1]
    assert [one.count for one in found if one.metric == "mrr"] == [3, 2, 1]


def test_no_query_has_no_figure() -> None:
    assert {one.value for one in rank_measures(ranks())} == {None}


def test_what_is_known_by_bounds_is_bounded() -> None:
    found = {one.metric: one for one in rank_measures(Ranks(np.array([1.0, 11.0]), np.array([1.0, np.inf])))}
    assert (found["mrr"].value, found["mrr"].least, found["mrr"].greatest) == (None, 0.5, (1 + 1 / 11) / 2)
    assert found["hits_at_10"].value == 0.5
    assert found["mean_rank"].least == 6


TIED = Ranking(["a", "b", "c", "d"], np.array([3.0, 2.0, 2.0, 1.0]), whole=True)


@pytest.mark.parametrize(("ties", "rank"), [(Ties.OPTIMISTIC, 2), (Ties.REALISTIC, 2.5), (Ties.PESSIMISTIC, 3)])
def test_ties_are_ranked_as_they_are_asked_to_be(ties: Ties, rank: float) -> None:
    assert rank_of("c", TIED, (), ties) == (rank, rank)


def test_known_answers_are_left_out_unless_they_are_the_truth() -> None:
    assert rank_of("d", TIED, [0, 1, 3], Ties.REALISTIC) == (2, 2)


def test_an_answer_at_the_end_of_a_cut_ranking_may_be_tied_with_others() -> None:
    cut = Ranking(TIED.answers, TIED.order, whole=False)
    assert rank_of("d", cut, (), Ties.OPTIMISTIC) == (4, 4)
    assert rank_of("d", cut, (), Ties.REALISTIC) == (4, np.inf)
    assert rank_of("e", cut, [0], Ties.OPTIMISTIC) == (3, np.inf)
    assert rank_of("e", cut, [0], Ties.PESSIMISTIC) == rank_of("e", cut, [0], None) == (4, np.inf)
    assert rank_of("e", TIED, (), Ties.OPTIMISTIC) == (np.inf, np.inf)


@given(
    scores=st.lists(st.integers(0, 5), min_size=2, max_size=12),
    data=st.data(),
    ties=st.sampled_from([None, *Ties]),
)
def test_the_bounds_of_a_cut_ranking_hold_the_rank_of_the_whole_one(scores, data, ties) -> None:
    """Whatever is cut off, the rank in the whole ranking lies between the bounds."""
    order = np.array(sorted(set(scores) if ties is None else scores, reverse=True), dtype=float)
    names = [str(number) for number in range(len(order))]
    place = data.draw(st.integers(0, len(names) - 1))
    length = data.draw(st.integers(1, len(names)))
    known = data.draw(st.sets(st.integers(0, len(names) - 1)))
    exact, _ = rank_of(names[place], Ranking(names, order, whole=True), known, ties)
    cut = Ranking(names[:length], order[:length], whole=False)
    least, greatest = rank_of(names[place], cut, [one for one in known if one < length], ties)
    assert least <= exact <= greatest
