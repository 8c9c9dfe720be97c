"""Sales against an average of their group, and groups against a number of prices, beside a rule that has no aggregate."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import parquet

from measure import Report, measure, peak_memory, ratios, require_equal, spread
from printing import Table, Target, memory_text, show, show_targets, spread_text
from workload import Row

MOST_VALUES = 473
RULES = {
    "average": "P <= 4 * avg(Q : sale(zip: Z, price: Q)) <- sale(zip: Z, price: P).",
    "values": f"count_distinct(Q : sale(zip: Z, price: Q)) <= {MOST_VALUES} <- sale(zip: Z, price: P).",
    "number": "P <= 400000 <- sale(zip: Z, price: P).",
}
AGGREGATES = ("average", "values")
GROUPS = (5_000, 5_000, 5_000, 3_000, 3_000, 2_000, 2_000, 1_000, 1_000, 1_000, 500, 500, 500, 500)
ROWS = sum(GROUPS)
MODELS = ("ordinary", "daring")
PREDICTIONS = 2_000
LIMIT = 3.0
RESULTS = Path(__file__).with_name("results") / "aggregates.json"

Array = npt.NDArray[Any]


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="rulescore-bench-") as temporary:
        expected = lay_out(Path(temporary))
        runs: dict[str, list[Report]] = {name: [] for name in RULES}
        for turn in range(options.rounds):
            print(f"round {turn + 1} of {options.rounds}", file=sys.stderr, flush=True)
            for name, reports in runs.items():
                report = measure(name, Path(temporary))
                require_equal(name, report.rows, {0: expected[name]})
                reports.append(report)
    _show(runs, expected)
    number = _whole(runs["number"])
    targets = {name: Target(f"{name} / number, the whole run", ratios(_whole(runs[name]), number), LIMIT) for name in AGGREGATES}
    show_targets(list(targets.values()))
    if options.save:
        seconds = {name: [report.seconds for report in reports] for name, reports in runs.items()}
        found = {name: asdict(target.found) for name, target in targets.items()}
        kept = {"rows": ROWS, "predictions": PREDICTIONS * len(MODELS), "seconds": seconds, "ratio": found}
        RESULTS.write_text(json.dumps(kept, indent=2) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds")
    parser.add_argument("--save", action="store_true", help=f"keep the result in {RESULTS.name}")
    return parser.parse_args()


def lay_out(folder: Path) -> dict[str, Row]:
    """Write sales and predictions; the counts to expect of them. Prices are multiples of a quarter, so that sums are exact; some
    are far too high, and one model predicts such prices, too, which move the average of their group."""
    random = np.random.default_rng(ROWS)
    group = random.permutation(np.repeat(np.arange(len(GROUPS)), GROUPS))
    hidden = np.zeros(ROWS, bool)
    hidden[random.choice(ROWS, PREDICTIONS, replace=False)] = True
    price = _prices(random, ROWS, 0.002)
    predicted = {model: _prices(random, PREDICTIONS, share) for model, share in zip(MODELS, (0.0, 0.05), strict=True)}
    zips = np.char.mod("%05d", 44_000 + group)
    parquet.write_table(pa.table({"id": np.arange(ROWS), "zip": zips, "price": price, "hidden": hidden}), folder / "sales.parquet")
    for model, values in predicted.items():
        parquet.write_table(pa.table({"id": np.flatnonzero(hidden), "prediction": values}), folder / f"{model}.parquet")
    own = [(group[hidden][i], value) for values in predicted.values() for i, value in enumerate(values)]
    return {
        "average": _by_average(group[~hidden], price[~hidden], own),
        "values": _by_values(group[~hidden], price[~hidden], own),
        "number": _row(price[~hidden] <= 400_000, np.array([value <= 400_000 for _, value in own])),
    }


def _prices(random: np.random.Generator, rows: int, dirty: float) -> Array:
    price = np.round(random.lognormal(12, 0.5, rows) * 4) / 4
    return np.where(random.random(rows) < dirty, price * 64, price)


def _by_average(group: Array, price: Array, predictions: Sequence[tuple[int, float]]) -> Row:
    """One group after the other: the groundings of the data, that of a prediction, and those that it turns."""
    found, judged = [], []
    for number in range(len(GROUPS)):
        own = price[group == number]
        before = own <= 4 * (own.sum() / len(own))
        found.append(before)
        for value in [value for place, value in predictions if place == number]:
            limit = 4 * ((own.sum() + value) / (len(own) + 1))
            after = own <= limit
            judged.append(np.append(after[after != before], value <= limit))
    return _row(np.concatenate(found), np.concatenate(judged))


def _by_values(group: Array, price: Array, predictions: Sequence[tuple[int, float]]) -> Row:
    """A prediction with a new price may turn all groundings of its group at once, besides its own."""
    found, judged = [], []
    for number in range(len(GROUPS)):
        own = price[group == number]
        prices = set(own.tolist())
        before = len(prices) <= MOST_VALUES
        found.append(np.full(len(own), before))
        for value in [value for place, value in predictions if place == number]:
            after = len(prices | {value}) <= MOST_VALUES
            judged.append(np.full(1 + (len(own) if after != before else 0), after))
    return _row(np.concatenate(found), np.concatenate(judged))


def _row(data: Array, predictions: Array) -> Row:
    counts = [int(n) for one in (data, predictions) for n in (one.sum(), (~one).sum(), len(one))]
    return Row(*counts)


def count(folder: Path, name: str) -> Report:
    """The package on one of the rules. Loading is everything before counting."""
    from rulescore import Table as KeyedTable
    from rulescore.arguments.python import make_setting
    from rulescore.evaluate import Session

    started = time.perf_counter()
    sales = KeyedTable(folder / "sales.parquet", key="id", target="price", hidden={"column": "hidden", "values": [True]})
    models = {model: folder / f"{model}.parquet" for model in MODELS}
    with Session(make_setting(None, models, RULES[name], tables={"sale": sales})) as session:
        loaded = time.perf_counter()
        (result,) = session.evaluate().rule_results
        finished = time.perf_counter()
    totals = [model.counts for model in result.models.values()]
    data = (result.dataset.confirmed, result.dataset.refuted, result.dataset.evaluable)
    summed = (sum(t.confirmed for t in totals), sum(t.refuted for t in totals), sum(t.evaluable for t in totals))
    seconds = {"loading": loaded - started, "counting": finished - loaded}
    return Report(seconds, peak_memory(), {0: Row(*data, *summed)})


def _whole(reports: Sequence[Report]) -> list[float]:
    return [sum(report.seconds.values()) for report in reports]


def _show(runs: dict[str, list[Report]], expected: dict[str, Row]) -> None:
    table: Table = [("rule with", "groundings", "of predictions", "loading s", "counts s", "peak MiB")]
    for name, reports in runs.items():
        times = [spread_text(spread([report.seconds[part] for report in reports])) for part in ("loading", "counting")]
        table.append((name, f"{expected[name][2]:,}", f"{expected[name][5]:,}", *times, memory_text(reports)))
    show(table)


if __name__ == "__main__":
    main()
