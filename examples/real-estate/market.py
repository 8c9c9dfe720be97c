"""Made-up property sales. What a square metre costs depends on the kind of premises, the postal code, the year and a little on the
surface; the rest is noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sales import Kind, Sales

FIRST_YEAR, YEARS = 2014, 6
DEPARTMENT = "44"


@dataclass(frozen=True, slots=True)
class Size:
    sales: int
    hidden: int
    postal_codes: int


SIZES = {"small": Size(3_000, 300, 6), "full": Size(392_809, 2_213, 120)}


@dataclass(frozen=True, slots=True)
class Market:
    """How one kind of premises is sold: its share of all sales, the price of a square metre (or of one outbuilding), the median and
    the spread of surfaces, and how far prices scatter."""

    share: float
    price: float
    surface: float
    surface_spread: float
    noise: float


MARKETS = {
    Kind.HOUSE: Market(0.27, 3_100, 95, 0.35, 0.22),
    Kind.APARTMENT: Market(0.55, 2_900, 56, 0.40, 0.20),
    Kind.OUTBUILDING: Market(0.12, 22_000, 0, 0, 0.35),
    Kind.COMMERCIAL: Market(0.06, 1_900, 110, 0.80, 0.45),
}


def make_sales(size: Size, random: np.random.Generator) -> Sales:
    number = size.sales
    names = np.array(list(MARKETS))
    kind = random.choice(len(names), number, p=[market.share for market in MARKETS.values()])
    # Some postal codes sell much more than others.
    weights = 1 / np.arange(2, size.postal_codes + 2)
    postal = random.choice(size.postal_codes, number, p=weights / weights.sum())
    year = random.integers(0, YEARS, number)

    def of_kind(read: str) -> np.ndarray:
        return np.array([getattr(market, read) for market in MARKETS.values()])[kind]

    outbuilding = names[kind] == Kind.OUTBUILDING
    medians = np.where(outbuilding, 1, of_kind("surface"))
    surface = np.maximum(9, np.round(medians * np.exp(random.normal(0, 1, number) * of_kind("surface_spread"))))
    units = 1 + random.poisson(0.15, number)
    quantity = np.where(outbuilding, units, surface)
    place = (
        random.normal(0, 0.16, size.postal_codes)[postal] + random.normal(0, 0.05, (len(names), size.postal_codes))[kind, postal]
    )
    logarithm = np.log(of_kind("price")) + place + 0.03 * year + random.normal(0, 1, number) * of_kind("noise")
    logarithm -= np.where(outbuilding, 0, 0.12 * np.log(surface / medians))
    # Sales within a family, and what else is no market price.
    odd = random.random(number) < 0.02
    logarithm += odd * random.normal(-0.5, 0.6, number)
    hidden = np.zeros(number, dtype=bool)
    hidden[random.choice(number, size.hidden, replace=False)] = True
    return Sales(
        ids=np.arange(1, number + 1),
        kinds=names[kind],
        postal_codes=np.array([f"{DEPARTMENT}{10 * code:03d}" for code in range(size.postal_codes)])[postal],
        years=FIRST_YEAR + year,
        surfaces=np.where(outbuilding, 0, surface).astype(np.int64),
        units=np.where(outbuilding, units, 0),
        prices=np.round(np.exp(logarithm) * quantity, -2),
        hidden=hidden,
    )
