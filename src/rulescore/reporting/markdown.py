"""Markdown: GitHub's pipe tables."""

from __future__ import annotations

import re

from rulescore.reporting.cells import is_number, shown
from rulescore.reporting.listing import Cell, Column, Listing

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~&#$])")


def render_markdown(listing: Listing) -> str:
    headings = [column.heading for column in listing.columns]
    rules = ["---:" if is_number(column.kind) else ":---" for column in listing.columns]
    rows = [[_escaped_cell(cell, column) for cell, column in zip(row, listing.columns, strict=True)] for row in listing.rows]
    table = [f"| {' | '.join(cells)} |" for cells in (headings, rules, *rows)]
    notes = [line for note in listing.notes for line in ("", escaped(note))]
    return "\n".join([f"### {escaped(listing.title)}", "", *table, *notes]) + "\n"


def escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _escaped_cell(cell: Cell, column: Column) -> str:
    return escaped(shown(cell, column.kind))
