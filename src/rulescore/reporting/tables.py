"""An evaluation in detail: the models with their rows and predictions, the rules over the observed facts, then the rules under each
model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TypeVar

from rulescore.reporting.listing import UNDEFINED, Cell, CellKind, Column, Filled, Listing, counted, filled, of_all, share_of
from rulescore.scoring import results
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.score import NO_HARD_RULE, NONE_JUDGED, UNMEASURED, UNREFUTABLE
from rulescore.setting.choices import ColumnType

_KIND_ORDER = tuple(results.RuleKind)

_Row = TypeVar("_Row")


def count_columns(counts: Callable[[_Row], results.Counts]) -> tuple[Filled[_Row], ...]:
    """The columns of counts, which `counts` finds in a row."""
    return (
        (Column("confirmed", "confirmed", CellKind.COUNT), lambda row: counts(row).confirmed),
        (Column("refuted", "refuted", CellKind.COUNT), lambda row: counts(row).refuted),
        (Column("evaluable", "evaluable", CellKind.COUNT), lambda row: counts(row).evaluable),
        (Column("rate", "rate", CellKind.RATE), lambda row: counts(row).rate),
    )


# A longer text is cut if it stands next to figures; listings of rules and formats for programs have all of it.
_LONGEST_TEXT = 120

_RATE_BOUND = "at most: the rate that so few groundings leave possible, with 95% confidence (about 3 / evaluable)"
_TOP_K = "kept: the best answers of each query, as many as `--top-k` says, or one"
_OF_THE_NEW = (
    "new: not observed already; of these, linked: all constants occur in the data; concerned: a rule mentions the predicate; "
    "judged: a rule could be judged with it"
)


def detailed_listings(evaluation: Evaluation) -> tuple[Listing, ...]:
    """What the tables of models and rules leave out."""
    models = evaluation.model_results
    brought = predictions_listing(models)
    first = (replace(brought, notes=(*_violating_any(models), *brought.notes)),) if models else ()
    last = (model_rules_listing(evaluation.rule_results, model) for model in models)
    return (*first, dataset_listing(evaluation), *group_listings(evaluation.rule_results), *last)


def measure_cell(measure: results.Measure) -> Cell:
    """A number that says nothing is not shown: a word stands in its place."""
    return measure.mark or measure.value


def violating_cell(model: results.ModelResult) -> Cell:
    """How many of all a model's predictions violate a hard rule or, if there is no hard rule, any rule."""
    if model.violating_reason == NO_HARD_RULE and model.violating_any is not None:
        return f"{of_all(model.violating_any, model.predictions.distinct)} break a rule"
    if model.violating_reason is not None:
        return next((word for word in (UNMEASURED, UNREFUTABLE, NONE_JUDGED) if model.violating_reason.startswith(word)), None)
    return None if model.violating is None else share_of(model.violating, model.predictions.distinct)


def kind_cell(rule: results.RuleResult) -> str:
    return f"{rule.kind}, {UNREFUTABLE}" if rule.info.unrefutable else rule.kind.value


def predictions_listing(models: tuple[results.ModelResult, ...]) -> Listing:
    """The way of each model's rows: how many were read, kept, new, and judged by rules. Two columns appear only if they say
    something: the rows that `top_k` kept, and the hidden targets of tables that a model covers."""
    covering = any(model.predictions.hidden is not None for model in models)
    left_out = any(model.predictions.kept < model.predictions.rows for model in models)
    kept: Filled[results.ModelResult] = (Column("kept", "kept", CellKind.COUNT), lambda model: model.predictions.kept)
    covered: Filled[results.ModelResult] = (Column("covered", "covers", CellKind.COUNT), _covered)
    columns, rows = filled(
        models,
        (Column("model", "model"), lambda model: model.name),
        (Column("rows", "rows", CellKind.COUNT), lambda model: model.predictions.rows),
        *([kept] if left_out else ()),
        (Column("predictions", "distinct", CellKind.COUNT), lambda model: model.predictions.distinct),
        (Column("new", "new", CellKind.COUNT), lambda model: model.new),
        (Column("linked", "linked", CellKind.COUNT), lambda model: model.linked),
        (Column("concerned", "concerned", CellKind.COUNT), lambda model: model.concerned),
        (Column("judged", "judged", CellKind.COUNT), lambda model: model.judged),
        *([covered] if covering else ()),
    )
    notes = [*([_TOP_K] if left_out else ()), _OF_THE_NEW]
    return Listing("predictions", "From rows to judged predictions", columns, rows, notes=tuple(notes))


