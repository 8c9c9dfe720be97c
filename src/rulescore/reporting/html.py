"""HTML: tables for a notebook, as a fragment without scripts and without links."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from rulescore.errors.texts import visible
from rulescore.reporting.listing import CellKind, Listing, Position, is_number, shown

_COLOURS = {"good": "#1a7f37", "bad": "#cf222e"}


def render_html(listings: Iterable[Listing]) -> str:
    return "<div>\n" + "".join(map(_table, listings)) + "</div>\n"


def escaped(text: str) -> str:
    return escape(visible(text))


def _table(listing: Listing) -> str:
    headings = "".join(f"<th{_side(column.kind)}>{escaped(column.heading)}</th>" for column in listing.columns)
    rows = ["".join(_cell(listing, (row, column)) for column in range(len(listing.columns))) for row in range(len(listing.rows))]
    lines = [
        *(f"<p>{escaped(sentence)}</p>" for sentence in listing.lead),
        "<table>",
        f'<caption style="text-align: left; font-weight: bold">{escaped(listing.title)}</caption>',
        f"<thead><tr>{headings}</tr></thead>",
        "<tbody>",
        *(f"<tr>{row}</tr>" for row in rows),
        "</tbody>",
        "</table>",
        *(f"<p><small>{escaped(note)}</small></p>" for note in listing.notes),
    ]
    return "\n".join(lines) + "\n"


def _cell(listing: Listing, position: Position) -> str:
    row, column = position
    kind = listing.columns[column].kind
    text = escaped(shown(listing.rows[row][column], kind))
    if kind is CellKind.CODE:
        text = f"<code>{text}</code>"
    if position in listing.best:
        text = f"<b>{text}</b>"
    if (tone := listing.tones.get(position)) is not None:
        text = f'<span style="color: {_COLOURS[tone]}">{text}</span>'
    return f"<td{_side(kind)}>{text}</td>"


def _side(kind: CellKind) -> str:
    return f' style="text-align: {"right" if is_number(kind) else "left"}"'
