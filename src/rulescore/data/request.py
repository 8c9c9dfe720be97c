"""What a user says about a source of facts, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class FileFormat(StrEnum):
    TEXT = "text"
    PARQUET = "parquet"
    NTRIPLES = "ntriples"


class Arrangement(StrEnum):
    """What the rows of a table are: triples that name their predicate, or facts of the one predicate the table stands for."""

    TRIPLES = "triples"
    PREDICATE = "predicate"


class ColumnType(StrEnum):
    STRING = "string"
    INTEGER = "integer"
    FLOAT = "float"
    BOOLEAN = "boolean"
    DATE = "date"


ColumnChoice = str | int
"""A column by its name, or by its number counted from 1."""


@dataclass(frozen=True, slots=True)
class FactFile:
    """A file or folder and how to read it. What is None or empty is found out from the file.

    `columns` says which column plays which part: `head`, `relation`, `tail`, `score`, `rank`, `query`, or `arguments` with a
    list. `types` gives the types of argument columns of text files, by part, by `a0`, `a1`, … or by the header's name.
    """

    path: str | Path
    format: FileFormat | None = None
    layout: Arrangement | None = None
    delimiter: str | None = None
    header: bool | None = None
    types: Mapping[str, ColumnType | str] = field(default_factory=dict)
    columns: Mapping[str, ColumnChoice | Sequence[ColumnChoice]] = field(default_factory=dict)
    predicate: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One table to read: what the user said of it, what its facts are for, and what to do when its columns have no names.

    `by_names` lets the columns' names decide between triples and one predicate, as in a folder; `stem` then names that
    predicate. `rows`: they are those of a table with a key, not facts. `stored`: it is a table of a database, which may have
    columns that are no arguments."""

    origin: str
    file: FactFile
    predictions: bool = False
    by_names: bool = False
    stem: str | None = None
    rows: bool = False
    stored: bool = False

    @property
    def path(self) -> Path:
        return Path(self.file.path)


DELIMITERS_ARE = "a delimiter is one ASCII character, neither a quote nor a line end"


def is_delimiter(text: str) -> bool:
    return len(text) == 1 and text.isascii() and text not in '"\r\n'
