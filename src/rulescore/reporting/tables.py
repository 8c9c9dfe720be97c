"""An evaluation in detail: what the models brought, the rules over the observed facts, then the rules under each model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rulescore.reporting.cells import UNDEFINED, counted, share_of
from rulescore.reporting.listing import Cell, CellKind, Column, Listing
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import DataSummary, Measure, ModelResult, ModelRuleResult, RuleInfo, RuleKind, RuleResult
from rulescore.scoring.score import UNMEASURED, UNREFUTABLE

_KIND_ORDER = tuple(RuleKind)

_COUNT_COLUMNS = (
    Column("confirmed", "confirmed", CellKind.COUNT),
    Column("refuted", "refuted", CellKind.COUNT),
    Column("evaluable", "evaluable", CellKind.COUNT),
    Column("rate", "rate", CellKind.RATE),
)


# A longer text is cut if it stands beside figures; listings of rules and formats for programs have all of it.
_LONGEST_TEXT = 120

_COVERAGE_COLUMNS = (
    Column("hidden", "hidden targets", CellKind.COUNT),
    Column("covered", "covered", CellKind.COUNT),
    Column("coverage", "coverage", CellKind.RATE),
)


def detailed_listings(evaluation: Evaluation) -> tuple[Listing, ...]:
    """What the tables of models and rules leave out."""
    models = evaluation.model_results
    first = (predictions_listing(models),) if models else ()
    last = (model_rules_listing(evaluation.rule_results, model) for model in models)
    return (*first, dataset_listing(evaluation), *group_listings(evaluation.rule_results), *last)


def measure_cell(measure: Measure) -> Cell:
    """A number that says nothing is not shown: a word stands in its place."""
    return measure.mark or measure.value


def violating_cell(model: ModelResult) -> Cell:
    """How many of a model's predictions violate a hard rule, of all its predictions; undefined if there is no hard rule."""
    if model.violating_reason is not None:
        return next((word for word in (UNMEASURED, UNREFUTABLE) if model.violating_reason.startswith(word)), None)
    return None if model.violating is None else share_of(model.violating, model.predictions.distinct)


def kind_cell(rule: RuleResult) -> str:
    return f"{rule.kind}, {UNREFUTABLE}" if rule.info.unrefutable else rule.kind.value


def predictions_listing(models: tuple[ModelResult, ...]) -> Listing:
    """What each model brought. Columns appear only if they say something: hidden targets if some model predicts those of a table,
    predictions already observed unless that rules them out, and predictions that no rule concerns if some model has some."""
    covering = any(model.predictions.hidden is not None for model in models)
    observed = not covering or any(model.predictions.already_observed for model in models)
    unconcerned = any(model.unconcerned for model in models)
    columns = (
        Column("model", "model"),
        Column("predictions", "predictions", CellKind.COUNT),
        Column("duplicates", "duplicates", CellKind.COUNT),
        *([Column("already_observed", "already observed", CellKind.COUNT)] if observed else []),
        Column("without_partner", "without partner", CellKind.COUNT),
        *([Column("unconcerned", "that no rule concerns", CellKind.COUNT)] if unconcerned else []),
        *(_COVERAGE_COLUMNS if covering else ()),
    )
    rows = tuple(
        (
            model.name,
            model.predictions.distinct,
            model.predictions.duplicates,
            *([model.predictions.already_observed] if observed else []),
            model.without_partner,
            *([model.unconcerned] if unconcerned else []),
            *(_coverage_cells(model) if covering else ()),
        )
        for model in models
    )
    notes = [*_rows_left_out(models), *_violating_any(models), *of_no_rule(models)]
    return Listing("predictions", "Predictions", columns, rows, notes=tuple(notes))


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
            shortly_titled(rule.info),
            f"{kind_cell(rule)}: {rule.kind_reason}",
            *([rule.info.weight] if weighted else []),
            *_dataset_cells(rule),
        )
        for rule in rules
    )
    note = f"{read_in_words(evaluation.summary)}; convention: {evaluation.convention}"
    return Listing("dataset", "Rules over the observed facts", columns, rows, notes=(note,))


def group_listings(rules: Sequence[RuleResult]) -> tuple[Listing, ...]:
    """Rules whose pairs are counted by groups, and those with a tolerance taken from the data; nothing if there are none."""
    found = [rule for rule in rules if rule.largest_group is not None or rule.tolerance is not None]
    if not found:
        return ()
    taken = any(rule.tolerance is not None for rule in found)
    columns = (
        Column("rule", "rule"),
        *([Column("tolerance", "tolerance", CellKind.VALUE)] if taken else []),
        Column("evaluable", "evaluable", CellKind.COUNT),
        Column("largest_group", "largest group", CellKind.COUNT),
        Column("largest_group_share", "its share", CellKind.RATE),
    )
    rows = tuple(
        (
            rule.info.name,
            *([rule.tolerance] if taken else []),
            rule.dataset.evaluable,
            rule.largest_group,
            rule.largest_group_share.value,
        )
        for rule in found
    )
    title = "Tolerances taken from the data, and largest groups" if taken else "Largest groups"
    reasons = Counter(rule.largest_group_share.reason for rule in found if rule.largest_group_share.value is None)
    notes = [f"{UNDEFINED} share undefined for {counted(number, 'rule')}: {reason}" for reason, number in reasons.items()]
    return (Listing("groups", title, columns, rows, notes=tuple(notes)),)


