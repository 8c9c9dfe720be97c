"""Scorers for scikit-learn."""

from rulescore.integrations.sklearn import rule_violation_scorer

__all__ = ["rule_violation_scorer"]