def dataset_listing(evaluation: Evaluation) -> Listing:
    rules = evaluation.rule_results
    weight: Filled[results.RuleResult] = (Column("weight", "weight", CellKind.WEIGHT), lambda rule: rule.info.weight)
    bound: Filled[results.RuleResult] = (Column("rate_bound", "at most", CellKind.RATE), lambda rule: rule.rate_bound.value)
    columns, rows = filled(
        rules,
        (Column("rule", "rule"), lambda rule: shortly_titled(rule.info)),
        (Column("kind_reason", "kind, and why"), lambda rule: f"{kind_cell(rule)}: {rule.kind_reason}"),
        *([weight] if any(rule.info.weight != 1 for rule in rules) else ()),
        *count_columns(attrgetter("dataset")),
        *([bound] if has_bounds(rules) else ()),
    )
    note = f"{read_in_words(evaluation.summary)}; convention: {evaluation.convention}"
    listing = Listing("dataset", "Rules over the observed facts", columns, rows, notes=(note, *notes_on_counts(rules)))
    return with_types(listing, evaluation.summary.tables)


def notes_on_counts(rules: Sequence[results.RuleResult]) -> list[str]:
    """Notes that answer questions about the counts over the data."""
    both = [rule.dataset.confirmed + rule.dataset.refuted - rule.dataset.evaluable for rule in rules]
    twice = [number for number in both if number > 0]
    times = f"{sum(twice):,} {'grounding is' if sum(twice) == 1 else 'groundings are'} both, and counted once"
    notes = [f"confirmed and refuted add up to more than evaluable in {counted(len(twice), 'rule')}: {times}"] if twice else []
    return [*([_RATE_BOUND] if has_bounds(rules) else []), *notes]


def has_bounds(rules: Iterable[results.RuleResult]) -> bool:
    return any(rule.rate_bound.value is not None for rule in rules)


def group_listings(rules: Sequence[results.RuleResult]) -> tuple[Listing, ...]:
    """A listing of rules whose pairs are counted by groups, and of rules with a tolerance taken from the data; nothing if there are
    none."""
    grouped = [rule for rule in rules if rule.largest_group is not None or rule.tolerance is not None]
    if not grouped:
        return ()
    taken = any(rule.tolerance is not None for rule in grouped)
    tolerance: Filled[results.RuleResult] = (Column("tolerance", "tolerance", CellKind.VALUE), lambda rule: rule.tolerance)
    columns, rows = filled(
        grouped,
        (Column("rule", "rule"), lambda rule: rule.info.name),
        *([tolerance] if taken else ()),
        (Column("evaluable", "evaluable", CellKind.COUNT), lambda rule: rule.dataset.evaluable),
        (Column("largest_group", "largest group", CellKind.COUNT), lambda rule: rule.largest_group),
        (Column("largest_group_share", "its share", CellKind.RATE), lambda rule: rule.largest_group_share.value),
    )
    title = "Tolerances taken from the data, and largest groups" if taken else "Largest groups"
    reasons = Counter(rule.largest_group_share.reason for rule in grouped if rule.largest_group_share.value is None)
    notes = [f"{UNDEFINED} share undefined for {counted(number, 'rule')}: {reason}" for reason, number in reasons.items()]
    return (Listing("groups", title, columns, rows, notes=tuple(notes)),)


def model_rules_listing(rules: tuple[results.RuleResult, ...], model: results.ModelResult) -> Listing:
    """Hard rules first, and the worst of each kind first."""

    def result(rule: results.RuleResult) -> results.ModelRuleResult:
        return rule.models[model.name]

    def counts(rule: results.RuleResult) -> results.Counts:
        return result(rule).counts

    ordered = sorted(rules, key=lambda rule: (_KIND_ORDER.index(rule.kind), *_worst_first(result(rule))))
    columns, rows = filled(
        ordered,
        (Column("rule", "rule"), lambda rule: rule.info.name),
        (Column("kind", "kind"), kind_cell),
        *count_columns(counts)[1:],
        (Column("score", "score", CellKind.SCORE), lambda rule: score_cell(rule, result(rule))),
        (Column("share", "share", CellKind.RATE), lambda rule: result(rule).share.value),
    )
    title = f"Rules under {model.name}{f', {UNMEASURED}' if model.unmeasured else ''}"
    return Listing("model_rules", title, columns, rows, notes=tuple(_reasons_of_scores(result(rule).score for rule in ordered)))


def titled(info: results.RuleInfo) -> str:
    return f"{info.name}: {info.text}"


def shortly_titled(info: results.RuleInfo) -> str:
    """As `titled`, but a long text is cut at a space."""
    if len(info.text) <= _LONGEST_TEXT:
        return titled(info)
    return f"{info.name}: {info.text[:_LONGEST_TEXT].rpartition(' ')[0]} …"


