"""LaTeX: one plain tabular per listing, without any package."""

from __future__ import annotations

from rulescore.reporting.cells import is_number, shown
from rulescore.reporting.listing import Listing

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


def render_latex(listing: Listing) -> str:
    alignment = "".join("r" if is_number(column.kind) else "l" for column in listing.columns)
    headings = [escaped(column.heading) for column in listing.columns]
    rows = [[escaped(shown(cell, column.kind)) for cell, column in zip(row, listing.columns, strict=True)] for row in listing.rows]
    lines = [
        f"% {listing.title}",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\hline",
        _row(headings),
        r"\hline",
        *(_row(row) for row in rows),
        r"\hline",
        r"\end{tabular}",
        *(f"% {note}" for note in listing.notes),
    ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in text)


def _row(cells: list[str]) -> str:
    # A row that begins with `[` would be read as the optional argument of the `\\` before it.
    first = f"{{}}{cells[0]}" if cells[0].startswith(("[", "*")) else cells[0]
    return " & ".join([first, *cells[1:]]) + r" \\"
