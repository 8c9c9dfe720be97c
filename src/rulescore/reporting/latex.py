"""LaTeX tables in the style of papers: booktabs, a caption and a label. No part of a name becomes a command."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

from rulescore.errors import Diagnostic, InputError
from rulescore.errors.texts import visible
from rulescore.reporting.listing import CellKind, Column, Listing, ListingLayout, Position, is_number, shown

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    # Two hyphens in a row would become a dash.
    "-": r"{-}",
    "–": r"--",
    "…": r"\ldots{}",
    "←": r"$\leftarrow$",
    "→": r"$\rightarrow$",
    "⊥": r"$\bot$",
    "∧": r"$\wedge$",
    "∨": r"$\vee$",
    "¬": r"$\neg$",
    "≠": r"$\neq$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
}


_LABEL = re.compile(r"[A-Za-z0-9:._-]+")
_LONGEST = 40
"""With more lines a table runs over pages instead of being a float. A row that has text is about two lines."""
_LINE = 72
"""So many characters of a table's size are about the width of a page of the class article."""
_GAP = 2
_NEW_LINE = r"\\"
_NARROWEST = 0.3
_BREAKS_AFTER = frozenset("/_.")
_SMALL = (r"\footnotesize", r"\setlength{\tabcolsep}{3pt}")
_SMALLER = (r"\scriptsize", r"\setlength{\tabcolsep}{2pt}")


@dataclass(frozen=True, slots=True)
class _Table:
    """The parts of a table. `page_wide`: the table takes the whole width, since texts stand below its rows, or its columns leave no
    room."""

    caption: str
    size: tuple[str, ...]
    alignment: str
    head: tuple[str, ...]
    rows: tuple[str, ...]
    page_wide: bool


def render_latex(listing: Listing, caption: str | None = None, label: str | None = None) -> str:
    """One table with caption and label. Notes are comments: what a paper says about a table is its authors' business."""
    if label is not None and not _LABEL.fullmatch(label):
        notes = ("it has letters, digits and `:`, `.`, `-`, `_`",)
        raise InputError(Diagnostic("E402", f"`{label}` is no label of LaTeX", notes=notes))
    if listing.layout is ListingLayout.BLOCKS:
        listing = _few_columns(listing)
    wide = [number for number, column in enumerate(listing.columns) if _is_wide(listing, column)]
    narrow = [number for number in range(len(listing.columns)) if number not in wide]
    room = _room(listing, narrow)
    share = room / (len(wide) or 1)
    beside = not wide or share >= _NARROWEST
    kept = range(len(listing.columns)) if beside else narrow
    rows: list[str] = []
    for number in range(len(listing.rows)):
        texts = [column for column in wide if listing.rows[number][column] and not beside]
        below = [_below(len(narrow), _wrapped(listing, (number, column))) for column in texts]
        cells = _row([_wrapped(listing, (number, place)) if place in wide else _cell(listing, (number, place)) for place in kept])
        # If a text has no room next to its figures, we put it below them, on the same page.
        rows += [cells + ("*" if below else ""), *below]
    table = _Table(
        rf"\caption{{{escaped(caption or listing.title)}}}\label{{{label or f'tab:rulescore-{listing.name}'}}}",
        _SMALL if room >= 0 else _SMALLER,
        "".join(rf"p{{{share:.2f}\linewidth}}" if column in wide else _alignment(listing.columns[column].kind) for column in kept),
        (r"\toprule", _row([_heading(listing, column) for column in kept]), r"\midrule"),
        tuple(rows),
        page_wide=not beside or room < 0,
    )
    long = len(listing.rows) * (2 if wide else 1) > _LONGEST
    packages = f"booktabs{', longtable' if long else ''}, and fontenc with the option T1"
    comments = [f"% {line}" for line in (f"packages: {packages}", *map(visible, (*listing.lead, *listing.notes)))]
    return "\n".join([*comments, *(_over_pages(table) if long else _float(table))]) + "\n"


def _over_pages(table: _Table) -> list[str]:
    margins = [r"\setlength{\LTleft}{0pt}", r"\setlength{\LTright}{0pt}"] if table.page_wide else []
    begin = rf"\begin{{longtable}}{{{_spread(table)}}}"
    top = [r"\begingroup", *table.size, *margins, begin, rf"{table.caption}\\"]
    head = [*table.head, r"\endfirsthead", *table.head, r"\endhead", r"\bottomrule", r"\endfoot"]
    return [*top, *head, *table.rows, r"\end{longtable}", r"\endgroup"]


