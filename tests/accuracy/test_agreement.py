"""Figures are those of the libraries that people know: PyKEEN's evaluator of ranks, and the metrics of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest

from rulescore.accuracy.answers import Ranking, Ranks, rank_measures, rank_of
from rulescore.accuracy.metrics import value_accuracy
from rulescore.setting.choices import Ties, ValueTask

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("torch")]

# Sums of the same doubles in another order differ in the last digits.
LAST_DIGIT = 1e-12


# PyKEEN keeps mean ranks of ties in single precision.
SINGLE = 1e-6


def agrees(ours: float | None, theirs: float, digits: float = LAST_DIGIT) -> None:
    assert ours == pytest.approx(theirs, rel=digits, abs=0)


@pytest.mark.parametrize("ties", Ties)
def test_ranks_are_those_of_pykeen(ties: Ties) -> None:
    """Scores of 60 entities with many ties, filtered as its evaluator filters: what is known is no candidate."""
    import torch
    from pykeen import evaluation

    generator = np.random.default_rng(4)
    queries, entities = 200, 60
    scores = generator.integers(0, 12, (2, queries, entities)).astype(np.float32)
    truths = generator.integers(0, entities, (2, queries))
    known = generator.random((2, queries, entities)) < 0.1
    evaluator = evaluation.RankBasedEvaluator()
    names = [str(number) for number in range(entities)]
    bounds, tails = [], []
    for side, target in enumerate(("head", "tail")):
        known[side, np.arange(queries), truths[side]] = False
        left = np.where(known[side], np.nan, scores[side])
        evaluator.process_scores_(
            hrt_batch=torch.zeros((queries, 3), dtype=torch.long),
            target=target,
            scores=torch.tensor(left),
            true_scores=torch.tensor(scores[side][np.arange(queries), truths[side]]).unsqueeze(-1),
            dense_positive_mask=None,
        )
        for query in range(queries):
            ranking = Ranking(names, scores[side, query].astype(np.float64), whole=True)
            bounds.append(rank_of(str(truths[side, query]), ranking, np.flatnonzero(known[side, query]).tolist(), ties))
            tails.append(target == "tail")
    theirs = evaluator.finalize()
    least, greatest = np.array(bounds).T
    ours = rank_measures(Ranks(least, greatest, np.array(tails)), hits=(1, 3, 5, 10))
    words = {
        "mrr": "inverse_harmonic_mean_rank",
        "mean_rank": "arithmetic_mean_rank",
        **{f"hits_at_{k}": f"hits_at_{k}" for k in (1, 3, 5, 10)},
    }
    assert len(ours) == 18
    for one in ours:
        found = theirs.get_metric(f"{one.part}.{ties.value}.{words[one.metric]}")
        agrees(one.value, found, SINGLE if ties is Ties.REALISTIC else LAST_DIGIT)


def test_numbers_are_those_of_scikit_learn() -> None:
    from sklearn import metrics

    generator = np.random.default_rng(5)
    labels = generator.lognormal(12, 0.7, 500)
    given = labels * generator.normal(1, 0.2, 500)
    found = value_accuracy("m", "sale", ValueTask.REGRESSION, dict(enumerate(labels)), dict(enumerate(given)))
    agrees(found.measure("mean_absolute_error").value, metrics.mean_absolute_error(labels, given))
    agrees(found.measure("root_mean_squared_error").value, metrics.root_mean_squared_error(labels, given))
    agrees(found.measure("r_squared").value, metrics.r2_score(labels, given))


def test_classes_are_those_of_scikit_learn() -> None:
    """One class is only predicted, one is only a label."""
    from sklearn import metrics

    generator = np.random.default_rng(6)
    labels = [str(one) for one in generator.choice(["a", "b", "c", "rare"], 400, p=[0.6, 0.3, 0.08, 0.02])]
    given = [label if right else "wrong" for label, right in zip(labels, generator.random(400) < 0.7, strict=True)]
    given = ["a" if one == "rare" else one for one in given]
    found = value_accuracy("m", None, ValueTask.CLASSIFICATION, dict(enumerate(labels)), dict(enumerate(given)))
    agrees(found.measure("accuracy").value, metrics.accuracy_score(labels, given))
    agrees(found.measure("macro_f1").value, metrics.f1_score(labels, given, average="macro"))
    names = sorted({*labels, *given})
    figures = metrics.precision_recall_fscore_support(labels, given, labels=names, zero_division=np.nan)
    ours = {(one.label, one.metric): one for one in found.measures if one.label is not None}
    for number, name in enumerate(names):
        for metric, values in zip(("precision", "recall", "f1"), figures, strict=False):
            mine, theirs = ours[name, metric].value, values[number]
            assert (mine is None) == bool(np.isnan(theirs))
            if mine is not None:
                agrees(mine, theirs)
        assert ours[name, "f1"].count == figures[3][number]
