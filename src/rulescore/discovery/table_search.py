"""The data that we search for rules: rows on an engine, the same rows with every column shuffled, and facts about each column."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulescore.discovery.model import DiscoverOptions, Form
from rulescore.discovery.table_rows import Rows
from rulescore.discovery.table_words import variables_of
from rulescore.engines.base import Engine
from rulescore.language.printer import print_rule
from rulescore.language.syntax import Rule, Variable
from rulescore.readers.table_rows import ARROW_TYPES
from rulescore.sql.names import name
from rulescore.sql.query import Query, row, select, union_all
from rulescore.sql.words import Sql, when
from rulescore.values import MOMENTS, NUMBERS, ValueType

MOST_VALUES = 12
"""How many constants a rule lists."""
ROWS, SHUFFLED = name("searched"), name("shuffled")
_ORDERED = frozenset({ValueType.DATE, *NUMBERS, *MOMENTS})
_MOST_FIELDS = 200
_MOST_QUERIES = 50
_MOST_CLASSES = 50  # a column of whole numbers with more values than this holds quantities, not names of things
_EFFORT = 100_000_000  # the greatest number of rows that the statements of one form may go through
_QUERY, AGGREGATE = 60_000, 20_000
"""A query takes as long as going through so many rows; an aggregate among others of one query, as the second number of rows."""
_DOUBT = 0.01
_LEAST_CHANCE = 0.1


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rule that cheap statements propose.

    `rate`: its rate by these statements. `trials`: how many independent cases could have broken it. `chance`: its rate if every
    column is shuffled; None for a rule of one column. `left_out`: why we do not show it.
    """

    form: Form
    rule: Rule
    rate: float
    trials: int
    chance: float | None = None
    left_out: str | None = None

    @property
    def surprise(self) -> float:
        """How much less likely the rate is by chance, as a logarithm."""
        return evidence(self.rate, self.trials, self.rate if self.chance is None else self.chance)


@dataclass(frozen=True, slots=True, eq=False)
class SearchedColumn:
    """A column of the searched rows, with three fields on the engine.

    `field`: its values, if they have an order. `code`: the places of its values in `values`. `rank`: for numbers, their ranks as a
    share of all rows. `counts`: how many rows have each value.
    """

    attribute: str
    variable: Variable
    type: ValueType
    place: int
    values: pa.Array
    counts: np.ndarray

    @property
    def field(self) -> str:
        return f"c{self.place}"

    @property
    def code(self) -> str:
        return f"g{self.place}"

    @property
    def rank(self) -> str:
        return f"r{self.place}"

    @property
    def other(self) -> Variable:
        return Variable(f"Other{self.variable.name}")

    @property
    def known(self) -> int:
        return int(self.counts.sum())

    @property
    def distinct(self) -> int:
        return len(self.counts)

    @property
    def is_ordered(self) -> bool:
        return self.type in _ORDERED

    @property
    def is_number(self) -> bool:
        return self.type in NUMBERS

    @property
    def is_class(self) -> bool:
        """Whether its values name things, so rows can be grouped by them. Amounts name nothing. Whole numbers name things if there
        are few different ones, or if they lie far from 0, like postal codes."""
        if self.is_constant or self.type is ValueType.FLOAT:
            return False
        return self.type is not ValueType.INTEGER or self.distinct <= _MOST_CLASSES or self.is_far_from_zero

    @property
    def is_far_from_zero(self) -> bool:
        values, _ = self.ordered()
        return bool(float(values[0]) > float(values[-1]) - float(values[0]))

    @property
    def is_counter(self) -> bool:
        """Whether its values number the rows: whole numbers, all different, and at least every other one of them."""
        if self.type is not ValueType.INTEGER or self.distinct < self.known:
            return False
        values, _ = self.ordered()
        return bool(values[-1] - values[0] < 2 * self.distinct)

    @property
    def is_constant(self) -> bool:
        return self.distinct < 2

    def ordered(self) -> tuple[np.ndarray, np.ndarray]:
        """The values of a column of numbers in order, and how many rows have each."""
        values = self.values.to_numpy(zero_copy_only=False)
        order = np.argsort(values)
        return values[order], self.counts[order]


@dataclass(frozen=True, slots=True)
class Search:
    """The rows that we search. `told`: sentences for the reader about what we left out."""

    engine: Engine
    table: str
    key: tuple[str, ...]
    columns: tuple[SearchedColumn, ...]
    rows: int
    options: DiscoverOptions
    told: list[str] = field(default_factory=list)

    def affordable(
        self, columns: Sequence[SearchedColumn], tries: Iterable[int], what: str, least: int = _QUERY
    ) -> Sequence[SearchedColumn]:
        """The first columns, as many as the effort allows. `tries`: how often the statements go through all rows, for 1, 2, …
        columns. `least`: the least cost of going through them, in rows."""
        most = _EFFORT // max(self.rows, least)
        count = sum(1 for _, passes in zip(columns, tries, strict=False) if passes <= most)
        if count < len(columns):
            self.told.append(f"{what} were looked for among the first {count} of {len(columns)} columns of `{self.table}`")
        return columns[:count]


