"""The choices that users have: words, bounds of numbers, forms of texts. Loads nothing, as the command line names them at once."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any


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
    JSONL = "jsonl"
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


class Arrangement(StrEnum):
    """The kind of a table's rows: triples that name their predicate, or facts of the predicate that the table stands for."""

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


class GateSeverity(StrEnum):
    """What happens if a gate fails: the build fails, or the user sees a warning."""

    ERROR = "error"
    WARN = "warn"


class Ties(StrEnum):
    """The rank of an answer among answers of equal score: their best rank, the mean of best and worst, or their worst."""

    OPTIMISTIC = "optimistic"
    REALISTIC = "realistic"
    PESSIMISTIC = "pessimistic"


class ValueTask(StrEnum):
    """How predicted values are compared with true ones."""

    REGRESSION = "regression"
    CLASSIFICATION = "classification"


class OutputFormat(StrEnum):
    """The formats of files in an output folder: all that we can print, and Parquet."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"
    PARQUET = "parquet"


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the most that a number may be. `open`: it must be above the least."""

    least: float = 0
    most: float | None = None
    open: bool = False

    def check(self, number: float) -> None:
        if not math.isfinite(number):
            raise ValueError("expected a finite number")
        if number < self.least or (self.open and number == self.least) or (self.most is not None and number > self.most):
            most = "" if self.most is None else f" to {self.most:,g}"
            raise ValueError(f"expected a number {'above' if self.open else 'from'} {self.least:g}{most}")


@dataclass(frozen=True, slots=True)
class Form:
    """A test that a value must pass. `expected`: what the problem says if the value does not pass."""

    passes: Callable[[Any], object]
    expected: str

    def check(self, value: object) -> None:
        if not self.passes(value):
            raise ValueError(self.expected)


EVERY_ANSWER = 2**62
"""The `top_k` that keeps all predictions of each query, in words `all`. Like any other, it needs to know which are best."""


def _as_number(value: object) -> object:
    return EVERY_ANSWER if value == "all" else value


AtLeastOne = Annotated[int, Bounds(1)]
TopK = Annotated[int, _as_number, Bounds(1)]
NotNegative = Annotated[int, Bounds()]
Share = Annotated[float, Bounds(0, 1)]
Weight = Annotated[float, Bounds()]
Seconds = Annotated[float, Bounds(open=True)]
Threads = Annotated[int, Bounds(1, 1_024)]
"""Bounded because an engine starts more threads than the machine has cores, until the system refuses."""
Memory = Annotated[str, Form(re.compile(r"\d+(\.\d+)? ?([KMGT]i?)?B").fullmatch, "expected an amount like `4GB` or `512MiB`")]
A_DELIMITER = Form(
    lambda text: len(text) == 1 and text.isascii() and text not in '"\r\n',
    "a delimiter is one ASCII character, neither a quote nor a line end",
)
Delimiter = Annotated[str, A_DELIMITER]
Name = Annotated[str, Form(len, "expected some text")]


class Deed(StrEnum):
    """An action of a project file that needs the user's trust."""

    CODE = "code"
    SQL = "sql"
    ENGINE = "engine"
    DATABASE = "database"
    SPILL = "spill"
    OUTPUT = "output"
    PLOTS = "plots"
