"""Draws and bounds: what is drawn adds up, and what was never seen has the exact bound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulescore.comparison.intervals import Entries, drawn_never, drawn_rates, drawn_sums, never_seen, percentiles


def entries(query: list[int], column: list[int], amount: list[float]) -> Entries:
    return Entries(np.array(query, np.int64), np.array(column, np.int64), np.array(amount, np.float64))


@given(st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 40)), st.integers(0, 9), max_size=60))
def test_a_draw_is_a_sum_with_the_same_weights_in_every_column(given: dict[tuple[int, int], int]) -> None:
    """Beside each column of amounts, the weights themselves: columns 41 to 46 have one query each."""
    rows = [(*place, amount) for place, amount in given.items()]
    found = [*rows, *((query, 41 + query, 1) for query in range(6))]
    sums = drawn_sums(entries(*map(list, zip(*found, strict=True))), 6, 47, 150, np.random.default_rng(1))
    weights, amounts = sums[:, 41:], np.zeros((6, 41))
    for query, column, amount in rows:
        amounts[query, column] = amount
    assert np.allclose(sums[:, :41], weights @ amounts)


def test_weights_have_mean_and_variance_one() -> None:
    weights = drawn_sums(entries([0], [0], [1.0]), 1, 1, 20_000, np.random.default_rng(0))[:, 0]
    assert weights.mean() == pytest.approx(1, abs=0.03)
    assert weights.var() == pytest.approx(1, abs=0.05)


def test_percentiles_are_numpys() -> None:
    draws = np.random.default_rng(0).random((101, 3))
    low, high = percentiles(draws, 0.9)
    assert np.allclose([low, high], np.quantile(draws, [0.05, 0.95], axis=0))


def test_undefined_draws_are_left_out() -> None:
    draws = np.array([[1.0, np.nan], [2.0, np.nan], [np.nan, np.nan]])
    low, high = percentiles(draws, 0.5)
    assert (low[0], high[0]) == (1.25, 1.75)
    assert np.isnan([low[1], high[1]]).all()


def test_percentiles_of_sums_are_moved_to_where_they_lean() -> None:
    draws = np.random.default_rng(0).poisson(5.0, (4000, 1)).astype(np.float64)
    plain, moved = percentiles(draws, 0.95), percentiles(draws, 0.95, sums=[True])
    assert moved[0][0] >= plain[0][0]
    assert moved[1][0] > plain[1][0]


@pytest.mark.parametrize(("queries", "bound"), [(1, 0.975), (3, 0.707598), (100, 0.036217)])
def test_what_was_never_seen_has_the_bound_of_clopper_and_pearson(queries: int, bound: float) -> None:
    assert never_seen(queries, 0.95) == pytest.approx(bound, abs=1e-6)
    draws = drawn_never(np.array([queries]), 20_000, np.random.default_rng(0))
    assert np.quantile(draws, 0.975) == pytest.approx(bound, rel=0.02)


def test_rates_of_three_groundings_are_uncertain() -> None:
    draws = drawn_rates(np.array([1.0, 100.0]), np.array([3.0, 300.0]), 4000, np.random.default_rng(0))
    assert (draws > 0).all()
    few, many = np.quantile(draws, [0.025, 0.975], axis=0).T
    assert few[0] < 0.1 < 0.7 < few[1]
    assert 0.27 < many[0] < many[1] < 0.4