def model_rules_listing(rules: tuple[RuleResult, ...], model: ModelResult) -> Listing:
    """Hard rules first, and the worst of each kind first."""
    columns = (
        Column("rule", "rule"),
        Column("kind", "kind"),
        *_COUNT_COLUMNS[1:],
        Column("score", "score", CellKind.SCORE),
        Column("share", "share", CellKind.RATE),
    )
    founds = [(rule, rule.models[model.name]) for rule in rules]
    founds.sort(key=lambda one: (_KIND_ORDER.index(one[0].kind), *_worst_first(one[1])))
    rows = tuple(_model_row(rule, found) for rule, found in founds)
    title = f"Rules under {model.name}{f', {UNMEASURED}' if model.unmeasured else ''}"
    return Listing("model_rules", title, columns, rows, notes=tuple(_reasons_of_scores(found.score for _, found in founds)))


def titled(info: RuleInfo) -> str:
    return f"{info.name}: {info.text}"


def shortly_titled(info: RuleInfo) -> str:
    """As `titled`, but a long text is cut at a space."""
    if len(info.text) <= _LONGEST_TEXT:
        return titled(info)
    return f"{info.name}: {info.text[:_LONGEST_TEXT].rpartition(' ')[0]} …"


def read_in_words(summary: DataSummary) -> str:
    """What was read, in words; without facts, predicates and constants if there are only tables."""
    tables = ((len(summary.tables), "table"), (sum(table.rows for table in summary.tables), "row"))
    facts = ((summary.facts, "observed fact"), (summary.predicates, "predicate"), (summary.constants, "constant"))
    read = (*(facts if summary.facts or not summary.tables else ()), *(tables if summary.tables else ()))
    return ", ".join(counted(number, noun) for number, noun in read)


def _coverage_cells(model: ModelResult) -> tuple[Cell, ...]:
    return model.predictions.hidden, model.predictions.covered, model.coverage.value


def _dataset_cells(rule: RuleResult) -> tuple[Cell, ...]:
    counts = rule.dataset
    return counts.confirmed, counts.refuted, counts.evaluable, counts.rate


def _model_row(rule: RuleResult, found: ModelRuleResult) -> tuple[Cell, ...]:
    counts = found.counts
    return (
        rule.info.name,
        kind_cell(rule),
        counts.refuted,
        counts.evaluable,
        counts.rate,
        score_cell(rule, found),
        found.share.value,
    )


def score_cell(rule: RuleResult, found: ModelRuleResult) -> Cell:
    """A hard rule's score is a count of violations and is shown as one."""
    if rule.kind is RuleKind.HARD and found.score.mark is None:
        return found.counts.refuted
    return measure_cell(found.score)


def _worst_first(found: ModelRuleResult) -> tuple[bool, float, int]:
    score = found.score.value
    return score is None, 0.0 if score is None else -score, -found.counts.evaluable


def _rows_left_out(models: tuple[ModelResult, ...]) -> list[str]:
    counts = [(model.name, model.predictions) for model in models]
    return [f"{name}: {found.kept:,} of {found.rows:,} rows kept (top_k)" for name, found in counts if found.kept < found.rows]


def _violating_any(models: tuple[ModelResult, ...]) -> list[str]:
    """How many predictions violate a rule, hard or soft."""
    found = [(model.name, model.violating_any, model.predictions.distinct) for model in models if not model.unmeasured]
    return [f"{name}: {share_of(some, all_of_them)} violate a rule" for name, some, all_of_them in found if some is not None]


def of_no_rule(models: tuple[ModelResult, ...]) -> list[str]:
    findings = [(model.name, model.findings) for model in models]
    return [f"{name}: no rule mentions {found.unconcerned_text}" for name, found in findings if found and found.unconcerned]


def reasons_of_measures(models: tuple[ModelResult, ...]) -> list[str]:
    """Why measures are undefined or say nothing: each reason once, with the models it is true of unless these are several and
    all."""
    names: dict[tuple[str, tuple[str, str]], list[str]] = {}
    for model in models:
        for name, measure in (
            ("RVS hard", model.hard_score),
            ("RVS soft", model.soft_score),
            ("hard mean", model.hard_mean),
            ("soft mean", model.soft_mean),
        ):
            if (reason := why(measure)) is not None:
                names.setdefault((name, reason), []).append(model.name)
    return [f"{mark} {_of_whom(found, len(models))}{name}: {reason}" for (name, (mark, reason)), found in names.items()]


def why(measure: Measure) -> tuple[str, str] | None:
    """What stands in place of a number, and why; None for a number."""
    if measure.reason is None:
        return None
    mark = measure.mark or UNDEFINED
    return mark, measure.reason.removeprefix(f"{mark}: ")


def _of_whom(names: Sequence[str], models: int) -> str:
    return "" if len(names) == models > 1 else f"{', '.join(names)}, "


def _reasons_of_scores(scores: Iterable[Measure]) -> list[str]:
    """The same for the scores of rules: each reason once, with the number of rules it is true of."""
    reasons = Counter(reason for score in scores if (reason := why(score)) is not None)
    return [
        f"{mark} {'score undefined for' if mark == UNDEFINED else 'score of'} {counted(number, 'rule')}: {reason}"
        for (mark, reason), number in reasons.items()
    ]
