"""A setting: everything one evaluation needs, as data. Streams are opened by the engine that loads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import pyarrow as pa

from rulescore.errors import Source
from rulescore.language.syntax import Kind


class Convention(StrEnum):
    DEFINITION = "definition"
    APPENDIX = "appendix"


class Role(StrEnum):
    """The places of a grounding in which a prediction can stand."""

    BODY = "body"
    HEAD = "head"
    REFUTER = "refuter"


@dataclass(frozen=True, slots=True)
class FactBatch:
    """Facts of one arity. Columns: `predicate` (string) unless the batch names its one predicate, then `a0`, `a1`, … (string
    keys of constants, never null), and for predictions `score` (float64), `rank` (int64) and `query` (string), each nullable."""

    arity: int
    rows: pa.RecordBatch
    predicate: str | None = None


@dataclass(frozen=True, slots=True)
class FactStream:
    """Facts from one place. `open` may be called once or more; each call reads from the beginning and raises InputError with
    file and line for rows it does not understand."""

    origin: str
    open: Callable[[], Iterator[FactBatch]]


@dataclass(frozen=True, slots=True)
class ModelPredictions:
    """One model's answers. `top_k` keeps the best answers of each query; streams without query and rank are kept whole."""

    model: str
    streams: tuple[FactStream, ...]
    top_k: int | None = None


@dataclass(frozen=True, slots=True)
class EngineOptions:
    url: str = "duckdb"
    memory_limit: str | None = None
    threads: int | None = None
    spill_folder: Path | None = None


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """What is counted. `distinct_variables` and `roles` are the convention's own unless given."""

    convention: Convention = Convention.DEFINITION
    distinct_variables: bool | None = None
    roles: frozenset[Role] | None = None
    weights: dict[str, float] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Setting:
    observed: tuple[FactStream, ...]
    rules: tuple[Source, ...]
    predictions: tuple[ModelPredictions, ...] = ()
    negatives: tuple[FactStream, ...] = ()
    scoring: ScoringOptions = ScoringOptions()
    engine: EngineOptions = EngineOptions()
