"""Expected violations, if a model's scores are the probabilities of its predictions.

A prediction's contribution depends on no other prediction (decision 0002). So the expected number of violations is the sum of the
contributions, each times the probability of its prediction, whether or not predictions exclude each other.
"""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa

from rulescore.errors import Diagnostic, InputError
from rulescore.scoring.evaluation import Evaluation


def expected_violations(evaluation: Evaluation) -> Any:
    """By model and rule: `refuted` and `evaluable`, as they are expected under the probabilities.

    Args:
        evaluation: An evaluation with contributions, whose predictions have scores from 0 to 1.

    Returns:
        An Arrow table with a row for each model and rule.

    Raises:
        InputError: If some predictions have no score, or one that is no probability.
    """
    terms: dict[tuple[str, str], tuple[list[float], list[float]]] = {
        (model.name, rule.info.name): ([], []) for model in evaluation.model_results for rule in evaluation.rule_results
    }
    columns = ("model", "rule", "score", "refuted", "evaluable")
    rows = evaluation.contributions.select(list(columns))
    for model, rule, score, refuted, evaluable in zip(*(rows[name].to_pylist() for name in columns), strict=True):
        if score is None or not 0 <= score <= 1:
            raise InputError(_no_probability(model, score))
        of_rule = terms[model, rule]
        of_rule[0].append(score * refuted)
        of_rule[1].append(score * evaluable)
    kinds = {rule.info.name: rule.kind.value for rule in evaluation.rule_results}
    return pa.table(
        {
            "model": pa.array([model for model, _ in terms], pa.string()),
            "rule": pa.array([rule for _, rule in terms], pa.string()),
            "kind": pa.array([kinds[rule] for _, rule in terms], pa.string()),
            "refuted": pa.array([math.fsum(refuted) for refuted, _ in terms.values()], pa.float64()),
            "evaluable": pa.array([math.fsum(evaluable) for _, evaluable in terms.values()], pa.float64()),
        }
    )


def _no_probability(model: str, score: float | None) -> Diagnostic:
    said = "has no score" if score is None else f"has the score {score:g}"
    helps = ("give each prediction its probability, from 0 to 1, in a column `score`",)
    return Diagnostic("E330", f"expected violations need probabilities, and a prediction of `{model}` {said}", helps=helps)
