"""Tables with keys and registered functions in case files."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from oracle.reader import Reader
from oracle.reading import read_derived
from oracle.tokens import tokenise
from oracle.tree import Expression, Table
from oracle.values import raw

MISSING = "–"
TYPES = ("string", "integer", "float", "boolean", "date", "datetime", "instant")


def even(number: int) -> bool:
    return number % 2 == 0


def is_text(value: object) -> bool:
    return isinstance(value, str)


def plausible(number: float) -> bool | None:
    """Below 10 nobody knows."""
    return None if number < 10 else number < 100


def same_letter(one: str, other: str) -> bool:
    return one[:1] == other[:1]


def modest(number: float) -> bool | None:
    """Of a negative number nobody knows."""
    return None if number < 0 else number < 2


FUNCTIONS: dict[str, Callable[..., bool | None]] = {
    "even": even,
    "is_text": is_text,
    "modest": modest,
    "plausible": plausible,
    "same_letter": same_letter,
}
"""What a case can register. Here and not in the files, which hold no code."""


def read_table(name: str, words: list[str], lines: list[str]) -> Table:
    """`table sale key id target price hidden test`, then a line of columns with types, derived attributes, and rows."""
    options = dict(zip(words[::2], words[1::2], strict=True))
    if not {"key"} <= options.keys() <= {"key", "target", "hidden"} or len(options) * 2 != len(words):
        raise ValueError(f"`{' '.join(words)}` is not understood of a table")
    told = [line for line in (re.sub(r"(?<!\S)#.*", "", one).strip() for one in lines) if line]
    if not told:
        raise ValueError(f"table `{name}` has no columns")
    columns = tuple(read_column(text) for text in told[0].split(","))
    derived = tuple(read_definition(text) for text in told[1:] if text.startswith("derived "))
    rows = tuple(read_row(text, columns) for text in told[1:] if not text.startswith("derived "))
    table = Table(name, tuple(options["key"].split(",")), columns, rows, options.get("target"), options.get("hidden"), derived)
    unknown = {*table.key, table.target, table.hidden} - {None, *(column for column, _ in columns)}
    if unknown:
        raise ValueError(f"table `{name}` has no column {sorted(map(str, unknown))}")
    return table


def read_column(text: str) -> tuple[str, str]:
    name, kind = text.split()
    if kind not in TYPES:
        raise ValueError(f"`{kind}` is none of {', '.join(TYPES)}")
    return name, kind


def read_definition(text: str) -> tuple[str, Expression]:
    name, _, value = text.removeprefix("derived ").partition("=")
    return name.strip(), read_derived(value)


def read_row(text: str, columns: tuple[tuple[str, str], ...]) -> tuple[Any, ...]:
    cells = [cell.strip() for cell in text.split(",")]
    return tuple(read_cell(cell, kind) for cell, (_, kind) in zip(cells, columns, strict=True))


def read_cell(text: str, kind: str) -> Any:
    if text == MISSING:
        return None
    reader = Reader(tokenise(text))
    value = reader.literal_constant()
    found = {"number": ("integer", "float")}.get(value.type, (value.type,))
    if not reader.ended or kind not in found or (kind == "integer" and value.value.denominator != 1):
        raise ValueError(f"`{text}` is no {kind}")
    return float(raw(value)) if kind == "float" else raw(value)
