"""The accuracy of models with their scores: columns of the models' table, and tables of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rulescore.errors import Diagnostic, InputError
from rulescore.reporting.listing import UNDEFINED, Cell, CellKind, Column, Listing, counted, of_all, share_of, shown
from rulescore.scoring.evaluation import (
    ALL,
    BOTH,
    AccuracyMeasure,
    Evaluation,
    ModelAccuracy,
    Task,
    accuracy_by_metric,
    higher_is_better,
    metric_title,
)

_SHORT = {
    "mrr",
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
    """The few measures of accuracy next to the scores: for each the column, its cells by model, and whether more is better."""
    if not evaluation.accuracy_results:
        return []
    by_metric = accuracy_by_metric(evaluation.accuracy_results)
    names = [name for name in by_metric if (metric := name.rpartition(".")[2]) in _SHORT or metric.startswith("hits_at_")]
    models = [model.name for model in evaluation.model_results]
    return [
        (
            Column(name, _title(name), _kind(name)),
            {model: _cell(by_metric[name][model]) if model in by_metric[name] else None for model in models},
            higher_is_better(name.rpartition(".")[2]),
        )
        for name in names
    ]


def right_columns(evaluation: Evaluation) -> list[tuple[Column, dict[str, Cell], bool]]:
    """Columns that say how many predictions are right: among the predictions that violate a hard rule, and among the others. A
    third column says how many wrong predictions violate one."""
    if not evaluation.right_results:
        return []
    cells: dict[str, dict[str, Cell]] = {model.name: {} for model in evaluation.model_results}
    for right_result in evaluation.right_results:
        cells[right_result.model] = {
            "violating_right": share_of(right_result.violating_right, right_result.violating),
            "others_right": share_of(right_result.others_right, right_result.others),
            "wrong_violating": share_of(right_result.wrong_violating, right_result.wrong),
        }
    return [
        (Column(key, heading, CellKind.COUNT), {model: cells_of_model.get(key) for model, cells_of_model in cells.items()}, True)
        for key, heading in _RIGHT.items()
    ]


RIGHT = (
    "right of violating, right of others: predictions that are in the truth; violating of wrong: the wrong ones that hard rules "
    "find; without predictions that are observed or known"
)
_RIGHT = {"violating_right": "right of violating", "others_right": "right of others", "wrong_violating": "violating of wrong"}


def accuracy_notes(accuracies: Sequence[ModelAccuracy]) -> tuple[str, ...]:
    """Sentences about how accuracy was measured. Each way is named once, with its models unless it holds for all."""
    ways: dict[str, list[str]] = {}
    for accuracy in accuracies:
        ways.setdefault(_way(accuracy), []).append(accuracy.model)
    everyone = {accuracy.model for accuracy in accuracies}
    notes = [way if set(models) == everyone else f"{way} ({', '.join(models)})" for way, models in ways.items()]
    return (*notes, *_unanswered(accuracies))


def accuracy_listings(evaluation: Evaluation) -> tuple[Listing, ...]:
    """A listing for each task: one row a model and direction or class, with all its figures."""
    accuracies = evaluation.accuracy_results
    if not accuracies:
        helps = ("give `--truth FILE`, `[truth]` in the project file, or `truth=…` in Python",)
        raise InputError(Diagnostic("E502", "accuracy cannot be measured: nothing says what is true", helps=helps))
    return tuple(_listing(task, [part for part in accuracies if part.task is task]) for task in Task if _has(task, accuracies))


def _has(task: Task, accuracies: Sequence[ModelAccuracy]) -> bool:
    return any(accuracy.task is task for accuracy in accuracies)


def _listing(task: Task, accuracies: Sequence[ModelAccuracy]) -> Listing:
    metrics = list(dict.fromkeys(measure.metric for accuracy in accuracies for measure in accuracy.measures))
    tables = len({accuracy.table for accuracy in accuracies}) > 1
    columns = (
        Column("model", "model"),
        *([Column("table", "table")] if tables else []),
        Column("part", "of"),
        Column("count", "number", CellKind.COUNT),
        *(Column(metric, metric_title(metric), _kind(metric)) for metric in metrics),
    )
    rows = []
    for accuracy in accuracies:
        for (part, label), measures in _parts(accuracy).items():
            cells = (_cell(measures[metric]) if metric in measures else None for metric in metrics)
            number = max(measure.count for measure in measures.values())
            of = part if label is None else f"{part} {label}"
            rows.append((accuracy.model, *([accuracy.table] if tables else []), of, number, *cells))
    notes = (*accuracy_notes(accuracies), *_reasons_of_accuracy(accuracies))
    return Listing("accuracy", f"Accuracy: {task}", columns, tuple(rows), notes=notes)


def _reasons_of_accuracy(accuracies: Sequence[ModelAccuracy]) -> Iterator[str]:
    """Why overall measures have no value: each reason once, with its models."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for accuracy in accuracies:
        for measure in accuracy.measures:
            if measure.part in {BOTH, ALL} and measure.value is None and measure.reason is not None:
                reasons.setdefault((metric_title(measure.metric), measure.reason), []).append(accuracy.model)
    for (title, reason), models in reasons.items():
        yield f"{UNDEFINED} {title} of {', '.join(dict.fromkeys(models))}: {reason}"


def _parts(accuracy: ModelAccuracy) -> dict[tuple[str, str | None], dict[str, AccuracyMeasure]]:
    parts: dict[tuple[str, str | None], dict[str, AccuracyMeasure]] = {}
    for measure in accuracy.measures:
        parts.setdefault((measure.part, measure.label), {})[measure.metric] = measure
    return parts


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


def _way(accuracy: ModelAccuracy) -> str:
    of = "" if accuracy.table is None else f" of table `{accuracy.table}`"
    if accuracy.reason is not None and not accuracy.measures:
        return f"{UNDEFINED} {'Sem@k' if accuracy.task is Task.TYPES else 'accuracy'}{of}: {accuracy.reason}"
    if accuracy.task is Task.TYPES:
        return "; ".join(part for part in (f"Sem@k: {accuracy.basis}", accuracy.reason) if part)
    what = _WORDS[accuracy.task].format(counted(accuracy.asked, "query").replace("querys", "queries"), f"{accuracy.asked:,}")
    parts = [f"{accuracy.task}{of}: {what}", accuracy.basis]
    ways = (f"filter: {accuracy.filter}" if accuracy.filter else None, f"ties: {accuracy.ties}" if accuracy.ties else None)
    return "; ".join(part for part in (*parts, *ways, accuracy.reason) if part)


_WORDS = {
    Task.LINKS: "{0}",
    Task.FACTS: "{1} held-out facts",
    Task.REGRESSION: "{1} true values",
    Task.CLASSIFICATION: "{1} true values",
}


def _unanswered(accuracies: Sequence[ModelAccuracy]) -> Iterator[str]:
    for accuracy in accuracies:
        if accuracy.measures and accuracy.answered < accuracy.asked and accuracy.task is not Task.FACTS:
            rest = "the others count as not found" if accuracy.task is Task.LINKS else "the others are left out"
            share = of_all(accuracy.answered, accuracy.asked)
            if accuracy.task is Task.TYPES:
                yield f"Sem@k of {accuracy.model}: {share} queries have answers, and a domain or range"
                continue
            yield f"{accuracy.model} answers {share}; {rest}"
