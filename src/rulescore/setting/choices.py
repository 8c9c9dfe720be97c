"""What users choose from: words, and the bounds of numbers. Loads nothing, so that the command line can name them as it starts."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any


class Convention(StrEnum):
    DEFINITION = "definition"
    APPENDIX = "appendix"


class Role(StrEnum):
    """The places of a grounding in which a prediction can stand."""

    BODY = "body"
    HEAD = "head"
    REFUTER = "refuter"


class FileFormat(StrEnum):
    """The formats of files of facts and tables."""

    TEXT = "text"
    PARQUET = "parquet"
    NTRIPLES = "ntriples"
    NQUADS = "nquads"
    TURTLE = "turtle"
    TRIG = "trig"
    RDFXML = "rdfxml"
    NUMPY = "numpy"
    AMIE = "amie"
    ANYBURL = "anyburl"
    NEURAL_LP = "neural-lp"
    EXPRESSGNN = "expressgnn"
    PSL = "psl"


class OutputFormat(StrEnum):
    """The formats of files in an output folder: all that we can print, and Parquet."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"
    PARQUET = "parquet"


class Bounds:
    """What pydantic checks of a value beside its type, in the words of its `Field`: `ge`, `gt`, `le`, … They become such a field
    only when pydantic asks for them, since loading it takes a while."""

    __is_annotated_types_grouped_metadata__ = True

    def __init__(self, **words: Any) -> None:
        self.words = words

    def __iter__(self) -> Iterator[object]:
        from pydantic import Field

        yield from Field(**self.words).metadata


AS_WRITTEN = Bounds(strict=False)
"""A word, a list or a path, as users write what becomes a choice, a set or a `Path`. Nothing else becomes another type."""
AT_LEAST_ONE = Bounds(ge=1)
NOT_NEGATIVE = Bounds(ge=0)
SHARE = Bounds(ge=0, le=1)
WEIGHT = Bounds(ge=0, allow_inf_nan=False)
SECONDS = Bounds(gt=0, allow_inf_nan=False)
THREADS = Bounds(ge=1, le=1_024)
"""Bounded because an engine starts more threads than the machine has cores, until the system refuses."""
