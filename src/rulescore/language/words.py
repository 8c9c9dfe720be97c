"""The words by which users name formats of rule files and kinds of rules. Loads nothing, as the command line names them at once."""

from __future__ import annotations

from enum import StrEnum

from rulescore import plugins

OWN_FORMAT = "rulescore"
"""The name of our own language among the formats of rule files."""


def format_names() -> tuple[str, ...]:
    """The names by which users choose a format of rule files; the first is our own language."""
    return (OWN_FORMAT, *plugins.plugins(plugins.RULE_FORMATS))


class WeighBy(StrEnum):
    """The figure that a tool states of a rule and that becomes its weight in scores."""

    CONFIDENCE = "confidence"
    WEIGHT = "weight"


class Kind(StrEnum):
    """Hard rules must never be broken, soft ones seldom."""

    HARD = "hard"
    SOFT = "soft"
