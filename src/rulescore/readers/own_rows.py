"""Rows of predictions as the user has them: all columns in their order, and for each unreadable row what is wrong."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.errors import Diagnostic, Place
from rulescore.readers.columns import RANKING_COLUMNS, CellError, holds_floats, no_facts, text_batch
from rulescore.readers.files import Opening, damaged
from rulescore.readers.frames import arrow_table, read_batches
from rulescore.readers.json_lines import Line, column_names, find_layout, json_batch, json_fact, json_lines
from rulescore.readers.layout import resolve
from rulescore.readers.lines import Record, open_lines, records
from rulescore.readers.text import TextDialect, check_header_is_none_of, find_dialect, first_line, printable, row_problems
from rulescore.setting.model import FactBatch, OwnRows, Request
from rulescore.values import text_of

_BATCH_ROWS = 1 << 17

NO_OBJECT = "unreadable_line"
"""The column for the text of lines that hold no JSON object."""


def own_text_rows(file: Opening, request: Request) -> OwnRows:
    """The rows of a delimited text file, read one by one."""
    dialect = find_dialect(file, request)
    layout = resolve(dialect.header, dialect.width, request)
    unreadable: dict[int, Diagnostic] = {}
    rows: list[list[str | None]] = []
    with open_lines(file, request.origin) as lines:
        read = records(lines, dialect.delimiter, dialect.quoted)
        for number, record in enumerate(islice(read, int(dialect.header is not None), None)):
            if (problem := next(row_problems(record, request, dialect.width, layout), None)) is not None:
                unreadable[number] = problem
            rows.append(_fields(record, dialect))
    if not rows:
        raise no_facts(request)
    readable = [row for number, row in enumerate(rows) if number not in unreadable]
    facts = []
    for start in range(0, len(readable), _BATCH_ROWS):
        batch = _columns(readable[start : start + _BATCH_ROWS], [f"c{place}" for place in range(dialect.width)])
        check_header_is_none_of(batch, dialect, layout, request)
        try:
            read_facts = text_batch(batch, layout, request)
        except (CellError, pa.ArrowInvalid) as error:
            raise damaged(request.origin, str(error)) from None
        facts.append(
            read_facts if start else replace(read_facts, guess=layout.guess or first_line(batch, layout, dialect, request))
        )
    return OwnRows(pa.Table.from_batches([_columns(rows, unique(layout.names))]), tuple(facts), unreadable)


def _fields(record: Record, dialect: TextDialect) -> list[str | None]:
    """As many fields as there are columns. If a row has more, the last column takes the rest."""
    fields: list[str | None] = [field.text.encode(errors="replace").decode() for field in record.fields]
    if len(fields) > dialect.width:
        return [*fields[: dialect.width - 1], dialect.delimiter.join(str(field) for field in fields[dialect.width - 1 :])]
    return [*fields, *[None] * (dialect.width - len(fields))]


def _columns(rows: Sequence[Sequence[str | None]], names: Sequence[str]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([row[place] for row in rows], pa.string()) for place in range(len(names))], names)


def unique(names: Iterable[str]) -> list[str]:
    """Names of columns, no two alike."""
    taken: list[str] = []
    for name in names:
        number = sum(known == name or known.rpartition(" ")[0] == name for known in taken)
        taken.append(f"{name} {number + 1}" if name in taken else name)
    return taken


def own_json_rows(file: Opening, request: Request) -> OwnRows:
    """The lines of a file of JSON Lines."""
    lines = list(json_lines(file, request))
    shape = find_layout(lines, request)
    facts, unreadable = [], {}
    for number, line in enumerate(lines):
        fact = line if isinstance(line, Diagnostic) else json_fact(line, shape, request)
        if isinstance(fact, Diagnostic):
            unreadable[number] = fact
        else:
            facts.append(fact)
    starts = range(0, len(facts), _BATCH_ROWS)
    batches = tuple(json_batch(facts[start : start + _BATCH_ROWS], shape, request, first=not start) for start in starts)
    texts = _texts(file, request, {number for number, line in enumerate(lines) if isinstance(line, Diagnostic)})
    objects = [line.value if isinstance(line, Line) else {NO_OBJECT: texts[number]} for number, line in enumerate(lines)]
    rows = [line.row if isinstance(line, Line) else {NO_OBJECT: texts[number]} for number, line in enumerate(lines)]
    columns = {name: _any_column([row.get(path) for row in rows]) for name, path in column_names(rows).items()}
    return OwnRows(pa.table(columns), batches, unreadable, objects)


def _texts(file: Opening, request: Request, wanted: Container[int]) -> dict[int, str]:
    with open_lines(file, request.origin) as lines:
        return {number: printable(line) for number, line in enumerate(lines) if number in wanted} if wanted else {}


def _any_column(values: Sequence[Any]) -> pa.Array:
    """Values of one type, or else as JSON."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) == 1 and not kinds & {list, int}:
        return pa.array(values)
    if kinds <= {int} and all(value is None or -(2**63) <= value < 2**63 for value in values):
        return pa.array(values, pa.int64() if kinds else pa.string())
    texts = [value if isinstance(value, str | None) else json.dumps(value, ensure_ascii=False) for value in values]
    return pa.array(texts, pa.string())


