"""Each number of a sample with its interval, and its draws. Differences are computed from the draws.

A number has a reason instead of an interval if the number itself says nothing, or if too few queries take part. Its draws are then
NaN.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rulescore.comparison.intervals import (
    FEWEST_QUERIES,
    Estimate,
    Floats,
    drawn_alike,
    drawn_never,
    drawn_rates,
    is_steady,
    never_seen,
    percentiles,
)
from rulescore.comparison.samples import Drawn, Sample, is_scored_soft
from rulescore.scoring.results import Measure, RuleKind, RuleResult

MEASURES = ("violating", "hard_score", "soft_score")
"""The measures of a model: the share of its predictions that violate a hard rule, and the two aggregates."""


@dataclass(frozen=True, slots=True)
class DataRates:
    """Draws of the data's rates of rules, a column for each. `columns`: the column of each rule, by its text and counts, because
    two results over the same data share these."""

    rates: Floats
    columns: Mapping[tuple[str, int, int], int]

    def of(self, rules: Iterable[RuleResult]) -> Floats:
        """The draws of these rules, a column for each."""
        return self.rates[:, [self.columns[_data_key(rule)] for rule in rules]]


@dataclass(frozen=True, slots=True)
class Estimated:
    """The numbers of a sample. Draws have a row for each draw, and draws of rules a column for each rule."""

    measures: tuple[Estimate, ...]
    measure_draws: Floats
    rates: tuple[Estimate, ...]
    scores: tuple[Estimate, ...]
    score_draws: Floats


def data_rates(samples: Sequence[Sample], draws: int, random: np.random.Generator) -> DataRates:
    wanted = {
        _data_key(rule): None
        for sample in samples
        for rule in sample.rules
        if rule is not None and is_scored_soft(rule, sample.model.name)
    }
    refuted, evaluable = (np.array([key[place] for key in wanted], np.float64) for place in (1, 2))
    return DataRates(drawn_rates(refuted, evaluable, draws, random), {key: column for column, key in enumerate(wanted)})


def _data_key(rule: RuleResult) -> tuple[str, int, int]:
    return rule.info.text, rule.dataset.refuted, rule.dataset.evaluable


def estimate(sample: Sample, drawn: Drawn, data: DataRates, level: float, random: np.random.Generator) -> Estimated:
    rates, rate_draws = _rates(sample, drawn, level, random)
    scores, score_draws = _scores(sample, drawn, rates, rate_draws, data, level, random)
    parts = [
        _violating(sample, drawn, level, random),
        _hard(sample, drawn, (scores, score_draws), level, random),
        _soft(sample, drawn, data, (scores, score_draws), level, random),
    ]
    return Estimated(tuple(part for part, _ in parts), np.stack([draws for _, draws in parts], axis=1), rates, scores, score_draws)


def few(queries: int) -> str:
    return "one query only: there is nothing to draw from" if queries == 1 else f"{queries} queries are too few to draw from"


def _rates(sample: Sample, drawn: Drawn, level: float, random: np.random.Generator) -> tuple[tuple[Estimate, ...], Floats]:
    """p_r of every rule. If every query breaks a rule alike, or none does, the rule gets the exact bound for the number of queries
    that take part."""
    counts = [None if rule is None else rule.models[sample.model.name].counts for rule in sample.rules]
    refuted = np.array([0 if count is None else count.refuted for count in counts], np.float64)
    evaluable = np.array([0 if count is None else count.evaluable for count in counts], np.float64)
    number = drawn.taking_part
    with np.errstate(invalid="ignore", divide="ignore"):
        draws = np.where(drawn.evaluable > 0, drawn.refuted / drawn.evaluable, np.nan)
        values = refuted / evaluable
    bounded = (values == 0) | (values == 1) | (is_steady(draws) & (number >= FEWEST_QUERIES))
    draws[:, bounded] = drawn_alike(values[bounded], number[bounded], len(draws), random)
    # If there are very many rules, most need no sorting: they have only a bound, or too few queries take part in them.
    sorted_places = np.flatnonzero(~bounded & (number >= FEWEST_QUERIES))
    intervals = dict(zip(sorted_places.tolist(), zip(*percentiles(draws[:, sorted_places], level), strict=True), strict=True))
    rates = []
    for place, count in enumerate(counts):
        queries = int(number[place])
        if count is None or not count.evaluable:
            reason = "the rule is not in this result" if count is None else "no prediction takes part in an evaluable grounding"
            rates.append(Estimate(None, reason=reason))
        elif bounded[place]:
            rates.append(_alike(float(values[place]), queries, level))
        elif queries < FEWEST_QUERIES:
            draws[:, place] = np.nan
            rates.append(Estimate(count.rate, reason=few(queries)))
        else:
            low, high = intervals[place]
            rates.append(Estimate(count.rate, float(low), float(high)))
    return tuple(rates), draws


def _alike(share: float, queries: int, level: float) -> Estimate:
    """The interval if every query has the same share. Few other queries can have another share, which may be anything from 0 to
    1."""
    bound = never_seen(queries, level)
    return Estimate(share, share * (1 - bound), share * (1 - bound) + bound)


def _scores(
    sample: Sample,
    drawn: Drawn,
    rates: Sequence[Estimate],
    rate_draws: Floats,
    data: DataRates,
    level: float,
    random: np.random.Generator,
) -> tuple[tuple[Estimate, ...], Floats]:
    """RVS_r of every rule: of a hard one the sum of violations, of a soft one p_r / d_r."""
    draws = np.full_like(rate_draws, np.nan)
    refusals: dict[int, Estimate] = {}
    never = np.zeros(len(sample.rules), np.bool_)
    hard: list[int] = []
    soft: dict[int, RuleResult] = {}
    for place, rule in enumerate(sample.rules):
        if rule is None:
            refusals[place] = Estimate(None, reason="the rule is not in this result")
            continue
        result = rule.models[sample.model.name]
        if (refused := _refused(rule, result.score, sample, rates[place])) is not None:
            refusals[place] = refused
        elif rule.kind is RuleKind.SOFT:
            soft[place] = rule
        elif result.counts.refuted:
            hard.append(place)
        else:
            never[place] = True
    draws[:, list(soft)] = rate_draws[:, list(soft)] / data.of(soft.values())
    draws[:, hard] = drawn.refuted[:, hard] * drawn.proportion[:, None]
    draws[:, never] = sample.queries * drawn_never(np.full(int(never.sum()), sample.queries), len(draws), random)
    sums = np.zeros(len(sample.rules), np.bool_)
    sums[hard] = True
    low, high = percentiles(draws, level, sums=sums.tolist())
    steady = sums & is_steady(draws)
    draws[:, steady] *= 1 - drawn_never(np.full(int(steady.sum()), sample.queries), len(draws), random)
    bound = never_seen(sample.queries, level) if never.any() or steady.any() else 0.0
    tops = _tops(sample, rates, data, level)
    made = []
    for place, rule in enumerate(sample.rules):
        value = None if rule is None else rule.models[sample.model.name].score.value
        if place in refusals:
            made.append(refusals[place])
        elif value is None or never[place]:
            made.append(Estimate(value, 0.0, sample.queries * bound))
        elif steady[place]:
            made.append(Estimate(value, value * (1 - bound), value))
        elif place in tops:
            made.append(_holding(value, float(low[place]), tops[place]))
        else:
            made.append(_holding(value, 0.0 if value == 0 else float(low[place]), float(high[place])))
    return tuple(made), draws


def _tops(sample: Sample, rates: Sequence[Estimate], data: DataRates, level: float) -> dict[int, float]:
    """Upper bounds for the scores of soft rules if we saw nothing but violations of them, as in `_always`, for all rules at
    once."""
    rules = enumerate(sample.rules)
    always = {place: rule for place, rule in rules if rule and rule.kind is RuleKind.SOFT and rates[place].value == 1}
    if not always:
        return {}
    _, high = percentiles(1 / data.of(always.values()), level)
    return dict(zip(always, high.tolist(), strict=True))


def _always(value: float, draws: Floats, highest: Floats, level: float) -> Estimate:
    """A soft score if we saw nothing but violations. Draws lie below it, and only other data could make it higher."""
    return replace(_between(value, draws, level), high=_between(value, highest, level).high)


def _holding(value: float, low: float, high: float) -> Estimate:
    """An interval that holds its number, even if all draws lie on one side of it."""
    return Estimate(value, min(low, value), max(high, value))


def _refused(rule: RuleResult, score: Measure, sample: Sample, rate: Estimate) -> Estimate | None:
    """The score without an interval, if it can have none."""
    if score.reason is not None:
        return Estimate(score.value, reason=score.reason)
    if rule.kind is RuleKind.SOFT and rule.info.denial:
        return Estimate(score.value, reason="a denial constraint that is soft always scores 1")
    if rule.kind is RuleKind.SOFT:
        return Estimate(score.value, reason=rate.reason) if rate.low is None else None
    if sample.queries < FEWEST_QUERIES and rule.models[sample.model.name].counts.refuted:
        return Estimate(score.value, reason=few(sample.queries))
    return None


def _violating(sample: Sample, drawn: Drawn, level: float, random: np.random.Generator) -> tuple[Estimate, Floats]:
    """The share of predictions that violate a hard rule."""
    nothing = np.full(len(drawn.violating), np.nan)
    predictions, violating = sample.model.predictions.distinct, sample.model.violating
    hard = [rule for rule in sample.rules if rule is not None and rule.kind is RuleKind.HARD]
    if violating is None or not predictions:
        return Estimate(None, reason="there are no predictions"), nothing
    value = violating / predictions
    if not hard:
        return Estimate(None, reason="there is no hard rule"), nothing
    if (reason := sample.model.hard_score.reason) is not None and sample.model.hard_score.mark is not None:
        return Estimate(value, reason=reason), nothing
    queries = sample.queries
    draws = np.minimum(1.0, drawn.violating * drawn.proportion / predictions)
    if violating in {0, predictions} or (queries >= FEWEST_QUERIES and is_steady(draws[:, None])[0]):
        draws = drawn_alike(np.array([value]), np.array([queries]), len(nothing), random)[:, 0]
        return _alike(value, queries, level), draws
    if queries < FEWEST_QUERIES:
        return Estimate(value, reason=few(queries)), nothing
    return _between(value, draws, level, is_sum=True), draws


Scores = tuple[Sequence[Estimate], Floats]


def _hard(sample: Sample, drawn: Drawn, scores: Scores, level: float, random: np.random.Generator) -> tuple[Estimate, Floats]:
    """Σ σ·v / Σ σ over all hard rules. If there is a single rule: its own score."""
    nothing = np.full(len(drawn.violating), np.nan)
    score = sample.model.hard_score
    if score.value is None or score.reason is not None:
        return Estimate(score.value, reason=score.reason), nothing
    weights = np.array([rule.info.weight if rule is not None and rule.kind is RuleKind.HARD else 0.0 for rule in sample.rules])
    weights = weights / weights.sum()
    if np.count_nonzero(weights) == 1:
        return _of_rule(scores, int(weights.argmax()))
    queries = sample.queries
    if score.value == 0:
        # We do not know which rule the next violation breaks, so we give it the greatest weight.
        share = weights.max() * queries
        draws = share * drawn_never(np.array([queries]), len(nothing), random)[:, 0]
        return Estimate(0.0, 0.0, float(share * never_seen(queries, level))), draws
    if queries < FEWEST_QUERIES:
        return Estimate(score.value, reason=few(queries)), nothing
    draws = drawn.refuted @ weights * drawn.proportion
    if is_steady(draws[:, None])[0]:
        draws = score.value * (1 - drawn_never(np.array([queries]), len(nothing), random)[:, 0])
        return Estimate(score.value, score.value * (1 - never_seen(queries, level)), score.value), draws
    return _between(score.value, draws, level, is_sum=True), draws


def _of_rule(scores: Scores, place: int) -> tuple[Estimate, Floats]:
    estimates, draws = scores
    return estimates[place], draws[:, place]


def _soft(
    sample: Sample, drawn: Drawn, data: DataRates, scores: Scores, level: float, random: np.random.Generator
) -> tuple[Estimate, Floats]:
    """Σ v / d over soft rules, divided by all evaluable groundings. If one rule has them all: its own score."""
    nothing = np.full(len(drawn.violating), np.nan)
    score = sample.model.soft_score
    if score.value is None or score.reason is not None:
        return Estimate(score.value, reason=score.reason), nothing
    scored = [(i, rule) for i, rule in enumerate(sample.rules) if rule is not None and is_scored_soft(rule, sample.model.name)]
    places = [i for i, _ in scored]
    counts = [rule.models[sample.model.name].counts for _, rule in scored]
    if len(scored) == 1 and counts[0].evaluable == sample.model.evaluable:
        return _of_rule(scores, places[0])
    per_rate = 1 / data.of(rule for _, rule in scored)
    # The rate of a denial constraint is always 1.
    per_rate[:, [rule.info.denial for _, rule in scored]] = 1
    if score.value == 0:
        # We treat these rules as if all were broken at the same rate, so each counts by its evaluable groundings.
        shares = np.array([count.evaluable / sample.model.evaluable for count in counts])
        draws = drawn_never(np.array([drawn.in_soft]), len(nothing), random)[:, 0] * (per_rate @ shares)
        return Estimate(0.0, 0.0, _between(0.0, draws, level).high), draws
    if drawn.in_soft < FEWEST_QUERIES:
        return Estimate(score.value, reason=few(drawn.in_soft)), nothing
    with np.errstate(invalid="ignore", divide="ignore"):
        draws = (drawn.refuted[:, places] * per_rate).sum(axis=1) / drawn.evaluable.sum(axis=1)
    if all(count.refuted == count.evaluable for count in counts):
        below = draws * (1 - drawn_never(np.array([drawn.in_soft]), len(nothing), random)[:, 0])
        return _always(score.value, below, draws, level), below
    return _between(score.value, draws, level), draws


def _between(value: float, draws: Floats, level: float, *, is_sum: bool = False) -> Estimate:
    low, high = percentiles(draws[:, None], level, sums=[is_sum])
    return _holding(value, float(low[0]), float(high[0]))