def searched(engine: Engine, rows: Rows, shuffled: Rows, options: DiscoverOptions) -> Search:
    """Rows loaded into the engine. We leave out a key of one column, because it says nothing about its row."""
    attributes = [attribute for attribute in rows.types if len(rows.key) > 1 or attribute not in rows.key]
    names = variables_of(attributes)
    columns = []
    for place, attribute in enumerate(attributes):
        counted = pc.value_counts(rows.values(attribute).drop_null())
        column = SearchedColumn(
            attribute,
            Variable(names[attribute]),
            rows.types[attribute],
            place,
            counted.field(0),
            counted.field(1).to_numpy(),
        )
        columns.append(column)
    engine.load(ROWS, _staged(rows, columns))
    engine.load(SHUFFLED, _staged(shuffled, columns))
    return Search(engine, rows.table, rows.key, tuple(columns), rows.count, options)


def _staged(rows: Rows, columns: Sequence[SearchedColumn]) -> pa.Table:
    fields: dict[str, pa.Array] = {"n": pa.array(np.arange(rows.count), pa.int64())}
    for column in columns:
        values = rows.values(column.attribute)
        fields[column.code] = pc.index_in(values, column.values).cast(pa.int64())
        if column.is_ordered:
            fields[column.field] = values.cast(ARROW_TYPES[column.type])
        if column.is_number:
            ordered, counts = column.ordered()
            ranks = (np.cumsum(counts) - counts / 2) / max(column.known, 1)
            places = pa.array(np.searchsorted(ordered, column.values.to_numpy(zero_copy_only=False)), pa.int64())
            fields[column.rank] = pa.array(ranks, pa.float64()).take(places).take(fields[column.code])
    return pa.table(fields)


def totals(search: Search, source: str, fields: Sequence[Sql]) -> list[Any]:
    """Aggregates over all rows, in few statements."""
    rows: list[Any] = []
    for start in range(0, len(fields), _MOST_FIELDS):
        part = {f"f{place}": value for place, value in enumerate(fields[start : start + _MOST_FIELDS])}
        rows += search.engine.query(select(**part).from_(row(source, "t"))).to_pylist()[0].values()
    return [value or 0 for value in rows]


def together(search: Search, queries: Sequence[Query]) -> Iterator[Mapping[str, Any]]:
    """The rows of many small queries with the same fields, in few statements."""
    for start in range(0, len(queries), _MOST_QUERIES):
        yield from search.engine.query(union_all(queries[start : start + _MOST_QUERIES])).to_pylist()


def count_if(condition: Sql) -> Sql:
    return when(condition, 1, 0).sum().big()


def evidence(rate: float, trials: int, chance: float) -> float:
    """How unlikely a rate this low is in independent trials, as a logarithm, by Chernoff's bound. 0 if the rate is not below
    chance."""
    if rate >= chance:
        return 0.0
    if chance >= 1:
        return math.inf
    kept = (1 - rate) * math.log((1 - rate) / (1 - chance))
    return trials * (kept + (rate * math.log(rate / chance) if rate else 0.0))


def telling(candidates: Iterable[Candidate], tried: int, times: float = 2) -> list[Candidate]:
    """The candidates that say something, the most surprising first.

    Even though we tried many candidates, chance hardly explains these. Chance would break them in a tenth of all cases or more, and
    at least `times` as often as the data do.
    """
    least = math.log(max(tried, 1) / _DOUBT)
    kept = [
        candidate
        for candidate in candidates
        if candidate.chance is None
        or (candidate.surprise >= least and candidate.chance >= max(_LEAST_CHANCE, times * candidate.rate))
    ]
    return in_order(kept)


def in_order(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The candidates, the most surprising first. Texts decide ties, because engines give rows in any order."""
    return sorted(candidates, key=lambda candidate: (-round(candidate.surprise, 6), print_rule(candidate.rule)))


def shuffled(rows: Rows, seed: int) -> Rows:
    """The rows with each column shuffled on its own, except the key. Each column keeps its values, but columns have nothing to do
    with each other."""
    generator = np.random.default_rng(seed)
    columns = {
        name: rows.values(name).take(pa.array(generator.permutation(rows.count), pa.int64())) if name not in rows.key else column
        for name, column in zip(rows.columns.column_names, rows.columns.columns, strict=True)
    }
    return replace(rows, columns=pa.table(columns))
