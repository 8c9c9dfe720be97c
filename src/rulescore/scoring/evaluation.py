"""The outcome of one evaluation: results and accuracy as data, as Arrow tables and as frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, MissingExtraError, RulescoreError, meant, ticked
from rulescore.scoring.labels import Labels
from rulescore.scoring.results import Counts, DataSummary, Measure, ModelResult, ModelRuleResult, RuleResult, Run


class Task(StrEnum):
    """The queries or values that a model was asked for."""

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
    """One model against held-out facts, or the held-out values of a table's target. `asked`: the queries or values, `answered`: how
    many of them it answers. `basis`: what the measures were computed from. `filter`: which answers were left out of rankings.
    `ties`: the rank among equal scores. `reason`: why nothing could be measured."""

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
        return next((figure for figure in self.measures if figure.metric == metric and figure.part in parts), None)


@dataclass(frozen=True, slots=True)
class RightPredictions:
    """How many predictions of one model are right: of the predictions that violate a hard rule, and of the others. We leave out
    observed and known predictions, and values without a truth."""

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
        """How many wrong predictions violate a hard rule, and so are found by rules."""
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
    several = len({(part.task, part.table) for part in accuracies if part.task is not Task.TYPES and part.measures}) > 1
    figures: dict[str, dict[str, AccuracyMeasure]] = {}
    for accuracy in accuracies:
        for measure in accuracy.measures:
            if measure.part in {BOTH, ALL}:
                name = f"{accuracy.table}.{measure.metric}" if several and accuracy.table is not None else measure.metric
                figures.setdefault(name, {})[accuracy.model] = measure
    return figures


_LARGEST_INT64 = 2**63 - 1
_LARGEST_DECIMAL = 10**38 - 1


class Which(StrEnum):
    """The tables of an evaluation."""

    RULES = "rules"
    MODELS = "models"
    ACCURACY = "accuracy"
    CONTRIBUTIONS = "contributions"


# Dictionary-encoded: names repeat, and an unnamed rule is named by its text.
_NAME = pa.dictionary(pa.int32(), pa.string())

CONTRIBUTIONS_SCHEMA = pa.schema(
    [
        ("model", _NAME),
        ("rule", _NAME),
        ("predicate", _NAME),
        ("arguments", pa.list_(pa.string())),
        ("types", _NAME),
        ("score", pa.float64()),
        ("rank", pa.int64()),
        ("query", pa.string()),
        ("confirmed", pa.int64()),
        ("refuted", pa.int64()),
        ("evaluable", pa.int64()),
    ]
)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What was found. `contributions` has one row per model, rule and prediction that takes part in an evaluable grounding; the
    other tables are arithmetic on it. Undefined is null in every table. `run`: how it was made; None if somebody put it together by
    hand. `accuracy_results`, `right_results`: none unless a truth was given. `labels`: names that people see. A saved result has
    none."""

    convention: str
    rule_results: tuple[RuleResult, ...]
    model_results: tuple[ModelResult, ...]
    summary: DataSummary
    warnings: tuple[Diagnostic, ...] = ()
    contributions_table: Any = field(default_factory=CONTRIBUTIONS_SCHEMA.empty_table, repr=False)
    run: Run | None = field(default=None, repr=False, compare=False)
    accuracy_results: tuple[ModelAccuracy, ...] = ()
    right_results: tuple[RightPredictions, ...] = ()
    labels: Labels = field(default=Labels(), repr=False, compare=False)

    @property
    def contributions(self) -> Any:
        """One row per model, rule and prediction. If the engine keeps the rows, it returns them only on request."""
        if self.contributions_table is None:
            notes = ("an engine that keeps rows has kept them, or a saved result lies without its file of them",)
            helps = (
                "ask for them: `rulescore.score(…, contributions=True)` brings them here, a path has the engine write them",
                "put the file of contributions that was saved with the result beside it again",
            )
            raise InputError(Diagnostic("E502", "this result has no contributions", notes=notes, helps=helps))
        return self.contributions_table

    @property
    def rules(self) -> Any:
        """One row per rule and model; without models one row per rule, with nulls for the model's columns."""
        return self.table(Which.RULES)

    @property
    def models(self) -> Any:
        """One row per model, with its accuracy if a truth was given."""
        return self.table(Which.MODELS)

    @property
    def accuracy(self) -> Any:
        """One row per model, metric and part of what it was asked: a direction, a class, or all."""
        return self.table(Which.ACCURACY)

    def to_pandas(self, which: str = Which.RULES) -> Any:
        """A table as a pandas frame of nullable types.

        Args:
            which: `rules`, `models`, `accuracy` or `contributions`.
        """
        return pandas_frame(self.table(which))

    def to_polars(self, which: str = Which.RULES) -> Any:
        """A table as a Polars frame.

        Args:
            which: `rules`, `models`, `accuracy` or `contributions`.
        """
        return polars_frame(self.table(which))

    def table(self, which: str) -> Any:
        """A table as an Arrow table.

        Args:
            which: `rules`, `models`, `accuracy` or `contributions`.
        """
        if which not in set(Which):
            raise InputError(_unknown_table(which))
        match Which(which):
            case Which.RULES:
                return _rules_table(self.rule_results)
            case Which.MODELS:
                return _models_table(self.model_results, self.accuracy_results, self.right_results)
            case Which.ACCURACY:
                return _accuracy_table(self.accuracy_results)
            case Which.CONTRIBUTIONS:
                return self.contributions


