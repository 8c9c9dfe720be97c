"""Published numbers and ours as data. Each cell has the class of its difference. Scores settings by both conventions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from rulescore.arguments.python import make_setting
from rulescore.reporting.listing import CellKind, Listing
from rulescore.reproduction.figures import Figure
from rulescore.reproduction.published import Printed, agrees
from rulescore.scoring.evaluation import Task
from rulescore.scoring.results import RuleKind
from rulescore.session.result import Result
from rulescore.session.session import Session


class Cause(StrEnum):
    """The reason why a number differs from the published one."""

    SAME = "same"
    PREDICTIONS = "other predictions"
    DATA = "other data"
    AVERAGING = "other averaging"
    TEST_FACTS = "training on test facts"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Cell:
    """One published number. `ours`: our number, by the appendix if there are two ways of counting; None if we have none to compare.
    `by_definition`: our number by the definition. `kind`: how numbers are shown."""

    row: str
    measure: str
    published: Printed
    ours: float | int | None
    cause: Cause
    kind: CellKind = CellKind.SCORE
    by_definition: float | int | None = None

    @property
    def difference(self) -> float | None:
        return None if self.ours is None else self.ours - float(self.published)


@dataclass(frozen=True, slots=True)
class Reason:
    """The meaning of a class in a table, and the command that shows the evidence."""

    text: str
    command: str


@dataclass(frozen=True, slots=True)
class Compared:
    """A published table with ours. `reasons`: one for each class that its cells may have. `wide`: if there are many cells, the
    listing that people see instead of a row for each cell. `both`: whether people, like programs, see numbers by the definition
    as well."""

    name: str
    title: str
    of: str
    cells: tuple[Cell, ...]
    reasons: Mapping[Cause, Reason]
    notes: tuple[str, ...] = ()
    wide: Listing | None = None
    both: bool = True


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A published experiment, run again. `parts`: tables in the order in which people read them. `result`: by the appendix, if
    there are two ways of counting. `files`: the files that we read. `project`: the files of a project that scores it, by name."""

    name: str
    title: str
    remarks: tuple[str, ...]
    parts: tuple[Compared | Listing, ...]
    result: Result
    figures: tuple[Figure, ...]
    files: tuple[Path, ...]
    project: Mapping[str, str] = field(default_factory=dict)

    @property
    def compared(self) -> tuple[Compared, ...]:
        return tuple(part for part in self.parts if isinstance(part, Compared))

    @property
    def cells(self) -> tuple[tuple[Compared, Cell], ...]:
        return tuple((table, cell) for table in self.compared for cell in table.cells)

    @property
    def causes(self) -> Counter[Cause]:
        return Counter(cell.cause for _, cell in self.cells)


def cell(
    row: str,
    measure: str,
    published: Printed,
    ours: float | int | None,
    cause: Cause,
    kind: CellKind = CellKind.SCORE,
    by_definition: float | int | None = None,
) -> Cell:
    """`cause`: the class of the difference, if there is one."""
    same = ours is not None and agrees(published, ours)
    return Cell(row, measure, published, ours, Cause.SAME if same else cause, kind, by_definition)


def sizes(
    published: Mapping[str, int], ours: Mapping[str, int], cause: Cause, reasons: Mapping[Cause, Reason], *, name: str = "data"
) -> Compared:
    """The size of a data set, and the published size."""
    cells = tuple(cell(what, "number", published[what], ours.get(what), cause, CellKind.COUNT) for what in published)
    return Compared(name, "The data set", "of", cells, reasons)


def used(reasons: Mapping[Cause, Reason], cells: Iterable[Cell]) -> Sequence[tuple[Cause, Reason]]:
    """The reasons that occur in some cell, in the order of the classes."""
    causes = {cell.cause for cell in cells}
    return [(cause, reasons[cause]) for cause in Cause if cause in causes and cause in reasons]


APPENDIX, DEFINITION = "appendix", "definition"


def scored(observed: Any, predictions: Any, rules: Any, *, kept: bool = True, **options: Any) -> Result:
    """Scores as `rulescore.score` does, without Python warnings, because our tables explain what is odd about the published
    settings. `kept`: whether we keep the contributions of single predictions."""
    setting = make_setting(observed, predictions, rules, **options)
    with Session(setting) as session:
        return Result.of(session.evaluate(contributions=kept), setting)


def read_lines(path: Path) -> list[str]:
    """The lines of a text file, which may be compressed."""
    with pa.input_stream(path) as stream:
        return str(stream.read(), "utf-8").splitlines()


def read_columns(path: Path, columns: Sequence[str], *, header: bool = True) -> pa.Table:
    """Columns of a file with tabs between them, as texts."""
    return pyarrow.csv.read_csv(
        path,
        pyarrow.csv.ReadOptions(column_names=None if header else list(columns)),
        pyarrow.csv.ParseOptions(delimiter="\t", quote_char=False),
        pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(columns, pa.string()), include_columns=list(columns)),
    )


def accuracy(result: Result, model: str, metric: str, part: str | None = None) -> float | None:
    """A figure of link prediction or regression."""
    for figures in result.accuracy_results:
        if figures.model == model and figures.task in {Task.LINKS, Task.REGRESSION}:
            measure = figures.measure(metric, part)
            return None if measure is None else measure.value
    return None


def aggregates(result: Result, model: str) -> dict[str, float | None]:
    """Every way to combine a model's scores into one number, by name: the package's ways, and the plain mean of soft scores."""
    of_model = next(part for part in result.model_results if part.name == model)
    soft = [score for score in soft_scores(result, model) if score is not None]
    return {
        "hard": of_model.hard_score.value,
        "hard_mean": of_model.hard_mean.value,
        "soft": of_model.soft_score.value,
        "soft_mean": of_model.soft_mean.value,
        "plain_mean": sum(soft) / len(soft) if soft else None,
    }


def soft_scores(result: Result, model: str) -> list[float | None]:
    return [rule.models[model].score.value for rule in result.rule_results if rule.kind is RuleKind.SOFT]


def hard_scores(result: Result, model: str) -> list[int]:
    return [rule.models[model].counts.refuted for rule in result.rule_results if rule.kind is RuleKind.HARD]
