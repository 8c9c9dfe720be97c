"""Files of NumPy: arrays of triples, and values in the order of the hidden rows."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Place
from rulescore.readers.files import InputFile, Opening
from rulescore.readers.frames import arrow_table, read_frame
from rulescore.readers.text import find_dialect, stream
from rulescore.readers.triples import OGB_BEST, OGB_QUERIES, OGB_TASK, PARTS, Array, triples_table
from rulescore.setting.choices import FileFormat
from rulescore.setting.model import FactBatch
from rulescore.setting.request import Request

ENDINGS = (".npy", ".npz")
_ANSWERS = ("score", "rank", "query")


def is_array_file(path: object) -> bool:
    return isinstance(path, str | Path) and Path(path).name.removesuffix(".gz").endswith(ENDINGS)


def read_arrays(file: InputFile, request: Request) -> Iterator[FactBatch]:
    """The facts of an array of three columns of names; of arrays `head`, `relation` and `tail`; or of answers for OGB."""
    with file.opened() as opening:
        arrays = _loaded(opening, request.origin)
    return read_frame(_table(arrays, request.origin), request)


def array_values(file: InputFile) -> Array:
    """The one array of a file."""
    with file.opened() as opening:
        return _the_array(_loaded(opening, str(file.path)), str(file.path))


def _table(arrays: dict[str, Array], origin: str) -> pa.Table:
    if arrays.keys() >= {OGB_BEST, OGB_QUERIES}:
        return triples_table({OGB_TASK: arrays}, origin)
    if arrays.keys() >= set(PARTS):
        return pa.table({name: pa.array(arrays[name].tolist()) for name in (*PARTS, *_ANSWERS) if name in arrays})
    return triples_table(_the_array(arrays, origin), origin)


def _the_array(arrays: dict[str, Array], origin: str) -> Array:
    if len(arrays) == 1:
        return next(iter(arrays.values()))
    notes = (f"they are {', '.join(f'`{name}`' for name in arrays)}",) if arrays else ()
    helps = (
        "save one array, or three, `head`, `relation` and `tail`; answers for OGB are "
        f"`{OGB_QUERIES}` and `{OGB_BEST}`, and ids need `rulescore.Triples` in Python",
    )
    raise InputError(
        Diagnostic(
            "E364", f"the file holds {len(arrays):,} arrays, of which none are triples", Place(origin), notes=notes, helps=helps
        )
    )


def _loaded(opening: Opening, origin: str) -> dict[str, Array]:
    """Arrays by name, which is empty for a `.npy` file. We never load objects of Python: doing so could run code."""
    try:
        reader: Any = gzip.GzipFile(fileobj=opening.reader()) if opening.compressed else opening.reader()
        if not reader.peek(6).startswith((b"\x93NUMPY", b"PK")):
            raise InputError(Diagnostic("E305", "the file is not an array of NumPy", Place(origin)))
        found: Any = np.load(reader, allow_pickle=False)
        arrays = {"": found} if isinstance(found, np.ndarray) else {name: found[name] for name in found.files}
    except (ValueError, OSError, EOFError, KeyError, BadZipFile) as error:
        objects = "Object arrays" in str(error)
        message = "the file holds objects of Python, which are not loaded" if objects else "the file is damaged"
        helps = ("save names as text: `numpy.save(path, array.astype(str))`",) if objects else ()
        notes = () if objects else (str(error).partition(chr(10))[0],)
        raise InputError(Diagnostic("E305", message, Place(origin), notes=notes, helps=helps)) from None
    return {name: np.char.decode(one, "utf-8") if one.dtype.kind == "S" else one for name, one in arrays.items()}


# Columns of a source beside those of its facts, such as the rank of the truth, by their names.


_BLANKS = re.compile(r"[\s-]+")

Wanted = Mapping[str, frozenset[str]]
"""The columns to find: our name for each, with the names it may have in a source."""


def file_columns(file: InputFile, request: Request, kind: FileFormat, wanted: Wanted) -> pa.Table:
    """Those of the wanted columns that a file has. We have read its facts before, without problems."""
    with file.opened() as opening:
        if kind is FileFormat.PARQUET:
            from pyarrow import parquet

            with parquet.ParquetFile(opening.reader()) as rows:
                found = _found(rows.schema_arrow.names, wanted)
                return rows.read(columns=[rows.schema_arrow.names[i] for i in found.values()]).rename_columns(list(found))
        dialect = find_dialect(opening, request)
        found = _found(dialect.header or (), wanted)
        if not found:
            return pa.table({})
        names = list(found)
        batches = [pa.RecordBatch.from_arrays(one.columns, names) for one in stream(opening, dialect, list(found.values()))]
        return pa.Table.from_batches(batches, pa.schema([(name, pa.string()) for name in names]))


def frame_columns(frame: object, origin: str, wanted: Wanted) -> pa.Table:
    table = arrow_table(frame, origin)
    found = _found(table.column_names, wanted)
    return table.select(list(found.values())).rename_columns(list(found))


def _found(names: Sequence[str], wanted: Wanted) -> dict[str, int]:
    """The numbers of the wanted columns; the first if two columns have one meaning."""
    plain = [_BLANKS.sub("_", name.strip().lower()) for name in names]
    places = {part: [i for i, name in enumerate(plain) if name in known] for part, known in wanted.items()}
    return {part: found[0] for part, found in places.items() if found}
