"""CSV: values exact and in full precision, undefined as an empty field. On request, text is written so that a spreadsheet computes
nothing of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rulescore.reporting.listing import Cell, Listing

_SPECIAL = re.compile(r'[",\r\n]')
_COMPUTED = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def render_csv(listing: Listing, *, spreadsheet: bool = False) -> str:
    header = [column.key for column in listing.columns]
    return _text([header, *([_field(cell) for cell in row] for row in listing.rows)], spreadsheet)


def render_table_csv(table: Any, *, spreadsheet: bool = False) -> str:
    """An Arrow table of plain columns."""
    columns = [column.to_pylist() for column in table.columns]
    return _text([table.column_names, *(list(row) for row in zip(*columns, strict=True))], spreadsheet)


def _field(cell: Cell) -> str | int | float | None:
    match cell:
        case tuple():
            return "; ".join(cell)
        case Mapping():
            return "; ".join(f"{name} = {text}" for name, text in cell.items())
        case _:
            return cell


def _text(rows: Iterable[Sequence[Any]], spreadsheet: bool) -> str:
    return "".join(_line([_harmless(cell) for cell in row] if spreadsheet else row) for row in rows)


def _line(cells: Sequence[Any]) -> str:
    fields = [_quoted("" if cell is None else str(cell)) for cell in cells]
    return (",".join(fields) if fields != [""] else '""') + "\n"


def _quoted(text: str) -> str:
    """Python's own writer leaves a lone carriage return without quotes, and readers end the row there."""
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text


def _harmless(cell: object) -> object:
    """Text that a spreadsheet would compute gets an apostrophe before it, which makes it text there."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_COMPUTED) else cell
