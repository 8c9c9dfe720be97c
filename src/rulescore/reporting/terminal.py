"""Tables for a terminal. Text is folded if the width requires it. Figures are never folded."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rulescore.errors.texts import visible
from rulescore.reporting.listing import (
    Appearance,
    Cell,
    CellKind,
    Column,
    Listing,
    ListingLayout,
    Position,
    Tone,
    is_number,
    picked,
    shown,
)

_GAP = 2
_NARROWEST_TEXT = 12
_LONGEST_NAME = 40
_MOST_ROWS = 200
_HEIGHT = 25
_NARROWEST_CODE = 16
_COLOURS = {Tone.GOOD: "green", Tone.BAD: "red"}


def render_terminal(listings: Sequence[Listing], appearance: Appearance) -> str:
    return "\n".join(_render(listing, appearance) for listing in listings)


def _render(listing: Listing, appearance: Appearance) -> str:
    kept = listing.rows[:_MOST_ROWS]
    left = len(listing.rows) - len(kept)
    listing, left_out = _narrowed(replace(listing, rows=kept), appearance.width)
    if listing.layout is ListingLayout.BLOCKS:
        width, body = appearance.width, _blocks(listing.columns, listing.rows)
    else:
        width, body = _fitted(listing, appearance.width)
    target = io.StringIO()
    # NO_COLOR is the caller's business: it decides `appearance.colour` for the stream it writes to.
    console = Console(
        file=target,
        width=width,
        # If we gave no height, rich would assume 80 columns for a dumb terminal and ignore the width.
        height=_HEIGHT,
        force_terminal=appearance.colour,
        color_system="standard" if appearance.colour else None,
        legacy_windows=False,
        highlight=False,
        emoji=False,
        markup=False,
    )
    for sentence in listing.lead:
        console.print(Text(visible(sentence)), width=appearance.width)
    if listing.lead:
        console.print()
    console.print(Text(visible(listing.title), style="bold"))
    console.print(body)
    more = [f"… and {left:,} more rows: other formats have all of them"] if left else []
    narrow = [f"left out, since the terminal is narrow: {', '.join(left_out)}; other formats have all columns"] if left_out else []
    for note in (*more, *listing.notes, *narrow):
        console.print(Text(visible(note), style="dim"), width=appearance.width)
    return "\n".join(line.rstrip() for line in target.getvalue().split("\n"))


def _narrowed(listing: Listing, width: int) -> tuple[Listing, list[str]]:
    """The listing without the last of its spare columns, as many as there is no room for; and their headings."""
    spare = [number for number, column in enumerate(listing.columns) if column.spare]
    narrower = listing
    left_out: list[int] = []
    while spare and _needed(narrower, width) > width:
        left_out.insert(0, spare.pop())
        narrower = picked(listing, [number for number in range(len(listing.columns)) if number not in left_out])
    return narrower, [listing.columns[number].heading for number in left_out]


def _needed(listing: Listing, width: int) -> int:
    widths = [limit for limit in column_widths(listing.columns, _texts(listing), width) if limit]
    return sum(widths) + _GAP * (len(widths) - 1)


def _texts(listing: Listing) -> list[list[str]]:
    return [[shown(cell, column.kind) for cell, column in zip(row, listing.columns, strict=True)] for row in listing.rows]


def _fitted(listing: Listing, width: int) -> tuple[int, RenderableType]:
    """A table and its width; texts of rules stand below their rows if there is no room next to the figures."""
    cells = _texts(listing)
    widths = column_widths(listing.columns, cells, width)
    kept = [number for number, column in enumerate(listing.columns) if column.kind is not CellKind.CODE or widths[number]]
    below = [number for number in range(len(listing.columns)) if number not in kept]
    limits = {number: widths[number] for number in kept}

    table = _table(listing, limits)
    parts: list[RenderableType] = [table]
    for row in range(len(cells)):
        if below and row:
            table = _table(listing, limits, heading=False)
            parts.append(table)
        table.add_row(*(Text(cells[row][number], style=_style(listing, (row, number))) for number in kept))
        parts += [_below(cells[row][number], whole=listing.columns[number].whole) for number in below]
    return max(width, sum(limits.values()) + _GAP * (len(limits) - 1)), Group(*parts)


def _below(text: str, *, whole: bool) -> RenderableType:
    if whole:
        return Padding(Text(text, style="dim", overflow="fold"), (0, 0, 0, _GAP))
    return Text(f"{' ' * _GAP}{text}", style="dim", no_wrap=True, overflow="ellipsis")


def _table(listing: Listing, widths: Mapping[int, int], *, heading: bool = True) -> Table:
    table = Table(
        box=SIMPLE_HEAD,
        padding=(0, _GAP - 1, 0, 0),
        pad_edge=False,
        show_edge=False,
        show_header=heading,
        header_style="bold",
    )
    for number, limit in widths.items():
        column = listing.columns[number]
        cut = column.kind is CellKind.CODE
        side: Literal["left", "right"] = "right" if is_number(column.kind) else "left"
        title = Text(visible(column.heading))
        table.add_column(title, justify=side, width=limit, overflow="ellipsis" if cut else "fold", no_wrap=cut)
    return table


def _style(listing: Listing, position: Position) -> str:
    """Bold and colours: the figures say the same without them."""
    styles = [_COLOURS[listing.tones[position]]] if position in listing.tones else []
    return " ".join([*styles, *(["bold"] if position in listing.best else [])])


def _blocks(columns: Sequence[Column], rows: Sequence[tuple[Cell, ...]]) -> RenderableType:
    """One block of `heading value` lines a row; empty cells are left out."""
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for row in rows:
        for column, cell in zip(columns, row, strict=True):
            if cell not in (None, ()):
                table.add_row(column.heading, Text(shown(cell, column.kind)))
        table.add_row()
    return table


def column_widths(columns: Sequence[Column], cells: Sequence[Sequence[str]], width: int) -> list[int]:
    """Figures get all they need, even beyond the width of the terminal; texts share what is left and are folded. Texts of rules get
    the width that other columns leave; if that is too little, 0."""
    code = [number for number, column in enumerate(columns) if column.kind is CellKind.CODE]
    if code:
        others = [number for number in range(len(columns)) if number not in code]
        fitted = column_widths([columns[number] for number in others], [[row[number] for number in others] for row in cells], width)
        widths = dict(zip(others, fitted, strict=True))
        for number in code:
            wanted = max(map(cell_len, (columns[number].heading, *(row[number] for row in cells))))
            room = width - sum(widths.values()) - _GAP * len(widths)
            enough = wanted if columns[number].whole else min(wanted, _NARROWEST_CODE)
            widths[number] = min(wanted, room) if room >= enough else 0
        return [widths[number] for number in range(len(columns))]
    contents = [[row[index] for row in cells] for index in range(len(columns))]
    widest = [max(map(cell_len, (visible(column.heading), *content))) for column, content in zip(columns, contents, strict=True)]
    least = [_least_width(column, content) for column, content in zip(columns, contents, strict=True)]
    room = width - _GAP * (len(columns) - 1)
    texts = sorted((index for index, column in enumerate(columns) if not is_number(column.kind)), key=widest.__getitem__)
    words = {index: _longest_word(contents[index]) for index in texts}
    shared = _shared(least, widest, texts, room)
    if all(words[index] <= shared[index] for index in texts):
        return shared
    # Names in the first column get their width first. Columns of words come next, since a word cannot be split.
    least[0] = max(least[0], min(_longest_word(_first_words(contents[0])), _LONGEST_NAME))
    for index in texts:
        least[index] += max(0, min(words[index] - least[index], room - sum(least)))
    return _shared(least, widest, texts, room)


def _shared(least: Sequence[int], widest: Sequence[int], texts: Sequence[int], room: int) -> list[int]:
    """The least widths, plus shares of the room that they leave."""
    widths = list(least)
    left = max(0, room - sum(least))
    # Serve narrow text columns first, so fewer wrap; headings of figures get the rest.
    for served, index in enumerate(texts):
        share = min(widest[index] - widths[index], left // (len(texts) - served))
        widths[index] += share
        left -= share
    for index in set(range(len(widths))) - set(texts):
        share = widest[index] - widths[index]
        if share <= left:
            widths[index] += share
            left -= share
    return widths


def _least_width(column: Column, texts: Sequence[str]) -> int:
    """Headings fold at spaces, figures nowhere, texts anywhere if they must."""
    heading = max((cell_len(word) for word in visible(column.heading).split()), default=0)
    content = max(map(cell_len, texts), default=0)
    return max(heading, content if is_number(column.kind) else min(content, _NARROWEST_TEXT))


def _first_words(texts: Iterable[str]) -> list[str]:
    return [word for text in texts for word in text.split(maxsplit=1)[:1]]


def _longest_word(texts: Iterable[str]) -> int:
    return max((cell_len(word) for text in texts for word in text.split()), default=0)
