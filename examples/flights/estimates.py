"""Two models of the time in the air. One learns from flights, the other trusts the timetable."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

Minutes = dict[int, float]
"""Time in the air by the flight's id."""

_RIDGE = 1.0
_ON_THE_GROUND = 35


def regression(flights: pa.Table, hidden: np.ndarray) -> Minutes:
    """Ridge regression on distance, carrier, origin and destination."""
    time = flights["air_time"].to_numpy()
    known = ~hidden & ~np.isnan(time)
    features = np.column_stack([_one_hot(flights, name) for name in ("carrier", "origin", "dest")])
    matrix = np.column_stack([np.ones(flights.num_rows), flights["distance"].to_numpy() / 100, features])
    products = matrix[known].T @ matrix[known] + _RIDGE * np.eye(matrix.shape[1])
    weights = np.linalg.solve(products, matrix[known].T @ time[known])
    return _by_id(flights, hidden, matrix @ weights)


def timetable(flights: pa.Table, hidden: np.ndarray) -> Minutes:
    """From scheduled departure to scheduled arrival as clocks show them, less the time on the ground. It does not know that
    clocks in the west are behind."""
    departure, arrival = (_minutes(flights[name].to_numpy()) for name in ("sched_dep_time", "sched_arr_time"))
    return _by_id(flights, hidden, np.maximum(1.0, np.mod(arrival - departure, 24 * 60) - _ON_THE_GROUND))


def labels(flights: pa.Table, hidden: np.ndarray) -> Minutes:
    """The times of hidden flights; a cancelled flight has none."""
    time = flights["air_time"].to_numpy()
    return _by_id(flights, hidden & ~np.isnan(time), time)


def _by_id(flights: pa.Table, chosen: np.ndarray, minutes: np.ndarray) -> Minutes:
    return dict(zip(flights["id"].to_numpy()[chosen].tolist(), np.round(minutes[chosen], 1).tolist(), strict=True))


def _one_hot(flights: pa.Table, name: str) -> np.ndarray:
    values, position = np.unique(flights[name].to_numpy().astype(str), return_inverse=True)
    return np.eye(len(values))[position]


def _minutes(clock: np.ndarray) -> np.ndarray:
    return clock // 100 * 60 + clock % 100
