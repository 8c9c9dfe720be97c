"""The published FB15k-237 rules with incompatible pairs extracted from the graph."""

from __future__ import annotations

from collections import Counter

import pytest

import rulescore
from rulescore.scoring.evaluation import Evaluation
from shared_data import shared

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    rules = [shared("fb15k-237/rules.mln.txt"), "extract incompatible."]
    return rulescore.audit(shared("fb15k-237/train.txt.gz"), rules, convention="appendix")


def test_59_of_509_rules_contradict_themselves(evaluation: Evaluation) -> None:
    """Their heads are incompatible with a body atom on the same arguments."""
    assert len(evaluation.rule_results) == 509
    assert Counter(problem.code for problem in evaluation.warnings)["W204"] == 59


def test_62_of_390_rules_with_two_body_atoms_can_be_judged(evaluation: Evaluation) -> None:
    two = [result for result in evaluation.rule_results if result.info.text.count("(") == 3]
    assert len(two) == 390
    assert sum(result.dataset.evaluable > 0 for result in two) == 62