def _spread(table: _Table) -> str:
    return rf"@{{\extracolsep{{\fill}}}}{table.alignment}@{{}}" if table.page_wide else table.alignment


def _float(table: _Table) -> list[str]:
    name, width = ("tabular*", r"{\linewidth}") if table.page_wide else ("tabular", "")
    top = [r"\begin{table}", r"\centering", r"\setlength{\belowcaptionskip}{4pt}", table.caption, *table.size]
    body = [rf"\begin{{{name}}}{width}{{{_spread(table)}}}", *table.head, *table.rows, r"\bottomrule", rf"\end{{{name}}}"]
    return [*top, *body, r"\end{table}"]


def _few_columns(listing: Listing) -> Listing:
    """The rule and the sentence of each row, if rows are mostly text; other formats have the rest."""
    keys = [column.key for column in listing.columns]
    if "sentence" not in keys:
        return listing
    order = [keys.index("rule"), keys.index("sentence")]
    rows = tuple(tuple(row[column] for column in order) for row in listing.rows)
    return replace(listing, columns=tuple(listing.columns[column] for column in order), rows=rows)


def _is_wide(listing: Listing, column: Column) -> bool:
    return column.kind is CellKind.CODE or (listing.layout is ListingLayout.BLOCKS and column.key == "sentence")


def _room(listing: Listing, narrow: Sequence[int]) -> float:
    """The share of the line's width that these columns leave."""
    return 1 - sum(max(_widest(listing, column), *map(len, _lines(listing, column))) + _GAP for column in narrow) / _LINE


def _widest(listing: Listing, number: int) -> int:
    return max((len(shown(row[number], listing.columns[number].kind)) for row in listing.rows), default=0)


def _lines(listing: Listing, number: int) -> list[str]:
    """The lines of a heading. If no word of it is wider than the figures below, the heading is not wider either."""
    column = listing.columns[number]
    if not is_number(column.kind):
        return [column.heading]
    longest = max(map(len, column.heading.split()), default=1)
    return wrap(column.heading, max(longest, _widest(listing, number)), break_long_words=False, break_on_hyphens=False) or [""]


def _heading(listing: Listing, number: int) -> str:
    lines = [escaped(line) for line in _lines(listing, number)]
    return lines[0] if len(lines) == 1 else rf"\shortstack[r]{{{_NEW_LINE.join(lines)}}}"


def _below(columns: int, text: str) -> str:
    """A line of text in a box of width 0, so it makes no column wider."""
    box = rf"\makebox[0pt][l]{{\parbox[t]{{\linewidth}}{{{text}\strut}}}}"
    return rf"\multicolumn{{{columns}}}{{@{{}}l@{{}}}}{{{box}}} {_NEW_LINE} \addlinespace"


def _wrapped(listing: Listing, position: Position) -> str:
    """Text that may break over lines, even within the long names of predicates."""
    row, column = position
    kind = listing.columns[column].kind
    text = shown(listing.rows[row][column], kind)
    text = "".join(escaped(mark) + (r"\allowbreak{}" if mark in _BREAKS_AFTER else "") for mark in text)
    return rf"\raggedright\texttt{{{text}}}" if kind is CellKind.CODE else rf"\raggedright {text}"


def escaped(text: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in visible(text))


def _alignment(kind: CellKind) -> str:
    return "r" if is_number(kind) else "l"


def _cell(listing: Listing, position: Position) -> str:
    row, column = position
    kind = listing.columns[column].kind
    text = escaped(shown(listing.rows[row][column], kind))
    return rf"\textbf{{{text}}}" if position in listing.best else text


def _row(cells: list[str]) -> str:
    # A row that begins with `[` would be read as the optional argument of the `\\` before it.
    first = f"{{}}{cells[0]}" if cells[0].startswith(("[", "*")) else cells[0]
    # `\raggedright` changes what `\\` means.
    return " & ".join([first, *cells[1:]]) + (r" \tabularnewline" if cells[-1].startswith(r"\raggedright") else r" \\")
