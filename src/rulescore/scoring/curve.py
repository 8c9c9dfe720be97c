"""Scores at every cut of the models' rankings, or of their scores, as running sums of contributions.

A prediction's contribution depends on no other prediction (decision 0002). So the counts for the best k predictions of each query
are the sums of the contributions with a rank of at most k, and one evaluation gives all cuts.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.errors import Diagnostic, InputError
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import RuleKind, RuleResult
from rulescore.setting.choices import EVERY_ANSWER

MOST_THRESHOLDS = 20
_GREATEST = 2**63


class CurveOver(StrEnum):
    """What a curve runs over: ranks, where predictions up to a rank count, or scores, where predictions with at least a score
    count."""

    RANK = "rank"
    SCORE = "score"


def curve_over(over: str) -> CurveOver:
    """The choice that a word names; raises an error for any other word."""
    if over not in set(CurveOver):
        known = " or ".join(f"`{choice}`" for choice in CurveOver)
        raise InputError(Diagnostic("E330", f"there is no curve over `{over}`", notes=(f"a curve runs over {known}",)))
    return CurveOver(over)


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A model's scores with the predictions up to a rank `at`, or from a score `at`. Undefined is None."""

    at: int | float
    model: str
    violating: int
    evaluable: int
    hard: float | None
    soft: float | None


def curve_points(evaluation: Evaluation, over: CurveOver, at: Sequence[int | float] | None = None) -> list[CurvePoint]:
    """The points of every model, in the order of the models. `at`: these cuts alone. Otherwise every rank up to `top_k` or the last
    rank of a prediction that takes part in a grounding, whichever is greater; or the scores that divide a model's predictions into
    up to 20 groups of one size."""
    rows = evaluation.contributions
    longest = max([1, pc.max(rows["rank"]).as_py() or 1, *_asked_for(evaluation)])
    points: list[CurvePoint] = []
    for model in evaluation.model_results:
        model_rows = rows.filter(pc.equal(rows["model"].cast(pa.string()), model.name))
        _refuse_unknown(model_rows, model.name, over)
        cuts = at or (range(1, longest + 1) if over is CurveOver.RANK else _thresholds(model_rows))
        points += _points(model.name, _Rules(evaluation.rule_results), model_rows, over, cuts)
    return points


def _asked_for(evaluation: Evaluation) -> Iterator[int]:
    """The `top_k` of each model that has one."""
    limits = {} if evaluation.run is None else evaluation.run.options["top_k"]
    yield from (top_k for top_k in limits.values() if top_k is not None and top_k < EVERY_ANSWER)


def curve_table(points: Sequence[CurvePoint], over: CurveOver) -> Any:
    """The points as an Arrow table."""
    first = {"k": pa.array([int(point.at) for point in points], pa.int64())}
    if over is CurveOver.SCORE:
        first = {"threshold": pa.array([float(point.at) for point in points], pa.float64())}
    return pa.table(
        {
            **first,
            "model": pa.array([point.model for point in points], pa.string()),
            "violating": pa.array([point.violating for point in points], pa.int64()),
            "evaluable": pa.array([point.evaluable for point in points], pa.int64()),
            "hard_score": pa.array([point.hard for point in points], pa.float64()),
            "soft_score": pa.array([point.soft for point in points], pa.float64()),
        }
    )


def _refuse_unknown(rows: pa.Table, model: str, over: CurveOver) -> None:
    if not rows[over.value].null_count:
        return
    other = {CurveOver.RANK: CurveOver.SCORE, CurveOver.SCORE: CurveOver.RANK}[over]
    helps = (f'add a `{over}` column, or ask for a curve over the {other}: `--curve {other}`, `curve("{other}")`',)
    raise InputError(Diagnostic("E330", f"not all predictions of `{model}` have a {over}", helps=helps))


