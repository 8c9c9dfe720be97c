"""What a user says about a source of facts, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from rulescore.errors import Diagnostic, InputError, meant
from rulescore.setting.choices import FileFormat
from rulescore.values.types import ValueType

Choice = TypeVar("Choice", bound=StrEnum)


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
    DATETIME = "datetime"
    INSTANT = "instant"


def declaration(kind: ValueType) -> str:
    """The word by which users declare a type."""
    return ColumnType[kind.name].value


def chosen(choices: type[Choice], word: Choice | str | None, key: str) -> Choice | None:
    """The choice that the user gave, as itself or as its text. InputError for any other text."""
    if word is None or word in list(choices):
        return None if word is None else choices(word)
    helps = meant(str(word), list(choices))
    notes = (f"it is one of {', '.join(choices)}",)
    raise InputError(Diagnostic("E402", f"`{key}` is `{word}`", notes=notes, helps=helps))


ColumnChoice = str | int
"""A column by its name, or by its number counted from 1."""


@dataclass(frozen=True, slots=True)
class FactFile:
    """A file or folder and how to read it. What is None or empty is found out from the file.

    `columns` says which column plays which part: `head`, `relation`, `tail`, `score`, `rank`, `query`, or `arguments` with a
    list. `types` gives the types of argument columns of text files, by part, by `a0`, `a1`, … or by the header's name.
    `graph` is the named graph of an RDF file whose statements are read, or `default` for those outside all of them.
    """

    path: str | Path
    format: FileFormat | str | None = None
    layout: Arrangement | str | None = None
    delimiter: str | None = None
    header: bool | None = None
    types: Mapping[str, ColumnType | str] = field(default_factory=dict)
    columns: Mapping[str, ColumnChoice | Sequence[ColumnChoice]] = field(default_factory=dict)
    predicate: str | None = None
    graph: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "format", chosen(FileFormat, self.format, "format"))
        object.__setattr__(self, "layout", chosen(Arrangement, self.layout, "layout"))


@dataclass(frozen=True, slots=True)
class Request:
    """One table to read: what the user says of it, whether it holds predictions, and what to do if its columns have no names.

    `by_names` lets the columns' names decide between triples and one predicate, as in a folder; `stem` then names that
    predicate. `rows`: the table has a key, and its rows are not facts. `stored`: a table of a database, which may have columns
    beside the arguments. `in_folder`: a file of a folder that the user named."""

    origin: str
    file: FactFile
    predictions: bool = False
    by_names: bool = False
    stem: str | None = None
    rows: bool = False
    stored: bool = False
    in_folder: bool = False

    @property
    def in_memory(self) -> bool:
        """Whether it is a frame or a list in Python, which no project file can describe."""
        return self.origin.startswith("<")

    @property
    def path(self) -> Path:
        return Path(self.file.path)
