"""Markdown: GitHub's pipe tables. No part of a name becomes markup."""

from __future__ import annotations

import re

from rulescore.characters import visible
from rulescore.reporting.cells import is_number, shown
from rulescore.reporting.listing import CellKind, Listing, Position

# With `:`, `@` and `www.` GitHub makes links of plain text; not with a colon at the end of a word.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~&#$@!]|:(?!\s|$)|(?<=www)\.)")
_FIRST = re.compile(r"^(\d*)([-+=.)])")
_BACKTICKS = re.compile(r"`+")


def render_markdown(listing: Listing) -> str:
    headings = [escaped(column.heading) for column in listing.columns]
    rules = ["---:" if is_number(column.kind) else ":---" for column in listing.columns]
    rows = [[_cell(listing, (row, column)) for column in range(len(headings))] for row in range(len(listing.rows))]
    table = [f"| {' | '.join(cells)} |" for cells in (headings, rules, *rows)]
    notes = [line for note in listing.notes for line in ("", _line(note))]
    return "\n".join([f"### {escaped(listing.title)}", "", *table, *notes]) + "\n"


def escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", visible(text))


def code(text: str) -> str:
    """Text between as many backticks as it needs; a pipe would end the cell even there."""
    seen = visible(text).replace("|", r"\|")
    fence = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(seen)), default=0))
    return f"{fence} {seen} {fence}" if "`" in seen else f"{fence}{seen}{fence}"


def _cell(listing: Listing, position: Position) -> str:
    row, column = position
    kind = listing.columns[column].kind
    text = shown(listing.rows[row][column], kind)
    if kind is CellKind.CODE and text.strip():
        return code(text)
    return f"**{escaped(text)}**" if position in listing.best else escaped(text)


def _line(note: str) -> str:
    """A paragraph that begins no list and no heading."""
    return _FIRST.sub(r"\1\\\2", escaped(note))
