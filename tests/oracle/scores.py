"""Counts by the convention of a setting, and the rates and scores that are computed of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from oracle import appendix, definition
from oracle.counts import Counts, total
from oracle.facts import Constant, Fact, Facts
from oracle.tree import APPENDIX, Rule, Setting
from oracle.unrefutable import unrefutable

# Counts


def dataset_counts(setting: Setting, rule: Rule) -> Counts:
    return (appendix if setting.convention == APPENDIX else definition).dataset_counts(setting, rule)


def contribution(setting: Setting, rule: Rule, prediction: Fact) -> Counts:
    return (appendix if setting.convention == APPENDIX else definition).contribution(setting, rule, prediction)


def violations(setting: Setting, rule: Rule, prediction: Fact) -> set[tuple[frozenset[tuple[str, Constant]], frozenset[str]]]:
    return (appendix if setting.convention == APPENDIX else definition).violations(setting, rule, prediction)


@dataclass(frozen=True)
class Counted:
    """All counts of a setting, each computed once."""

    dataset: Mapping[str, Counts]
    contributions: Mapping[tuple[str, Fact], Counts]

    def total(self, rule: Rule, predictions: Facts) -> Counts:
        return total(self.contributions[rule.name, one] for one in predictions)


def counts_of(setting: Setting) -> Counted:
    predictions = frozenset[Fact]().union(*setting.predictions.values())
    return Counted(
        {rule.name: dataset_counts(setting, rule) for rule in setting.rules},
        {(rule.name, one): contribution(setting, rule, one) for rule in setting.rules for one in predictions},
    )


# Rates and scores


@dataclass(frozen=True)
class RuleScore:
    kind: str
    dataset: Counts
    dataset_rate: Fraction | None
    counts: Counts
    prediction_rate: Fraction | None
    score: Fraction | None
    share: Fraction | None


@dataclass(frozen=True)
class ModelScore:
    rules: Mapping[str, RuleScore]
    hard_score: Fraction | None
    soft_score: Fraction | None
    hard_mean: Fraction | None
    soft_mean: Fraction | None


def ratio(part: Fraction | int, whole: Fraction | int) -> Fraction | None:
    return Fraction(part) / Fraction(whole) if whole else None


def kind_of(setting: Setting, rule: Rule, dataset: Counts) -> str:
    if rule.kind is not None:
        return rule.kind
    if dataset.evaluable == 0:
        return "hard" if rule.head is None else "undetermined"
    if dataset.refuted:
        return "soft"
    return "hard" if dataset.evaluable >= setting.hard_needs or unrefutable(setting, rule) else "undetermined"


def rule_score(setting: Setting, rule: Rule, dataset: Counts, counts: Counts, all_evaluable: int) -> RuleScore:
    kind = kind_of(setting, rule, dataset)
    dataset_rate = ratio(dataset.refuted, dataset.evaluable)
    prediction_rate = ratio(counts.refuted, counts.evaluable)
    score: Fraction | None = None
    if kind == "hard":
        score = Fraction(counts.refuted)
    elif kind == "soft" and prediction_rate is not None and dataset_rate:
        score = prediction_rate / dataset_rate
    share = ratio(counts.evaluable, all_evaluable)
    return RuleScore(kind, dataset, dataset_rate, counts, prediction_rate, score, share)


def mean(pairs: list[tuple[Fraction, Fraction]]) -> Fraction | None:
    """The mean of (weight, value) pairs; undefined when the weights sum to 0."""
    return ratio(sum((w * x for w, x in pairs), Fraction(0)), sum((w for w, _ in pairs), Fraction(0)))


def model_score(setting: Setting, model: str, counts: Counted | None = None) -> ModelScore:
    found = counts_of(setting) if counts is None else counts
    totals = {rule.name: found.total(rule, setting.predictions[model]) for rule in setting.rules}
    return score_of_counts(setting, found.dataset, totals)


def score_of_counts(setting: Setting, datasets: Mapping[str, Counts], totals: Mapping[str, Counts]) -> ModelScore:
    rules = setting.rules
    evaluable = sum(counts.evaluable for counts in totals.values())
    scores = {rule.name: rule_score(setting, rule, datasets[rule.name], totals[rule.name], evaluable) for rule in rules}
    hard = [(rule.weight, scores[rule.name]) for rule in rules if scores[rule.name].kind == "hard"]
    soft = [(s.share, s.score) for s in scores.values() if s.kind == "soft" and s.score is not None and s.share is not None]
    return ModelScore(
        rules=scores,
        hard_score=mean([(weight, s.score) for weight, s in hard if s.score is not None]),
        soft_score=sum((share * score for share, score in soft), Fraction(0)) if soft else None,
        hard_mean=mean([(weight, s.score) for weight, s in hard if s.score is not None and s.counts.evaluable]),
        soft_mean=mean(soft),
    )
