"""The package itself, from the text files of a workload to its counts."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from rulescore.arguments.python import make_setting
from rulescore.scoring.results import RuleResult
from rulescore.session.session import Session
from workload import Row

MODEL = "model"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One row per rule, in the order of the rule file. Loading is reading, encoding and sorting facts and predictions and
    parsing the rules; counting is everything after that, up to the finished scores."""

    rows: list[Row]
    loading_seconds: float
    counting_seconds: float


def ours(folder: Path) -> Outcome:
    """Count the rules of `program.rules` over `facts.tsv` and `predictions.tsv` (tabs, no header), by the appendix's way."""
    started = time.perf_counter()
    observed, predictions, rules = (folder / name for name in ("facts.tsv", "predictions.tsv", "program.rules"))
    with Session(make_setting(observed, {MODEL: predictions}, rules, convention="appendix")) as session:
        loaded = time.perf_counter()
        evaluation = session.evaluate()
        finished = time.perf_counter()
    return Outcome([_row(result) for result in evaluation.rule_results], loaded - started, finished - loaded)


def ours_dataset(folder: Path) -> Outcome:
    """The dataset's counts alone; the model's are given as 0."""
    started = time.perf_counter()
    with Session(make_setting(folder / "facts.tsv", None, folder / "program.rules", convention="appendix")) as session:
        loaded = time.perf_counter()
        evaluation = session.audit()
        finished = time.perf_counter()
    counts = [result.dataset for result in evaluation.rule_results]
    rows = [Row(one.confirmed, one.refuted, one.evaluable, 0, 0, 0) for one in counts]
    return Outcome(rows, loaded - started, finished - loaded)


def _row(result: RuleResult) -> Row:
    dataset, model = result.dataset, result.models[MODEL].counts
    return Row(dataset.confirmed, dataset.refuted, dataset.evaluable, model.confirmed, model.refuted, model.evaluable)
