"""An evaluation as listings: the models first, then the rules over the observed facts, then the rules under each model."""

from __future__ import annotations

from collections import Counter

from rulescore.reporting.cells import UNDEFINED, counted
from rulescore.reporting.listing import Cell, CellKind, Column, Listing
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import ModelResult, ModelRuleResult, RuleInfo, RuleKind, RuleResult

_KIND_ORDER = tuple(RuleKind)

_COUNT_COLUMNS = (
    Column("confirmed", "confirmed", CellKind.COUNT),
    Column("refuted", "refuted", CellKind.COUNT),
    Column("evaluable", "evaluable", CellKind.COUNT),
    Column("rate", "rate", CellKind.RATE),
)


def listings(evaluation: Evaluation) -> tuple[Listing, ...]:
    models = evaluation.model_results
    first = (models_listing(models),) if models else ()
    last = (model_rules_listing(evaluation.rule_results, model.name) for model in models)
    return (*first, dataset_listing(evaluation), *last)


def models_listing(models: tuple[ModelResult, ...]) -> Listing:
    columns = (
        Column("model", "model"),
        Column("hard_score", "hard score", CellKind.SCORE),
        Column("soft_score", "soft score", CellKind.SCORE),
        Column("hard_mean", "hard mean", CellKind.SCORE),
        Column("soft_mean", "soft mean", CellKind.SCORE),
        Column("predictions", "predictions", CellKind.COUNT),
        Column("duplicates", "duplicates", CellKind.COUNT),
        Column("already_observed", "already observed", CellKind.COUNT),
    )
    rows = tuple(
        (
            model.name,
            model.hard_score.value,
            model.soft_score.value,
            model.hard_mean.value,
            model.soft_mean.value,
            model.predictions.distinct,
            model.predictions.duplicates,
            model.predictions.already_observed,
        )
        for model in models
    )
    return Listing("models", "Models", columns, rows, notes=(*_rows_left_out(models), *_undefined_measures(models)))


def dataset_listing(evaluation: Evaluation) -> Listing:
    rules = evaluation.rule_results
    weighted = any(rule.info.weight != 1 for rule in rules)
    columns = (
        Column("rule", "rule"),
        Column("kind_reason", "kind, and why"),
        *([Column("weight", "weight", CellKind.WEIGHT)] if weighted else []),
        *_COUNT_COLUMNS,
    )
    rows = tuple(
        (
            titled(rule.info),
            f"{rule.kind}: {rule.kind_reason}",
            *([rule.info.weight] if weighted else []),
            *_dataset_cells(rule),
        )
        for rule in rules
    )
    summary = evaluation.summary
    read = ((summary.facts, "observed fact"), (summary.predicates, "predicate"), (summary.constants, "constant"))
    note = f"{', '.join(counted(number, noun) for number, noun in read)}; convention: {evaluation.convention}"
    return Listing("dataset", "Rules over the observed facts", columns, rows, notes=(note,))


def model_rules_listing(rules: tuple[RuleResult, ...], model: str) -> Listing:
    """Hard rules first, and the worst of each kind first."""
    columns = (
        Column("rule", "rule"),
        Column("kind", "kind"),
        *_COUNT_COLUMNS[1:],
        Column("score", "score", CellKind.SCORE),
        Column("share", "share", CellKind.RATE),
    )
    ordered = sorted(rules, key=lambda rule: (_KIND_ORDER.index(rule.kind), *_worst_first(rule.models[model])))
    rows = tuple(_model_row(rule, rule.models[model]) for rule in ordered)
    return Listing("model_rules", f"Rules under {model}", columns, rows, notes=tuple(_undefined_scores(rules, model)))


def titled(info: RuleInfo) -> str:
    """The name and the text of a rule, or its text alone where that is its name."""
    return info.text if info.name == info.text else f"{info.name}: {info.text}"


def _dataset_cells(rule: RuleResult) -> tuple[Cell, ...]:
    counts = rule.dataset
    return counts.confirmed, counts.refuted, counts.evaluable, counts.rate


def _model_row(rule: RuleResult, found: ModelRuleResult) -> tuple[Cell, ...]:
    counts = found.counts
    # A hard rule's score is a count of violations and is shown as one.
    score = counts.refuted if rule.kind is RuleKind.HARD else found.score.value
    return rule.info.name, rule.kind.value, counts.refuted, counts.evaluable, counts.rate, score, found.share.value


def _worst_first(found: ModelRuleResult) -> tuple[bool, float, int]:
    score = found.score.value
    return score is None, 0.0 if score is None else -score, -found.counts.evaluable


def _rows_left_out(models: tuple[ModelResult, ...]) -> list[str]:
    counts = [(model.name, model.predictions) for model in models]
    return [f"{name}: {found.kept:,} of {found.rows:,} rows kept (top_k)" for name, found in counts if found.kept < found.rows]


def _undefined_measures(models: tuple[ModelResult, ...]) -> list[str]:
    measures = [
        (model.name, name, measure)
        for model in models
        for name, measure in (
            ("hard score", model.hard_score),
            ("soft score", model.soft_score),
            ("hard mean", model.hard_mean),
            ("soft mean", model.soft_mean),
        )
    ]
    return [f"{UNDEFINED} {model}, {name}: {measure.reason}" for model, name, measure in measures if measure.value is None]


def _undefined_scores(rules: tuple[RuleResult, ...], model: str) -> list[str]:
    """Each reason once, with the number of rules it is true of."""
    reasons = Counter(found.score.reason for rule in rules if (found := rule.models[model]).score.value is None)
    return [f"{UNDEFINED} score undefined for {counted(number, 'rule')}: {reason}" for reason, number in reasons.items()]
