"""Sales against an average and the greatest price of their group, and groups against a number of prices, beside a rule that has no
aggregate; with `--postgres`, all of them on a PostgreSQL server, too."""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import parquet

from measure import Report, measure, peak_memory, ratios, require_equal, spread
from printing import Table, Target, memory_text, show, show_targets, spread_text
from workload import Row

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

MOST_VALUES = 473
RULES = {
    "average": "P <= 4 * avg(Q : sale(zip: Z, price: Q)) <- sale(zip: Z, price: P).",
    "greatest": "P < max(Q : sale(zip: Z, price: Q)) <- sale(zip: Z, price: P).",
    "values": f"count_distinct(Q : sale(zip: Z, price: Q)) <= {MOST_VALUES} <- sale(zip: Z, price: P).",
    "number": "P <= 400000 <- sale(zip: Z, price: P).",
}
AGGREGATES = ("average", "greatest", "values")
GROUPS = (5_000, 5_000, 5_000, 3_000, 3_000, 2_000, 2_000, 1_000, 1_000, 1_000, 500, 500, 500, 500)
ROWS = sum(GROUPS)
MODELS = ("ordinary", "daring")
PREDICTIONS = 2_000
LIMIT = 3.0
SERVER = "server"
SERVER_LIMIT = 10.0
RESULTS = Path(__file__).with_name("results") / "aggregates.json"

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Run:
    """`processor`: seconds of all processes, the server's included."""

    report: Report
    processor: float

    @property
    def wall(self) -> float:
        return sum(self.report.seconds.values())


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="rulescore-bench-") as temporary, _server(options.postgres) as server:
        folder = Path(temporary)
        expected = lay_out(folder)
        engines = ("DuckDB", "PostgreSQL") if server else ("DuckDB",)
        runs: dict[tuple[str, str], list[Run]] = {(name, engine): [] for name in RULES for engine in engines}
        for turn in range(options.rounds):
            print(f"round {turn + 1} of {options.rounds}", file=sys.stderr, flush=True)
            for (name, engine), found in runs.items():
                (folder / SERVER).write_text(server.url() if server and engine == "PostgreSQL" else "")
                before = _processor(server)
                report = measure(name, folder)
                found.append(Run(report, _processor(server) - before))
                require_equal(f"{name}, {engine}", report.rows, {0: expected[name]})
    _show(runs, expected)
    targets = _targets(runs)
    show_targets(list(targets.values()))
    if options.save:
        kept = {
            "rows": ROWS,
            "predictions": PREDICTIONS * len(MODELS),
            "seconds": {
                ", ".join(key): [run.report.seconds | {"processor": run.processor} for run in found] for key, found in runs.items()
            },
            "ratio": {name: asdict(target.found) for name, target in targets.items()},
        }
        RESULTS.write_text(json.dumps(kept, indent=2) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds")
    parser.add_argument("--postgres", action="store_true", help="also on a PostgreSQL server, started as tests do")
    parser.add_argument("--save", action="store_true", help=f"keep the result in {RESULTS.name}")
    return parser.parse_args()


@contextmanager
def _server(wanted: bool) -> Iterator[Any]:
    if not wanted:
        yield None
        return
    from servers.postgres import running_server

    with running_server() as server:
        yield server


def _processor(server: Any) -> float:
    """Processor seconds of the processes that this one has waited for, and of the server with all sessions that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = used.ru_utime + used.ru_stime
    if server is not None:
        time.sleep(0.5)  # until the server has waited for the session
        process = (server.data / "postmaster.pid").read_text().split()[0]
        ticks = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:15]
        seconds += sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    return seconds


def _targets(runs: dict[tuple[str, str], list[Run]]) -> dict[str, Target]:
    number = [run.wall for run in runs["number", "DuckDB"]]
    targets = {
        name: Target(f"{name} / number, the whole run", ratios([run.wall for run in runs[name, "DuckDB"]], number), LIMIT)
        for name in AGGREGATES
    }
    for name in RULES:
        if (name, "PostgreSQL") in runs:
            seconds = ([run.processor for run in runs[name, engine]] for engine in ("PostgreSQL", "DuckDB"))
            claim = f"{name}, PostgreSQL / DuckDB, processor seconds"
            targets[f"{name}, PostgreSQL"] = Target(claim, ratios(*seconds), SERVER_LIMIT)
    return targets


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
        "greatest": _by_greatest(group[~hidden], price[~hidden], own),
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


def _by_greatest(group: Array, price: Array, predictions: Sequence[tuple[int, float]]) -> Row:
    """A prediction above all prices of its group turns the greatest of them, and is refuted itself."""
    found, judged = [], []
    for number in range(len(GROUPS)):
        own = price[group == number]
        before = own < own.max()
        found.append(before)
        for value in [value for place, value in predictions if place == number]:
            greatest = max(own.max(), value)
            after = own < greatest
            judged.append(np.append(after[after != before], value < greatest))
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
    from rulescore.session.session import Session

    started = time.perf_counter()
    sales = KeyedTable(folder / "sales.parquet", key="id", target="price", hidden={"column": "hidden", "values": [True]})
    models = {model: folder / f"{model}.parquet" for model in MODELS}
    engine = (folder / SERVER).read_text() or "duckdb"
    with Session(make_setting(None, models, RULES[name], tables={"sale": sales}, engine=engine)) as session:
        loaded = time.perf_counter()
        (result,) = session.evaluate().rule_results
        finished = time.perf_counter()
    totals = [model.counts for model in result.models.values()]
    data = (result.dataset.confirmed, result.dataset.refuted, result.dataset.evaluable)
    summed = (sum(t.confirmed for t in totals), sum(t.refuted for t in totals), sum(t.evaluable for t in totals))
    seconds = {"loading": loaded - started, "counting": finished - loaded}
    return Report(seconds, peak_memory(), {0: Row(*data, *summed)})


def _show(runs: dict[tuple[str, str], list[Run]], expected: dict[str, Row]) -> None:
    table: Table = [("rule with", "on", "groundings", "of predictions", "loading s", "counts s", "processor s", "peak MiB")]
    for (name, engine), found in runs.items():
        reports = [run.report for run in found]
        times = [[report.seconds[part] for report in reports] for part in ("loading", "counting")]
        texts = [spread_text(spread(part)) for part in (*times, [run.processor for run in found])]
        table.append((name, engine, f"{expected[name][2]:,}", f"{expected[name][5]:,}", *texts, memory_text(reports)))
    show(table)


if __name__ == "__main__":
    main()
