"""One measurement is one fresh process, so that nothing is warm by accident and its peak of memory is its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from workload import Row

WORKER = Path(__file__).with_name("worker.py")


@dataclass(frozen=True, slots=True)
class Report:
    """What a process measured: seconds by name, its peak of resident memory in bytes, and counts by the rule's position."""

    seconds: dict[str, float]
    peak_memory: int
    rows: dict[int, Row]


@dataclass(frozen=True, slots=True)
class Spread:
    middle: float
    low: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    return Spread(median(values), min(values), max(values))


def ratios(numerators: Sequence[float], denominators: Sequence[float]) -> Spread:
    """Ratios of runs that stood side by side."""
    return spread([n / d for n, d in zip(numerators, denominators, strict=True)])


def measure(contender: str, folder: Path) -> Report:
    """Run one contender on one workload in a process of its own."""
    command = [sys.executable, str(WORKER), contender, str(folder)]
    finished = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    told = json.loads(finished.stdout)
    rows = {int(position): Row(*counts) for position, counts in told["rows"].items()}
    return Report(told["seconds"], told["peak_memory"], rows)


def tell(report: Report) -> None:
    """Hand a report to the process that asked for it."""
    print(json.dumps(asdict(report)))


def peak_memory() -> int:
    """The peak of this process's resident memory, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():
        # On Linux getrusage remembers the peak of the process that started this one; the kernel's own mark does not.
        (kibibytes,) = (line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(kibibytes) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


class DifferentCountsError(Exception):
    """Two contenders do not agree, so their times mean nothing."""


def require_equal(what: str, found: dict[int, Row], expected: dict[int, Row], *, times: int = 1) -> None:
    """Each count found is `times` the count expected for the same rule."""
    for position, counts in found.items():
        wanted = Row(*(times * count for count in expected[position]))
        if counts != wanted:
            raise DifferentCountsError(f"{what}: rule r{position} has {counts}, expected {wanted}")
