"""Metrics of accuracy, measured from labels and predictions. Each has a range and says whether more is better."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, TypeVar

from rulescore.scoring.evaluation import ALL, CLASS, AccuracyMeasure, ModelAccuracy, Task
from rulescore.scoring.results import Measure
from rulescore.setting.choices import ValueTask

Label = TypeVar("Label")

_NO_PREDICTION = "no label has a prediction"
_NO_DOUBLE = "labels and predictions are so large, or so close together, that no double holds the result"


class Direction(StrEnum):
    """Whether a metric rises or falls as a model gets better."""

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
    """One minus the squared errors, divided by the squared errors of a model that always answers the mean of these labels. Below 0
    if the mean does better."""
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
        figure = value()
    except (OverflowError, ZeroDivisionError):
        return Measure(None, _NO_DOUBLE)
    return Measure(figure) if math.isfinite(figure) else Measure(None, _NO_DOUBLE)


def accuracy(labels: Sequence[Hashable], predictions: Sequence[Hashable]) -> Measure:
    """The share of predictions that equal the label: 1 equals 1.0, but a boolean equals no number."""
    if not labels:
        return Measure(None, _NO_PREDICTION)
    pairs = zip(labels, predictions, strict=True)
    right = sum(label == prediction and isinstance(label, bool) is isinstance(prediction, bool) for label, prediction in pairs)
    return Measure(right / len(labels))


def macro_f1(labels: Sequence[Hashable], predictions: Sequence[Hashable]) -> Measure:
    """The mean of F1 over all classes that are a label or a prediction. Rare and common classes count alike."""
    if not labels:
        return Measure(None, _NO_PREDICTION)
    scores = [figures.f1 for figures in class_figures(labels, predictions)]
    return Measure(math.fsum(scores) / len(scores))


@dataclass(frozen=True, slots=True)
class ClassFigures:
    """One class: how many labels and how many predictions have it, and how often both do."""

    name: Hashable
    labels: int
    predictions: int
    right: int

    @property
    def precision(self) -> Measure:
        return Measure(self.right / self.predictions) if self.predictions else Measure(None, "the class is never predicted")

    @property
    def recall(self) -> Measure:
        return Measure(self.right / self.labels) if self.labels else Measure(None, "no label has the class")

    @property
    def f1(self) -> float:
        return 2 * self.right / (self.labels + self.predictions)


def class_figures(labels: Sequence[Hashable], predictions: Sequence[Hashable]) -> list[ClassFigures]:
    """Every class that is a label or a prediction, in the order of appearance, labels first. A boolean equals no number."""
    known = [(isinstance(label, bool), label) for label in labels]
    predicted = [(isinstance(prediction, bool), prediction) for prediction in predictions]
    counts = Counter(known), Counter(predicted), Counter(key for key, other in zip(known, predicted, strict=True) if key == other)
    return [ClassFigures(key[1], *(count[key] for count in counts)) for key in dict.fromkeys((*known, *predicted))]


MEAN_ABSOLUTE_ERROR = Metric("mean_absolute_error", "MAE", Direction.DOWN, 0, None, mean_absolute_error)
ROOT_MEAN_SQUARED_ERROR = Metric("root_mean_squared_error", "RMSE", Direction.DOWN, 0, None, root_mean_squared_error)
R_SQUARED = Metric("r_squared", "R²", Direction.UP, None, 1, r_squared)
ACCURACY = Metric("accuracy", "accuracy", Direction.UP, 0, 1, accuracy)
MACRO_F1 = Metric("macro_f1", "macro F1", Direction.UP, 0, 1, macro_f1)

REGRESSION = (MEAN_ABSOLUTE_ERROR, R_SQUARED)
CLASSIFICATION = (ACCURACY,)


Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """One model against held-out labels: the number of labels, how many of them it predicted, and each metric over the predicted
    labels."""

    labels: int
    predicted: int
    measures: dict[str, Measure] = field(default_factory=dict)


def measure_accuracy(metrics: Sequence[Metric[Label]], labels: Mapping[Key, Label], predictions: Mapping[Key, Label]) -> Accuracy:
    """Each metric over the keys that have both a label and a prediction; predictions without a label are ignored."""
    keys = [key for key in labels if key in predictions]
    known = [labels[key] for key in keys]
    predicted = [predictions[key] for key in keys]
    return Accuracy(len(labels), len(keys), {metric.name: metric.measure(known, predicted) for metric in metrics})


Id = TypeVar("Id", bound=Hashable)

_TASKS: dict[ValueTask, tuple[Task, Sequence[Metric[Any]]]] = {
    ValueTask.REGRESSION: (Task.REGRESSION, (MEAN_ABSOLUTE_ERROR, ROOT_MEAN_SQUARED_ERROR, R_SQUARED)),
    ValueTask.CLASSIFICATION: (Task.CLASSIFICATION, (ACCURACY, MACRO_F1)),
}


def value_accuracy(
    model: str, table: str | None, task: ValueTask, labels: Mapping[Id, Any], predictions: Mapping[Id, Any]
) -> ModelAccuracy:
    """Measured over the labels that have a prediction; the others are only counted."""
    name, metrics = _TASKS[task]
    accuracy = measure_accuracy(metrics, labels, predictions)
    measures = [_measure(metric, ALL, accuracy.predicted, figure) for metric, figure in accuracy.measures.items()]
    if task is ValueTask.CLASSIFICATION:
        measures += _class_measures([(label, predictions[key]) for key, label in labels.items() if key in predictions])
    basis = "values that are predicted"
    return ModelAccuracy(model, name, table, accuracy.labels, accuracy.predicted, basis, measures=tuple(measures))


def _class_measures(pairs: Sequence[tuple[Hashable, Hashable]]) -> Iterator[AccuracyMeasure]:
    for class_ in class_figures([label for label, _ in pairs], [predicted for _, predicted in pairs]):
        figures = {"precision": class_.precision, "recall": class_.recall, "f1": Measure(class_.f1)}
        name = str(class_.name).lower() if isinstance(class_.name, bool) else str(class_.name)
        yield from (_measure(metric, CLASS, class_.labels, measure, name) for metric, measure in figures.items())


def _measure(metric: str, part: str, count: int, measure: Measure, label: str | None = None) -> AccuracyMeasure:
    return AccuracyMeasure(metric, part, count, measure.value, measure.value, measure.value, measure.reason, label)
