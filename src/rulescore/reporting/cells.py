"""Values as people read them: counts with thousands separators, rates with 4 digits, scores with 3 significant ones, values of the
data with 6."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from rulescore.characters import visible
from rulescore.reporting.listing import Cell, CellKind
from rulescore.setting.choices import OutputFormat

UNDEFINED = "–"


def shown(value: Cell, kind: CellKind) -> str:
    """A cell as text for people, on one line."""
    match value:
        case None:
            return UNDEFINED
        case str():
            return visible(value)
        case tuple():
            return visible(", ".join(value))
        case int():
            return f"{value:,}"
        case float():
            return _number(value, kind)
        case Mapping():
            return visible(", ".join(f"{name} = {text}" for name, text in value.items()))


def of_all(part: int, whole: int) -> str:
    """A part of a number of things: 53 of 5,878."""
    return f"{part:,} of {whole:,}"


def share_of(part: int, whole: int) -> str:
    """The same with the share: 53 of 5,878 (0.9%)."""
    if not whole:
        return of_all(part, whole)
    share = part / whole
    return f"{of_all(part, whole)} ({'<0.1%' if 0 < share < 0.0005 else f'{share:.1%}'})"


def counted(number: int, noun: str) -> str:
    """A number of things: 1 rule, 2 rules."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def is_number(kind: CellKind) -> bool:
    return kind in {CellKind.COUNT, CellKind.RATE, CellKind.SCORE, CellKind.WEIGHT, CellKind.VALUE}


def _number(value: float, kind: CellKind) -> str:
    match kind:
        case CellKind.RATE:
            return f"{value:.4f}"
        case CellKind.WEIGHT:
            return f"{value:g}"
        case CellKind.VALUE:
            text = _significant(value, 6)
            return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
        case _:
            return _significant(value, 3)


def _significant(value: float, digits: int) -> str:
    """So many significant digits, but never fewer than the whole part has; of three: 0.123, 12.3, 847, 1,235."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")
    if abs(rounded) < 1e-4:
        return f"{value:.{digits - 1}e}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{value:,.{decimals}f}"


# The forms in which results can be shown. Kept apart so that the command line can name them without loading a renderer.


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
