"""From labels and predictions to measures of accuracy."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from rulescore.accuracy.metrics import Metric
from rulescore.scoring.results import Measure

Key = TypeVar("Key", bound=Hashable)
Label = TypeVar("Label")


@dataclass(frozen=True, slots=True)
class Accuracy:
    """One model against held-out labels: how many there are, how many of them it predicted, and its measures by metric, over
    the predicted ones."""

    labels: int
    predicted: int
    measures: dict[str, Measure] = field(default_factory=dict)


def measure_accuracy(metrics: Sequence[Metric[Label]], labels: Mapping[Key, Label], predictions: Mapping[Key, Label]) -> Accuracy:
    """Each metric over the keys that have both a label and a prediction; predictions without a label are ignored."""
    keys = [key for key in labels if key in predictions]
    known = [labels[key] for key in keys]
    given = [predictions[key] for key in keys]
    return Accuracy(len(labels), len(keys), {metric.name: metric.measure(known, given) for metric in metrics})
