"""Problems as the text that a person reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from enum import StrEnum
from re import split

from rulescore.characters import visible, visible_lines
from rulescore.errors.diagnostics import Diagnostic, Severity
from rulescore.errors.secrets import masked

_MOST_OF_ONE_CODE = 20


class Part(StrEnum):
    """The parts of a rendered problem that a terminal may colour."""

    TITLE = "title"
    MARGIN = "margin"
    CARET = "caret"


Paint = Callable[[Part, Severity, str], str]


def plain(part: Part, severity: Severity, text: str) -> str:
    return text


def render(problem: Diagnostic, paint: Paint = plain) -> str:
    """The text a person reads: code and message, the place with a caret, notes and help. Nothing in it steers a terminal."""

    def painted(part: Part, text: str) -> str:
        return paint(part, problem.severity, text)

    lines = [f"{painted(Part.TITLE, f'{problem.severity}[{problem.code}]')}: {visible_lines(problem.message)}"]
    indent = ""
    place = problem.place
    if place is not None:
        indent = " " * len(str(place.line or ""))
        lines.append(f"{painted(Part.MARGIN, f'{indent[:-1]} -->' if indent else '-->')} {visible(masked(str(place)))}")
        if place.text is not None and place.line is not None and place.column is not None:
            shown, caret = _underlined(place.text, place.column - (place.start or 0), place.length)
            margin = painted(Part.MARGIN, f"{indent} |")
            lines.append(margin)
            lines.append(f"{painted(Part.MARGIN, f'{place.line} |')} {shown}")
            lines.append(f"{margin} {caret[0]}{painted(Part.CARET, f'{caret[1]} {visible_lines(problem.label)}'.rstrip())}")
    told = [("note", note) for note in problem.notes] + [("help", text) for text in problem.helps]
    lines.extend(f"{painted(Part.MARGIN, f'{indent} =')} {what}: {visible_lines(text)}" for what, text in told)
    return "\n".join(lines)


def render_all(problems: Iterable[Diagnostic], paint: Paint = plain) -> str:
    """The first problems of each code, in their order; then the numbers of the others."""
    times: Counter[str] = Counter()
    texts = []
    for problem in problems:
        times[problem.code] += 1
        if times[problem.code] <= _MOST_OF_ONE_CODE:
            texts.append(render(problem, paint))
    more = [f"… and {n - _MOST_OF_ONE_CODE:,} more of {code}" for code, n in times.items() if n > _MOST_OF_ONE_CODE]
    return "\n\n".join([*texts, *more])


def _underlined(text: str, column: int, length: int) -> tuple[str, tuple[str, str]]:
    """The part of a line as we show it, and the blanks and carets below it, as wide as a terminal draws the text above them."""
    # Loading rich takes longer than loading our errors, and most programs have no error to show.
    from rich.cells import cell_len

    before, there, behind = (visible(part, keep="\t") for part in (text[: column - 1], *_cut(text[column - 1 :], length)))
    blanks = "".join("\t" if piece == "\t" else " " * cell_len(piece) for piece in split("(\t)", before))
    return before + there + behind, (blanks, "^" * max(1, cell_len(there.replace("\t", " "))))


def _cut(text: str, length: int) -> tuple[str, str]:
    return text[:length], text[length:]
