"""Rows of any table as a batch of facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.errors import Diagnostic, InputError, Place
from rulescore.readers.constant_columns import (
    CellError,
    ColumnTypeError,
    decoded,
    holds_floats,
    is_text,
    keys,
    parse_number,
    parse_rank,
    typed_text_keys,
)
from rulescore.readers.layout import Layout
from rulescore.setting.model import FactBatch
from rulescore.setting.request import ColumnType, Request


def no_facts(request: Request) -> InputError:
    what = "predictions" if request.predictions else "rows" if request.rows else "facts"
    return InputError(
        Diagnostic("E304", f"there are no {what}", Place(request.origin), helps=("leave the source out if that is meant",))
    )


def text_batch(rows: pa.RecordBatch, layout: Layout, request: Request) -> FactBatch:
    """Facts of a batch of text columns. An empty field is a missing value."""
    columns = [
        typed_text_keys(_filled(rows.column(index)), column_type)
        for index, column_type in zip(layout.arguments, layout.types, strict=True)
    ]
    relation = None if layout.relation is None else _filled(rows.column(layout.relation))
    answers = (
        None if layout.score is None else _text_scores(_emptied(rows.column(layout.score))),
        None if layout.rank is None else _text_ranks(_emptied(rows.column(layout.rank))),
        _query([_emptied(rows.column(i)) for i in layout.query]),
    )
    floats = [place for place, one in enumerate(layout.types) if one is ColumnType.FLOAT]
    given = places_of(relation, layout.predicate, floats)
    texts = [place for place in layout.declared if layout.types[place] is ColumnType.STRING]
    facts = assemble(columns, relation, layout.predicate, answers if request.predictions else None, given)
    return replace(facts, declared_text=places_of(relation, layout.predicate, texts)) if texts else facts


def table_batch(rows: pa.RecordBatch, layout: Layout, request: Request, first_row: int) -> FactBatch:
    """Facts of a batch of typed columns; problems name the row, counted from 0 in the whole table."""
    reader = _TableColumns(rows, layout, request, first_row)
    columns = [reader.keys(index) for index in layout.arguments]
    relation = None if layout.relation is None else reader.relation(layout.relation)
    answers = (
        None if layout.score is None else reader.scores(layout.score),
        None if layout.rank is None else reader.ranks(layout.rank),
        _query([reader.text(i) for i in layout.query]),
    )
    floats = [place for place, index in enumerate(layout.arguments) if holds_floats(rows.schema.types[index])]
    given = places_of(relation, layout.predicate, floats)
    return assemble(columns, relation, layout.predicate, answers if request.predictions else None, given)


Answers = tuple[pa.Array | None, pa.Array | None, pa.Array | None]


def places_of(relation: pa.Array | None, predicate: str | None, places: Iterable[int]) -> frozenset[tuple[str, int]]:
    """Some arguments of every predicate of a batch."""
    wanted = list(places)
    if not wanted:
        return frozenset()
    names = [str(predicate)] if relation is None else pc.unique(relation).to_pylist()
    return frozenset((name, place) for name in names for place in wanted)


def assemble(
    columns: list[pa.Array],
    relation: pa.Array | None,
    predicate: str | None,
    answers: Answers | None,
    floats: frozenset[tuple[str, int]] = frozenset(),
) -> FactBatch:
    """A batch of key columns, with score, rank and query when the facts are predictions."""
    length = len(columns[0])
    arrays = dict[str, pa.Array]() if relation is None else {"predicate": relation}
    arrays |= {f"a{place}": column for place, column in enumerate(columns)}
    if answers is not None:
        for (name, kind), given in zip(ANSWER_COLUMNS.items(), answers, strict=True):
            arrays[name] = pa.nulls(length, kind) if given is None else given
    return FactBatch(len(columns), pa.RecordBatch.from_pydict(arrays), predicate if relation is None else None, floats)


ANSWER_COLUMNS = {"score": pa.float64(), "rank": pa.int64(), "query": pa.string()}


def _filled(column: pa.Array) -> pa.Array:
    row = pc.index(pc.binary_length(column), pa.scalar(0, pa.int32())).as_py()
    if row >= 0:
        raise CellError(row, "E312", "is empty")
    return column


def _emptied(column: pa.Array) -> pa.Array:
    """Empty fields as null: a score, rank or query may be unknown."""
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)


def _text_scores(column: pa.Array) -> pa.Array:
    try:
        return _finite(column.cast(pa.float64()))
    except pa.ArrowInvalid:
        return _parsed(column, parse_number, pa.float64())


def _text_ranks(column: pa.Array) -> pa.Array:
    try:
        return _positive(column.cast(pa.int64()))
    except pa.ArrowInvalid:
        return _parsed(column, parse_rank, pa.int64())


def _parsed(column: pa.Array, parse: Callable[[str], float], kind: pa.DataType) -> pa.Array:
    """Arrow does not say which text it could not convert; one pass in Python does."""
    values = []
    for row, text in enumerate(column.to_pylist()):
        try:
            values.append(None if text is None else parse(text))
        except ValueError:
            raise CellError(row, "E316", f"is `{text}`") from None
    return pa.array(values, kind)


def _finite(column: pa.Array) -> pa.Array:
    row = pc.index(pc.is_finite(column), False).as_py()
    if row >= 0:
        raise CellError(row, "E316", f"is `{column[row].as_py()}`, which is not a finite number")
    return column


def _positive(column: pa.Array) -> pa.Array:
    row = pc.index(pc.greater(column, 0), False).as_py()
    if row >= 0:
        raise CellError(row, "E316", f"is `{column[row].as_py()}`, and ranks count from 1")
    return column


def _query(parts: list[pa.Array]) -> pa.Array | None:
    """One text for each query; null if any of its columns is."""
    return pc.binary_join_element_wise(*parts, " ") if parts else None


class _TableColumns:
    """The columns of one batch of a typed table, whose problems name the row and the column."""

    def __init__(self, rows: pa.RecordBatch, layout: Layout, request: Request, first_row: int) -> None:
        self._rows, self._layout, self._request, self._first_row = rows, layout, request, first_row

    def keys(self, index: int) -> pa.Array:
        try:
            return keys(self._rows.column(index))
        except CellError as problem:
            raise self._cell(index, problem) from None
        except ColumnTypeError as problem:
            raise self._type(index, str(problem), "columns hold text, numbers, booleans, dates or date-times") from None

    def relation(self, index: int) -> pa.Array:
        """Names of predicates; the digits of a relation number are its name."""
        column = decoded(self._rows.column(index))
        if not is_text(column.type) and not pa.types.is_integer(column.type):
            raise self._type(index, str(column.type), "the relation column is text, or whole numbers")
        row = pc.index(pc.is_null(column), True).as_py()
        names = column.cast(pa.string())
        row = row if row >= 0 else pc.index(names, "").as_py()
        if row >= 0:
            raise self._cell(index, CellError(row, "E312", "is missing"))
        return names

    def text(self, index: int) -> pa.Array:
        column = decoded(self._rows.column(index))
        if not is_text(column.type) and not pa.types.is_integer(column.type) and not pa.types.is_null(column.type):
            raise self._type(index, str(column.type), "a query is text, or a whole number")
        return column.cast(pa.string())

    def scores(self, index: int) -> pa.Array:
        column = self._number(index)
        return self._checked(index, _finite, column.cast(pa.float64(), safe=False))

    def ranks(self, index: int) -> pa.Array:
        column = self._number(index)
        try:
            whole = column.cast(pa.int64())
        except pa.ArrowInvalid:
            raise self._type(index, str(column.type), "ranks are whole numbers") from None
        return self._checked(index, _positive, whole)

    def _number(self, index: int) -> pa.Array:
        column = decoded(self._rows.column(index))
        kind = column.type
        if not any(of(kind) for of in (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)):
            raise self._type(index, str(kind), "scores and ranks are numbers")
        return column

    def _checked(self, index: int, check: Callable[[pa.Array], pa.Array], column: pa.Array) -> pa.Array:
        try:
            return check(column)
        except CellError as problem:
            raise self._cell(index, problem) from None

    def _cell(self, index: int, problem: CellError) -> InputError:
        message = f"`{self._layout.names[index]}` {problem.reason} in row {self._first_row + problem.row:,}"
        note = "rows are counted from 0"
        return InputError(Diagnostic(problem.code, message, Place(self._request.origin), notes=(note,)))

    def _type(self, index: int, kind: str, note: str) -> InputError:
        message = f"column `{self._layout.names[index]}` is of type {kind}"
        return InputError(Diagnostic("E321", message, Place(self._request.origin), notes=(note,)))
