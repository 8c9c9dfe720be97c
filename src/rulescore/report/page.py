"""Makes the parts of a report from a result, without HTML."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rulescore.comparison.comparing import ComparedResults
from rulescore.errors import Diagnostic
from rulescore.errors.texts import visible
from rulescore.report.columns import Intervals
from rulescore.reporting.accuracy import accuracy_columns
from rulescore.reporting.listing import UNDEFINED, CellKind, counted, of_all, shown
from rulescore.reporting.sentences import Order, contradicts
from rulescore.reporting.tables import measure_cell, read_in_words, violating_cell
from rulescore.reporting.wording import frequency, listed, percent
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.labels import is_unnamed
from rulescore.scoring.results import Counts, ModelResult, RuleKind, RuleResult
from rulescore.scoring.score import NO_HARD_RULE

RULES_IN_HTML = 20
_SCALES = (0.01, 0.05, 0.25, 0.5, 1.0)
_MOST_ACCURACIES = 1
_MOST_OF_ONE_CODE = 100


@dataclass(frozen=True, slots=True)
class Bar:
    """A share with its interval and a mark, each as a part of a scale that begins at 0."""

    share: float
    low: float | None = None
    high: float | None = None
    mark: float | None = None


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model in the table of models. `often`: how often its predictions violate a hard rule, in words. `silent`: its numbers say
    nothing, because no rule could judge it. `cells`: the other columns."""

    name: str
    often: str
    counts: str
    silent: bool
    percent: str | None
    bar: Bar | None
    interval: str | None
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelsTable:
    """`contradicts`: a violating prediction contradicts what is known. `no_hard_rule`: it breaks some other rule."""

    contradicts: bool
    no_hard_rule: bool
    headings: tuple[str, ...]
    rows: tuple[ModelRow, ...]
    scale: str
    scores: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RuleRow:
    """`text`: the text of the rule, if it also has a name."""

    number: int
    name: str
    kind: str
    text: str
    counts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InputRow:
    kind: str
    name: str
    rows: str
    digest: str


@dataclass(frozen=True, slots=True)
class Provenance:
    """How the result was made. There is no date: the same input gives the same file."""

    read: str
    program: str
    options: tuple[tuple[str, str], ...]
    inputs: tuple[InputRow, ...]


@dataclass(frozen=True, slots=True)
class SilentRules:
    """Rules that say nothing, the reason, and the first few of them by number and name."""

    why: str
    number: int
    first: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class WarningLine:
    message: str
    place: str
    helps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WarningGroup:
    """The warnings of one code: how many they are, and the first of them."""

    code: str
    number: int
    first: tuple[WarningLine, ...]


def models_table(evaluation: Evaluation, compared: ComparedResults | None) -> ModelsTable:
    rows = [] if compared is None else compared.models.to_pylist()
    intervals = {row["model"]: (row["low"], row["high"]) for row in rows if row["measure"] == "violating"}
    top = max((_top(model, intervals.get(model.name)) for model in evaluation.model_results), default=0.0)
    scale = next(limit for limit in _SCALES if top <= limit)
    columns = _columns(evaluation)
    return ModelsTable(
        contradicts=contradicts(evaluation),
        no_hard_rule=any(model.violating_reason == NO_HARD_RULE for model in evaluation.model_results),
        headings=tuple(columns),
        rows=tuple(_model_row(model, intervals.get(model.name), scale, columns) for model in evaluation.model_results),
        scale=f"{scale:.0%}",
        scores=tuple(_scores(model) for model in evaluation.model_results),
    )


def _says_something(model: ModelResult) -> bool:
    return model.violating is not None and model.violating_reason is None and model.predictions.distinct > 0


def _top(model: ModelResult, interval: tuple[float | None, float | None] | None) -> float:
    if not _says_something(model):
        return 0.0
    high = None if interval is None else interval[1]
    return max((model.violating or 0) / model.predictions.distinct, high or 0.0)


