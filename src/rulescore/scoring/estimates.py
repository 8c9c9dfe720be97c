"""Each number of a sample with its interval, and the draws behind it, from which differences are made.

A number has a reason instead of an interval if the number itself says nothing, or if too few queries take part. Its draws are then
NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rulescore.scoring.intervals import (
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
from rulescore.scoring.results import Measure, RuleKind, RuleResult
from rulescore.scoring.samples import Drawn, Sample, is_scored_soft

MEASURES = ("violating", "hard_score", "soft_score")
"""The measures of a model: the share of its predictions that violate a hard rule, and the two aggregates."""

DataRates = Mapping[tuple[str, int, int], Floats]
"""Draws of the data's rate of a rule, by its text and counts: two results over the same data have the same."""


@dataclass(frozen=True, slots=True)
class Estimated:
    """The numbers of a sample. Draws have a row for each draw; those of rules have a column for each rule."""

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
    found = drawn_rates(refuted, evaluable, draws, random)
    return {key: found[:, place] for place, key in enumerate(wanted)}


def _data_key(rule: RuleResult) -> tuple[str, int, int]:
    return rule.info.text, rule.dataset.refuted, rule.dataset.evaluable


def estimate(sample: Sample, drawn: Drawn, data: DataRates, level: float, random: np.random.Generator) -> Estimated:
    rates, rate_draws = _rates(sample, drawn, level, random)
    scores, score_draws = _scores(sample, drawn, rates, rate_draws, data, level, random)
    found = [
        _violating(sample, drawn, level, random),
        _hard(sample, drawn, (scores, score_draws), level, random),
        _soft(sample, drawn, data, (scores, score_draws), level, random),
    ]
    return Estimated(tuple(one for one, _ in found), np.stack([draws for _, draws in found], axis=1), rates, scores, score_draws)


def few(queries: int) -> str:
    return "one query only: there is nothing to draw from" if queries == 1 else f"{queries} queries are too few to draw from"


def _rates(sample: Sample, drawn: Drawn, level: float, random: np.random.Generator) -> tuple[tuple[Estimate, ...], Floats]:
    """p_r of every rule. A rule that every query breaks alike, or never, has the exact bound for as many queries as take part."""
    counts = [None if rule is None else rule.models[sample.model.name].counts for rule in sample.rules]
    refuted = np.array([0 if one is None else one.refuted for one in counts], np.float64)
    evaluable = np.array([0 if one is None else one.evaluable for one in counts], np.float64)
    number = drawn.taking_part
    with np.errstate(invalid="ignore", divide="ignore"):
        draws = np.where(drawn.evaluable > 0, drawn.refuted / drawn.evaluable, np.nan)
        values = refuted / evaluable
    bounded = (values == 0) | (values == 1) | (is_steady(draws) & (number >= FEWEST_QUERIES))
    draws[:, bounded] = drawn_alike(values[bounded], number[bounded], len(draws), random)
    low, high = percentiles(draws, level)
    found = []
    for place, one in enumerate(counts):
        queries = int(number[place])
        if one is None or not one.evaluable:
            reason = "the rule is not in this result" if one is None else "no prediction takes part in an evaluable grounding"
            found.append(Estimate(None, reason=reason))
        elif bounded[place]:
            found.append(_alike(float(values[place]), queries, level))
        elif queries < FEWEST_QUERIES:
            draws[:, place] = np.nan
            found.append(Estimate(one.rate, reason=few(queries)))
        else:
            found.append(Estimate(one.rate, float(low[place]), float(high[place])))
    return tuple(found), draws


