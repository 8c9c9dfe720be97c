"""Reports on two results: rules that got better or worse, changes beyond chance, and new violating predictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rulescore.comparison.changes import Change
from rulescore.comparison.comparing import ComparedResults, compare
from rulescore.errors.texts import visible
from rulescore.report import render
from rulescore.report.make import Report, ReportChoice
from rulescore.reporting.listing import UNDEFINED, CellKind, counted, shown
from rulescore.reporting.wording import Sentence, said, strong
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.labels import Labels, predicates_in, rule_title

_MOST_RULES = 200
_MEASURES = {"violating": "predictions that violate a hard rule", "hard_score": "RVS hard", "soft_score": "RVS soft"}
_WORDS = {Change.NEW: "new", Change.WORSE: "worse", Change.BETTER: "better", Change.FIXED: "fixed", Change.CHANGED: "rule changed"}


@dataclass(frozen=True, slots=True)
class MeasureRow:
    measure: str
    before: str
    after: str
    difference: str
    verdict: str


@dataclass(frozen=True, slots=True)
class ChangedRule:
    """A rule and its change. `verdict`: whether it is beyond chance. `example`: a prediction that violates the rule only in the
    second run."""

    name: str
    text: str
    kind: str
    change: str
    before: str
    after: str
    verdict: str
    example: str


@dataclass(frozen=True, slots=True)
class PairOfRuns:
    """A model in both runs."""

    name: str
    headline: Sentence
    measures: tuple[MeasureRow, ...]
    rules: tuple[ChangedRule, ...]
    further: int
    predictions: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class ChangesPage:
    title: str
    pairs: tuple[PairOfRuns, ...]
    method: str
    warnings: tuple[str, ...]


def report_of_two(first: Evaluation, second: Evaluation, choice: ReportChoice) -> Report:
    """The report of what changed from the first result to the second."""
    return Report(render.rendered(changes_page(first, second, choice), "changes.html"))


def changes_page(first: Evaluation, second: Evaluation, choice: ReportChoice) -> ChangesPage:
    compared = compare(first, second)
    infos = {rule.info.name: rule.info for run in (first, second) for rule in run.rule_results}
    predicates = [name for info in infos.values() for name in predicates_in(info.text)]
    labels = second.labels.with_names(choice.labels).of_predicates(predicates)
    titles = {name: rule_title(info, labels) for name, info in infos.items()}
    pairs = dict.fromkeys((row["first"], row["second"]) for row in compared.differences.to_pylist())
    return ChangesPage(
        visible(choice.title or "From one run to the next"),
        tuple(_pair(compared, before, after, labels, titles) for before, after in pairs),
        compared.method,
        tuple(visible(problem.message) for problem in compared.warnings),
    )


def _pair(compared: ComparedResults, first: str, second: str, labels: Labels, titles: Mapping[str, str]) -> PairOfRuns:
    differences, rules, changes = (
        [row for row in table.to_pylist() if (row["first"], row["second"]) == (first, second)]
        for table in (compared.differences, compared.rule_differences, compared.changes)
    )
    changed = [row for row in rules if row["change"] not in (None, Change.SAME.value)]
    values = {(row["run"], row["model"], row["measure"]): row["value"] for row in compared.models.to_pylist()}
    examples = _examples(changes)
    shown_rules = tuple(_changed(row, examples, labels, titles) for row in sorted(changed, key=_order)[:_MOST_RULES])
    numbers = Counter(row["change"] for row in changes)
    return PairOfRuns(
        visible(_name(first, second)),
        headline(changed),
        tuple(_measure(row, values) for row in differences),
        shown_rules,
        max(0, len(changed) - _MOST_RULES),
        tuple((_WORDS[change], numbers[change.value]) for change in _WORDS if numbers[change.value]),
    )


def _name(first: str, second: str) -> str:
    """The name of the model, or both names if they differ."""
    before, after = (name.partition(": ")[2] for name in (first, second))
    return before if before == after else f"{before} → {after}"


def headline(changed: Sequence[Mapping[str, Any]]) -> Sentence:
    """How many rules got worse and better, and how many of these beyond chance."""
    worse = [row for row in changed if row["change"] in (Change.NEW.value, Change.WORSE.value)]
    better = [row for row in changed if row["change"] in (Change.FIXED.value, Change.BETTER.value)]
    if not worse and not better:
        return said("No rule is broken more often or less often than before.")
    parts = [*_told("got worse", worse, "first"), *(["; "] if worse and better else []), *_told("got better", better, "second")]
    return said(*parts, ".")


def _told(what: str, rows: Sequence[Mapping[str, Any]], better: str) -> Iterator[Any]:
    if not rows:
        return
    beyond = sum(row["better"] == better for row in rows)
    yield strong(counted(len(rows), "rule"))
    yield f" {what}, {'none' if not beyond else f'{beyond:,}'} beyond chance"


def _order(row: Mapping[str, Any]) -> tuple[bool, bool, int, str]:
    """Changes beyond chance first; of these, rules that got worse, and the greatest changes first."""
    more = (row["second_refuted"] or 0) - (row["first_refuted"] or 0)
    return row["better"] is None, more <= 0, -abs(more), row["rule"]


def _examples(changes: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """For each rule, a prediction that violates it only in the second run."""
    new = [row for row in changes if row["change"] == Change.NEW.value]
    return {row["rule"]: row for row in reversed(new)}


def _changed(
    row: Mapping[str, Any], examples: Mapping[str, Mapping[str, Any]], labels: Labels, titles: Mapping[str, str]
) -> ChangedRule:
    example = examples.get(row["rule"])
    arguments = "" if example is None else ", ".join(labels.of_value(value) for value in example["arguments"])
    verdict = {None: "may be chance", "first": "worse, beyond chance", "second": "better, beyond chance"}[row["better"]]
    if row["difference_reason"] is not None:
        verdict = visible(f"{UNDEFINED} {row['difference_reason']}")
    return ChangedRule(
        titles[row["rule"]],
        visible(labels.of_text(row["second_text"] or row["first_text"] or "")),
        row["kind"],
        _WORDS[Change(row["change"])],
        shown(row["first_refuted"], CellKind.COUNT),
        shown(row["second_refuted"], CellKind.COUNT),
        verdict,
        "" if example is None else f"{labels.of_predicate(example['predicate'])}({arguments})",
    )


def _measure(row: Mapping[str, Any], values: Mapping[tuple[str, str, str], float | None]) -> MeasureRow:
    before, after = (_shown(row["measure"], _value(values, name, row["measure"])) for name in (row["first"], row["second"]))
    verdict = {None: "not told apart", "first": "worse", "second": "better"}[row["better"]]
    low, high = row["difference_low"], row["difference_high"]
    difference = UNDEFINED if row["difference"] is None else _number(row["measure"], -row["difference"])
    interval = "" if low is None else f" ({_number(row['measure'], -high)} to {_number(row['measure'], -low)})"
    return MeasureRow(
        _MEASURES[row["measure"]],
        before,
        after,
        f"{difference}{interval}",
        verdict if row["difference_reason"] is None else visible(f"{UNDEFINED} {row['difference_reason']}"),
    )


def _shown(measure: str, value: float | None) -> str:
    return UNDEFINED if value is None else _number(measure, value)


def _number(measure: str, value: float) -> str:
    return f"{value:.2%}" if measure == "violating" else shown(value, CellKind.SCORE)


def _value(values: Mapping[tuple[str, str, str], float | None], name: str, measure: str) -> float | None:
    """The value of a model. Its name begins with the name of its run."""
    return next((value for (run, model, what), value in values.items() if what == measure and name == f"{run}: {model}"), None)
