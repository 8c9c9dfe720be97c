"""Tables of kept results of whole.py in Markdown, and what more facts would need by what it measured."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

from measure import Spread, spread
from printing import GIBIBYTE, GIGABYTE, MEBIBYTE, markdown, spread_text

Result = dict[str, Any]


def tables(result: Result) -> str:
    growth = [_growth(result)] if result["exponents"] else []
    return "\n\n".join([_runs(result), *growth, _targets(result)])


def _runs(result: Result) -> str:
    """Results kept before the load and temporary files were noted have `–` there."""

    def row(name: str, runs: Sequence[Result]) -> list[str]:
        times = (spread_text(spread([run[time] for run in runs])) for time in ("wall", "processor"))
        files = f"{max(run['disk'] for run in runs) / MEBIBYTE:,.0f}" if "disk" in runs[0] else "–"
        load = f"{min(run['load'] for run in runs):.0f} to {max(run['load'] for run in runs):.0f}" if "load" in runs[0] else "–"
        return [name, *times, f"{max(run['memory'] for run in runs) / MEBIBYTE:,.0f}", files, load]

    header = ["command", "wall s", "processor s", "peak MiB", "temporary files, MiB", "load before"]
    return markdown(header, (row(name, runs) for name, runs in result["runs"].items()))


def _growth(result: Result) -> str:
    def steps(exponents: Sequence[float]) -> str:
        return ", ".join(f"{exponent:.2f}" for exponent in exponents)

    rows = ([title, steps(of["processor"]), steps(of["memory"])] for title, of in result["exponents"].items())
    return markdown(["growth with", "exponents of processor time", "of memory"], rows)


def _targets(result: Result) -> str:
    def row(target: Result) -> list[str]:
        limit = f"at {'least' if target['at_least'] else 'most'} {target['limit']:,g}"
        return [target["claim"], spread_text(Spread(**target["found"])), limit, "met" if target["met"] else "**not met**"]

    return markdown(["target", "found", "limit", ""], map(row, result["targets"]))


def split_table(result: Result, peers: Result) -> str:
    """The parts of runs, with the kernel's reading and counting of the same facts as their floor."""
    parts, kernel = result["parts"], [run["seconds"] for run in peers["runs"]["kernel"]]
    counting = spread([seconds["index"] + seconds["counting"] for seconds in kernel]).middle
    floor = {"reading and numbering data": spread([seconds["loading"] for seconds in kernel]).middle, "counting": counting}
    names = list(next(iter(parts.values())))
    rows = [[name, *(f"{seconds[name]:.2f}" for seconds in parts.values()), f"{floor.get(name, 0):.2f}"] for name in names]
    whole = ["all", *(f"{sum(seconds.values()):.2f}" for seconds in parts.values()), f"{sum(floor.values()):.2f}"]
    return markdown(["processor s", *parts, "kernel, the same 509 rules"], [*rows, whole])


def plan(result: Result, facts: int) -> str:
    """What more facts would need, from the two largest graphs that had a limit of memory: time by the power with which it grew,
    bytes in proportion."""
    limited = {name: size for name, size in result["sizes"].items() if "--memory-limit" in name and name in result["runs"]}
    before, last = sorted((size, name) for name, size in limited.items())[-2:]
    runs = {name: result["runs"][name][0] for _, name in (before, last)}
    power = log(runs[last[1]]["processor"] / runs[before[1]]["processor"]) / log(last[0] / before[0])
    times = facts / last[0]
    run = runs[last[1]]
    hours = run["processor"] * times**power / 3600
    cores = result["machine"]["cores"]
    rows = [
        ["measured on", f"{last[0]:,} facts: {run['processor']:,.0f} processor s, load {run['load']:.0f}"],
        ["text of the facts", f"{result['inputs'][last[1]] * times / GIGABYTE:,.0f} GB"],
        ["memory of the process", f"{run['memory'] / GIBIBYTE:,.1f} GiB, by `--memory-limit`"],
        ["temporary files", f"{((run['memory'] + run['disk']) * times - run['memory']) / GIGABYTE:,.0f} GB"],
        ["processor hours", f"{hours:,.1f}, growing with facts^{power:.2f}"],
        [f"hours, if all {cores} processors are free", f"{hours / cores:,.1f}"],
    ]
    return markdown([f"{facts:.2g} facts", ""], rows)
