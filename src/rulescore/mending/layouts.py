"""Lists of answers in layouts other than rows of columns. Turns them into a table, and a table in a new order into a file.

A column of the table says where each row stood in the file.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Place
from rulescore.mending.lists import Lists
from rulescore.readers.arrays import OGB_BEST, OGB_QUERIES, Array, arrays_table, loaded_arrays
from rulescore.readers.files import InputFile, Opening
from rulescore.readers.foreign import Facts, readers, understood
from rulescore.readers.json_lines import Line, find_layout, json_fact, json_lines
from rulescore.readers.layout import resolve
from rulescore.readers.lines import open_lines
from rulescore.readers.text import at_most
from rulescore.setting.model import FactFile, Request

PLACE = "row of the file"
_ASKED = "direction", "asked"


def _placed(rows: pa.Table) -> pa.Table:
    return rows.append_column(PLACE, pa.array(range(rows.num_rows), pa.int64()))


# Rankings of other tools.


def of_tool(form: str, opening: Opening, request: Request) -> Lists:
    """The lists of a file of another tool that ranks its answers."""
    rows = _placed(pa.concat_tables(map(_rows_of, understood(form, opening, request))))
    if rows["rank"].to_pylist().count(1) != len(rows["query"].unique()):
        raise InputError(Diagnostic("E809", "two lists answer the same query", Place(request.origin), helps=("leave one out",)))
    with open_lines(opening, request.origin) as text:
        lines = tuple(text)
    layout = resolve(rows.column_names, rows.num_columns, Request(request.origin, FactFile(request.file.path), True))
    return Lists(request.origin, rows, layout, rewritten=partial(_tool_file, form, lines), asked=_ASKED)


def _rows_of(facts: Facts) -> pa.Table:
    directions, truths = zip(*facts.asked, strict=True)
    ranking = {"score": pa.array(facts.scores, pa.float64())} if facts.scores else {}
    return pa.table(
        {
            "query": pa.array(facts.queries, pa.string()),
            **dict(zip(_ASKED, map(pa.array, (directions, truths)), strict=True)),
            "head": pa.array(facts.arguments[0]),
            "relation": pa.array(facts.predicates),
            "tail": pa.array(facts.arguments[1]),
            **ranking,
            "rank": pa.array(facts.ranks, pa.int64()),
        }
    )


def _tool_file(form: str, lines: Sequence[str], rows: pa.Table) -> bytes:
    return "".join(f"{line}\n" for line in readers()[form].reordered(lines, _orders(rows))).encode()


def _orders(rows: pa.Table) -> Iterator[list[int]]:
    """The order of each list: the old places of its answers."""
    for _, members in groupby(zip(rows["query"].to_pylist(), rows[PLACE].to_pylist(), strict=True), key=itemgetter(0)):
        places = [place for _, place in members]
        yield [place - min(places) for place in places]


# JSON Lines.


def of_json(opening: Opening, request: Request) -> Lists:
    """The lists of a file of JSON Lines. Its rows come back unchanged, except for ranks and scores that change."""
    shape = find_layout(json_lines(opening, request), request)
    layout, lines, problems = replace(shape.layout, names=(*shape.layout.names, PLACE)), [], []
    for line in json_lines(opening, request):
        checked = json_fact(line, shape, request) if isinstance(line, Line) else line
        if isinstance(checked, Diagnostic):
            problems.append(checked)
        elif isinstance(line, Line):
            lines.append(line)
    if problems:
        raise InputError(at_most(iter(problems)))
    columns = [_json_column([line.row.get(path) for line in lines]) for path in shape.paths]
    rows = _placed(pa.table(columns, names=list(shape.layout.names)))
    places = [place for place in (layout.rank, layout.score) if place is not None]
    ranking = {layout.names[place]: shape.paths[place] for place in places}
    return Lists(request.origin, rows, layout, rewritten=partial(_json_file, [line.text for line in lines], ranking))


def _json_column(values: Sequence[Any]) -> pa.Array:
    """A column of the values; if they have several types, of their JSON texts."""
    try:
        return pa.array(values)
    except pa.ArrowException:
        return pa.array([value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in values])


def _json_file(lines: Sequence[str], ranking: Mapping[str, str], rows: pa.Table) -> bytes:
    """`ranking`: the paths of rank and score, by the names of their columns."""
    written = []
    for row in rows.select([PLACE, *ranking]).to_pylist():
        line = lines[row[PLACE]]
        value = json.loads(line)
        changes = [_set(value, path, row[name]) for name, path in ranking.items()]
        written.append(json.dumps(value, ensure_ascii=False) if any(changes) else line)
    return "".join(f"{line}\n" for line in written).encode()


def _set(value: Any, path: str, new: object) -> bool:
    """Set a nested field. Returns whether it was another value."""
    for name in value if isinstance(value, dict) else range(len(value)):
        if path == str(name):
            old, value[name] = value[name], new
            return bool(old != new)
        if path.startswith(f"{name}.") and isinstance(value[name], dict | list):
            return _set(value[name], path.removeprefix(f"{name}."), new)
    return False


# NumPy.


def of_arrays(file: InputFile, request: Request) -> Lists:
    """The lists of a file of NumPy: an array for each column, or answers for OGB."""
    with file.opened() as opening:
        arrays = loaded_arrays(opening, request.origin)
    rows = _placed(arrays_table(arrays, request.origin))
    layout = resolve(rows.column_names, rows.num_columns, request)
    return Lists(request.origin, rows, layout, rewritten=partial(_array_file, arrays))


def _array_file(arrays: Mapping[str, Array], rows: pa.Table) -> bytes:
    order = rows[PLACE].to_numpy()
    moved = dict(arrays)
    if arrays.keys() >= {OGB_BEST, OGB_QUERIES}:
        best = arrays[OGB_BEST]
        moved[OGB_BEST] = best.ravel()[order].reshape(best.shape)
    else:
        moved |= {name: array[order] for name, array in arrays.items() if array.shape[:1] == order.shape}
        moved |= {name: rows[name].to_numpy() for name in ("rank", "score") if name in arrays}
    file = io.BytesIO()
    np.savez(file, **moved)  # type: ignore[arg-type]  # an array may have the name of a parameter
    return file.getvalue()