def _model_row(
    model: ModelResult,
    interval: tuple[float | None, float | None] | None,
    scale: float,
    columns: Mapping[str, Mapping[str, str]],
) -> ModelRow:
    name, cells = visible(model.name), tuple(column.get(model.name, UNDEFINED) for column in columns.values())
    if not _says_something(model):
        word = shown(violating_cell(model), CellKind.TEXT)
        why = "" if model.violating_reason is None else model.violating_reason.partition(":")[2].strip()
        if model.violating_reason == NO_HARD_RULE:
            why = NO_HARD_RULE
        return ModelRow(name, word, why, True, None, None, None, cells)
    violating, predictions = model.violating or 0, model.predictions.distinct
    low, high = interval or (None, None)
    bar = Bar(violating / predictions / scale, *((None, None) if low is None or high is None else (low / scale, high / scale)))
    said = None if low is None or high is None else f"{_bound(low)} to {_bound(high)}"
    return ModelRow(
        name,
        frequency(violating, predictions),
        of_all(violating, predictions),
        False,
        percent(violating, predictions),
        bar,
        said,
        cells,
    )


def _bound(share: float) -> str:
    return f"{share:.1%}" if share >= 0.001 or share == 0 else f"{share:.2%}"


def _percent(part: int, whole: int) -> str:
    return percent(part, whole) if whole else UNDEFINED


def _columns(evaluation: Evaluation) -> dict[str, dict[str, str]]:
    """Further columns by heading: cells by model."""
    hard = [rule for rule in evaluation.rule_results if rule.kind is RuleKind.HARD and not rule.info.unrefutable]
    columns: dict[str, dict[str, str]] = {}
    if hard:
        columns["hard rules broken"] = {
            model.name: of_all(sum(rule.models[model.name].counts.refuted > 0 for rule in hard), len(hard))
            for model in evaluation.model_results
        }
    if evaluation.right_results:
        right = {result.model: result for result in evaluation.right_results}
        columns["right if violating"] = {name: _percent(one.violating_right, one.violating) for name, one in right.items()}
        columns["right if not"] = {name: _percent(one.others_right, one.others) for name, one in right.items()}
        columns["wrong answers found"] = {
            name: percent(result.wrong_violating, result.wrong) for name, result in right.items() if result.wrong
        }
    for column, cells, _ in accuracy_columns(evaluation)[:_MOST_ACCURACIES]:
        columns[column.heading] = {name: shown(cell, column.kind) for name, cell in cells.items()}
    return columns


def _scores(model: ModelResult) -> str:
    hard, soft = (shown(measure_cell(measure), CellKind.SCORE) for measure in (model.hard_score, model.soft_score))
    return f"{visible(model.name)}: RVS hard {hard}, RVS soft {soft}"


def kind_words(rule: RuleResult) -> str:
    return f"{rule.kind}, never broken" if rule.info.unrefutable else rule.kind.value


def first_rules(evaluation: Evaluation, names: Sequence[str], texts: Sequence[str]) -> tuple[RuleRow, ...]:
    """The first rules, for readers without scripts."""
    models = [model.name for model in evaluation.model_results]
    return tuple(
        RuleRow(
            number,
            names[number],
            kind_words(rule),
            "" if is_unnamed(rule.info) else visible(texts[number]),
            tuple(map(counts_cell, (rule.dataset, *(rule.models[model].counts for model in models)))),
        )
        for number, rule in enumerate(evaluation.rule_results[:RULES_IN_HTML])
    )


def counts_cell(counts: Counts) -> str:
    return of_all(counts.refuted, counts.evaluable) if counts.evaluable else UNDEFINED


_CLASSES = (("never", 0.0), ("up to 1%", 0.01), ("up to 5%", 0.05), ("up to 25%", 0.25), ("more", 1.0))


def rate_classes(rules: Sequence[RuleResult]) -> tuple[tuple[str, int], ...]:
    """A histogram of the rules by their rate in the data: never broken, broken in up to 1% of the cases, and so on."""
    rates = [rule.dataset.rate for rule in rules]
    numbers = [sum(rate is not None and rate <= 0 for rate in rates)]
    for (_, low), (_, high) in pairwise(_CLASSES):
        numbers.append(sum(rate is not None and low < rate <= high for rate in rates))
    named = [(name, number) for (name, _), number in zip(_CLASSES, numbers, strict=True)]
    return (*named, ("no case", sum(rate is None for rate in rates)))


