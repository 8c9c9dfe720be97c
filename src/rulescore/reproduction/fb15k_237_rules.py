"""FB15k-237, rule by rule: rates and scores of rules that the publication does not name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rulescore.reporting.listing import CellKind, Column, Listing
from rulescore.reproduction.comparison import Cause, Cell, Compared, Reason, cell
from rulescore.reproduction.published import Printed, agrees
from rulescore.reproduction.running import APPENDIX, DEFINITION, hard_scores, soft_scores
from rulescore.result import Result
from rulescore.scoring.results import RuleResult

TRAINED_ON_TEST = "ExpressGNN"

# The rule that the publication discusses: administrative_parent(X, Y) <- contains(Y, X).
_CASE = "`/base/aareas/schema/administrative_area/administrative_parent`(B, A) <- `/location/location/contains`(A, B)"

_PROJECT = "rulescore reproduce fb15k-237 --output fb15k-237"
_SCORE = f"{_PROJECT}; rulescore score fb15k-237/rulescore.toml --table"
_AUDIT = f"{_PROJECT}; rulescore audit fb15k-237/rulescore.toml"
REASONS = {
    Cause.PREDICTIONS: Reason("the models were trained again, and answer otherwise", f"{_SCORE} accuracy"),
    Cause.AVERAGING: Reason(
        "the published numbers are means over the soft rules, and over those hard rules that have evaluable groundings: 49.8 is "
        "847/17 and 1.44 is 13/9, of 18 hard rules; RVS soft is a sum weighed by shares of all groundings, RVS hard a mean over "
        "all hard rules",
        f"{_SCORE} models",
    ),
    Cause.TEST_FACTS: Reason(
        "ExpressGNN trains on the test facts that it is ranked on: see the table of test facts that head a grounding",
        "rulescore reproduce fb15k-237",
    ),
    Cause.UNKNOWN: Reason(
        "18 rules were published as hard, and the public files give more: what made the published rates is not in these files; the "
        "predictions are others, too",
        f"{_AUDIT} --rate 0..0",
    ),
}


def cause_of(model: str, cause: Cause) -> Cause:
    return Cause.TEST_FACTS if model == TRAINED_ON_TEST else cause


def discussed_rate(given: Mapping[str, Any], by: Mapping[str, Result]) -> Compared:
    (number,) = given.values()
    found = [_rule(by[convention]) for convention in (APPENDIX, DEFINITION)]
    dataset = found[0].dataset
    one = cell(
        "administrative_parent(X, Y) <- contains(Y, X)",
        "rate",
        number,
        dataset.rate,
        Cause.UNKNOWN,
        CellKind.RATE,
        found[1].dataset.rate,
    )
    command = f'{_PROJECT}; rulescore violations fb15k-237/rulescore.toml --dataset --rule "{found[0].info.name}"'
    reasons = {Cause.UNKNOWN: Reason(f"the public files give {dataset.refuted:,} refuted of {dataset.evaluable:,}", command)}
    return Compared("cases", "The dataset rate that the publication discusses", "rule", (one,), reasons)


def _rule(result: Result) -> RuleResult:
    return next(rule for rule in result.rule_results if rule.info.text == _CASE)


def sampled_rates(given: Sequence[Printed], by: Mapping[str, Result]) -> Compared:
    appendix, definition = (_rates(by[convention]) for convention in (APPENDIX, DEFINITION))
    cells = tuple(
        cell(
            f"sampled rule {position}",
            "rate",
            number,
            nearest(number, appendix),
            Cause.UNKNOWN,
            CellKind.RATE,
            nearest(number, definition),
        )
        for position, number in enumerate(given, 1)
    )
    columns = (
        Column("rate", "published rate", CellKind.VALUE),
        Column("times", "sampled rules", CellKind.COUNT),
        Column("appendix", "our rules with it", CellKind.COUNT),
        Column("definition", "by definition", CellKind.COUNT),
        Column("nearest", "our nearest rate", CellKind.RATE),
        Column("class", "class"),
    )
    rows = tuple(
        (
            str(number),
            times,
            sum(agrees(number, rate) for rate in appendix),
            sum(agrees(number, rate) for rate in definition),
            nearest(number, appendix),
            next(one.cause.value for one in cells if one.published == number),
        )
        for number, times in sorted(Counter(given).items())
    )
    title = "Dataset rates of 30 sampled rules"
    notes = ("the publication does not name the sampled rules: a rate is the same if a rule of ours has it",)
    reasons = {Cause.UNKNOWN: Reason("no rule has this rate over the public files, by either convention", _AUDIT)}
    return Compared(
        "sampled_dataset_rates", title, "rule", cells, reasons, notes, Listing("sampled_dataset_rates", title, columns, rows)
    )


def rates_not_given(given: Sequence[Printed], result: Result) -> Listing:
    """Published rates that no rule has, with the rules of ours that come nearest."""
    columns = (
        Column("published", "published rate", CellKind.VALUE),
        Column("rule", "our rule"),
        Column("refuted", "refuted", CellKind.COUNT),
        Column("evaluable", "evaluable", CellKind.COUNT),
        Column("rate", "rate", CellKind.RATE),
        Column("text", "text", CellKind.CODE),
    )
    rates = _rates(result)
    rows = []
    for number in sorted({one for one in given if not any(agrees(one, rate) for rate in rates)}):
        close = nearest(number, [rate for rate in rates if rate])
        named = [_rule(result)] if agrees(number, 0.88) else [rule for rule in result.rule_results if rule.dataset.rate == close]
        for rule in named:
            rows.append(
                (str(number), rule.info.name, rule.dataset.refuted, rule.dataset.evaluable, rule.dataset.rate, rule.info.text)
            )
    notes = ("the rule of 0.88 is named in the publication; for the others, the soft rules of ours whose rate is nearest",)
    return Listing(
        "rates_not_given", "Published rates that the public files do not give, with our counts", columns, tuple(rows), notes=notes
    )


def hard_rule_scores(given: Mapping[str, Any], by: Mapping[str, Result]) -> Compared:
    """In falling order, since the publication does not name the rules."""
    cells, columns, scores = [], [Column("position", "place", CellKind.COUNT)], []
    for model, numbers in given["hard_rule_scores"].items():
        falling = sorted(numbers, reverse=True)
        appendix, definition = (sorted(hard_scores(by[convention], model), reverse=True) for convention in (APPENDIX, DEFINITION))
        cause = cause_of(model, Cause.UNKNOWN)
        for place, number in enumerate(falling):
            row = f"{model}, place {place + 1}"
            cells.append(cell(row, "score", number, appendix[place], cause, CellKind.COUNT, definition[place]))
        columns += [Column(f"{model} published", f"{model} published", CellKind.COUNT), Column(model, model, CellKind.COUNT)]
        scores += [falling, appendix[: len(falling)]]
    drawn = given["drawn_at"]
    title = "Scores of hard rules, in falling order"
    notes = (
        "the publication does not name its 18 hard rules, so scores stand in falling order; ours are the highest, by the appendix",
        f"rule {drawn['position']} of {drawn['model']} is drawn cut at {drawn['drawn']} in the publication; its value is 769",
    )
    rows = tuple((place, *row) for place, row in enumerate(zip(*scores, strict=True), 1))
    return Compared(
        "hard_rule_scores", title, "model", tuple(cells), REASONS, notes, Listing("hard_rule_scores", title, tuple(columns), rows)
    )


def soft_rule_scores(given: Mapping[str, Sequence[Printed]], by: Mapping[str, Result]) -> Compared:
    title = "Scores of 30 sampled soft rules"
    cells: list[Cell] = []
    rows: list[tuple[int | float | str | None, ...]] = []
    largest = 1 / min(rate for rate in _rates(by[APPENDIX]) if rate)
    for model, numbers in given.items():
        appendix, definition = (soft_scores(by[convention], model) for convention in (APPENDIX, DEFINITION))
        ours, others = ([score for score in scores if score is not None] for scores in (appendix, definition))
        left = Counter({number: sum(agrees(number, score) for score in ours) for number in set(numbers)})
        of_model = []
        for position, number in enumerate(numbers, 1):
            found = None if not number and not left[number] else nearest(number, ours)
            left[number] -= 1
            cause = Cause.UNKNOWN if not number or number > largest else cause_of(model, Cause.PREDICTIONS)
            row = f"{model}, sampled rule {position}"
            of_model.append(cell(row, "score", number, found, cause, by_definition=nearest(number, others)))
        cells += of_model
        for number, times in sorted(Counter(numbers).items()):
            causes = Counter(one.cause.value for one in of_model if one.published == number)
            text = ", ".join(causes if len(causes) == 1 else (f"{cause} {n}" for cause, n in causes.items()))
            with_it = sum(agrees(number, score) for score in ours)
            rows.append((model, str(number), times, with_it, len(ours), appendix.count(None), nearest(number, ours), text))
    columns = (
        Column("model", "model"),
        Column("score", "published score", CellKind.VALUE),
        Column("times", "sampled rules", CellKind.COUNT),
        Column("appendix", "our rules with it", CellKind.COUNT),
        Column("scored", "of scored", CellKind.COUNT),
        Column("unscored", "without a score", CellKind.COUNT),
        Column("nearest", "our nearest", CellKind.SCORE),
        Column("class", "class"),
    )
    notes = ("the publication does not name the sampled rules: a score is the same if a soft rule of ours has it",)
    command = f"{_SCORE} rules --format csv"
    unknown = (
        "a published 0 may stand for a rule without evaluable groundings, which has no score here; and no predictions at all could "
        f"give more than {largest:.1f} over the public files, since a score is at most 1 over the dataset rate"
    )
    reasons = {
        Cause.PREDICTIONS: Reason("the models were trained again, and answer otherwise", command),
        Cause.TEST_FACTS: REASONS[Cause.TEST_FACTS],
        Cause.UNKNOWN: Reason(unknown, command),
    }
    wide = Listing("soft_rule_scores", title, columns, tuple(rows))
    return Compared("sampled_soft_rule_scores", title, "model", tuple(cells), reasons, notes, wide)


def _rates(result: Result) -> list[float]:
    return [rule.dataset.rate for rule in result.rule_results if rule.dataset.rate is not None]


def nearest(number: Printed, ours: Sequence[float]) -> float | None:
    return min(ours, key=lambda one: abs(one - float(number)), default=None)