def _unknown_table(which: str) -> Diagnostic:
    known = ticked(Which)
    return Diagnostic(
        "E502",
        f"no table is named `{which}`",
        notes=(f"the tables are {known}",),
        helps=meant(which, list(Which)),
    )


def _rules_table(results: Sequence[RuleResult]) -> Any:
    rows: list[tuple[RuleResult, str | None, ModelRuleResult | None]] = []
    for result in results:
        rows.extend((result, model, of_model) for model, of_model in result.models.items())
        if not result.models:
            rows.append((result, None, None))
    rules = [result for result, _, _ in rows]
    of_models = [of_model for _, _, of_model in rows]
    columns = {
        "rule": _strings(rule.info.name for rule in rules),
        "text": _strings(rule.info.text for rule in rules),
        "kind": _strings(rule.kind.value for rule in rules),
        "kind_reason": _strings(rule.kind_reason for rule in rules),
        "unrefutable": _booleans(rule.info.unrefutable for rule in rules),
        "weight": _floats(rule.info.weight for rule in rules),
        "confidence": _floats(rule.info.confidence for rule in rules),
        "support": _integers([rule.info.support for rule in rules]),
        **_count_columns("dataset_", [rule.dataset for rule in rules]),
        **_measure_columns("rate_bound", [rule.rate_bound for rule in rules]),
        "largest_group": _integers([rule.largest_group for rule in rules]),
        **_measure_columns("largest_group_share", [rule.largest_group_share for rule in rules]),
        "tolerance": _floats(rule.tolerance for rule in rules),
        "model": _strings(model for _, model, _ in rows),
        **_count_columns("", [of_model.counts if of_model else None for of_model in of_models]),
        **_measure_columns("score", [of_model.score if of_model else None for of_model in of_models]),
        **_measure_columns("share", [of_model.share if of_model else None for of_model in of_models]),
    }
    return pa.table(columns)


def _models_table(models: Sequence[ModelResult], accuracies: Sequence[ModelAccuracy], right: Sequence[RightPredictions]) -> Any:
    columns = {
        "model": _strings(model.name for model in models),
        "unmeasured": _booleans(model.unmeasured for model in models),
        "violating": _integers([model.violating for model in models]),
        "violating_reason": _strings(model.violating_reason for model in models),
        "violating_any": _integers([model.violating_any for model in models]),
        "violating_new": _integers([model.violating_new for model in models]),
        "evaluable": _integers([model.evaluable for model in models]),
        **_measure_columns("hard_score", [model.hard_score for model in models]),
        **_measure_columns("soft_score", [model.soft_score for model in models]),
        **_measure_columns("hard_mean", [model.hard_mean for model in models]),
        **_measure_columns("soft_mean", [model.soft_mean for model in models]),
        "rows": _integers([model.predictions.rows for model in models]),
        "kept": _integers([model.predictions.kept for model in models]),
        "predictions": _integers([model.predictions.distinct for model in models]),
        "duplicates": _integers([model.predictions.duplicates for model in models]),
        "queries": _integers([model.predictions.queries for model in models]),
        "already_observed": _integers([model.predictions.already_observed for model in models]),
        "new": _integers([model.new for model in models]),
        "linked": _integers([model.linked for model in models]),
        "concerned": _integers([model.concerned for model in models]),
        "judged": _integers([model.judged for model in models]),
        "unlinked": _strings(model.findings.unlinked if model.findings else None for model in models),
        "without_partner": _integers([model.without_partner for model in models]),
        "unconcerned": _integers([model.unconcerned for model in models]),
        "unconcerned_predicates": _strings(model.findings.unconcerned_text if model.findings else None for model in models),
        "hidden": _integers([model.predictions.hidden for model in models]),
        "covered": _integers([model.predictions.covered for model in models]),
        **_measure_columns("coverage", [model.coverage for model in models]),
        **_accuracy_columns([model.name for model in models], accuracies),
        **_right_columns([model.name for model in models], right),
    }
    return pa.table(columns)


