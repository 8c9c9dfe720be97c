"""The accuracy that was measured beside the scores: columns of the models' table, and a table of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rulescore.errors import Diagnostic, InputError
from rulescore.reporting.cells import UNDEFINED, counted, of_all, shown
from rulescore.reporting.listing import Cell, CellKind, Column, Listing
from rulescore.scoring.accuracy import (
    AccuracyMeasure,
    ModelAccuracy,
    Task,
    accuracy_by_metric,
    higher_is_better,
    metric_title,
)
from rulescore.scoring.evaluation import Evaluation

CODES = {"E556": "a table of accuracy is asked for, and nothing says what is true"}

_SHORT = {
    "mrr",
    "hits_at_1",
    "precision",
    "recall",
    "mean_absolute_error",
    "r_squared",
    "accuracy",
    "macro_f1",
    "sem_at_1",
}
_VALUES = {"mean_absolute_error", "root_mean_squared_error", "mean_rank"}


def accuracy_columns(evaluation: Evaluation) -> list[tuple[Column, dict[str, Cell], bool]]:
    """The few figures that stand beside the scores: a column, its cells by model, and whether more is better."""
    found = accuracy_by_metric(evaluation.accuracy_results)
    names = [name for name in found if name.rpartition(".")[2] in _SHORT]
    models = [model.name for model in evaluation.model_results]
    return [
        (
            Column(name, _title(name), _kind(name)),
            {model: _cell(found[name][model]) if model in found[name] else None for model in models},
            higher_is_better(name.rpartition(".")[2]),
        )
        for name in names
    ]


def accuracy_notes(accuracies: Sequence[ModelAccuracy]) -> tuple[str, ...]:
    """How it was measured: each way once, with the models it is true of unless these are all."""
    ways: dict[str, list[str]] = {}
    for one in accuracies:
        ways.setdefault(_way(one), []).append(one.model)
    everyone = {one.model for one in accuracies}
    told = [way if set(models) == everyone else f"{way} ({', '.join(models)})" for way, models in ways.items()]
    return (*told, *_unanswered(accuracies))


def accuracy_listing(evaluation: Evaluation) -> Listing:
    """One row a model and direction or class, with all its figures."""
    accuracies = evaluation.accuracy_results
    if not accuracies:
        helps = ("give `--truth FILE`, `[truth]` in the project file, or `truth=…` in Python",)
        raise InputError(Diagnostic("E556", "there is no accuracy: nothing says what is true", helps=helps))
    metrics = list(dict.fromkeys(measure.metric for one in accuracies for measure in one.measures))
    tables = len({one.table for one in accuracies}) > 1
    columns = (
        Column("model", "model"),
        Column("task", "task"),
        *([Column("table", "table")] if tables else []),
        Column("part", "of"),
        Column("count", "number", CellKind.COUNT),
        *(Column(metric, metric_title(metric), _kind(metric)) for metric in metrics),
    )
    rows = []
    for one in accuracies:
        beginning = (one.model, one.task.value, *([one.table] if tables else []))
        for (part, label), measures in _parts(one).items():
            cells = (_cell(measures[metric]) if metric in measures else None for metric in metrics)
            number = max(measure.count for measure in measures.values())
            rows.append((*beginning, part if label is None else f"{part} {label}", number, *cells))
    return Listing("accuracy", "Accuracy", columns, tuple(rows), notes=accuracy_notes(accuracies))


def _parts(one: ModelAccuracy) -> dict[tuple[str, str | None], dict[str, AccuracyMeasure]]:
    found: dict[tuple[str, str | None], dict[str, AccuracyMeasure]] = {}
    for measure in one.measures:
        found.setdefault((measure.part, measure.label), {})[measure.metric] = measure
    return found


def _title(name: str) -> str:
    table, _, metric = name.rpartition(".")
    return f"{table} {metric_title(metric)}" if table else metric_title(metric)


def _kind(name: str) -> CellKind:
    return CellKind.SCORE if name.rpartition(".")[2] in _VALUES else CellKind.RATE


def _cell(measure: AccuracyMeasure) -> Cell:
    """The figure, or its bounds."""
    if measure.value is not None or measure.least is None:
        return measure.value
    kind = _kind(measure.metric)
    least = shown(measure.least, kind)
    return f"≥ {least}" if measure.greatest is None else f"{least} to {shown(measure.greatest, kind)}"


def _way(one: ModelAccuracy) -> str:
    of = "" if one.table is None else f" of table `{one.table}`"
    if one.reason is not None and not one.measures:
        return f"{UNDEFINED} accuracy{of}: {one.reason}"
    what = _WORDS[one.task].format(counted(one.asked, "query").replace("querys", "queries"), f"{one.asked:,}")
    parts = [f"{one.task}{of}: {what}", one.basis]
    parts += [f"filter: {one.filter}" if one.filter else None, f"ties: {one.ties}" if one.ties else None, one.reason]
    return "; ".join(part for part in parts if part)


_WORDS = {
    Task.LINKS: "{0}",
    Task.FACTS: "{1} held-out facts",
    Task.REGRESSION: "{1} true values",
    Task.CLASSIFICATION: "{1} true values",
    Task.TYPES: "{0}",
}


def _unanswered(accuracies: Sequence[ModelAccuracy]) -> Iterator[str]:
    for one in accuracies:
        if one.measures and one.answered < one.asked and one.task is not Task.FACTS:
            rest = "the others count as not found" if one.task is Task.LINKS else "the others are left out"
            if one.task is Task.TYPES:
                yield f"Sem@k of {one.model}: {of_all(one.answered, one.asked)} queries have answers, and a domain or range"
                continue
            yield f"{one.model} answers {of_all(one.answered, one.asked)}; {rest}"
