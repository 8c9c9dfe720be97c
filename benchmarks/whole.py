"""What a user waits for: whole runs of the command line, from the start of the process to its last line."""

from __future__ import annotations

import argparse
import compileall
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

import rulescore
from measure import DifferentCountsError, Spread, ratios, spread
from printing import GIBIBYTE, MEBIBYTE, Table, Target, show, show_targets, spread_text
from series import AUDITED_FEW, AUDITED_MANY, AUDITED_MOST, FEW, MAKERS, MANY, MOST, SCORED, Extent, Series, Step, make
from whole_tables import plan, split_table, tables

RESULTS = Path(__file__).with_name("results")
LAUNCH = Path(__file__).with_name("launch.py")
SPLIT = Path(__file__).with_name("split.py")
STEEPEST = 1.15
"""The largest exponent of growth: sorting four times sixteen million rows takes about 4.3 times as long, an exponent of 1.06."""

STEEPEST_OF_LARGEST = 1.1


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds on the wall and of the processor, the most bytes of memory and of temporary files, and the load before."""

    wall: float
    processor: float
    memory: int
    disk: int
    load: float


Runs = dict[str, list[Run]]


def main() -> None:
    options = _options()
    if options.tables is not None:
        print(tables(json.loads(options.tables.read_text())))
    elif options.plan is not None:
        print(plan(json.loads(options.plan.read_text()), int(options.facts)))
    elif options.split_tables:
        split, peers = (json.loads((RESULTS / name).read_text()) for name in ("split.json", "peers.json"))
        print(split_table(split, peers))
    else:
        _measure(options)


def _measure(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="rulescore-bench-") as temporary:
        # An installer compiles the modules of a package: no user waits for that.
        compileall.compile_dir(Path(rulescore.__file__).parent, quiet=1)
        print("writing files", file=sys.stderr, flush=True)
        graph, series = make(options.series, Path(temporary), options.extent)
        steps = [step for one in series for step in one.steps]
        if options.split:
            parts = _split([step for step in steps if step.name in (SCORED, AUDITED_FEW, AUDITED_MANY)], Path(temporary))
            show(_split_table(parts))
            if options.save:
                _write("split.json", {**environment(), "load": os.getloadavg()[0], "parts": parts})
            return
        found, inputs = _measured(steps, Path(temporary), options.rounds), {step.name: _input_size(step) for step in steps}
    for one in series:
        show(_table(one, found))
    targets = _targets(series, found)
    show_targets(targets)
    if options.save:
        name = "whole.json" if options.extent is Extent.USUAL else f"whole-{options.extent.name.lower()}.json"
        _write(name, _with_former(name, _kept(graph, series, inputs, found, targets)))


def _write(name: str, result: dict[str, object]) -> None:
    (RESULTS / name).write_text(json.dumps(result, indent=2) + "\n")


def _with_former(name: str, result: dict[str, Any]) -> dict[str, Any]:
    """The result, with what was kept of series that were not measured now."""
    path = RESULTS / name
    former = json.loads(path.read_text()) if path.exists() else {}
    joined = {part: former.get(part, {}) | result[part] for part in ("sizes", "inputs", "runs", "exponents")}
    known = {target["claim"] for target in result["targets"]}
    targets = [*(target for target in former.get("targets", ()) if target["claim"] not in known), *result["targets"]]
    return result | joined | {"targets": targets}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", nargs="+", choices=list(MAKERS), default=list(MAKERS), help="these only")
    full = f"16 million facts, 2 million predictions and {MOST:,} rules too, once each"
    extents = {"dest": "extent", "action": "store_const", "default": Extent.USUAL}
    parser.add_argument("--full", const=Extent.FULL, help=full, **extents)
    parser.add_argument("--large", const=Extent.LARGE, help="64 million facts as well, once", **extents)
    parser.add_argument("--largest", const=Extent.LARGEST, help="64 and 128 million facts as well, once each", **extents)
    parser.add_argument("--split", action="store_true", help="of a score and of audits: processor seconds of each part, once")
    parser.add_argument("--split-tables", action="store_true", help="print the kept split, beside the kernel's floor")
    parser.add_argument("--tables", type=Path, metavar="RESULTS", help="print the tables of kept results, and measure nothing")
    parser.add_argument("--plan", type=Path, metavar="RESULTS", help="print what more facts would need by kept results")
    parser.add_argument("--facts", type=float, default=1e9, help="of the plan")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds")
    parser.add_argument("--save", action="store_true", help=f"keep the result in {RESULTS.name}/")
    return parser.parse_args()


def _measured(steps: Sequence[Step], folder: Path, rounds: int) -> Runs:
    """Every step in turn, round by round."""
    found: Runs = {step.name: [] for step in steps}
    counts: list[list[int]] = []
    for turn in range(rounds):
        for step in steps:
            if turn and step.once:
                continue
            print(f"round {turn + 1} of {rounds}: {step.name}", file=sys.stderr, flush=True)
            output = folder / "output"
            found[step.name].append(measured(step.arguments, output))
            if step.copies:
                counts.append(_counts(step, output))
                _require_equal(step.name, counts[-1], counts[0])
    return found


def measured(arguments: Sequence[str], output: Path) -> Run:
    return Run(**json.loads(_told(LAUNCH, output, arguments)))


def _told(program: Path, output: Path, arguments: Sequence[str]) -> bytes:
    return subprocess.run([sys.executable, str(program), str(output), *arguments], stdout=subprocess.PIPE, check=True).stdout


def _split(steps: Sequence[Step], folder: Path) -> dict[str, dict[str, float]]:
    """What the interpreter, imports, reading, planning, counting and writing take of each run."""
    return {step.name: json.loads(_told(SPLIT, folder / "output", step.arguments)) for step in steps}


def _split_table(parts: dict[str, dict[str, float]]) -> Table:
    names = next(iter(parts.values()))
    rows = [(name, *(f"{seconds[name]:.2f}" for seconds in parts.values())) for name in names]
    return [("processor s", *parts), *rows, ("all", *(f"{sum(seconds.values()):.2f}" for seconds in parts.values()))]


def _counts(step: Step, output: Path) -> list[int]:
    """What every rule counts over one copy of the facts."""
    counts = [rule["dataset"][one] for rule in json.loads(output.read_bytes())["rules"] for one in ("confirmed", "refuted")]
    if any(count % step.copies for count in counts):
        raise DifferentCountsError(f"{step.name}: counts are no multiple of {step.copies}")
    return [count // step.copies for count in counts]


def _require_equal(name: str, found: list[int], expected: list[int]) -> None:
    if found != expected:
        raise DifferentCountsError(f"{name}: other counts over the facts than before")


def _table(series: Series, found: Runs) -> Table:
    table: Table = [(series.title, "wall s", "processor s", "peak MiB", "exponent")]
    exponents = ["–", *(f"{one:.2f}" for one in _exponents(series, found)["processor"])] if series.grows else []
    for number, step in enumerate(series.steps):
        runs = found[step.name]
        times = (spread_text(spread([getattr(one, what) for one in runs])) for what in ("wall", "processor"))
        table.append((step.name, *times, f"{_peak(runs) / MEBIBYTE:,.0f}", exponents[number] if exponents else "–"))
    return table


def _peak(runs: Sequence[Run]) -> int:
    return max(one.memory for one in runs)


def _exponents(series: Series, found: Runs) -> dict[str, list[float]]:
    """From each step to the next: the logarithm of the ratio of what they used over that of their sizes, by the medians."""
    middles = {what: [_middle(found[step.name], what) for step in series.steps] for what in ("processor", "memory")}
    growth = [math.log(after.size / before.size) for before, after in pairwise(series.steps)]
    return {
        what: [math.log(after / before) / size for (before, after), size in zip(pairwise(values), growth, strict=True)]
        for what, values in middles.items()
    }


def _middle(runs: Sequence[Run], what: str) -> float:
    return spread([getattr(one, what) for one in runs]).middle


def _targets(series: Sequence[Series], found: Runs) -> list[Target]:
    targets = [Target(f"{SCORED}, s", _wall(found[SCORED]), 1.5)] if SCORED in found else []
    if AUDITED_MANY in found:
        few, many = found[AUDITED_FEW], found[AUDITED_MANY]
        growth = ratios([one.wall for one in many], [one.wall for one in few])
        targets += [
            Target(f"{AUDITED_MANY}, s", _wall(many), 40),
            Target(f"{AUDITED_MANY}, times {FEW:,}", growth, 25),
            Target(f"{AUDITED_MANY}, GiB", spread([one.memory / GIBIBYTE for one in many]), 3),
        ]
    if AUDITED_MOST in found:
        most = found[AUDITED_MOST]
        times = most[0].wall / _middle(found[AUDITED_MANY], "wall")
        targets += [
            Target(f"{AUDITED_MOST}, times {MANY:,}", Spread(times, times, times), 12),
            Target(f"{AUDITED_MOST}, GiB", spread([one.memory / GIBIBYTE for one in most]), 8),
        ]
    for one in series:
        if one.grows:
            steepest = _exponents(one, found)["processor"][-1]
            limit = STEEPEST_OF_LARGEST if one.steps[-1].limit else STEEPEST
            targets.append(Target(f"exponent of growth with {one.title}", Spread(steepest, steepest, steepest), limit))
        for step in one.steps:
            peaks = [run.memory for run in found[step.name]]
            if one.title == "facts" and step.once:
                targets.append(Target(f"{step.name}, GiB", spread([peak / GIBIBYTE for peak in peaks]), 8))
            elif step.limit:
                targets.append(Target(f"{step.name}, peak / limit", spread([peak / step.limit for peak in peaks]), 1.1))
    return targets


def _wall(runs: Sequence[Run]) -> Spread:
    return spread([run.wall for run in runs])


def environment() -> dict[str, object]:
    """The machine and the versions, for results that are kept."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "machine": {
            "cores": os.cpu_count(),
            "memory GiB": round(pages / GIBIBYTE),
            "system": platform.system(),
            "processor": platform.machine(),
        },
        "versions": {
            "rulescore": rulescore.__version__,
            "python": platform.python_version(),
            "duckdb": duckdb.__version__,
            "pyarrow": pa.__version__,
        },
    }


def _input_size(step: Step) -> int:
    """The bytes of all files that a command names."""
    paths = (Path(argument.rpartition("=")[2]) for argument in step.arguments)
    return sum(path.stat().st_size for path in paths if path.is_file())


def _kept(graph: str, series: Sequence[Series], inputs: dict[str, int], found: Runs, targets: Sequence[Target]) -> dict[str, Any]:
    return {
        **environment(),
        "graph": graph,
        "sizes": {step.name: step.size for one in series for step in one.steps if step.copies and one.title in ("facts", "limits")},
        "inputs": inputs,
        "runs": {name: [asdict(one) for one in runs] for name, runs in found.items()},
        "exponents": {one.title: _exponents(one, found) for one in series if one.grows},
        "targets": [{**asdict(target), "met": target.met} for target in targets],
    }


if __name__ == "__main__":
    main()
