"""Reads a model's ranked answers from the layouts in which models and tools write them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Place
from rulescore.mending.layouts import of_arrays, of_json, of_tool
from rulescore.mending.lists import Lists
from rulescore.readers.arrays import are_triples, triples_table
from rulescore.readers.files import InputFile, Opening
from rulescore.readers.foreign import readers, recognised, strangers_named
from rulescore.readers.frames import is_frame
from rulescore.readers.layout import resolve
from rulescore.readers.sources import file_format
from rulescore.readers.text import find_dialect, stream
from rulescore.setting.choices import FileFormat
from rulescore.setting.model import FactFile, Request

_RANKED = ("write triples with a `rank` column, or with `query` and `score` columns, as text, JSON Lines, Parquet or NumPy",)


def read_lists(what: object) -> Lists:
    """Read a model's ranked answers.

    Args:
        what: A file that holds rankings, a `FactFile`, a frame, or arrays as `score` takes them.

    Returns:
        The lists.

    Raises:
        InputError: The answers cannot be read, are no triples, or nothing ranks them.
    """
    if is_frame(what) or are_triples(what):
        rows = _plain(pa.table(what)) if is_frame(what) else triples_table(what, "<lists>")
        return _refuse_empty(_of_table(rows, Request("<lists>", FactFile("<lists>"), True)))
    if not isinstance(what, str | Path | FactFile):
        helps = ("give a path or a frame",)
        raise InputError(Diagnostic("E809", f"lists of answers cannot be read from a {type(what).__name__}", helps=helps))
    said = what if isinstance(what, FactFile) else FactFile(what)
    path = Path(said.path)
    request = Request(str(path), said, True)
    file = InputFile(path)
    match file_format(path, None if said.format is None else FileFormat(said.format)):
        case FileFormat.PARQUET:
            from pyarrow.parquet import read_table

            return _refuse_empty(_of_table(read_table(path), request))
        case FileFormat.NUMPY:
            return _refuse_empty(of_arrays(file, request))
        case FileFormat.JSONL:
            with file.opened() as opening:
                return _refuse_empty(of_json(opening, request))
        case FileFormat.TEXT:
            with file.opened() as opening:
                form = None if said.format is FileFormat.TEXT else recognised(opening, request)
                return _refuse_empty(_text(opening, request) if form is None else _of_tool(form, opening, request))
        case form if form in readers():
            with file.opened() as opening:
                return _refuse_empty(_of_tool(form, opening, request))
        case other:
            raise _unranked(f"a file of the format {other}", request)


def _of_table(rows: pa.Table, request: Request) -> Lists:
    return Lists(request.origin, rows, resolve(rows.column_names, rows.num_columns, request))


def _of_tool(form: str, opening: Opening, request: Request) -> Lists:
    if not hasattr(readers()[form], "reordered"):
        raise _unranked(readers()[form].TITLE, request)
    return of_tool(form, opening, request)


def _unranked(what: str, request: Request) -> InputError:
    message = f"{what} does not say which query a prediction answers, so there is no order to change"
    return InputError(Diagnostic("E809", message, Place(request.origin), helps=_RANKED))


def _plain(rows: pa.Table) -> pa.Table:
    """The frame with texts as all functions take them: Polars gives views of texts."""
    kinds = [pa.large_string() if pa.types.is_string_view(field.type) else field.type for field in rows.schema]
    return rows.cast(pa.schema(list(zip(rows.column_names, kinds, strict=True))))


def _text(opening: Opening, request: Request) -> Lists:
    with strangers_named(opening, request):
        dialect = find_dialect(opening, request)
    layout = resolve(dialect.header, dialect.width, request)
    batches = [batch.cast(pa.schema([(name, pa.string()) for name in batch.schema.names])) for batch in stream(opening, dialect)]
    rows = pa.Table.from_batches(batches).rename_columns([f"c{i}" for i in range(dialect.width)])
    return Lists(request.origin, rows, layout, dialect)


def _refuse_empty(lists: Lists) -> Lists:
    if lists.layout.relation is None or len(lists.layout.arguments) != 2:
        raise InputError(
            Diagnostic(
                "E809", "lists of answers are triples", Place(lists.origin), helps=("give columns `head`, `relation`, `tail`",)
            )
        )
    if not lists.rows.num_rows:
        raise InputError(Diagnostic("E809", "there are no answers", Place(lists.origin)))
    return lists
