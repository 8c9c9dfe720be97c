"""The forms in which results can be shown. Kept apart so that the command line can name them without loading a renderer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rulescore.setting.choices import OutputFormat


class Format(StrEnum):
    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"


class Shown(StrEnum):
    """The tables that a user may ask for alone."""

    MODELS = "models"
    RULES = "rules"
    VIOLATIONS = "violations"
    ACCURACY = "accuracy"


class ComparisonTable(StrEnum):
    """The tables of a comparison."""

    MODELS = "models"
    DIFFERENCES = "differences"
    RULES = "rules"
    RULE_DIFFERENCES = "rule_differences"
    CHANGES = "changes"


DEFAULT_FILE_FORMATS = (OutputFormat.JSON, OutputFormat.CSV, OutputFormat.PARQUET)


@dataclass(frozen=True, slots=True)
class Appearance:
    """What a table on a terminal looks like."""

    width: int = 80
    colour: bool = False
