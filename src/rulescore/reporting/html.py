"""HTML: tables for a notebook, as a fragment without scripts and without links."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

from rulescore.errors.texts import visible
from rulescore.reporting.listing import CellKind, Listing, Position, is_number, shown
from rulescore.waiting import Told, listening

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


# Shows the progress of long work as a line of a notebook's cell.


_PATIENCE = 1.0
"""Seconds after which the line appears."""
_PACE = 0.2
"""Seconds between two changes of it."""
_LONGEST = 120


@contextmanager
def shown_in_notebook() -> Iterator[None]:
    """Context manager: shows progress, if this runs in a notebook and takes its time."""
    if not _is_notebook():
        yield
        return
    line = _NotebookLine()
    with listening(line.say):
        yield
    line.end()


def _is_notebook() -> bool:
    """Whether we run in a notebook, without importing IPython: a notebook has imported it already."""
    python = sys.modules.get("IPython")
    shell = None if python is None else python.get_ipython()
    return shell is not None and "IPKernelApp" in shell.config


class _NotebookLine:
    """A line that appears late and changes in place."""

    def __init__(self) -> None:
        self._begun = self._changed = time.monotonic()
        self._handle: Any = None

    def say(self, message: Told) -> None:
        now = time.monotonic()
        if now - self._begun >= _PATIENCE and now - self._changed >= _PACE:
            self._show(visible(str(message))[:_LONGEST] + " …")
            self._changed = now

    def end(self) -> None:
        if self._handle is not None:
            self._show(f"done in {time.monotonic() - self._begun:.1f} s")

    def _show(self, text: str) -> None:
        from IPython.display import display

        content = {"text/plain": text}
        if self._handle is None:
            self._handle = display(content, raw=True, display_id=True)  # type: ignore[no-untyped-call, unused-ignore]
        else:
            self._handle.update(content, raw=True)
