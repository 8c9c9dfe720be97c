"""What a report costs: its size, what it costs beyond scoring, and what a real Chromium takes to open and to use it.

The main thread's own time (`threadTicks`) says how much work a page is, whatever else the machine does; the rest is in processor
seconds for the same reason. Other times are what a person waits, and depend on what else runs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any
from unittest.mock import patch

import numpy as np

import rulescore
from measure import spread
from printing import Table, Target, show, show_targets, spread_text
from rulescore.comparison import comparing as comparing_module
from rulescore.report import make
from rulescore.report.make import Report, ReportChoice, report_of

RESULTS = Path(__file__).with_name("results") / "report.json"
CLUSTERS, CLUSTER = 330, 12


@dataclass(frozen=True)
class Sizes:
    """`budgets`: bytes, seconds until ready, seconds of the main thread."""

    name: str
    rules: int
    models: int
    relations: int
    predictions: int
    budgets: tuple[float, float, float]


SIZES = (
    Sizes("509 rules, 5 models", 509, 5, 20, 2_000, (700_000, 0.5, 0.15)),
    Sizes("20,000 rules, 3 models", 20_000, 3, 40, 400, (1_500_000, 1.0, 0.25)),
)
LIMITS = {"filter": 0.1, "sort": 0.3, "drill-down": 0.4, "nodes": 5_000, "beyond scoring": 2.0}


def setting(sizes: Sizes) -> dict[str, Any]:
    """Small clusters, in which nearly every pair has one relation, so that most heads are refuted; names as long as Freebase's."""
    random = np.random.default_rng(1)
    names = [f"/domain{number % 7}/type_{number}/relation_{number}" for number in range(sizes.relations)]
    pairs = [(c * CLUSTER + i, c * CLUSTER + j) for c in range(CLUSTERS) for i in range(CLUSTER) for j in range(CLUSTER) if i != j]
    known = random.integers(0, sizes.relations, len(pairs))
    facts = [(f"/m/{x:05x}", names[r], f"/m/{y:05x}") for (x, y), r in zip(pairs, known.tolist(), strict=True)]
    chosen = random.permutation(sizes.relations**3)[: sizes.rules]
    rules = [
        f"`{names[a]}`(X, Y) <- `{names[b]}`(X, Z), `{names[c]}`(Z, Y)."
        for a, b, c in zip(*(part.tolist() for part in np.unravel_index(chosen, (sizes.relations,) * 3)), strict=True)
    ]
    models = {f"model-{number}": list(_predictions(random, pairs, names, sizes.predictions)) for number in range(sizes.models)}
    incompatible = f"incompatible {', '.join(f'`{name}`' for name in names)}."
    return {"observed": facts, "predictions": models, "rules": "\n".join([*rules, incompatible])}


def _predictions(random: np.random.Generator, pairs: list[Any], names: list[str], number: int) -> Iterator[tuple[str, str, str]]:
    for place in random.permutation(len(pairs))[:number].tolist():
        x, y = pairs[place]
        yield f"/m/{x:05x}", names[int(random.integers(0, len(names)))], f"/m/{y:05x}"


def made(sizes: Sizes, rounds: int) -> tuple[Report, dict[str, list[float]]]:
    """The report, and its processor seconds beyond scoring: all, and how many are for listing violations, for intervals, and for
    writing."""
    seconds: dict[str, list[float]] = {"beyond scoring": [], "listing": [], "comparing": [], "writing": []}
    with rulescore.open(**setting(sizes)) as session:
        result = session.score()
        for _ in range(rounds):
            listing, comparing = _Timed(session.session), _Timed(comparing_module)
            begin = process_time()
            with patch.object(make, "compared_models", comparing.compared_models):
                report = report_of(result, listing, ReportChoice(sizes.name))
            whole = process_time() - begin
            seconds["beyond scoring"].append(whole)
            seconds["listing"].append(listing.seconds)
            seconds["comparing"].append(comparing.seconds)
            seconds["writing"].append(whole - listing.seconds - comparing.seconds)
    return report, seconds


class _Timed:
    """Something that notes the processor seconds of its functions."""

    def __init__(self, timed: Any) -> None:
        self._timed, self.seconds = timed, 0.0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._timed, name)
        if not callable(found):
            return found

        def timed(*given: Any, **named: Any) -> Any:
            begin = process_time()
            try:
                return found(*given, **named)
            finally:
                self.seconds += process_time() - begin

        return timed


USE = """async () => {
  const timed = async (work) => { const begin = performance.now(); await work(); return (performance.now() - begin) / 1000; };
  const search = document.getElementById('search');
  return {
    filter: await timed(() => { search.value = 'relation_7'; search.dispatchEvent(new Event('input')); }),
    sort: await timed(() => { search.value = ''; document.querySelector('#rules-table th:nth-child(4) button').click(); }),
    'drill-down': await timed(() => showRule(0)),
  };
}"""


def opened(browser: Any, path: Path) -> dict[str, float]:
    context = browser.new_context()
    page = context.new_page()
    client = context.new_cdp_session(page)
    client.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    ready = page.evaluate("performance.getEntriesByName('ready')[0].startTime / 1000")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime / 1000 || 0")
    busy = {one["name"]: one["value"] for one in client.send("Performance.getMetrics")["metrics"]}["TaskDuration"]
    nodes = page.evaluate("document.querySelectorAll('*').length")
    found = {"paint": paint, "ready": ready, "main thread": busy, "nodes": nodes, **page.evaluate(USE)}
    context.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    path = os.environ.get("RULESCORE_CHROMIUM") or shutil.which("chromium")
    if path is None:
        sys.exit("needs Chromium: `apt-get install chromium`, or name another by RULESCORE_CHROMIUM")
    kept: dict[str, Any] = {}
    targets: list[Target] = []
    table: Table = [
        (
            "report",
            "bytes",
            "beyond scoring CPU s",
            "list CPU s",
            "compare CPU s",
            "write CPU s",
            "paint s",
            "ready s",
            "main thread s",
            "nodes",
            "filter s",
            "sort s",
            "drill-down s",
        )
    ]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for sizes in SIZES:
            print(sizes.name, file=sys.stderr, flush=True)
            report, written = made(sizes, options.rounds)
            file = report.save(Path(folder) / "report.html")
            rounds = [opened(browser, file) for _ in range(options.rounds)]
            found = {name: spread([one[name] for one in rounds]) for name in rounds[0]}
            size = file.stat().st_size
            cells = [
                spread_text(found[name]) for name in ("paint", "ready", "main thread", "nodes", "filter", "sort", "drill-down")
            ]
            times = {name: spread(some) for name, some in written.items()}
            table.append((sizes.name, f"{size:,}", *map(spread_text, times.values()), *cells))
            limits = dict(zip(("bytes", "ready", "main thread"), sizes.budgets, strict=True)) | LIMITS
            measured = found | {"bytes": spread([size]), "beyond scoring": times["beyond scoring"]}
            targets += [Target(f"{sizes.name}, {name}", measured[name], limit) for name, limit in limits.items()]
            kept[sizes.name] = {"bytes": size, **{name: one.middle for name, one in (times | found).items()}}
        browser.close()
    show(table)
    show_targets(targets)
    if options.save:
        RESULTS.write_text(json.dumps({"rounds": options.rounds, "reports": kept}, indent=2) + "\n")


if __name__ == "__main__":
    main()
