"""LaTeX as papers have it: one table with booktabs, caption and label. Nothing of a name becomes a command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rulescore.characters import visible
from rulescore.reporting.cells import is_number, shown
from rulescore.reporting.listing import CellKind, Column, Layout, Listing, Position

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


_LONGEST = 40
"""With more rows a table is no float, but goes over pages."""
_LINE = 72
"""So many characters of a table's size are about the width of a page of the class article."""
_GAP = 2
_NEW_LINE = r"\\"
_NARROWEST = 0.3
_BREAKS_AFTER = frozenset("/_.,():")


def render_latex(listing: Listing) -> str:
    """One table with caption and label. Notes are comments: what a paper says about a table is its authors' business."""
    if listing.layout is Layout.BLOCKS:
        listing = _few_columns(listing)
    long = len(listing.rows) > _LONGEST
    wide = [number for number, column in enumerate(listing.columns) if _is_wide(listing, column)]
    narrow = [number for number in range(len(listing.columns)) if number not in wide]
    room = _room(listing, narrow) / (len(wide) or 1)
    beside = room >= _NARROWEST
    kept = range(len(listing.columns)) if beside else narrow
    alignment = "".join(rf"p{{{room:.2f}\linewidth}}" if one in wide else _alignment(listing.columns[one].kind) for one in kept)
    head = [r"\toprule", _row([_heading(listing.columns[one]) for one in kept]), r"\midrule"]
    rows = []
    for number in range(len(listing.rows)):
        below = [] if beside else [_below(len(narrow), _wrapped(listing, (number, one))) for one in wide]
        cells = _row([_wrapped(listing, (number, one)) if one in wide else _cell(listing, (number, one)) for one in kept])
        # A text that has no room beside the figures stands below them, on the same page.
        rows += [cells + ("*" if below else ""), *below]
    caption = rf"\caption{{{escaped(listing.title)}}}\label{{tab:rulescore-{listing.name}}}"
    packages = f"booktabs{', longtable' if long else ''}, and fontenc with the option T1"
    lines = [f"% {line}" for line in (f"packages: {packages}", *map(visible, listing.notes))]
    size = [r"\footnotesize", r"\setlength{\tabcolsep}{3pt}"]
    if long:
        lines += [r"\begingroup", *size, rf"\begin{{longtable}}{{{alignment}}}", rf"{caption}\\", *head, r"\endfirsthead", *head]
        lines += [r"\endhead", r"\bottomrule", r"\endfoot", *rows, r"\end{longtable}", r"\endgroup"]
    else:
        lines += [r"\begin{table}", r"\centering", caption, *size, rf"\begin{{tabular}}{{{alignment}}}", *head]
        lines += [*rows, r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def _few_columns(listing: Listing) -> Listing:
    """Rows that are mostly text, by the name of each and the sentence that says all of it; other formats have the rest."""
    keys = [column.key for column in listing.columns]
    if "sentence" not in keys:
        return listing
    order = [keys.index("rule"), keys.index("sentence")]
    rows = tuple(tuple(row[one] for one in order) for row in listing.rows)
    return replace(listing, columns=tuple(listing.columns[one] for one in order), rows=rows)


def _is_wide(listing: Listing, column: Column) -> bool:
    return column.kind is CellKind.CODE or (listing.layout is Layout.BLOCKS and column.key == "sentence")


def _room(listing: Listing, narrow: Sequence[int]) -> float:
    """The part of a line that these columns leave."""
    taken = 0
    for number in narrow:
        column = listing.columns[number]
        heading = max(map(len, _lines(column)))
        taken += max([heading, *(len(shown(row[number], column.kind)) for row in listing.rows)]) + _GAP
    return 1 - taken / _LINE


def _lines(column: Column) -> list[str]:
    """The lines of a heading: one for each word, above figures."""
    return (column.heading.split() or [""]) if is_number(column.kind) else [column.heading]


def _heading(column: Column) -> str:
    lines = [escaped(one) for one in _lines(column)]
    return lines[0] if len(lines) == 1 else rf"\shortstack[r]{{{_NEW_LINE.join(lines)}}}"


def _below(columns: int, text: str) -> str:
    return rf"\multicolumn{{{columns}}}{{p{{0.95\linewidth}}}}{{{text}}} \\ \addlinespace"


def _wrapped(listing: Listing, position: Position) -> str:
    """Text that may go over lines, also within the long names of predicates."""
    row, column = position
    kind = listing.columns[column].kind
    pieces = (escaped(one) + (r"\allowbreak{}" if one in _BREAKS_AFTER else "") for one in shown(listing.rows[row][column], kind))
    text = "".join(pieces)
    # The group gives the end of the row back its meaning, which ragged text changes.
    return rf"{{\raggedright\texttt{{{text}}}\par}}" if kind is CellKind.CODE else rf"{{\raggedright {text}\par}}"


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
    return " & ".join([first, *cells[1:]]) + r" \\"
