"""The published method, the package, and a compiled kernel on the same rules, facts and predictions."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

import growth
from growth import Measurement, Size
from measure import Report, measure, ratios, require_equal, spread
from printing import Table, Target, memory, memory_text, show, show_targets, spread_text
from published import sample, write_sample
from workload import Material, material, write

RESULTS = Path(__file__).with_name("results.json")
CONTENDERS = ("published", "ours", "kernel")

Runs = dict[str, list[Report]]


def main() -> None:
    options = _options()
    graph = material()
    with tempfile.TemporaryDirectory(prefix="rulescore-bench-") as temporary:
        folder = Path(temporary)
        _say(f"{graph.name}: {len(graph.facts):,} facts, {len(graph.rules):,} rules, {len(graph.predictions):,} predictions")
        runs = _compare(graph, folder / "compare", options.contenders, options.rounds)
        targets = _show_comparison(runs, len(graph.rules))
        grown: list[Measurement] = []
        learned: tuple[Report, ...] = ()
        if options.growth:
            contenders = [name for name in options.contenders if name != "published"]
            if "ours" in contenders:
                contenders.append("ours, dataset")
            grown = growth.measure_growth(graph, folder / "growth", contenders, options.growth_rounds)
            targets += _show_growth(grown)
            show_targets(targets)
            if graph.learned and "ours" in contenders:
                learned = growth.measure_learned(graph, folder, 1)
                _show_learned(learned, len(graph.learned))
        else:
            show_targets(targets)
    if options.save:
        RESULTS.write_text(json.dumps(_results(graph, runs, grown, learned, targets), indent=1) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds of the comparison")
    parser.add_argument("--growth-rounds", type=int, default=3, help="interleaved rounds of the growth measurements")
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=CONTENDERS)
    parser.add_argument("--no-growth", dest="growth", action="store_false", help="leave out the growth measurements")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name} beside this file")
    return parser.parse_args()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _compare(graph: Material, folder: Path, contenders: Sequence[str], rounds: int) -> Runs:
    """All contenders in turn, round by round, after one run of the kernel that compiles it and gives the counts to expect."""
    write(folder, graph, graph.rules)
    expected = measure("kernel", folder).rows
    write_sample(folder / "sample.json", sample(graph.rules, [expected[i] for i in range(len(graph.rules))]))
    runs: Runs = {name: [] for name in contenders}
    for turn in range(rounds):
        _say(f"round {turn + 1} of {rounds}")
        for name in contenders:
            report = measure(name, folder)
            require_equal(name, report.rows, expected)
            runs[name].append(report)
    return runs


def _show_comparison(runs: Runs, rules: int) -> list[Target]:
    times = _counting_times(runs)
    own = times.get("ours")
    table: Table = [("", "rules run", "loading s", "dataset and model counts s", "peak MiB", "times ours")]
    for label, seconds in times.items():
        reports = runs[label.split(",")[0]]
        table.append(
            (
                label,
                f"{len(reports[0].rows):,}" + ("" if len(reports[0].rows) == rules else f", times for {rules:,}"),
                spread_text(spread([report.seconds["loading"] for report in reports])),
                spread_text(spread(seconds)),
                memory_text(reports),
                spread_text(ratios(seconds, own)) if own else "–",
            )
        )
    show(table)
    return _comparison_targets(runs, times)


def _counting_times(runs: Runs) -> dict[str, list[float]]:
    times = {name: [report.seconds["counting"] for report in reports] for name, reports in runs.items()}
    if "kernel" in runs:
        times["kernel, with its index"] = [r.seconds["index"] + r.seconds["counting"] for r in runs["kernel"]]
    return times


def _comparison_targets(runs: Runs, times: dict[str, list[float]]) -> list[Target]:
    if "ours" not in runs:
        return []
    own = times["ours"]
    targets = [Target("peak memory of ours, MiB", memory(runs["ours"]), 512)]
    if "published" in times:
        targets.append(Target("published / ours", ratios(times["published"], own), 500, at_least=True))
    if "kernel" in runs:
        targets.append(Target("ours / kernel with its index", ratios(own, times["kernel, with its index"]), 1))
    return targets


_GROWTH_HEADER = ("", "rules", "bodies", "copies of the facts", "loading s", "counts s", "peak MiB")


def _show_growth(grown: Sequence[Measurement]) -> list[Target]:
    table: Table = [_GROWTH_HEADER]
    for m in grown:
        table.append((m.contender, f"{m.size.rules:,}", f"{m.bodies:,}", f"{m.size.copies}", *_times_text(m.reports)))
    show(table)
    return _growth_targets({m.size: m.reports for m in grown if m.contender == "ours, dataset"})


def _show_learned(learned: Sequence[Report], rules: int) -> None:
    show([_GROWTH_HEADER, ("ours, AnyBURL's rules", f"{rules:,}", "–", "1", *_times_text(learned))])


def _times_text(reports: Sequence[Report]) -> tuple[str, str, str]:
    loading = spread([report.seconds["loading"] for report in reports])
    return spread_text(loading), spread_text(spread(_total(reports))), memory_text(reports)


def _total(reports: Iterable[Report]) -> list[float]:
    """Seconds after loading: the kernel's index is part of them."""
    return [report.seconds.get("index", 0.0) + report.seconds["counting"] for report in reports]


def _growth_targets(own: dict[Size, tuple[Report, ...]]) -> list[Target]:
    if not own:
        return []
    few, many = Size(5_000, 1), Size(20_000, 1)
    targets = [Target("20,000 rules / 5,000 rules, dataset rates", ratios(_total(own[many]), _total(own[few])), 1.5)]
    for rules in growth.RULES:
        one, four = own[Size(rules, 1)], own[Size(rules, 4)]
        targets.append(Target(f"4 times the facts / the facts, {rules:,} rules", ratios(_total(four), _total(one)), 5))
        targets.append(Target(f"peak memory with 4 times the facts, {rules:,} rules, MiB", memory(four), 1024))
    return targets


def _results(
    graph: Material, runs: Runs, grown: Sequence[Measurement], learned: Sequence[Report], targets: Sequence[Target]
) -> dict[str, object]:
    return {
        "graph": graph.name,
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "comparison": {name: [_without_rows(report) for report in reports] for name, reports in runs.items()},
        "growth": [
            {"contender": m.contender, **m.size._asdict(), "bodies": m.bodies, "runs": [_without_rows(r) for r in m.reports]}
            for m in grown
        ],
        "learned": [_without_rows(report) for report in learned],
        "targets": [{**asdict(target), "met": target.met} for target in targets],
    }


def _without_rows(report: Report) -> dict[str, object]:
    return {"seconds": report.seconds, "peak_memory": report.peak_memory}


if __name__ == "__main__":
    main()