def silent_rules(evaluation: Evaluation, names: Sequence[str]) -> tuple[SilentRules, ...]:
    rules = evaluation.rule_results
    measured = [model.name for model in evaluation.model_results if not model.unmeasured]
    reasons: dict[str, Callable[[RuleResult], bool]] = {
        "nothing declared could ever refute them (unrefutable), so their 0 says nothing.": lambda rule: rule.info.unrefutable,
        "the data have no case of them that can be judged (vacuous).": lambda rule: (
            not rule.dataset.evaluable and not rule.info.denial and not rule.info.unrefutable
        ),
        "no prediction of any model takes part in a case that can be judged.": lambda rule: (
            bool(measured) and not rule.info.denial and not any(rule.models[name].counts.evaluable for name in measured)
        ),
        "their head stands in their body (tautologies), so they demand nothing new.": lambda rule: rule.info.tautology,
    }
    groups = []
    for why, is_silent in reasons.items():
        numbers = [number for number, rule in enumerate(rules) if is_silent(rule)]
        if numbers:
            groups.append(SilentRules(why, len(numbers), tuple((number, names[number]) for number in numbers[:5])))
    return tuple(groups)


def silent_models(evaluation: Evaluation) -> tuple[str, ...]:
    """A sentence for each model about its predictions of which nothing can be said."""
    return tuple(visible(text) for model in evaluation.model_results if (text := _silent_model(model)) is not None)


def _silent_model(model: ModelResult) -> str | None:
    if model.unmeasured:
        return f"{model.name} is unmeasured: no rule that can be refuted mentions a predicate of its predictions."
    if not model.new:
        return None
    figures = (
        (model.judged, "that no rule could judge"),
        (model.linked, "with a constant that the data do not have"),
    )
    parts = [f"{model.new - number:,} {what}" for number, what in figures if number is not None and number < model.new]
    return f"{model.name}: of {counted(model.new, 'new prediction')} {listed(parts)}." if parts else None


def provenance(evaluation: Evaluation) -> Provenance:
    run = None if evaluation.run is None else evaluation.run.digested()
    read = f"{read_in_words(evaluation.summary)}; convention: {evaluation.convention}"
    if run is None:
        return Provenance(read, "", (), ())
    options = tuple((name.replace("_", " "), _option(value)) for name, value in run.options.items() if _says(value))
    inputs = tuple(
        InputRow(
            file.kind.value if file.of is None else f"{file.kind} of {visible(file.of)}",
            visible(file.name),
            "" if file.rows is None else f"{file.rows:,}",
            file.sha256 or file.reason or "",
        )
        for file in run.inputs
    )
    return Provenance(read, f"rulescore {run.rulescore}, {run.engine} {run.engine_version}", options, inputs)


def _says(value: object) -> bool:
    return any(map(_says, value.values())) if isinstance(value, dict) else value not in (None, [], False)


def _option(value: object) -> str:
    if isinstance(value, dict):
        return visible(", ".join(f"{name}: {'–' if choice is None else choice}" for name, choice in value.items()))
    return visible(", ".join(map(str, value)) if isinstance(value, list) else str(value))


def warning_groups(warnings: Sequence[Diagnostic]) -> tuple[WarningGroup, ...]:
    by_code: dict[str, list[Diagnostic]] = {}
    for problem in warnings:
        by_code.setdefault(problem.code, []).append(problem)
    return tuple(
        WarningGroup(code, len(problems), tuple(map(_warning_line, problems[:_MOST_OF_ONE_CODE])))
        for code, problems in by_code.items()
    )


def _warning_line(problem: Diagnostic) -> WarningLine:
    place = "" if problem.place is None else f"{visible(str(problem.place))}: "
    return WarningLine(visible(problem.message), place, tuple(map(visible, problem.helps)))


def rate_intervals(compared: ComparedResults | None) -> Intervals:
    if compared is None:
        return {}
    columns = [compared.rules[name].to_pylist() for name in ("rule", "model", "rate_low", "rate_high")]
    return {(rule, model): (low, high) for rule, model, low, high in zip(*columns, strict=True) if low is not None}


def order_of(compared: ComparedResults | None) -> Order | None:
    return None if compared is None else Order.of(compared.differences, compared.level)
