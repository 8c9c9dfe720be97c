"""Pairs within a distance, `abs(P - Q) < 500` between all sales of a group: counted by sorting, and by joining."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import parquet

from measure import Report, measure, peak_memory, ratios, require_equal, spread
from printing import Table, Target, memory_text, show, show_targets, spread_text
from workload import Row

LIMIT = 500
RULE = f"""abs(P - Q) < {LIMIT} <- sale(id: A, zip: Z, type: T, price: P),
                        sale(id: B, zip: Z, type: T, price: Q), A != B."""
TYPES = np.array(["flat", "house", "land", "shop"])
HIDDEN = 0.01
MODEL = "model"

Array = npt.NDArray[Any]


class Size(NamedTuple):
    """So many sales in so many groups of one size, some of them hidden and predicted or none."""

    rows: int
    groups: int
    predictions: bool

    @property
    def text(self) -> str:
        return f"{self.rows:,} rows in {self.groups:,} groups" + (", predictions" if self.predictions else "")


COMPARED = Size(200_000, 20, False)
LARGE = Size(4_000_000, 400, False)
SIZES = (Size(20_000, 20, False), Size(60_000, 20, False), COMPARED, LARGE)

Runs = dict[tuple[Size, str], list[Report]]


def main() -> None:
    options = _options()
    sizes = [size._replace(predictions=predictions) for size in SIZES[: options.sizes] for predictions in (False, True)]
    with tempfile.TemporaryDirectory(prefix="rulescore-bench-") as temporary:
        runs = _measure(sizes, Path(temporary), options.rounds)
    _show(runs)
    show_targets(_targets(runs))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds")
    parser.add_argument("--sizes", type=int, default=len(SIZES), help="only the first so many sizes")
    return parser.parse_args()


def _measure(sizes: Sequence[Size], folder: Path, rounds: int) -> Runs:
    """Both plans in turn, round by round; the largest size is sorted only, a join would take hours."""
    folders = {size: folder / str(number) for number, size in enumerate(sizes)}
    expected = {size: {0: lay_out(folders[size], size)} for size in sizes}
    runs: Runs = {(size, plan): [] for size in sizes for plan in ("sorted", "joined") if plan == "sorted" or size.rows < LARGE.rows}
    for turn in range(rounds):
        print(f"round {turn + 1} of {rounds}", file=sys.stderr, flush=True)
        for (size, plan), reports in runs.items():
            report = measure(plan, folders[size])
            require_equal(f"{plan}, {size.text}", report.rows, expected[size])
            reports.append(report)
    return runs


def lay_out(folder: Path, size: Size) -> Row:
    """Write sales and predictions; the counts to expect of them."""
    folder.mkdir()
    random = np.random.default_rng(size)
    group = np.arange(size.rows) % size.groups
    hidden = random.random(size.rows) < (HIDDEN if size.predictions else 0)
    price, predicted = _prices(random, size.rows), _prices(random, size.rows)[hidden]
    zips = np.char.mod("%05d", 44_000 + np.arange(size.groups))
    sales = {
        "id": np.arange(size.rows),
        "zip": pa.DictionaryArray.from_arrays(group // len(TYPES), zips).cast(pa.string()),
        "type": pa.DictionaryArray.from_arrays(group % len(TYPES), TYPES).cast(pa.string()),
        "price": price,
        "hidden": hidden,
    }
    parquet.write_table(pa.table(sales), folder / "sales.parquet")
    if size.predictions:
        parquet.write_table(pa.table({"id": np.flatnonzero(hidden), "prediction": predicted}), folder / "predictions.parquet")
    return _expected(group[~hidden], price[~hidden], group[hidden], predicted)


def _prices(random: np.random.Generator, rows: int) -> Array:
    """Half of them are whole thousands. All are multiples of a quarter, so that sums and differences of them are exact."""
    price = random.lognormal(12, 0.5, rows)
    return np.where(random.random(rows) < 0.5, np.round(price, -3), np.round(price * 4) / 4)


def _expected(group: Array, price: Array, predicted_group: Array, predicted: Array) -> Row:
    """Counts by looking up `price - LIMIT` and `price + LIMIT`, which is right for exact numbers only."""
    near = total = predicted_near = predicted_total = 0
    for one in np.unique(group):
        own, points = np.sort(price[group == one]), predicted[predicted_group == one]
        near += int(_neighbours(own, own).sum()) - len(own)
        total += len(own) * (len(own) - 1)
        predicted_near += 2 * int(_neighbours(own, points).sum())
        predicted_total += 2 * len(own) * len(points)
    return Row(near, total - near, total, predicted_near, predicted_total - predicted_near, predicted_total)


def _neighbours(ordered: Array, points: Array) -> Array:
    return np.searchsorted(ordered, points + LIMIT) - np.searchsorted(ordered, points - LIMIT, side="right")


def count(folder: Path, *, sorted_plans: bool) -> Report:
    """The package on one workload. Loading is everything before counting."""
    from rulescore import Table as KeyedTable
    from rulescore.arguments.python import make_setting
    from rulescore.session.session import Session

    started = time.perf_counter()
    predictions = folder / "predictions.parquet"
    models = {MODEL: predictions} if predictions.exists() else None
    sales = KeyedTable(
        folder / "sales.parquet", key="id", target="price", hidden={"column": "hidden", "values": [True]} if models else None
    )
    with Session(make_setting(None, models, RULE, tables={"sale": sales}), sorted_plans=sorted_plans) as session:
        loaded = time.perf_counter()
        (result,) = (session.evaluate() if models else session.audit()).rule_results
        finished = time.perf_counter()
    found = [result.dataset, *(model.counts for model in result.models.values())]
    counts = [number for one in found for number in (one.confirmed, one.refuted, one.evaluable)]
    seconds = {"loading": loaded - started, "counting": finished - loaded}
    return Report(seconds, peak_memory(), {0: Row(*counts, *[0] * (6 - len(counts)))})


def _counting(reports: Sequence[Report]) -> list[float]:
    return [report.seconds["counting"] for report in reports]


def _show(runs: Runs) -> None:
    table: Table = [("", "plan", "ordered pairs", "loading s", "counts s", "peak MiB", "times sorted")]
    for (size, plan), reports in runs.items():
        row = reports[0].rows[0]
        table.append(
            (
                size.text,
                plan,
                f"{row[2] + row[5]:,}",
                spread_text(spread([report.seconds["loading"] for report in reports])),
                spread_text(spread(_counting(reports))),
                memory_text(reports),
                spread_text(ratios(_counting(reports), _counting(runs[size, "sorted"]))),
            )
        )
    show(table)


def _targets(runs: Runs) -> list[Target]:
    targets: list[Target] = []
    for predictions in (False, True):
        compared, large = (size._replace(predictions=predictions) for size in (COMPARED, LARGE))
        if (compared, "joined") in runs:
            found = ratios(_counting(runs[compared, "joined"]), _counting(runs[compared, "sorted"]))
            targets.append(Target(f"joined / sorted, {compared.text}", found, 40, at_least=True))
        if (large, "sorted") in runs:
            targets.append(Target(f"seconds sorted, {large.text}", spread(_counting(runs[large, "sorted"])), 10))
    return targets


if __name__ == "__main__":
    main()
