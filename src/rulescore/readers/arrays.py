"""Files of NumPy: arrays of triples, and values in the order of the hidden rows."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Place
from rulescore.readers.files import InputFile, Opening
from rulescore.readers.frames import read_frame
from rulescore.readers.triples import OGB_BEST, OGB_QUERIES, OGB_TASK, PARTS, Array, triples_table
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
