"""CSV: values exact and in full precision, undefined as an empty field. On request, text is written so that a spreadsheet computes
nothing of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from rulescore.reporting.listing import Cell, Listing

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


def _text(rows: list[Any], spreadsheet: bool) -> str:
    target = io.StringIO()
    found = [[_harmless(cell) for cell in row] for row in rows] if spreadsheet else rows
    csv.writer(target, lineterminator="\n").writerows(found)
    return target.getvalue()


def _harmless(cell: object) -> object:
    """Text that a spreadsheet would compute gets an apostrophe before it, which makes it text there."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_COMPUTED) else cell
