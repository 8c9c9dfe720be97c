"""Tables of Spark's benchmark in Markdown, and what more facts would need by what it measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, log
from typing import Any

Result = dict[str, Any]

MEBIBYTE, GIGABYTE, TERABYTE = 2**20, 10**9, 10**12

LARGEST_ID = 2**31 - 1
# What a task should be sent at most. Rows take more room in memory than between executors, where they are compressed.
TASK_BYTES = 64 * MEBIBYTE
# A row of five columns in Spark's own form, with its place in a hash table: an assumption of the plan, not a measurement.
ROW_BYTES = 64
# What Spark keeps of a heap for tables of joins and sorts, and of that for one of the two sides.
MEMORY_FRACTION, RESERVED = 0.6, 300 * MEBIBYTE

_NAMES = {"inverse": "inverse", "functional": "functional", "chain": "chain", "chains": "50 chains", "closed": "closed triangle"}


def tables(results: Result) -> str:
    parts = [_times(results), _steps(results), _targets(results), _shapes(results), _intermediate(results), _memory(results)]
    return "\n\n".join(part for part in parts if part)


def _markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] + ["--:"] * (len(header) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _whole(seconds: dict[str, float]) -> float:
    return sum(seconds.values())


def _applications(results: Result, workers: int, *, at_scale: bool = False) -> list[Result]:
    return [one for one in results["applications"] if (one["workers"], one["at_scale"]) == (workers, at_scale) and one["runs"]]


def _together(results: Result, workers: int) -> dict[int, Result]:
    """The runs of all rules together, by size, each with the application that it was part of."""
    applications = _applications(results, workers)
    return {run["size"]: {**run, "application": one} for one in applications for run in one["runs"]}


def _alone(results: Result) -> list[Result]:
    """The runs of each shape alone."""
    return [run for one in _applications(results, 2, at_scale=True) for run in one["runs"]]


def _facts(results: Result, size: int) -> int:
    return int(results["graphs"][str(size)]["facts"])


def _times(results: Result) -> str:
    """One line a size; `–` where a benchmark was ended before."""
    one, two = _together(results, 1), _together(results, 2)

    def row(size: int) -> list[str]:
        duckdb = _whole(results["duckdb"][str(size)]["seconds"])
        second = _whole(two[size]["seconds"])
        first = _whole(one[size]["seconds"]) if size in one else None
        times = [f"{duckdb:,.0f}", "–" if first is None else f"{first:,.0f}", f"{second:,.0f}"]
        speed_up = "–" if first is None else f"{first / second:.2f}"
        return [f"{_facts(results, size):,}", *times, speed_up, f"{second / duckdb:.1f}", f"{two[size]['contributions']:,}"]

    header = ["facts", "DuckDB, s", "1 worker, s", "2 workers, s", "speed-up", "2 workers, in DuckDB's time", "equal contributions"]
    return _markdown(header, map(row, sorted(two)))


def _steps(results: Result) -> str:
    def row(run: Result) -> list[str]:
        jobs = sum(one["jobs"] for one in run["usage"].values())
        seconds = [f"{run['seconds'][step]:,.0f}" for step in ("loading", "preparing", "counting", "writing")]
        processors = sum(one["seconds"] for one in run["usage"].values())
        exchanged = f"{_shuffled(run) / MEBIBYTE:,.0f}"
        return [f"{_facts(results, run['size']):,}", *seconds, f"{processors:,.0f}", f"{jobs:,}", exchanged]

    header = ["facts", "loading, s", "preparing, s", "counting, s", "writing, s", "processor s", "jobs", "exchanged, MiB"]
    return _markdown(header, map(row, _together(results, 2).values()))


# Before decision 0022, 16 million facts exchanged 573 bytes each.
_MOST_TIMES, _MOST_JOBS, _MOST_BYTES, _LEAST_SPEED_UP = 6, 100, 573 / 2, 1.8


def _targets(results: Result) -> str:
    """What we want of the largest graph that was measured."""
    one, two = _together(results, 1), _together(results, 2)
    if not two:
        return ""
    size = max(two)
    seconds, facts = _whole(two[size]["seconds"]), _facts(results, size)
    jobs = sum(usage["jobs"] for usage in two[size]["usage"].values())
    found = [
        ("in DuckDB's time", seconds / _whole(results["duckdb"][str(size)]["seconds"]), _MOST_TIMES, True),
        ("jobs", jobs, _MOST_JOBS, True),
        ("bytes exchanged per fact", _shuffled(two[size]) / facts, _MOST_BYTES, True),
    ]
    if size in one:
        found.append(("times as fast as one worker", _whole(one[size]["seconds"]) / seconds, _LEAST_SPEED_UP, False))
    rows = [
        [
            f"{facts:,} facts, 2 workers, {what}",
            f"{value:,.3g}",
            f"at {'most' if at_most else 'least'} {limit:,g}",
            "met" if (value <= limit) == at_most else "**not met**",
        ]
        for what, value, limit, at_most in found
    ]
    return _markdown(["target", "found", "limit", ""], rows)


def _shuffled(run: Result) -> int:
    return sum(one["shuffled"] for one in run["usage"].values())


def _shapes(results: Result) -> str:
    def row(run: Result) -> list[str]:
        facts = _facts(results, run["size"])
        parts = [run["usage"][step] for step in ("preparing", "counting")]
        seconds = sum(run["seconds"][step] for step in ("preparing", "counting"))
        sums = {field: sum(part[field] for part in parts) for field in ("seconds", "jobs", "shuffled", "shuffled_rows", "spilled")}
        per_fact = [f"{sums[field] / facts:,.1f}" for field in ("shuffled", "shuffled_rows")]
        largest = f"{max(part['largest_task'] for part in parts) / MEBIBYTE:,.1f}"
        times = [f"{seconds:,.0f}", f"{sums['seconds']:,.0f}", f"{sums['jobs']:,}"]
        return [_NAMES[run["rules"]], f"{facts:,}", *times, *per_fact, f"{sums['spilled'] / MEBIBYTE:,.0f}", largest]

    exchanged = ["bytes exchanged per fact", "rows exchanged per fact", "spilled, MiB", "largest task, MiB"]
    header = ["rules", "facts", "s", "processor s", "jobs", *exchanged]
    return _markdown(header, map(row, _alone(results)))


def _intermediate(results: Result) -> str:
    """Rows of tables in between, for each fact."""
    runs = [run for run in _alone(results) if run["rules"] == "chain"]
    facts = [_facts(results, run["size"]) for run in runs]
    rows = [
        [name, *(f"{run['rows'][name] / n:.4f}" for run, n in zip(runs, facts, strict=True))]
        for name in (runs[0]["rows"] if runs else ())
    ]
    growing = (("pairs of edges at a corner", "forks"), ("pairs of facts that a closed triangle joins", "wedges"))
    for name, field in growing:
        rows.append([name, *(f"{results['graphs'][str(run['size'])][field] / n:.4f}" for run, n in zip(runs, facts, strict=True))])
    return _markdown(["rows per fact", *(f"{n:,} facts" for n in facts)], rows)


def _memory(results: Result) -> str:
    """Of each application: peaks, what its last run kept of tables, and the machine's load."""

    def row(application: Result) -> list[str]:
        last = application["runs"][-1]
        peaks = [f"{application[field] / MEBIBYTE:,.0f}" for field in ("executor_memory", "driver_memory")]
        load = f"{min(application['load']):.0f} to {max(application['load']):.0f}"
        facts = _facts(results, last["size"])
        return [f"{facts:,}", str(application["workers"]), *peaks, f"{last['kept'] / facts:.1f}", load]

    header = ["facts", "workers", "peak of an executor, MiB", "of the driver, MiB", "tables kept, bytes per fact", "machine's load"]
    return _markdown(header, map(row, _applications(results, 1) + _applications(results, 2)))


