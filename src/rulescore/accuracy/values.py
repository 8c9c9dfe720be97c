"""The accuracy of predicted values, such as those of a table's target."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from rulescore.accuracy.measure import measure_accuracy
from rulescore.accuracy.metrics import (
    ACCURACY,
    MACRO_F1,
    MEAN_ABSOLUTE_ERROR,
    R_SQUARED,
    ROOT_MEAN_SQUARED_ERROR,
    Metric,
    class_figures,
)
from rulescore.scoring.accuracy import ALL, CLASS, AccuracyMeasure, ModelAccuracy, Task
from rulescore.scoring.results import Measure
from rulescore.setting.model import ValueTask

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
    found = measure_accuracy(metrics, labels, predictions)
    measures = [_measure(metric, ALL, found.predicted, one) for metric, one in found.measures.items()]
    if task is ValueTask.CLASSIFICATION:
        measures += _class_measures([(label, predictions[key]) for key, label in labels.items() if key in predictions])
    basis = "values that are predicted"
    return ModelAccuracy(model, name, table, found.labels, found.predicted, basis, measures=tuple(measures))


def _class_measures(pairs: Sequence[tuple[Hashable, Hashable]]) -> Iterator[AccuracyMeasure]:
    for one in class_figures([label for label, _ in pairs], [given for _, given in pairs]):
        figures = {"precision": one.precision, "recall": one.recall, "f1": Measure(one.f1)}
        yield from (_measure(metric, CLASS, one.labels, measure, _shown(one.name)) for metric, measure in figures.items())


def _shown(label: Hashable) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def _measure(metric: str, part: str, count: int, measure: Measure, label: str | None = None) -> AccuracyMeasure:
    return AccuracyMeasure(metric, part, count, measure.value, measure.value, measure.value, measure.reason, label)