def _thresholds(rows: pa.Table) -> list[float]:
    """The different scores from the highest to the lowest; of many, an evenly spaced selection."""
    scores = sorted(set(rows["score"].to_pylist()), reverse=True)
    if len(scores) <= MOST_THRESHOLDS:
        return scores
    return [scores[len(scores) * part // MOST_THRESHOLDS - 1] for part in range(1, MOST_THRESHOLDS + 1)]


class _Rules:
    """Turns sums of contributions into scores, which are exact even if some rules have no contributions."""

    def __init__(self, rules: Sequence[RuleResult]) -> None:
        hard = [rule for rule in rules if rule.kind is RuleKind.HARD]
        self.hard = {rule.info.name: Fraction(rule.info.weight) for rule in hard}
        self._judging = {rule.info.name for rule in hard if not rule.info.unrefutable}
        self._weights = sum(self.hard.values())
        self._soft = {
            rule.info.name: rule.dataset
            for rule in rules
            if rule.kind is RuleKind.SOFT and rule.dataset.evaluable and rule.dataset.refuted
        }

    def hard_score(self, refuted: Counter[str], evaluable: Counter[str]) -> float | None:
        """Also None if no hard rule that can be refuted has an evaluable grounding, because the score would then always be 0."""
        if not self._weights or not any(n for rule, n in evaluable.items() if rule in self._judging):
            return None
        return float(sum(self.hard[rule] * n for rule, n in refuted.items() if rule in self.hard) / self._weights)

    def soft_score(self, refuted: Counter[str], evaluable: Counter[str]) -> float | None:
        scored = {rule: self._soft[rule] for rule, n in evaluable.items() if n and rule in self._soft}
        terms = [refuted[rule] * dataset.evaluable / dataset.refuted for rule, dataset in scored.items()]
        return math.fsum(terms) / evaluable.total() if terms else None


def _points(model: str, rules: _Rules, rows: pa.Table, over: CurveOver, cuts: Iterable[int | float]) -> Iterator[CurvePoint]:
    """From few predictions to many. A place is a rank, or a score with its sign reversed: predictions up to a place count."""
    sign = 1 if over is CurveOver.RANK else -1
    rows = rows.append_column("place", pc.multiply(rows[over.value], sign))
    steps = _sums(rows)
    violating = _violating_places(rows, rules)
    refuted: Counter[str] = Counter()
    evaluable: Counter[str] = Counter()
    done = 0
    for cut in sorted(cuts, key=lambda cut: cut * sign):
        while done < len(steps) and steps[done]["place"] <= cut * sign:
            step = steps[done]
            refuted[step["rule"]] += int(step["refuted_sum"])
            evaluable[step["rule"]] += int(step["evaluable_sum"])
            done += 1
        hard, soft = rules.hard_score(refuted, evaluable), rules.soft_score(refuted, evaluable)
        yield CurvePoint(cut, model, bisect_right(violating, cut * sign), evaluable.total(), hard, soft)


def _sums(rows: pa.Table) -> list[dict[str, Any]]:
    """Sums by place and rule, in the order of the places."""
    for name in ("refuted", "evaluable"):
        if (pc.max(rows[name]).as_py() or 0) * rows.num_rows >= _GREATEST:
            rows = rows.set_column(rows.schema.get_field_index(name), name, rows[name].cast(pa.decimal128(38)))
    rows = rows.set_column(rows.schema.get_field_index("rule"), "rule", rows["rule"].cast(pa.string()))
    sums = rows.group_by(["place", "rule"]).aggregate([("refuted", "sum"), ("evaluable", "sum")])
    steps: list[dict[str, Any]] = sums.sort_by("place").to_pylist()
    return steps


def _violating_places(rows: pa.Table, rules: _Rules) -> list[float]:
    """The places of the predictions that violate a hard rule, in order."""
    violations = rows.filter(
        pc.and_(pc.greater(rows["refuted"], 0), pc.is_in(rows["rule"].cast(pa.string()), pa.array(list(rules.hard), pa.string())))
    )
    columns = (violations[name].to_pylist() for name in ("predicate", "arguments", "place"))
    places = {(predicate, *arguments): place for predicate, arguments, place in zip(*columns, strict=True)}
    return sorted(places.values())