@dataclass(frozen=True, slots=True)
class _Step:
    """A step, what its volume grows with, and what it takes for one of these."""

    name: str
    unit: str
    shuffled: float
    rows: float
    seconds: float


def plan(results: Result, facts: int, executors: int, cores: int) -> str:
    steps = list(_unit_costs(results))
    units = {unit: _extrapolated(results, unit, facts) for unit in ("facts", "forks", "wedges")}
    return "\n\n".join([_volumes(results, steps, units, executors), _needs(results, steps, units, executors, cores)])


def _unit_costs(results: Result) -> Iterator[_Step]:
    """From each shape alone, on the largest graph on which that was measured. What a shape needs before it is counted is what it
    needs beyond the simplest one."""
    size = max(run["size"] for run in _alone(results))
    graph = results["graphs"][str(size)]

    def cost(rules: str, step: str) -> dict[str, float]:
        (found,) = (run for run in _alone(results) if (run["size"], run["rules"]) == (size, rules))
        return dict(found["usage"][step])

    def made(name: str, unit: str, of: dict[str, float], beyond: dict[str, float] | None = None) -> _Step:
        fields = ("shuffled", "shuffled_rows", "seconds")
        return _Step(name, unit, *((of[one] - (0 if beyond is None else beyond[one])) / graph[unit] for one in fields))

    yield made("loading", "facts", cost("inverse", "loading"))
    yield made("evidence", "facts", cost("inverse", "preparing"))
    yield made("inverse rules", "facts", cost("inverse", "counting"))
    yield made("functional rules", "facts", cost("functional", "counting"))
    yield made("chains: triangles", "forks", cost("chain", "preparing"), cost("inverse", "preparing"))
    yield made("chains: rules", "facts", cost("chain", "counting"))
    yield made("closed triangles", "wedges", cost("closed", "counting"))


