"""A model's ranked answers with all their columns, in the layout in which they came."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Place
from rulescore.mending.enumeration import Integers
from rulescore.readers.layout import Layout
from rulescore.readers.sources import prediction_streams
from rulescore.readers.text import TextDialect
from rulescore.setting.model import FactSource, FactStream
from rulescore.values import key_of

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Lists:
    """Ranked answers.

    `dialect`: how the text file is written; None for other files and frames. `rewritten`: makes a file of another layout of the
    rows. `asked`: the columns in which a tool's ranking says what each query asks for: its direction and its true answer.
    """

    origin: str
    rows: pa.Table
    layout: Layout
    dialect: TextDialect | None = None
    rewritten: Callable[[pa.Table], bytes] | None = None
    asked: Sequence[str] = ()

    @property
    def triples(self) -> list[tuple[str, str, str]]:
        """Head, relation and tail of each row, as keys."""
        head, tail = self.layout.arguments
        assert self.layout.relation is not None
        return list(zip(self._keys(head), self._keys(self.layout.relation), self._keys(tail), strict=True))

    def values(self) -> list[tuple[object, object, object]]:
        """Head, relation and tail of each row, unchanged."""
        head, tail = self.layout.arguments
        assert self.layout.relation is not None
        columns = (self.rows.column(place).to_pylist() for place in (head, self.layout.relation, tail))
        return list(zip(*columns, strict=True))

    def _keys(self, column: int) -> list[str]:
        return [key_of(value) for value in self.rows.column(column).to_pylist()]

    @property
    def scores(self) -> Floats | None:
        return None if self.layout.score is None else self._numbers(self.layout.score, "score")

    @property
    def ranks(self) -> Floats | None:
        return None if self.layout.rank is None else self._numbers(self.layout.rank, "rank")

    def _numbers(self, column: int, what: str) -> Floats:
        values = self.rows.column(column).to_pylist()
        try:
            numbers = np.array([float(value) for value in values], np.float64)
        except (TypeError, ValueError):
            numbers = np.full(len(values), np.nan)
        wrong = np.flatnonzero(~np.isfinite(numbers))
        if len(wrong):
            notes = ("every answer needs a finite number",)
            message = f"row {wrong[0] + 1:,} has the {what} `{values[wrong[0]]}`"
            raise InputError(Diagnostic("E809", message, Place(self.origin), notes=notes))
        return numbers

    def queries(self) -> Integers:
        """The number of each row's query."""
        ranks = self.ranks
        if self.layout.query:
            texts = list(zip(*(map(str, self.rows.column(column).to_pylist()) for column in self.layout.query), strict=True))
            known: dict[tuple[str, ...], int] = {}
            return np.array([known.setdefault(text, len(known)) for text in texts], np.int64)
        if ranks is not None:
            return np.cumsum(np.append(0, (np.diff(ranks) <= 0).astype(np.int64)))
        helps = ("add a `rank` column, or `query` and `score` columns",)
        raise InputError(Diagnostic("E809", "nothing says which rows answer one query", Place(self.origin), helps=helps))

    def order(self, levels: Integers | None = None, places: Floats | None = None) -> Integers:
        """The rows by query and from best to worst. Levels decide first, if given; within a level rows keep their order, but each
        falls by its `places`."""
        queries, ranks, scores = self.queries(), self.ranks, self.scores
        if ranks is None and scores is None:
            helps = ("add a `rank` or a `score` column",)
            raise InputError(Diagnostic("E809", "nothing says which answers are best", Place(self.origin), helps=helps))
        worse = ranks if ranks is not None else -scores  # type: ignore[operator]  # one of them is there
        fallen = worse if places is None else worse + places * self._gap(queries, worse)
        return np.lexsort((worse, fallen, *(() if levels is None else (levels,)), queries))

    @staticmethod
    def _gap(queries: Integers, worse: Floats) -> float:
        """The mean distance between the scores of neighbours."""
        order = np.lexsort((worse, queries))
        gaps = np.diff(worse[order])[np.diff(queries[order]) == 0]
        return float(gaps.mean()) if len(gaps) else 1.0

    def moved(self, levels: Integers, places: Floats | None = None) -> Lists:
        """The lists with the answers of each query sorted by level. Within a level they keep their order, but each falls by its
        `places`.

        Ranks follow the new places. Without ranks, the scores of moved answers are lowered until they come last.
        """
        queries, after = self.queries(), self.order(levels, places)
        # We move rows of a query only to places of the same query.
        slots = np.lexsort((np.arange(len(queries)), queries))
        placed = np.empty(len(queries), np.int64)
        placed[slots] = after
        rows = self.rows.take(pa.array(placed))
        if self.layout.rank is not None:
            ranks = np.empty(len(queries), np.int64)
            ranks[slots] = np.arange(len(slots)) - np.repeat(*_starts(queries[slots])) + 1
            rows = self._with(rows, self.layout.rank, ranks.tolist())
        elif self.layout.score is not None and (levels.any() or places is not None):
            rows = self._with(rows, self.layout.score, self._lowered(levels, places)[placed].tolist())
        return replace(self, rows=rows)

    def _lowered(self, levels: Integers, places: Floats | None) -> Floats:
        scores, queries = self.scores, self.queries()
        assert scores is not None
        if places is not None:
            scores = scores - places * self._gap(queries, -scores)
        number = int(queries.max()) + 1 if len(queries) else 0
        most, least = np.full(number, -np.inf), np.full(number, np.inf)
        np.maximum.at(most, queries, scores)
        np.minimum.at(least, queries, scores)
        return np.where(levels != 0, scores - levels * ((most - least)[queries] + 1), scores)

    def _with(self, rows: pa.Table, column: int, values: Sequence[float]) -> pa.Table:
        kind = rows.schema.field(column).type
        texts: Sequence[object] = (
            [repr(value) for value in values] if pa.types.is_string(kind) or pa.types.is_large_string(kind) else values
        )
        array = pa.array(texts) if pa.types.is_floating(kind) and isinstance(values[0], float) else pa.array(texts).cast(kind)
        return rows.set_column(column, rows.schema.field(column).name, array)

    def taken(self, places: Integers) -> Lists:
        return replace(self, rows=self.rows.take(pa.array(places)))

    def frame(self) -> pa.Table:
        """The lists as `score` takes them from memory: without a header, columns get the names of their parts."""
        rows, names = self.rows, list(self.layout.names)
        for part, column, numbers in (("rank", self.layout.rank, self.ranks), ("score", self.layout.score, self.scores)):
            if column is None or numbers is None:
                continue
            if self.dialect is None or self.dialect.header is None:
                names[column] = part
            values = pa.array(numbers) if part == "score" else pa.array(numbers).cast(pa.int64())
            rows = rows.set_column(column, rows.schema.field(column).name, values)
        return rows.rename_columns(names)

    def streams(self) -> tuple[FactSource, ...]:
        """The lists as predictions."""
        streams = prediction_streams(self.frame())
        if not self.asked:
            return streams
        asked = self.rows.select(self.asked)
        return tuple(replace(stream, columns=lambda _: asked) for stream in streams if isinstance(stream, FactStream))

    def write(self, path: Path) -> None:
        """Write the lists in the layout in which they came.

        Args:
            path: The file, which must not exist. A name that ends in `.gz` compresses it.

        Raises:
            InputError: The file exists, or cannot be written.
        """
        if path.exists():
            raise InputError(Diagnostic("E603", f"`{path}` exists already", helps=("name another file",)))
        try:
            if self.dialect is None and self.rewritten is None:
                from pyarrow.parquet import write_table

                write_table(self.rows, path)
                return
            data = "".join(self._lines()).encode() if self.rewritten is None else self.rewritten(self.rows)
            path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
        except OSError as error:
            raise InputError(
                Diagnostic("E601", f"`{path}` cannot be written", notes=((error.strerror or str(error)).lower(),))
            ) from error

    def _lines(self) -> Iterator[str]:
        assert self.dialect is not None
        columns = [column.to_pylist() for column in self.rows.columns]
        header = [] if self.dialect.header is None else [self.dialect.header]
        if not self.dialect.quoted:
            yield from (self.dialect.delimiter.join(row) + "\n" for row in (*header, *zip(*columns, strict=True)))
            return
        text = io.StringIO()
        csv.writer(text, delimiter=self.dialect.delimiter, lineterminator="\n").writerows([*header, *zip(*columns, strict=True)])
        yield text.getvalue()


def _starts(sorted_values: Integers) -> tuple[Integers, Integers]:
    """Where each run of equal values begins, and how long it is."""
    starts = np.flatnonzero(np.append(True, np.diff(sorted_values) != 0)) if len(sorted_values) else np.zeros(0, np.int64)
    return starts, np.diff(np.append(starts, len(sorted_values)))
