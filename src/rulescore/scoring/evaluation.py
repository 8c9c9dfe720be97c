"""The outcome of one evaluation: results as data, and the same results as Arrow tables and frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, MissingExtraError, RulescoreError, meant
from rulescore.scoring.accuracy import ModelAccuracy, RightPredictions, accuracy_by_metric
from rulescore.scoring.results import Counts, DataSummary, Measure, ModelResult, ModelRuleResult, RuleResult
from rulescore.scoring.run import Run

_LARGEST_INT64 = 2**63 - 1
_LARGEST_DECIMAL = 10**38 - 1


class Which(StrEnum):
    """The tables of an evaluation."""

    RULES = "rules"
    MODELS = "models"
    ACCURACY = "accuracy"
    CONTRIBUTIONS = "contributions"


# Names repeat in every row, and a rule's may be its whole text.
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
    other tables are arithmetic on it. Undefined is null in every table. `run`: how it came about; None if it was put together by
    hand. `accuracy_results`, `right_results`: none unless a truth was given."""

    convention: str
    rule_results: tuple[RuleResult, ...]
    model_results: tuple[ModelResult, ...]
    summary: DataSummary
    warnings: tuple[Diagnostic, ...] = ()
    contributions_table: Any = field(default_factory=CONTRIBUTIONS_SCHEMA.empty_table, repr=False)
    run: Run | None = field(default=None, repr=False, compare=False)
    accuracy_results: tuple[ModelAccuracy, ...] = ()
    right_results: tuple[RightPredictions, ...] = ()

    @property
    def contributions(self) -> Any:
        """One row per model, rule and prediction. An engine that keeps rows brings them only on request."""
        if self.contributions_table is None:
            notes = ("an engine that keeps rows has kept them, or a saved result lies without its file of them",)
            helps = (
                "ask for them: `rulescore.score(…, contributions=True)` brings them here, a path has the engine write them",
                "put the file of contributions that was saved with the result beside it again",
            )
            raise InputError(Diagnostic("E502", "the contributions are not here", notes=notes, helps=helps))
        return self.contributions_table

    @property
    def rules(self) -> Any:
        """One row per rule and model; without models one row per rule, with nulls for the model's columns."""
        return _rules_table(self.rule_results)

    @property
    def models(self) -> Any:
        """One row per model, with its accuracy if a truth was given."""
        return _models_table(self.model_results, self.accuracy_results, self.right_results)

    @property
    def accuracy(self) -> Any:
        """One row per model, metric and part of what it was asked: a direction, a class, or all."""
        return _accuracy_table(self.accuracy_results)

    def to_pandas(self, which: str = Which.RULES) -> Any:
        """A table as a pandas frame of nullable types."""
        return pandas_frame(self._table(which))

    def to_polars(self, which: str = Which.RULES) -> Any:
        """A table as a Polars frame."""
        return polars_frame(self._table(which))

    def _table(self, which: str) -> Any:
        if which not in set(Which):
            raise InputError(_unknown_table(which))
        match Which(which):
            case Which.RULES:
                return self.rules
            case Which.MODELS:
                return self.models
            case Which.ACCURACY:
                return self.accuracy
            case Which.CONTRIBUTIONS:
                return self.contributions


def _unknown_table(which: str) -> Diagnostic:
    known = ", ".join(f"`{name}`" for name in Which)
    return Diagnostic(
        "E501",
        f"no table is named `{which}`",
        notes=(f"the tables are {known}",),
        helps=meant(which, list(Which)),
    )


def _rules_table(results: Sequence[RuleResult]) -> Any:
    rows: list[tuple[RuleResult, str | None, ModelRuleResult | None]] = []
    for result in results:
        rows.extend((result, model, found) for model, found in result.models.items())
        if not result.models:
            rows.append((result, None, None))
    rules = [result for result, _, _ in rows]
    founds = [found for _, _, found in rows]
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
        **_count_columns("", [found.counts if found else None for found in founds]),
        **_measure_columns("score", [found.score if found else None for found in founds]),
        **_measure_columns("share", [found.share if found else None for found in founds]),
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
    found = {one.model: one for one in right}
    fields = ("violating_right", "others", "others_right", "wrong", "wrong_violating") if right else ()
    return {field: _integers([getattr(found.get(model), field, None) for model in models]) for field in fields}


def _accuracy_columns(models: Sequence[str], accuracies: Sequence[ModelAccuracy]) -> dict[str, Any]:
    """Each model's accuracy as a whole; if there are several tasks, the name of a column begins with its table."""
    columns = {}
    for name, found in accuracy_by_metric(accuracies).items():
        measures = [found.get(model) for model in models]
        columns[name] = _floats(None if one is None else one.value for one in measures)
        columns[f"{name}_reason"] = _strings(None if one is None else one.reason for one in measures)
    return columns


def _accuracy_table(accuracies: Sequence[ModelAccuracy]) -> Any:
    rows = [(one, measure) for one in accuracies for measure in one.measures or (None,)]
    of = [one for one, _ in rows]
    measures = [measure for _, measure in rows]
    return pa.table(
        {
            "model": _strings(one.model for one in of),
            "task": _strings(one.task.value for one in of),
            "table": _strings(one.table for one in of),
            "part": _strings(measure.part if measure else None for measure in measures),
            "class": _strings(measure.label if measure else None for measure in measures),
            "metric": _strings(measure.metric if measure else None for measure in measures),
            "value": _floats(measure.value if measure else None for measure in measures),
            "least": _floats(measure.least if measure else None for measure in measures),
            "greatest": _floats(measure.greatest if measure else None for measure in measures),
            "count": _integers([measure.count if measure else None for measure in measures]),
            "reason": _strings(measure.reason if measure else one.reason for one, measure in rows),
            "asked": _integers([one.asked for one in of]),
            "answered": _integers([one.answered for one in of]),
            "basis": _strings(one.basis for one in of),
            "filter": _strings(one.filter for one in of),
            "ties": _strings(one.ties for one in of),
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
    """int64 if every count fits, else decimals of 38 digits: a count is never rounded."""
    largest = max((value for value in values if value is not None), default=0)
    if largest <= _LARGEST_INT64:
        return pa.array(values, pa.int64())
    if largest > _LARGEST_DECIMAL:
        raise RulescoreError(f"a count of {largest:,} groundings has more than the 38 digits a table can hold")
    return pa.array(values, pa.decimal128(38, 0))


# Arrow tables as frames of other libraries.


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