def read_in_words(summary: results.DataSummary) -> str:
    """A sentence about the data that were read. If there are only tables, it leaves out facts, predicates and constants."""
    tables = ((len(summary.tables), "table"), (sum(table.rows for table in summary.tables), "row"))
    facts = ((summary.facts, "observed fact"), (summary.predicates, "predicate"), (summary.constants, "constant"))
    read = (*(facts if summary.facts or not summary.tables else ()), *(tables if summary.tables else ()))
    return ", ".join(counted(number, noun) for number, noun in read)


def _covered(model: results.ModelResult) -> Cell:
    """How many of the hidden targets a model predicts."""
    hidden, covered = model.predictions.hidden, model.predictions.covered
    return None if hidden is None or covered is None else of_all(covered, hidden)


def types_in_words(tables: Sequence[results.TableCounts]) -> str | None:
    """The types other than text that we gave to columns of text files; None if there are none."""
    parts = []
    for table in tables:
        kinds = dict.fromkeys(kind for _, kind in table.inferred if kind != ColumnType.STRING)
        by_kind = [f"{', '.join(column for column, column_kind in table.inferred if column_kind == kind)} {kind}" for kind in kinds]
        parts += [f"{table.name} ({'; '.join(by_kind)})"] if by_kind else []
    return ", ".join(parts) or None


def with_types(listing: Listing, tables: Sequence[results.TableCounts]) -> Listing:
    """A listing that says which types we gave to columns of text files."""
    if (types := types_in_words(tables)) is None:
        return listing
    note = f"types by their values: {types}"
    return replace(listing, figures=(*listing.figures, ("inferred_types", types)), notes=(*listing.notes, note))


def score_cell(rule: results.RuleResult, result: results.ModelRuleResult) -> Cell:
    """The score of a hard rule is a number of violations, so we show it without decimals."""
    if rule.kind is results.RuleKind.HARD and result.score.mark is None:
        return result.counts.refuted
    return measure_cell(result.score)


def _worst_first(result: results.ModelRuleResult) -> tuple[bool, float, int]:
    score = result.score.value
    return score is None, 0.0 if score is None else -score, -result.counts.evaluable


def _violating_any(models: tuple[results.ModelResult, ...]) -> list[str]:
    """How many predictions violate a rule, hard or soft."""
    counts = [(model.name, model.violating_any, model.predictions.distinct) for model in models if not model.unmeasured]
    return [f"{name}: {share_of(some, all_of_them)} violate a rule" for name, some, all_of_them in counts if some is not None]


def unlinked(models: tuple[results.ModelResult, ...]) -> list[str]:
    """How many new predictions have a constant that the data do not have, with an example."""
    findings = [(model.name, model.findings) for model in models]
    return [
        f"{name}: in {of_all(part.new - part.linked, part.new)} new predictions, a constant does not occur in the data, such as "
        f"{part.unlinked_text}"
        for name, part in findings
        if part is not None and part.new is not None and part.linked is not None and part.unlinked is not None
    ]


def of_no_rule(models: tuple[results.ModelResult, ...]) -> list[str]:
    findings = [(model.name, model.findings) for model in models]
    return [f"{name}: no rule mentions {part.unconcerned_text}" for name, part in findings if part and part.unconcerned]


def reasons_of_measures(models: tuple[results.ModelResult, ...], headings: Mapping[str, str]) -> list[str]:
    """Why measures are undefined or say nothing: each reason once, with its models. If these are all of several models, we do not
    list them. `headings`: the measures and what people call them."""
    names: dict[tuple[str, tuple[str, str]], list[str]] = {}
    for model in models:
        for key, name in headings.items():
            if (reason := why(getattr(model, key))) is not None:
                names.setdefault((name, reason), []).append(model.name)
    return [f"{mark} {_of_whom(having, len(models))}{name}: {reason}" for (name, (mark, reason)), having in names.items()]


def why(measure: results.Measure) -> tuple[str, str] | None:
    """The word that stands in place of a number, and the reason; None for a number."""
    if measure.reason is None:
        return None
    mark = measure.mark or UNDEFINED
    return mark, measure.reason.removeprefix(f"{mark}: ")


def _of_whom(names: Sequence[str], models: int) -> str:
    return "" if len(names) == models > 1 else f"{', '.join(names)}, "


def _reasons_of_scores(scores: Iterable[results.Measure]) -> list[str]:
    """Why scores of rules are undefined or say nothing: each reason once, with the number of its rules."""
    reasons = Counter(reason for score in scores if (reason := why(score)) is not None)
    return [
        f"{mark} {'score undefined for' if mark == UNDEFINED else 'score of'} {counted(number, 'rule')}: {reason}"
        for (mark, reason), number in reasons.items()
    ]
