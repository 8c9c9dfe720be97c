"""The short listing: a verdict in words, the most informative rules, and a table of the models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rulescore.reporting import tables
from rulescore.reporting.accuracy import RIGHT, accuracy_columns, accuracy_notes, right_columns
from rulescore.reporting.listing import UNDEFINED, Cell, CellKind, Column, Filled, Listing, Position, Tone, counted, filled, of_all
from rulescore.reporting.sentences import verdict
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import Counts, Measure, ModelResult, RuleKind, RuleResult
from rulescore.scoring.score import NO_HARD_RULE, UNMEASURED, excess, most_telling
from rulescore.setting.choices import Convention

MOST_RULES = 20

_RVS = (
    "RVS (rule violation score, less is better): hard, violations per hard rule; soft, violation rate over the data's, weighed by "
    "share of groundings"
)
_MEANS = "hard mean: over hard rules with groundings only; soft mean: weighed by share among soft rules"
_SCORES = {"hard_score": "RVS hard", "soft_score": "RVS soft"}
_MEAN_HEADINGS = {"hard_mean": "hard mean", "soft_mean": "soft mean"}


@dataclass(frozen=True, slots=True)
class Beside:
    """A further column of the models' table: what else is known about each model, such as its accuracy."""

    column: Column
    cells: Mapping[str, Cell]
    higher_is_better: bool = True

    def filled(self) -> Filled[ModelResult]:
        return self.column, lambda model: self.cells[model.name]


def short_listings(evaluation: Evaluation, beside: Sequence[Beside] = ()) -> tuple[Listing, ...]:
    """What stands on one screen: a verdict in words above the rules, then the models and what they brought."""
    rules = rules_listing(evaluation, MOST_RULES)
    *legend, read = rules.notes
    notes = (*legend, f"{read}; {_left_out(evaluation, len(rules.rows))}")
    lead = tuple(sentence.text for sentence in verdict(evaluation))
    first = tables.with_types(replace(rules, notes=notes, lead=lead), evaluation.summary.tables)
    if not evaluation.model_results:
        return (first,)
    return first, models_listing(evaluation, beside), tables.predictions_listing(evaluation.model_results)


def models_listing(evaluation: Evaluation, beside: Sequence[Beside] = (), *, detail: bool = False) -> Listing:
    """One row a model; the best value of a column is marked, if the models differ in it. `detail`: also how many groundings could
    be judged, how many predictions are right, and the two means."""
    models = evaluation.model_results
    further = (*accuracy_columns(evaluation), *(right_columns(evaluation) if detail else ()))
    beside = (*beside, *(Beside(*parts) for parts in further))
    scores = _SCORES | (_MEAN_HEADINGS if detail else {})
    evaluable: Filled[ModelResult] = (Column("evaluable", "evaluable", CellKind.COUNT), lambda model: model.evaluable)
    columns, rows = filled(
        models,
        (Column("model", "model"), lambda model: model.name),
        (Column("violating", "violating predictions", CellKind.COUNT), tables.violating_cell),
        *([evaluable] if detail else ()),
        *(further.filled() for further in beside),
        *(_score_column(key, heading) for key, heading in scores.items()),
    )
    lower: dict[str, Callable[[ModelResult], float | None]] = {"violating": _violating_share} | {
        key: _number_of(key) for key in scores
    }
    best = [(column, _best([value(model) for model in models])) for column, value in _by_position(columns, lower)]
    keys = [column.key for column in columns]
    best += [(keys.index(column.column.key), _best_beside(column, models)) for column in beside]
    return Listing(
        "models",
        "Models and their rule violation scores",
        columns,
        rows,
        notes=(
            f"{_violating_note(models)}; {_RVS}",
            *([_MEANS] if detail else []),
            *accuracy_notes(evaluation.accuracy_results),
            *([RIGHT] if detail and evaluation.right_results else []),
            *tables.reasons_of_measures(models, scores),
            *tables.unlinked(models),
            *tables.of_no_rule(models),
        ),
        best=frozenset((row, column) for column, rows_of_best in best for row in rows_of_best),
        tones={(row, 1): Tone.BAD for row, model in enumerate(models) if model.unmeasured},
    )


def _score_column(key: str, heading: str) -> Filled[ModelResult]:
    return Column(key, heading, CellKind.SCORE), lambda model: tables.measure_cell(getattr(model, key))


def _violating_note(models: Sequence[ModelResult]) -> str:
    no_hard_rule = any(model.violating_reason == NO_HARD_RULE for model in models)
    which = "any rule, since there is no hard rule" if no_hard_rule else "a hard rule"
    return f"violating predictions: those that break {which}"