def _right_columns(models: Sequence[str], right: Sequence[RightPredictions]) -> dict[str, Any]:
    by_model = {counts.model: counts for counts in right}
    fields = ("violating_right", "others", "others_right", "wrong", "wrong_violating") if right else ()
    return {field: _integers([getattr(by_model.get(model), field, None) for model in models]) for field in fields}


def _accuracy_columns(models: Sequence[str], accuracies: Sequence[ModelAccuracy]) -> dict[str, Any]:
    """Each model's accuracy as a whole; if there are several tasks, the name of a column begins with its table."""
    columns = {}
    for name, by_model in accuracy_by_metric(accuracies).items():
        measures = [by_model.get(model) for model in models]
        columns[name] = _floats(None if measure is None else measure.value for measure in measures)
        columns[f"{name}_reason"] = _strings(None if measure is None else measure.reason for measure in measures)
    return columns


def _accuracy_table(accuracies: Sequence[ModelAccuracy]) -> Any:
    rows = [(accuracy, measure) for accuracy in accuracies for measure in accuracy.measures or (None,)]
    of = [accuracy for accuracy, _ in rows]
    measures = [measure for _, measure in rows]
    return pa.table(
        {
            "model": _strings(accuracy.model for accuracy in of),
            "task": _strings(accuracy.task.value for accuracy in of),
            "table": _strings(accuracy.table for accuracy in of),
            "part": _strings(measure.part if measure else None for measure in measures),
            "class": _strings(measure.label if measure else None for measure in measures),
            "metric": _strings(measure.metric if measure else None for measure in measures),
            "value": _floats(measure.value if measure else None for measure in measures),
            "least": _floats(measure.least if measure else None for measure in measures),
            "greatest": _floats(measure.greatest if measure else None for measure in measures),
            "count": _integers([measure.count if measure else None for measure in measures]),
            "reason": _strings(measure.reason if measure else accuracy.reason for accuracy, measure in rows),
            "asked": _integers([accuracy.asked for accuracy in of]),
            "answered": _integers([accuracy.answered for accuracy in of]),
            "basis": _strings(accuracy.basis for accuracy in of),
            "filter": _strings(accuracy.filter for accuracy in of),
            "ties": _strings(accuracy.ties for accuracy in of),
        }
    )


def _count_columns(prefix: str, counts: Sequence[Counts | None]) -> dict[str, Any]:
    return {
        f"{prefix}confirmed": _integers([count.confirmed if count else None for count in counts]),
        f"{prefix}refuted": _integers([count.refuted if count else None for count in counts]),
        f"{prefix}evaluable": _integers([count.evaluable if count else None for count in counts]),
        f"{prefix}rate": _floats(count.rate if count else None for count in counts),
    }


def _measure_columns(name: str, measures: Sequence[Measure | None]) -> dict[str, Any]:
    return {
        name: _floats(measure.value if measure else None for measure in measures),
        f"{name}_reason": _strings(measure.reason if measure else None for measure in measures),
    }


def _strings(values: Iterable[str | None]) -> Any:
    return pa.array(list(values), pa.string())


def _booleans(values: Iterable[bool]) -> Any:
    return pa.array(list(values), pa.bool_())


def _floats(values: Iterable[float | None]) -> Any:
    return pa.array(list(values), pa.float64())


def _integers(values: Sequence[int | None]) -> Any:
    """int64 if every count fits, else decimals of 38 digits, because counts are never rounded."""
    largest = max((value for value in values if value is not None), default=0)
    if largest <= _LARGEST_INT64:
        return pa.array(values, pa.int64())
    if largest > _LARGEST_DECIMAL:
        raise RulescoreError(f"a count of {largest:,} groundings has more than the 38 digits a table can hold")
    return pa.array(values, pa.decimal128(38, 0))


# Turns Arrow tables into frames of other libraries.


def pandas_frame(table: Any) -> Any:
    """A pandas frame of nullable types."""
    try:
        import pandas
    except ImportError as error:
        raise MissingExtraError("`to_pandas`", "pandas") from error
    nullable = {
        pa.int64(): pandas.Int64Dtype(),
        pa.float64(): pandas.Float64Dtype(),
        pa.string(): pandas.StringDtype(),
        pa.bool_(): pandas.BooleanDtype(),
    }
    return _with_plain_strings(table).to_pandas(types_mapper=lambda kind: nullable.get(kind, pandas.ArrowDtype(kind)))


def polars_frame(table: Any) -> Any:
    try:
        import polars
    except ImportError as error:
        raise MissingExtraError("`to_polars`", "polars") from error
    return polars.from_arrow(_with_plain_strings(table))


def _with_plain_strings(table: Any) -> Any:
    """Frames get strings: few people expect categories."""
    fields = [field.with_type(pa.string()) if pa.types.is_dictionary(field.type) else field for field in table.schema]
    return table.cast(pa.schema(fields))
