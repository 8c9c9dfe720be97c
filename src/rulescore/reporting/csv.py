"""CSV: values in full precision, undefined as an empty field."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from rulescore.reporting.listing import Cell, Listing


def render_csv(listing: Listing) -> str:
    header = [column.key for column in listing.columns]
    return _text([header, *([_field(cell) for cell in row] for row in listing.rows)])


def render_table_csv(table: Any) -> str:
    """An Arrow table of plain columns."""
    columns = [column.to_pylist() for column in table.columns]
    return _text([table.column_names, *(list(row) for row in zip(*columns, strict=True))])


def _field(cell: Cell) -> str | int | float | None:
    match cell:
        case tuple():
            return "; ".join(cell)
        case Mapping():
            return "; ".join(f"{name} = {text}" for name, text in cell.items())
        case _:
            return cell


def _text(rows: list[Any]) -> str:
    target = io.StringIO()
    csv.writer(target, lineterminator="\n").writerows(rows)
    return target.getvalue()
