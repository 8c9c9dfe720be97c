"""Intervals cover the truth as often as they say, if five violations or more are expected: shown by simulation.

Queries are drawn from a population whose rates are known, and so are the data's counts. Predictions of one query rise and fall
together.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from made_results import Rows, made_result
from rulescore.comparison.comparing import compare
from rulescore.scoring.results import Counts, RuleInfo

pytestmark = pytest.mark.slow

RUNS = 250
HARD, SOFT = 0, 1
RULES = [RuleInfo("r0", "p0(X) <- q(X)", "hard"), RuleInfo("r1", "p1(X) <- q(X)", "soft")]


class World:
    """Queries that have `each` predictions; each prediction has one to three evaluable groundings of the hard rule and of the soft
    one, or as many as `groundings` says. A query's own rates vary around `hard` and `soft`, if `together`."""

    def __init__(
        self,
        queries: int,
        each: int,
        hard: float,
        soft: float,
        data: int,
        data_rate: float,
        *,
        together: bool,
        groundings: tuple[int, ...] = (1, 2, 3),
    ) -> None:
        self.queries, self.each, self.rates, self.together = queries, each, (hard, soft), together
        self.groundings = groundings
        self.data, self.data_rate = data, data_rate
        self.names_queries = each > 1

    def rows(self, random: np.random.Generator, factor: float = 1.0) -> Rows:
        parts = []
        for rule, rate in enumerate(self.rates):
            own = np.full(self.queries, rate * factor)
            if self.together:
                own = random.beta(2 * rate * factor, 2 * (1 - rate * factor), self.queries)
            evaluable = random.choice(self.groundings, self.queries * self.each)
            parts.append((np.full(len(evaluable), rule), evaluable, random.binomial(evaluable, np.repeat(own, self.each))))
        rule, evaluable, refuted = (np.concatenate(one) for one in zip(*parts, strict=True))
        prediction = np.tile(np.arange(self.queries * self.each), 2)
        rows = {"rule": rule, "prediction": prediction, "evaluable": evaluable, "refuted": refuted}
        return {**rows, "query": prediction // self.each} if self.names_queries else rows

    def dataset(self, random: np.random.Generator) -> list[Counts]:
        # A soft rule that the data happen never to contradict has no score: the truth is of those they do.
        refuted = 0
        while not refuted:
            refuted = int(random.binomial(self.data, self.data_rate))
        return [Counts(1000, 0, 1000), Counts(self.data - refuted, refuted, self.data)]

    def truth(self, factor: float = 1.0) -> dict[str, float]:
        predictions = self.queries * self.each
        hard, soft = (rate * factor for rate in self.rates)
        return {
            "violating": self._violating(hard),
            "hard_score": hard * predictions * sum(self.groundings) / len(self.groundings),
            "soft_score": soft / self.data_rate / 2,
            "rate": soft,
            "score": soft / self.data_rate,
        }

    def _violating(self, rate: float) -> float:
        """That a prediction has a refuted grounding."""
        never = [(1 - rate) ** number for number in self.groundings]
        if self.together:
            spared = 2 * (1 - rate)
            never = [float(np.prod([(spared + i) / (2 + i) for i in range(number)])) for number in self.groundings]
        return 1 - sum(never) / len(never)

    def expected_violations(self) -> float:
        return min(self.rates) * self.queries * self.each * sum(self.groundings) / len(self.groundings)


WORLDS = {
    "few": World(200, 1, 0.0125, 0.0125, 2000, 0.05, together=False),
    "some": World(500, 1, 0.02, 0.05, 500, 0.1, together=False),
    "many": World(300, 1, 0.4, 0.3, 300, 0.2, together=False),
    "few data": World(500, 1, 0.1, 0.2, 40, 0.25, together=False),
    "together": World(150, 5, 0.05, 0.1, 1000, 0.1, together=True),
    "nearly all of few": World(10, 1, 0.9, 0.9, 1000, 0.3, together=False, groundings=(1,)),
    "nearly all of few, in pairs": World(10, 2, 0.9, 0.9, 1000, 0.3, together=False, groundings=(1,)),
}
FEWEST = 20
"""With fewer queries, the counts that can occur are so few that intervals may cover more than they say."""


@pytest.mark.parametrize("name", list(WORLDS))
def test_nominal_intervals_cover(name: str) -> None:
    world = WORLDS[name]
    assert world.expected_violations() >= 5
    truth = world.truth()
    covered: Counter[str] = Counter()
    for seed in range(RUNS):
        random = np.random.default_rng(seed)
        models = {"a": world.rows(random), "b": world.rows(random)}
        predictions = world.queries * world.each
        found = compare(made_result(world.dataset(random), models, predictions, world.queries, RULES), draws=300, seed=seed)
        measures = {(row["model"], row["measure"]): row for row in found.models.to_pylist()}
        for measure in ("violating", "hard_score", "soft_score"):
            row = measures["a", measure]
            covered[measure] += row["low"] <= truth[measure] <= row["high"]
        soft = next(row for row in found.rules.to_pylist() if (row["model"], row["rule"]) == ("a", "r1"))
        for measure in ("rate", "score"):
            covered[measure] += soft[f"{measure}_low"] <= truth[measure] <= soft[f"{measure}_high"]
        for row in found.differences.to_pylist():
            # Both models are alike: the true difference is 0.
            covered[f"difference of {row['measure']}"] += row["better"] is None
    shares = {what: number / RUNS for what, number in covered.items()}
    print(name, shares)
    most = 0.99 if world.queries >= FEWEST else 1
    assert {what: share for what, share in shares.items() if not 0.9 <= share <= most} == {}
