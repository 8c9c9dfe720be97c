"""The same rules, facts and predictions on DuckDB and on PostgreSQL."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from measure import DifferentCountsError, ratios, spread
from printing import Table, Target, show, show_targets, spread_text
from rulescore.arguments.python import make_setting
from rulescore.session.session import Session
from workload import SHARED, material, write

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

MODELS = ("anyburl", "compgcn", "transe")


@dataclass(frozen=True, slots=True)
class Run:
    loading: float
    counting: float
    contributions: pa.Table

    @property
    def whole(self) -> float:
        return self.loading + self.counting


def main() -> None:
    options = _options()
    graph = material()
    with tempfile.TemporaryDirectory(prefix="rulescore-bench-") as temporary, _server(options.url) as url:
        folder = write(Path(temporary) / "engines", graph, graph.rules)
        runs: dict[str, list[Run]] = {"DuckDB": [], "PostgreSQL": []}
        for turn in range(options.rounds):
            print(f"round {turn + 1} of {options.rounds}", file=sys.stderr, flush=True)
            for name, address in (("DuckDB", "duckdb"), ("PostgreSQL", url)):
                runs[name].append(_run(folder, address))
            _require_equal(runs["DuckDB"][-1].contributions, runs["PostgreSQL"][-1].contributions)
    print(f"{graph.name}: {len(graph.facts):,} facts, {len(graph.rules):,} rules, {len(_models(folder)):,} models\n")
    _show(runs)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--url", help="a PostgreSQL server; one is started unless given")
    return parser.parse_args()


@contextmanager
def _server(url: str | None) -> Iterator[str]:
    if url is not None:
        yield url
        return
    from servers.postgres import running_server

    with running_server() as server:
        yield server.url()


def _models(folder: Path) -> dict[str, Path]:
    """The answers of three published models, or those that were made beside the graph."""
    found = {name: SHARED / "predictions" / f"fb15k-237-{name}.tsv.gz" for name in MODELS}
    return found if all(path.exists() for path in found.values()) else {"model": folder / "predictions.tsv"}


def _run(folder: Path, engine: str) -> Run:
    started = time.perf_counter()
    setting = make_setting(folder / "facts.tsv", _models(folder), folder / "program.rules", convention="appendix", engine=engine)
    with Session(setting) as session:
        loaded = time.perf_counter()
        contributions = session.evaluate().contributions
        return Run(loaded - started, time.perf_counter() - loaded, contributions)


def _require_equal(left: pa.Table, right: pa.Table) -> None:
    if not left.equals(right):
        raise DifferentCountsError("PostgreSQL's contributions are not DuckDB's")


def _show(runs: dict[str, list[Run]]) -> None:
    table: Table = [("engine", "loading, s", "counting, s", "whole, s")]
    for name, found in runs.items():
        parts = ([run.loading for run in found], [run.counting for run in found], [run.whole for run in found])
        table.append((name, *(spread_text(spread(part)) for part in parts)))
    show(table)
    slower = ratios([run.whole for run in runs["PostgreSQL"]], [run.whole for run in runs["DuckDB"]])
    counting = ratios([run.counting for run in runs["PostgreSQL"]], [run.counting for run in runs["DuckDB"]])
    show_targets([Target("PostgreSQL's time, in DuckDB's", slower, 10), Target("counting alone", counting, 10)])


if __name__ == "__main__":
    main()
