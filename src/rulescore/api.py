"""The Python interface: the whole pipeline in one call."""

from __future__ import annotations

from typing import Any

from rulescore.data.api import make_setting
from rulescore.evaluate import Session
from rulescore.scoring.evaluation import Evaluation


def score(observed: Any, predictions: Any, rules: Any, **options: Any) -> Evaluation:
    """Score models' predictions against rules.

    `observed`: facts as a path, a list of paths, a frame, an iterable of (head, relation, tail), or a mapping from predicate to
    rows. `predictions`: a mapping from model to any of these. `rules`: a path, rule text, or a list of them. Options:
    `negatives`, `convention`, `distinct_variables`, `roles`, `weights`, `kinds`, `top_k`, `engine`, `memory_limit`, `threads`,
    `spill_folder`."""
    with Session(make_setting(observed, predictions, rules, **options)) as session:
        return session.evaluate()


def audit(observed: Any, rules: Any, **options: Any) -> Evaluation:
    """Rates of rules in the data alone; the options of `score`."""
    with Session(make_setting(observed, None, rules, **options)) as session:
        return session.audit()
