"""LaTeX as papers have it: one table with booktabs, caption and label. Nothing of a name becomes a command."""

from __future__ import annotations

from rulescore.characters import visible
from rulescore.reporting.cells import is_number, shown
from rulescore.reporting.listing import CellKind, Listing, Position

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


def render_latex(listing: Listing) -> str:
    """One table with caption and label. Notes are comments: what a paper says about a table is its authors' business."""
    long = len(listing.rows) > _LONGEST
    alignment = "".join(_alignment(column.kind) for column in listing.columns)
    head = [r"\toprule", _row([escaped(column.heading) for column in listing.columns]), r"\midrule"]
    rows = [_row([_cell(listing, (row, column)) for column in range(len(listing.columns))]) for row in range(len(listing.rows))]
    caption = rf"\caption{{{escaped(listing.title)}}}\label{{tab:rulescore-{listing.name}}}"
    packages = f"booktabs{', longtable' if long else ''}, and fontenc with the option T1"
    lines = [f"% {line}" for line in (f"packages: {packages}", *map(visible, listing.notes))]
    if long:
        lines += [rf"\begin{{longtable}}{{{alignment}}}", rf"{caption}\\", *head, r"\endfirsthead", *head, r"\endhead"]
        lines += [r"\bottomrule", r"\endfoot", *rows, r"\end{longtable}"]
    else:
        lines += [r"\begin{table}", r"\centering", caption, rf"\begin{{tabular}}{{{alignment}}}", *head]
        lines += [*rows, r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in visible(text))


def _alignment(kind: CellKind) -> str:
    if kind is CellKind.CODE:
        return r"p{0.4\linewidth}"
    return "r" if is_number(kind) else "l"


def _cell(listing: Listing, position: Position) -> str:
    row, column = position
    kind = listing.columns[column].kind
    text = escaped(shown(listing.rows[row][column], kind))
    if kind is CellKind.CODE:
        # The group gives the end of the row back its meaning, which ragged text changes.
        return rf"{{\raggedright\texttt{{{text}}}\par}}"
    return rf"\textbf{{{text}}}" if position in listing.best else text


def _row(cells: list[str]) -> str:
    # A row that begins with `[` would be read as the optional argument of the `\\` before it.
    first = f"{{}}{cells[0]}" if cells[0].startswith(("[", "*")) else cells[0]
    return " & ".join([first, *cells[1:]]) + r" \\"