def _exponent(results: Result, unit: str) -> float:
    """How a quantity grows with the facts, between the two largest graphs."""
    left, right = sorted(results["graphs"].values(), key=lambda graph: int(graph["facts"]))[-2:]
    return log(right[unit] / left[unit]) / log(right["facts"] / left["facts"])


def _extrapolated(results: Result, unit: str, facts: int) -> float:
    largest = max(results["graphs"].values(), key=lambda graph: int(graph["facts"]))
    return float(largest[unit] * (facts / largest["facts"]) ** _exponent(results, unit))


def _volumes(results: Result, steps: Sequence[_Step], units: dict[str, float], executors: int) -> str:
    def row(step: _Step) -> list[str]:
        volume = step.shuffled * units[step.unit]
        unit = f"{step.unit} (facts^{_exponent(results, step.unit):.2f})" if step.unit != "facts" else step.unit
        parts = [f"{volume / TERABYTE:,.2f}", f"{volume / executors / GIGABYTE:,.1f}"]
        return [
            step.name,
            unit,
            f"{units[step.unit]:.2g}",
            f"{step.shuffled:.1f}",
            *parts,
            f"{step.seconds * units[step.unit] / 3600:,.0f}",
        ]

    header = ["step", "grows with", "how many", "bytes exchanged for each", "exchanged, TB", "per executor, GB", "processor hours"]
    return _markdown(header, map(row, steps))


def _needs(results: Result, steps: Sequence[_Step], units: dict[str, float], executors: int, cores: int) -> str:
    facts = units["facts"]
    largest = max(results["graphs"].values(), key=lambda graph: int(graph["facts"]))
    constants = largest["constants"] / largest["facts"] * facts
    # Wedges of a hub decide nothing here: a rule that joins them is not one to run at such a size.
    volumes = [step.shuffled * units[step.unit] for step in steps if step.unit != "wedges"]
    partitions = ceil(max(volumes) / TASK_BYTES)
    row_bytes = min(step.shuffled / step.rows for step in steps if step.rows)
    task = TASK_BYTES / row_bytes * ROW_BYTES
    last = max(_together(results, 2).values(), key=lambda run: int(run["size"]))
    kept = last["kept"] / _facts(results, last["size"]) * facts
    usage = [one for each in _alone(results) for one in each["usage"].values() if one["tasks"]]
    returned = max(one["returned"] / one["tasks"] for one in usage)
    rows = [
        ["different constants", f"{constants:.2g}, {'fewer' if constants <= LARGEST_ID else 'MORE'} than {LARGEST_ID:,}"],
        ["`spark.sql.shuffle.partitions`", f"{partitions:,}"],
        ["working memory of a task", f"{task / MEBIBYTE:,.0f} MiB"],
        [f"heap of an executor with {cores} cores", f"{(RESERVED + cores * task / MEMORY_FRACTION) / GIGABYTE:,.1f} GB"],
        ["tables in `spill_folder`", f"{kept / TERABYTE:,.2f} TB"],
        ["local disk of an executor", f"{sum(volumes) / executors / GIGABYTE:,.0f} GB"],
        ["results of one job's tasks at the driver", f"{returned * partitions / MEBIBYTE:,.0f} MiB"],
    ]
    return _markdown([f"{facts:.2g} facts, {executors:,} executors", ""], rows)
