"""The formats of results."""

from __future__ import annotations

from enum import StrEnum


class OutputFormat(StrEnum):
    """The formats of files in an output folder: all that we can print, and Parquet."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"
    PARQUET = "parquet"