def rules_listing(evaluation: Evaluation, most: int | None = None) -> Listing:
    """One row a rule: violations of evaluable groundings, in the data and under each model. `most`: how many rules; we take the
    rules that separate the models most or are broken most."""
    models = evaluation.model_results
    measured = [model.name for model in models if not model.unmeasured]
    chosen = most_telling(evaluation.rule_results, measured, most)
    columns = (
        Column("rule", "rule"),
        Column("kind", "kind"),
        Column("data", "data", CellKind.COUNT),
        *(Column(model.name, _heading(model), CellKind.COUNT) for model in models),
        Column("text", "text", CellKind.CODE),
    )
    rows = tuple(_rule_row(rule) for rule in chosen)
    return Listing(
        "rules",
        "Violations of each rule",
        columns,
        rows,
        notes=(*_legend(chosen), _read(evaluation)),
        best=frozenset(_best_of_rules(chosen, models)),
        tones=dict(_tones(chosen, models)),
    )


_CELLS = (
    "x of y: of y groundings, cases of the rule that could be judged, x break it; judged: what the rule demands is known to be true"
    f" (confirmed) or false (refuted); {UNDEFINED}: no such case"
)
_KINDS = {
    RuleKind.HARD: "hard: the data never break it, or it is declared so",
    RuleKind.SOFT: "soft: the data break it, too",
    RuleKind.UNDETERMINED: "undetermined: too few cases in the data to judge it, so no score counts it",
}


def _legend(rules: Sequence[RuleResult]) -> tuple[str, ...]:
    """The meanings of those words that occur in the table."""
    kinds = {rule.kind for rule in rules}
    return (_CELLS, "; ".join(meaning for kind, meaning in _KINDS.items() if kind in kinds)) if rules else ()


def _read(evaluation: Evaluation) -> str:
    read = tables.read_in_words(evaluation.summary)
    return read if evaluation.convention == Convention.DEFINITION else f"{read}; convention: {evaluation.convention}"


def _rule_row(rule: RuleResult) -> tuple[Cell, ...]:
    counts = (rule.dataset, *(result.counts for result in rule.models.values()))
    return rule.info.name, tables.kind_cell(rule), *map(violations_cell, counts), rule.info.text


def violations_cell(counts: Counts) -> Cell:
    return of_all(counts.refuted, counts.evaluable) if counts.evaluable else None


def _heading(model: ModelResult) -> str:
    return f"{model.name} ({UNMEASURED})" if model.unmeasured else model.name


def _left_out(evaluation: Evaluation, shown: int) -> str:
    """What the short listing leaves out, and the options that show it."""
    rules = len(evaluation.rule_results)
    further = "rates, scores and reasons" if evaluation.model_results else "rates and reasons"
    if shown == rules:
        return f"{counted(rules, 'rule')}; `--detail` has {further} as well"
    what = "that separate the models most or are broken most" if evaluation.model_results else "that are broken most"
    return f"{of_all(shown, rules)} rules, those {what}; `--table rules` has all of them, `--detail` {further} as well"


def _by_position(
    columns: Sequence[Column], values: Mapping[str, Callable[[ModelResult], float | None]]
) -> Iterable[tuple[int, Callable[[ModelResult], float | None]]]:
    return ((number, values[column.key]) for number, column in enumerate(columns) if column.key in values)


def _violating_share(model: ModelResult) -> float | None:
    if model.violating_reason is not None or model.violating is None or not model.predictions.distinct:
        return None
    return model.violating / model.predictions.distinct


def _number_of(key: str) -> Callable[[ModelResult], float | None]:
    def number(model: ModelResult) -> float | None:
        measure: Measure = getattr(model, key)
        return None if measure.mark else measure.value

    return number


def _best_beside(column: Beside, models: Sequence[ModelResult]) -> set[int]:
    cells = [column.cells[model.name] for model in models]
    sign = -1 if column.higher_is_better else 1
    return _best([sign * cell if isinstance(cell, int | float) else None for cell in cells])


def _best(values: Sequence[float | None]) -> set[int]:
    """The places of the lowest value; none if all values are equal."""
    defined = {value for value in values if value is not None}
    return {number for number, value in enumerate(values) if value == min(defined)} if len(defined) > 1 else set()


def _best_of_rules(rules: Sequence[RuleResult], models: Sequence[ModelResult]) -> Iterator[Position]:
    for row, rule in enumerate(rules):
        rates = [None if model.unmeasured else rule.models[model.name].counts.rate for model in models]
        yield from ((row, 3 + number) for number in _best(rates))


def _tones(rules: Sequence[RuleResult], models: Sequence[ModelResult]) -> Iterator[tuple[Position, Tone]]:
    """The colour of a rule's cell. A hard rule is kept or broken; a soft rule is broken more or less often than in the data."""
    for row, rule in enumerate(rules):
        for number, model in enumerate(models):
            counts = rule.models[model.name].counts
            if counts.evaluable and not rule.info.unrefutable and not model.unmeasured and rule.kind is not RuleKind.UNDETERMINED:
                more = excess(rule, counts)
                if more or rule.kind is RuleKind.HARD:
                    yield (row, 3 + number), Tone.BAD if more > 0 else Tone.GOOD
