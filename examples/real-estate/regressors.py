"""Two small regressors and two reference models of prices. All but the truth learn from the sales that are not hidden."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sales import Kind, Sales

Prices = dict[int, float]
"""Prices of the hidden sales, by id."""

_RIDGE = 1.0
_NEIGHBOURS = 15
_CHUNK = 20_000


def ridge(sales: Sales) -> Prices:
    """Linear in one-hot postal codes and years and in the logarithm of the quantity, for each kind apart; the target is the
    logarithm of the price."""
    return _by_kind(sales, _ridge)


def neighbours(sales: Sales) -> Prices:
    """The mean price of a unit among the most similar sales of the kind: in surface and year, and preferably nearby."""
    return _by_kind(sales, _neighbours)


def group_median(sales: Sales) -> Prices:
    """The median price of a unit in the kind, postal code and year, times the quantity: what the rules ask for."""
    return _by_kind(sales, _group_median)


def truth(sales: Sales) -> Prices:
    """What the hidden sales really cost."""
    return sales.labels


def _by_kind(sales: Sales, predict: Callable[[Sales, np.ndarray, np.ndarray], np.ndarray]) -> Prices:
    """`predict` gets the rows to learn from and the rows to answer for, and answers with logarithms of prices."""
    found: Prices = {}
    for kind in Kind:
        of_kind = sales.kinds == kind
        asked = np.flatnonzero(of_kind & sales.hidden)
        # A symbolic price says nothing about a market.
        known = np.flatnonzero(of_kind & ~sales.hidden & (sales.prices > 0))
        if len(asked) and len(known):
            prices = np.round(np.exp(predict(sales, known, asked)), 2)
            found |= dict(zip(sales.ids[asked].tolist(), prices.tolist(), strict=True))
    return found


def _ridge(sales: Sales, known: np.ndarray, asked: np.ndarray) -> np.ndarray:
    features = _Features(sales)
    products = np.zeros((features.width, features.width))
    moments = np.zeros(features.width)
    # In chunks: the full register has too many rows for one dense matrix.
    for begin in range(0, len(known), _CHUNK):
        rows = known[begin : begin + _CHUNK]
        matrix = features.matrix(rows)
        products += matrix.T @ matrix
        moments += matrix.T @ np.log(sales.prices[rows])
    weights = np.linalg.solve(products + _RIDGE * np.eye(features.width), moments)
    return features.matrix(asked) @ weights


class _Features:
    def __init__(self, sales: Sales) -> None:
        self._postal_codes, self._postal = np.unique(sales.postal_codes, return_inverse=True)
        self._years, self._year = np.unique(sales.years, return_inverse=True)
        self._quantity = np.log(sales.quantities)
        self.width = len(self._postal_codes) + len(self._years) + 2

    def matrix(self, rows: np.ndarray) -> np.ndarray:
        postal = np.eye(len(self._postal_codes))[self._postal[rows]]
        year = np.eye(len(self._years))[self._year[rows]]
        return np.column_stack([np.ones(len(rows)), self._quantity[rows], postal, year])


def _neighbours(sales: Sales, known: np.ndarray, asked: np.ndarray) -> np.ndarray:
    quantity, year = np.log(sales.quantities), sales.years / 3
    postal = np.unique(sales.postal_codes, return_inverse=True)[1]
    quantities, years, places = quantity[known], year[known], postal[known]
    unit = np.log(sales.prices[known]) - quantities
    spread = max(float(np.std(quantities)), 0.1)
    near = min(_NEIGHBOURS, len(known))
    found = np.empty(len(asked))
    for position, row in enumerate(asked):
        distance = np.abs(quantities - quantity[row]) / spread + np.abs(years - year[row]) + (places != postal[row])
        found[position] = unit[np.argpartition(distance, near - 1)[:near]].mean()
    return found + quantity[asked]


def _group_median(sales: Sales, known: np.ndarray, asked: np.ndarray) -> np.ndarray:
    unit = np.log(sales.prices) - np.log(sales.quantities)
    everywhere = float(np.median(unit[known]))
    groups: dict[tuple[str, int], list[float]] = {}
    for postal_code, year, price in zip(
        *(column[known].tolist() for column in (sales.postal_codes, sales.years, unit)), strict=True
    ):
        groups.setdefault((postal_code, year), []).append(price)
    medians = {group: float(np.median(prices)) for group, prices in groups.items()}
    keys = zip(sales.postal_codes[asked].tolist(), sales.years[asked].tolist(), strict=True)
    return np.array([medians.get(key, everywhere) for key in keys]) + np.log(sales.quantities[asked])
