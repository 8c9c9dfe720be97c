"""What Spark's own log of events says of the tasks that ran between two points of time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_RESIDENT = "ProcessTreeJVMRSSMemory"


@dataclass(frozen=True, slots=True)
class Task:
    started: float
    seconds: float
    shuffled: int
    shuffled_rows: int
    sent: int
    spilled: int
    returned: int


@dataclass(frozen=True, slots=True)
class Usage:
    """Of all tasks of a step: seconds of processors, bytes and rows exchanged, bytes written to disks where memory ended, bytes
    sent to the driver; and the bytes that the largest task was sent."""

    jobs: int
    tasks: int
    seconds: float
    shuffled: int
    shuffled_rows: int
    spilled: int
    returned: int
    largest_task: int


@dataclass(frozen=True, slots=True)
class Events:
    tasks: tuple[Task, ...]
    jobs: tuple[float, ...]
    executor_memory: int
    driver_memory: int

    def between(self, started: float, ended: float) -> Usage:
        chosen = [task for task in self.tasks if started <= task.started < ended]
        return Usage(
            jobs=sum(started <= one < ended for one in self.jobs),
            tasks=len(chosen),
            seconds=sum(task.seconds for task in chosen),
            shuffled=sum(task.shuffled for task in chosen),
            shuffled_rows=sum(task.shuffled_rows for task in chosen),
            spilled=sum(task.spilled for task in chosen),
            returned=sum(task.returned for task in chosen),
            largest_task=max((task.sent for task in chosen), default=0),
        )


def read_events(folder: Path) -> Events:
    (log,) = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    tasks: list[Task] = []
    jobs: list[float] = []
    memory = {"driver": 0, "executors": 0}
    for event in _lines(log):
        match event["Event"]:
            case "SparkListenerTaskEnd" if event.get("Task Metrics"):
                tasks.append(_task(event))
                memory["executors"] = max(memory["executors"], event["Task Executor Metrics"].get(_RESIDENT, 0))
            case "SparkListenerStageExecutorMetrics":
                whose = "driver" if event["Executor ID"] == "driver" else "executors"
                memory[whose] = max(memory[whose], event["Executor Metrics"].get(_RESIDENT, 0))
            case "SparkListenerJobStart":
                jobs.append(event["Submission Time"] / 1000)
    return Events(tuple(tasks), tuple(jobs), memory["executors"], memory["driver"])


def _lines(log: Path) -> Iterator[dict[str, Any]]:
    with log.open(encoding="utf-8") as lines:
        for line in lines:
            if line.endswith("\n"):  # the last one may not be written yet
                yield json.loads(line)


def _task(event: Mapping[str, Any]) -> Task:
    info, metrics = event["Task Info"], event["Task Metrics"]
    written, read = metrics["Shuffle Write Metrics"], metrics["Shuffle Read Metrics"]
    return Task(
        started=info["Launch Time"] / 1000,
        seconds=metrics["Executor CPU Time"] / 1e9,
        shuffled=written["Shuffle Bytes Written"],
        shuffled_rows=written["Shuffle Records Written"],
        sent=read["Remote Bytes Read"] + read["Local Bytes Read"],
        spilled=metrics["Disk Bytes Spilled"],
        returned=metrics["Result Size"],
    )