def _alike(share: float, queries: int, level: float) -> Estimate:
    """A share that every query has: the share of queries that have another, any from 0 to 1, is bounded."""
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
    for place, rule in enumerate(sample.rules):
        if rule is None:
            refusals[place] = Estimate(None, reason="the rule is not in this result")
            continue
        found = rule.models[sample.model.name]
        if (refused := _refused(rule, found.score, sample, rates[place])) is not None:
            refusals[place] = refused
        elif rule.kind is RuleKind.SOFT:
            draws[:, place] = rate_draws[:, place] / data[_data_key(rule)]
        elif found.counts.refuted:
            draws[:, place] = drawn.refuted[:, place] * drawn.proportion
        else:
            never[place] = True
    draws[:, never] = sample.queries * drawn_never(np.full(int(never.sum()), sample.queries), len(draws), random)
    hard = [rule is not None and rule.kind is RuleKind.HARD and not never[place] for place, rule in enumerate(sample.rules)]
    sums = np.array([one and place not in refusals for place, one in enumerate(hard)], np.bool_)
    low, high = percentiles(draws, level, sums=sums.tolist())
    steady = sums & is_steady(draws)
    draws[:, steady] *= 1 - drawn_never(np.full(int(steady.sum()), sample.queries), len(draws), random)
    bound = never_seen(sample.queries, level) if never.any() or steady.any() else 0.0
    made = []
    for place, rule in enumerate(sample.rules):
        value = None if rule is None else rule.models[sample.model.name].score.value
        if place in refusals:
            made.append(refusals[place])
        elif value is None or never[place]:
            made.append(Estimate(value, 0.0, sample.queries * bound))
        elif steady[place]:
            made.append(Estimate(value, value * (1 - bound), value))
        elif rule is not None and rule.kind is RuleKind.SOFT and rates[place].value == 1:
            made.append(_always(value, draws[:, place], 1 / data[_data_key(rule)], level))
        else:
            made.append(_holding(value, 0.0 if value == 0 else float(low[place]), float(high[place])))
    return tuple(made), draws


def _always(value: float, draws: Floats, highest: Floats, level: float) -> Estimate:
    """A soft score if nothing but violations is seen: draws lie below it, and other data alone could make it higher."""
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
    """Σ σ·v / Σ σ over all hard rules; of a single one, its own score."""
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
        # We do not know of which rule the next violation is: we give it the greatest weight.
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
    """Σ v / d over soft rules, by all evaluable groundings; of a rule that has them all, its own score."""
    nothing = np.full(len(drawn.violating), np.nan)
    score = sample.model.soft_score
    if score.value is None or score.reason is not None:
        return Estimate(score.value, reason=score.reason), nothing
    scored = [(i, rule) for i, rule in enumerate(sample.rules) if rule is not None and is_scored_soft(rule, sample.model.name)]
    places = [i for i, _ in scored]
    counts = [rule.models[sample.model.name].counts for _, rule in scored]
    if len(scored) == 1 and counts[0].evaluable == sample.model.evaluable:
        return _of_rule(scores, places[0])
    per_rate = np.stack([_inverse(rule, data) for _, rule in scored], axis=1)
    if score.value == 0:
        # As if all these rules were broken alike: each counts by its evaluable groundings.
        shares = np.array([one.evaluable / sample.model.evaluable for one in counts])
        draws = drawn_never(np.array([drawn.in_soft]), len(nothing), random)[:, 0] * (per_rate @ shares)
        return Estimate(0.0, 0.0, _between(0.0, draws, level).high), draws
    if drawn.in_soft < FEWEST_QUERIES:
        return Estimate(score.value, reason=few(drawn.in_soft)), nothing
    with np.errstate(invalid="ignore", divide="ignore"):
        draws = (drawn.refuted[:, places] * per_rate).sum(axis=1) / drawn.evaluable.sum(axis=1)
    if all(one.refuted == one.evaluable for one in counts):
        below = draws * (1 - drawn_never(np.array([drawn.in_soft]), len(nothing), random)[:, 0])
        return _always(score.value, below, draws, level), below
    return _between(score.value, draws, level), draws


def _inverse(rule: RuleResult, data: DataRates) -> Floats:
    """1 / d_r; 1 for a denial constraint, whose rate is always 1."""
    rates = data[_data_key(rule)]
    return np.ones(len(rates)) if rule.info.denial else 1 / rates


def _between(value: float, draws: Floats, level: float, *, is_sum: bool = False) -> Estimate:
    low, high = percentiles(draws[:, None], level, sums=[is_sum])
    return _holding(value, float(low[0]), float(high[0]))
