"""Metrics of accuracy: what each measures, its range, and which way is better. Undefined is None with a reason."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

from rulescore.scoring.results import Measure

Label = TypeVar("Label")

_NO_PREDICTION = "no label has a prediction"
_NO_DOUBLE = "labels and predictions are so large, or so close together, that no double holds the result"


class Direction(StrEnum):
    """Which way a metric goes as a model gets better."""

    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Metric(Generic[Label]):
    """`measure` compares labels with predictions, one by one, in the same order. Its values lie between `least` and `greatest`;
    None is no bound."""

    name: str
    title: str
    direction: Direction
    least: float | None
    greatest: float | None
    measure: Callable[[Sequence[Label], Sequence[Label]], Measure] = field(compare=False, repr=False)


def mean_absolute_error(labels: Sequence[float], predictions: Sequence[float]) -> Measure:
    if not labels:
        return Measure(None, _NO_PREDICTION)
    errors = (abs(prediction - label) for label, prediction in zip(labels, predictions, strict=True))
    return _computed(lambda: math.fsum(errors) / len(labels))


def root_mean_squared_error(labels: Sequence[float], predictions: Sequence[float]) -> Measure:
    if not labels:
        return Measure(None, _NO_PREDICTION)
    squares = ((prediction - label) ** 2 for label, prediction in zip(labels, predictions, strict=True))
    return _computed(lambda: math.sqrt(math.fsum(squares) / len(labels)))


def r_squared(labels: Sequence[float], predictions: Sequence[float]) -> Measure:
    """One minus the squared errors over those of always answering the mean of these labels; below 0 when that does better."""
    if not labels:
        return Measure(None, _NO_PREDICTION)
    if min(labels) == max(labels):
        return Measure(None, "all labels are equal")

    def explained() -> float:
        mean = math.fsum(labels) / len(labels)
        spread = math.fsum((label - mean) ** 2 for label in labels)
        errors = math.fsum((prediction - label) ** 2 for label, prediction in zip(labels, predictions, strict=True))
        return 1 - errors / spread

    return _computed(explained)


def _computed(value: Callable[[], float]) -> Measure:
    try:
        found = value()
    except (OverflowError, ZeroDivisionError):
        return Measure(None, _NO_DOUBLE)
    return Measure(found) if math.isfinite(found) else Measure(None, _NO_DOUBLE)


def accuracy(labels: Sequence[Hashable], predictions: Sequence[Hashable]) -> Measure:
    """The share of predictions that equal the label: 1 equals 1.0, but a boolean equals no number."""
    if not labels:
        return Measure(None, _NO_PREDICTION)
    right = sum(_same(label, prediction) for label, prediction in zip(labels, predictions, strict=True))
    return Measure(right / len(labels))


def macro_f1(labels: Sequence[Hashable], predictions: Sequence[Hashable]) -> Measure:
    """The mean of F1 over all classes that are a label or a prediction, rare ones and common ones alike."""
    if not labels:
        return Measure(None, _NO_PREDICTION)
    found = [one.f1 for one in class_figures(labels, predictions)]
    return Measure(math.fsum(found) / len(found))


@dataclass(frozen=True, slots=True)
class ClassFigures:
    """One class: how many labels and predictions are of it, and how many are both."""

    name: Hashable
    labels: int
    predictions: int
    right: int

    @property
    def precision(self) -> Measure:
        return Measure(self.right / self.predictions) if self.predictions else Measure(None, "the class is never predicted")

    @property
    def recall(self) -> Measure:
        return Measure(self.right / self.labels) if self.labels else Measure(None, "no label is of the class")

    @property
    def f1(self) -> float:
        return 2 * self.right / (self.labels + self.predictions)


def class_figures(labels: Sequence[Hashable], predictions: Sequence[Hashable]) -> list[ClassFigures]:
    """Every class that is a label or a prediction, in the order in which they come, labels first. A boolean equals no number."""
    known = [(isinstance(one, bool), one) for one in labels]
    given = [(isinstance(one, bool), one) for one in predictions]
    counts = Counter(known), Counter(given), Counter(one for one, other in zip(known, given, strict=True) if one == other)
    return [ClassFigures(one[1], *(count[one] for count in counts)) for one in dict.fromkeys((*known, *given))]


def _same(label: Hashable, prediction: Hashable) -> bool:
    return label == prediction and isinstance(label, bool) is isinstance(prediction, bool)


MEAN_ABSOLUTE_ERROR = Metric("mean_absolute_error", "MAE", Direction.DOWN, 0, None, mean_absolute_error)
ROOT_MEAN_SQUARED_ERROR = Metric("root_mean_squared_error", "RMSE", Direction.DOWN, 0, None, root_mean_squared_error)
R_SQUARED = Metric("r_squared", "R²", Direction.UP, None, 1, r_squared)
ACCURACY = Metric("accuracy", "accuracy", Direction.UP, 0, 1, accuracy)
MACRO_F1 = Metric("macro_f1", "macro F1", Direction.UP, 0, 1, macro_f1)

REGRESSION = (MEAN_ABSOLUTE_ERROR, R_SQUARED)
CLASSIFICATION = (ACCURACY,)
