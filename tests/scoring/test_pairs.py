"""How surprising it is that two predicates meet so seldom: against exact counting."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulescore.scoring.pairs import PairCount, by_surprise


def test_the_probability_is_that_of_drawing_so_few() -> None:
    """4 tuples, 2 of each: of the 6 ways to draw the second two, 1 meets the first nowhere and 4 meet it once."""
    ways = [len({0, 1} & set(drawn)) for drawn in combinations(range(4), 2)]
    assert (ways.count(0), ways.count(1)) == (1, 4)
    assert PairCount("p", "q", 0, 2, 2, 4).probability == pytest.approx(1 / 6)
    assert PairCount("p", "q", 1, 2, 2, 4).probability == pytest.approx(5 / 6)
    assert PairCount("p", "q", 2, 2, 2, 4).probability == 1.0
    assert PairCount("p", "q", 0, 2, 2, 4).expected == 1.0


@st.composite
def pairs(draw: st.DrawFn) -> PairCount:
    tuples = draw(st.integers(1, 60))
    left, right = draw(st.integers(1, tuples)), draw(st.integers(1, tuples))
    together = draw(st.integers(max(0, left + right - tuples), min(left, right)))
    return PairCount("p", "q", together, left, right, tuples)


@given(pairs())
def test_it_is_the_hypergeometric_distribution(pair: PairCount) -> None:
    least = max(0, pair.left_facts + pair.right_facts - pair.tuples)
    ways = sum(
        comb(pair.left_facts, n) * comb(pair.tuples - pair.left_facts, pair.right_facts - n)
        for n in range(least, pair.together + 1)
    )
    assert pair.probability == pytest.approx(float(Fraction(ways, comb(pair.tuples, pair.right_facts))), rel=1e-9)


@given(pairs())
def test_it_does_not_matter_which_predicate_is_named_first(pair: PairCount) -> None:
    turned = PairCount("q", "p", pair.together, pair.right_facts, pair.left_facts, pair.tuples)
    assert turned.surprise == pytest.approx(pair.surprise, abs=1e-9)


def test_two_rare_predicates_surprise_nobody_and_two_common_ones_do() -> None:
    rare, common = PairCount("p", "q", 0, 5, 5, 20_000), PairCount("r", "s", 0, 2_000, 2_000, 20_000)
    assert rare.probability > 0.99
    assert common.surprise > 80
    noisy = PairCount("t", "u", 3, 2_000, 2_000, 20_000)
    assert by_surprise([rare, noisy, common]) == [common, noisy, rare]


def test_what_is_too_improbable_for_a_float_still_has_its_place() -> None:
    large, larger = PairCount("p", "q", 0, 20_000, 20_000, 200_000), PairCount("p", "r", 0, 30_000, 30_000, 200_000)
    assert (large.probability, larger.probability) == (0.0, 0.0)
    assert larger.surprise > large.surprise > 308
