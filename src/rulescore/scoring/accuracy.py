"""How often models are right, as data: what the stage `accuracy` finds, beside the scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Task(StrEnum):
    """What a model was asked for."""

    LINKS = "link prediction"
    FACTS = "facts"
    REGRESSION = "regression"
    CLASSIFICATION = "classification"
    TYPES = "types of answers"


ALL, CLASS = "all", "class"
BOTH, HEADS, TAILS = "both", "head", "tail"


@dataclass(frozen=True, slots=True)
class AccuracyMeasure:
    """One figure. `part`: its scope: `both` directions, `head` or `tail` queries, `all` rows, or one `class`, whose name is
    `label`. `count`: the number of queries or rows in that scope. If only bounds are known, `value` is None; `reason` says why."""

    metric: str
    part: str
    count: int
    value: float | None
    least: float | None = None
    greatest: float | None = None
    reason: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class ModelAccuracy:
    """One model against held-out facts, or the held-out values of a table's target. `asked`: the queries or values, `answered`:
    those that it answers. `basis`: what the figures were made from; `filter`: which answers were left out of rankings, and `ties`:
    what the rank is among equal scores. `reason`: why nothing could be measured."""

    model: str
    task: Task
    table: str | None = None
    asked: int = 0
    answered: int = 0
    basis: str | None = None
    filter: str | None = None
    ties: str | None = None
    measures: tuple[AccuracyMeasure, ...] = ()
    reason: str | None = None

    def measure(self, metric: str, part: str | None = None) -> AccuracyMeasure | None:
        """A figure of the whole, or of a part."""
        parts = {BOTH, ALL} if part is None else {part}
        return next((one for one in self.measures if one.metric == metric and one.part in parts), None)


@dataclass(frozen=True, slots=True)
class RightPredictions:
    """How many predictions of one model are right: of those that violate a hard rule, and of the others. Predictions that are
    observed or known are left out, and so are values without a truth."""

    model: str
    violating: int
    violating_right: int
    others: int
    others_right: int

    @property
    def wrong(self) -> int:
        return self.violating + self.others - self.violating_right - self.others_right

    @property
    def wrong_violating(self) -> int:
        """The wrong predictions that rules find: those that violate a hard rule."""
        return self.violating - self.violating_right


_TITLES = {
    "mrr": "MRR",
    "mean_rank": "mean rank",
    "mean_absolute_error": "MAE",
    "root_mean_squared_error": "RMSE",
    "r_squared": "R²",
    "macro_f1": "macro F1",
    "f1": "F1",
}
_LOWER = frozenset({"mean_rank", "mean_absolute_error", "root_mean_squared_error"})


def metric_title(metric: str) -> str:
    """The name that people know: `hits_at_10` is Hits@10."""
    name, at, k = metric.partition("_at_")
    return f"{name.capitalize()}@{k}" if at else _TITLES.get(metric, metric)


def higher_is_better(metric: str) -> bool:
    return metric not in _LOWER


def accuracy_by_metric(accuracies: Sequence[ModelAccuracy]) -> dict[str, dict[str, AccuracyMeasure]]:
    """The figures of each model as a whole, by metric; if there are several tables, the metric has its table's name before it."""
    several = len({(one.task, one.table) for one in accuracies if one.task is not Task.TYPES and one.measures}) > 1
    found: dict[str, dict[str, AccuracyMeasure]] = {}
    for one in accuracies:
        for measure in one.measures:
            if measure.part in {BOTH, ALL}:
                name = f"{one.table}.{measure.metric}" if several and one.table is not None else measure.metric
                found.setdefault(name, {})[one.model] = measure
    return found
