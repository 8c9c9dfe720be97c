"""The short answer: a table of the models, and the rules that say most about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rulescore.reporting.accuracies import RIGHT, accuracy_columns, accuracy_notes, right_columns
from rulescore.reporting.cells import UNDEFINED, counted, of_all
from rulescore.reporting.listing import Cell, CellKind, Column, Listing, Position, Tone
from rulescore.reporting.tables import (
    kind_cell,
    measure_cell,
    of_no_rule,
    predictions_listing,
    read_in_words,
    reasons_of_measures,
    unlinked,
    violating_cell,
    with_types,
)
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.ranking import excess, most_telling
from rulescore.scoring.results import Counts, Measure, ModelResult, RuleKind, RuleResult
from rulescore.scoring.score import NO_HARD_RULE, UNMEASURED

MOST_RULES = 20

_LEGEND = (
    "published scores: RVS hard, violations per hard rule; RVS soft, violation rate over that of the data (1: as often as the "
    "data), weighed by share of all groundings",
    "hard mean: over hard rules with groundings only; soft mean: weighed by share among soft rules",
)
_SCORES = {"hard_score": "RVS hard", "soft_score": "RVS soft"}
_MEAN_HEADINGS = {"hard_mean": "hard mean", "soft_mean": "soft mean"}


@dataclass(frozen=True, slots=True)
class Beside:
    """A further column of the models' table: what else is known about each model, such as its accuracy."""

    column: Column
    cells: Mapping[str, Cell]
    higher_is_better: bool = True


def short_listings(evaluation: Evaluation, beside: Sequence[Beside] = ()) -> tuple[Listing, ...]:
    models = (models_listing(evaluation, beside),) if evaluation.model_results else ()
    rules = rules_listing(evaluation, MOST_RULES)
    brought = (predictions_listing(evaluation.model_results),) if evaluation.model_results else ()
    *legend, read = rules.notes
    notes = (*legend, f"{read}; {_left_out(evaluation, len(rules.rows))}")
    return (*models, with_types(replace(rules, notes=notes), evaluation.summary.tables), *brought)


def models_listing(evaluation: Evaluation, beside: Sequence[Beside] = ()) -> Listing:
    """One row a model; the best value of a column is marked, if the models differ in it. The accuracy that was measured stands
    beside the scores."""
    models = evaluation.model_results
    beside = (*beside, *(Beside(*one) for one in (*accuracy_columns(evaluation), *right_columns(evaluation))))
    columns = (
        Column("model", "model"),
        Column("violating", "violating predictions", CellKind.COUNT),
        Column("evaluable", "evaluable", CellKind.COUNT),
        *(Column(key, heading, CellKind.SCORE) for key, heading in _SCORES.items()),
        *(one.column for one in beside),
        *(Column(key, heading, CellKind.SCORE) for key, heading in _MEAN_HEADINGS.items()),
    )
    rows = tuple(
        (
            model.name,
            violating_cell(model),
            model.evaluable,
            *(measure_cell(getattr(model, key)) for key in _SCORES),
            *(one.cells[model.name] for one in beside),
            *(measure_cell(getattr(model, key)) for key in _MEAN_HEADINGS),
        )
        for model in models
    )
    lower: dict[str, Callable[[ModelResult], float | None]] = {"violating": _violating_share} | {
        key: _number_of(key) for key in (*_SCORES, *_MEAN_HEADINGS)
    }
    best = [(column, _best([value(model) for model in models])) for column, value in _by_position(columns, lower)]
    keys = [column.key for column in columns]
    best += [(keys.index(one.column.key), _best_beside(one, models)) for one in beside]
    return Listing(
        "models",
        "Models and their rule violation scores",
        columns,
        rows,
        notes=(
            _violating_note(models),
            *_LEGEND,
            *accuracy_notes(evaluation.accuracy_results),
            *([RIGHT] if evaluation.right_results else []),
            *reasons_of_measures(models),
            *unlinked(models),
            *of_no_rule(models),
        ),
        best=frozenset((row, column) for column, found in best for row in found),
        tones={(row, 1): Tone.BAD for row, model in enumerate(models) if model.unmeasured},
    )


def _violating_note(models: Sequence[ModelResult]) -> str:
    no_hard_rule = any(model.violating_reason == NO_HARD_RULE for model in models)
    which = "any rule, since there is no hard rule" if no_hard_rule else "a hard rule"
    return f"violating predictions: those that violate {which}"


def rules_listing(evaluation: Evaluation, most: int | None = None) -> Listing:
    """One row a rule: violations of evaluable groundings, in the data and under each model. `most`: how many rules, those that
    separate the models most or are broken most."""
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
        notes=(
            f"2 of 30: 2 violations in 30 groundings that can be judged; {UNDEFINED}: there are none",
            f"{read_in_words(evaluation.summary)}; convention: {evaluation.convention}",
        ),
        best=frozenset(_best_of_rules(chosen, models)),
        tones=dict(_tones(chosen, models)),
    )


def _rule_row(rule: RuleResult) -> tuple[Cell, ...]:
    counts = (rule.dataset, *(found.counts for found in rule.models.values()))
    return rule.info.name, kind_cell(rule), *map(violations_cell, counts), rule.info.text


def violations_cell(counts: Counts) -> Cell:
    return of_all(counts.refuted, counts.evaluable) if counts.evaluable else None


def _heading(model: ModelResult) -> str:
    return f"{model.name} ({UNMEASURED})" if model.unmeasured else model.name


def _left_out(evaluation: Evaluation, shown: int) -> str:
    """What the short answer leaves out, and the options that show it."""
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


def _best_beside(one: Beside, models: Sequence[ModelResult]) -> set[int]:
    cells = [one.cells[model.name] for model in models]
    sign = -1 if one.higher_is_better else 1
    return _best([sign * cell if isinstance(cell, int | float) else None for cell in cells])


def _best(values: Sequence[float | None]) -> set[int]:
    """The places of the lowest value; none if there is no other value."""
    defined = {value for value in values if value is not None}
    return {number for number, value in enumerate(values) if value == min(defined)} if len(defined) > 1 else set()


def _best_of_rules(rules: Sequence[RuleResult], models: Sequence[ModelResult]) -> Iterator[Position]:
    for row, rule in enumerate(rules):
        rates = [None if model.unmeasured else rule.models[model.name].counts.rate for model in models]
        yield from ((row, 3 + number) for number in _best(rates))


def _tones(rules: Sequence[RuleResult], models: Sequence[ModelResult]) -> Iterator[tuple[Position, Tone]]:
    """A hard rule is kept or broken; a soft one is broken more or less often than the data break it."""
    for row, rule in enumerate(rules):
        for number, model in enumerate(models):
            counts = rule.models[model.name].counts
            if counts.evaluable and not rule.info.unrefutable and not model.unmeasured and rule.kind is not RuleKind.UNDETERMINED:
                more = excess(rule, counts)
                if more or rule.kind is RuleKind.HARD:
                    yield (row, 3 + number), Tone.BAD if more > 0 else Tone.GOOD
