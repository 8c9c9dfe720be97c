"""How much was read, and how much of it was repeated."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PredictionCounts:
    """How many predictions a model brought: rows read, rows within top_k, distinct facts among them, repeated rows, and those of
    the distinct facts that are observed already. `hidden` and `covered` are None if it predicts no table's target: how many targets
    are hidden in the tables it predicts, and how many of those it predicts. `queries`: how many queries the rows answer; a fact
    without a known query is a query by itself."""

    rows: int
    kept: int
    distinct: int
    duplicates: int
    already_observed: int
    hidden: int | None = None
    covered: int | None = None
    queries: int | None = None


@dataclass(frozen=True, slots=True)
class TableCounts:
    """A table with a key: its rows, and those of them whose target is hidden. `inferred`: the columns of a text file that nobody
    declares, with the types that we gave them by their values."""

    name: str
    rows: int
    hidden: int
    inferred: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class DataSummary:
    """What was read: distinct observed facts, repeated rows, negative facts and how many of those are observed too, constants,
    predicates with facts, tables with keys."""

    facts: int
    fact_duplicates: int
    negatives: int
    negatives_observed: int
    constants: int
    predicates: int
    tables: tuple[TableCounts, ...] = ()
