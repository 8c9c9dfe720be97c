"""What the experiments share: a setting scored by both conventions, and figures read off the results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from rulescore.arguments.python import make_setting
from rulescore.evaluate import Session
from rulescore.result import Result
from rulescore.scoring.accuracy import Task
from rulescore.scoring.results import RuleKind

APPENDIX, DEFINITION = "appendix", "definition"


def scored(observed: Any, predictions: Any, rules: Any, *, kept: bool = True, **options: Any) -> Result:
    """As `rulescore.score`, without Python warnings: our tables tell what is odd about the published settings. `kept`: whether we
    keep the contributions of single predictions."""
    setting = make_setting(observed, predictions, rules, **options)
    with Session(setting) as session:
        return Result.of(session.evaluate(contributions=kept), setting)


def read_lines(path: Path) -> list[str]:
    """The lines of a text file, which may be compressed."""
    with pa.input_stream(path) as stream:
        return str(stream.read(), "utf-8").splitlines()


def read_columns(path: Path, columns: Sequence[str], *, header: bool = True) -> pa.Table:
    """Columns of a file with tabs between them, as texts."""
    return pyarrow.csv.read_csv(
        path,
        pyarrow.csv.ReadOptions(column_names=None if header else list(columns)),
        pyarrow.csv.ParseOptions(delimiter="\t", quote_char=False),
        pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(columns, pa.string()), include_columns=list(columns)),
    )


def accuracy(result: Result, model: str, metric: str, part: str | None = None) -> float | None:
    """A figure of link prediction or regression."""
    for found in result.accuracy_results:
        if found.model == model and found.task in {Task.LINKS, Task.REGRESSION}:
            measure = found.measure(metric, part)
            return None if measure is None else measure.value
    return None


def aggregates(result: Result, model: str) -> dict[str, float | None]:
    """Every way of making one number of a model's scores, by its name: those of the package, and the plain mean of soft scores."""
    found = next(one for one in result.model_results if one.name == model)
    soft = [score for score in soft_scores(result, model) if score is not None]
    return {
        "hard": found.hard_score.value,
        "hard_mean": found.hard_mean.value,
        "soft": found.soft_score.value,
        "soft_mean": found.soft_mean.value,
        "plain_mean": sum(soft) / len(soft) if soft else None,
    }


def soft_scores(result: Result, model: str) -> list[float | None]:
    return [rule.models[model].score.value for rule in result.rule_results if rule.kind is RuleKind.SOFT]


def hard_scores(result: Result, model: str) -> list[int]:
    return [rule.models[model].counts.refuted for rule in result.rule_results if rule.kind is RuleKind.HARD]
