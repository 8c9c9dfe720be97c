"""Evaluations to show."""

from evaluations import audit, evaluation, table_evaluation

__all__ = ["audit", "evaluation", "table_evaluation"]
