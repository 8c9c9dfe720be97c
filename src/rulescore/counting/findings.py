"""Findings about the predictions of each model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rulescore.counting.run import PredictedCounts
from rulescore.logic.refutable import Concerned
from rulescore.scoring.results import PredictionFindings


def prediction_findings(
    models: Sequence[str], counts: Iterable[PredictedCounts], concerned: Concerned
) -> dict[str, PredictionFindings]:
    """The findings by the model's name; `counts` have the models' numbers."""
    rows: list[list[PredictedCounts]] = [[] for _ in models]
    for one in counts:
        rows[one.model].append(one)
    return {model: _findings(found, concerned) for model, found in zip(models, rows, strict=True)}


def _findings(rows: Sequence[PredictedCounts], concerned: Concerned) -> PredictionFindings:
    return PredictionFindings(
        with_partner=sum(row.with_partner for row in rows),
        violating=sum(row.violating for row in rows),
        violating_any=sum(row.violating_any for row in rows),
        unconcerned={
            row.predicate: row.predictions
            for row in sorted(rows, key=lambda row: row.predicate)
            if row.predicate not in concerned.by_any
        },
        measured=any(row.predicate in concerned.by_refutable for row in rows),
    )
