"""The accuracy that was measured beside the scores: columns of the models' table, and a table of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rulescore.errors import Diagnostic, InputError
from rulescore.reporting.cells import UNDEFINED, counted, of_all, share_of, shown
from rulescore.reporting.listing import Cell, CellKind, Column, Listing
from rulescore.scoring.accuracy import (
    ALL,
    BOTH,
    AccuracyMeasure,
    ModelAccuracy,
    Task,
    accuracy_by_metric,
    higher_is_better,
    metric_title,
)
from rulescore.scoring.evaluation import Evaluation

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


def right_columns(evaluation: Evaluation) -> list[tuple[Column, dict[str, Cell], bool]]:
    """How many predictions are right, as columns: of those that violate a hard rule, of the others, and the wrong ones found."""
    if not evaluation.right_results:
        return []
    cells: dict[str, dict[str, Cell]] = {model.name: {} for model in evaluation.model_results}
    for one in evaluation.right_results:
        cells[one.model] = {
            "violating_right": share_of(one.violating_right, one.violating),
            "others_right": share_of(one.others_right, one.others),
            "wrong_violating": share_of(one.wrong_violating, one.wrong),
        }
    return [
        (Column(key, heading, CellKind.COUNT), {model: found.get(key) for model, found in cells.items()}, True)
        for key, heading in _RIGHT.items()
    ]


RIGHT = (
    "right of violating, right of others: predictions that are in the truth; violating of wrong: the wrong ones that hard rules "
    "find; without predictions that are observed or known"
)
_RIGHT = {"violating_right": "right of violating", "others_right": "right of others", "wrong_violating": "violating of wrong"}


def accuracy_notes(accuracies: Sequence[ModelAccuracy]) -> tuple[str, ...]:
    """How accuracy was measured: each way once, with its models unless these are all."""
    ways: dict[str, list[str]] = {}
    for one in accuracies:
        ways.setdefault(_way(one), []).append(one.model)
    everyone = {one.model for one in accuracies}
    told = [way if set(models) == everyone else f"{way} ({', '.join(models)})" for way, models in ways.items()]
    return (*told, *_unanswered(accuracies))


def accuracy_listings(evaluation: Evaluation) -> tuple[Listing, ...]:
    """A listing for each task: one row a model and direction or class, with all its figures."""
    accuracies = evaluation.accuracy_results
    if not accuracies:
        helps = ("give `--truth FILE`, `[truth]` in the project file, or `truth=…` in Python",)
        raise InputError(Diagnostic("E556", "there is no accuracy: nothing says what is true", helps=helps))
    return tuple(_listing(task, [one for one in accuracies if one.task is task]) for task in Task if _has(task, accuracies))


def _has(task: Task, accuracies: Sequence[ModelAccuracy]) -> bool:
    return any(one.task is task for one in accuracies)


def _listing(task: Task, accuracies: Sequence[ModelAccuracy]) -> Listing:
    metrics = list(dict.fromkeys(measure.metric for one in accuracies for measure in one.measures))
    tables = len({one.table for one in accuracies}) > 1
    columns = (
        Column("model", "model"),
        *([Column("table", "table")] if tables else []),
        Column("part", "of"),
        Column("count", "number", CellKind.COUNT),
        *(Column(metric, metric_title(metric), _kind(metric)) for metric in metrics),
    )
    rows = []
    for one in accuracies:
        for (part, label), measures in _parts(one).items():
            cells = (_cell(measures[metric]) if metric in measures else None for metric in metrics)
            number = max(measure.count for measure in measures.values())
            of = part if label is None else f"{part} {label}"
            rows.append((one.model, *([one.table] if tables else []), of, number, *cells))
    notes = (*accuracy_notes(accuracies), *_reasons(accuracies))
    return Listing("accuracy", f"Accuracy: {task}", columns, tuple(rows), notes=notes)


def _reasons(accuracies: Sequence[ModelAccuracy]) -> Iterator[str]:
    """Why figures of the whole have no value: each reason once, with the models it is true of."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in accuracies:
        for measure in one.measures:
            if measure.part in {BOTH, ALL} and measure.value is None and measure.reason is not None:
                found.setdefault((metric_title(measure.metric), measure.reason), []).append(one.model)
    for (title, reason), models in found.items():
        yield f"{UNDEFINED} {title} of {', '.join(dict.fromkeys(models))}: {reason}"


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
        return f"{UNDEFINED} {'Sem@k' if one.task is Task.TYPES else 'accuracy'}{of}: {one.reason}"
    if one.task is Task.TYPES:
        return "; ".join(part for part in (f"Sem@k: {one.basis}", one.reason) if part)
    what = _WORDS[one.task].format(counted(one.asked, "query").replace("querys", "queries"), f"{one.asked:,}")
    parts = [f"{one.task}{of}: {what}", one.basis]
    parts += [f"filter: {one.filter}" if one.filter else None, f"ties: {one.ties}" if one.ties else None, one.reason]
    return "; ".join(part for part in parts if part)


_WORDS = {
    Task.LINKS: "{0}",
    Task.FACTS: "{1} held-out facts",
    Task.REGRESSION: "{1} true values",
    Task.CLASSIFICATION: "{1} true values",
}


def _unanswered(accuracies: Sequence[ModelAccuracy]) -> Iterator[str]:
    for one in accuracies:
        if one.measures and one.answered < one.asked and one.task is not Task.FACTS:
            rest = "the others count as not found" if one.task is Task.LINKS else "the others are left out"
            if one.task is Task.TYPES:
                yield f"Sem@k of {one.model}: {of_all(one.answered, one.asked)} queries have answers, and a domain or range"
                continue
            yield f"{one.model} answers {of_all(one.answered, one.asked)}; {rest}"