def own_parquet_rows(file: Opening, request: Request) -> OwnRows:
    """The rows of a Parquet file."""
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(file.reader()) as opened:
            if not opened.metadata.num_rows:
                raise no_facts(request)
            table = opened.read()
        table.validate(full=True)
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError) as error:
        raise damaged(request.origin, str(error)) from None
    return _own_typed_rows(table, request)


def own_frame_rows(frame: object, request: Request) -> OwnRows:
    """The rows of a frame."""
    return _own_typed_rows(arrow_table(frame, request.origin), request)


def _own_typed_rows(table: pa.Table, request: Request) -> OwnRows:
    layout = resolve(table.column_names, table.num_columns, request)
    unreadable: dict[int, Diagnostic] = {}
    for index in (*layout.arguments, *(() if layout.relation is None else (layout.relation,))):
        for number in _missing(table.column(index)):
            message = f"`{table.column_names[index]}` is missing in row {number:,}"
            notes = ("rows are counted from 0",)
            unreadable.setdefault(number, Diagnostic("E312", message, Place(request.origin), notes=notes))
    readable = table
    if unreadable:
        readable = table.take(pa.array([row for row in range(table.num_rows) if row not in unreadable], pa.int64()))
    facts = tuple(read_batches(table.schema, readable.to_batches(), request))
    return OwnRows(table.rename_columns(unique(table.column_names)), facts, dict(sorted(unreadable.items())))


def _missing(column: pa.ChunkedArray) -> Iterator[int]:
    wrong = pc.is_null(column, nan_is_null=holds_floats(column.type) and pa.types.is_floating(column.type))
    yield from pc.indices_nonzero(wrong).to_pylist()


def own_facts(batches: Iterable[FactBatch]) -> OwnRows:
    """Rows that have nothing but their facts: statements of RDF, answers of other tools, rows of Python."""
    facts = tuple(batches)
    width = max((batch.arity for batch in facts), default=2)
    places = ["head", "tail"] if width == 2 else [f"argument_{place + 1}" for place in range(width)]
    columns: dict[str, list[Any]] = {name: [] for name in (*places[:1], "relation", *places[1:], *RANKING_COLUMNS)}
    for batch in facts:
        number = batch.rows.num_rows
        names = [batch.predicate] * number if batch.predicate is not None else batch.rows.column("predicate").to_pylist()
        columns["relation"] += names
        for place, name in enumerate(places):
            keys = batch.rows.column(f"a{place}").to_pylist() if place < batch.arity else [None] * number
            columns[name] += [None if key is None else text_of(key) for key in keys]
        for name in RANKING_COLUMNS:
            columns[name] += batch.rows.column(name).to_pylist() if name in batch.rows.schema.names else [None] * number
    kinds = {**dict.fromkeys(columns, pa.string()), **RANKING_COLUMNS}
    known = {name: values for name, values in columns.items() if name not in RANKING_COLUMNS or any(v is not None for v in values)}
    return OwnRows(pa.table({name: pa.array(values, kinds[name]) for name, values in known.items()}), facts)
