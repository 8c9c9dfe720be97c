"""The forms in which results can be shown. Kept apart so that the command line can name them without loading a renderer."""

from __future__ import annotations

from enum import StrEnum


class Format(StrEnum):
    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"


class FileFormat(StrEnum):
    """What can be written into a folder: every format, and Parquet."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"
    PARQUET = "parquet"


class Shown(StrEnum):
    """The tables of which one may be asked for alone."""

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


DEFAULT_FILE_FORMATS = (FileFormat.JSON, FileFormat.CSV, FileFormat.PARQUET)
