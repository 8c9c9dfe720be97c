"""A listing: rows under typed columns, as data. Writes its cells for people, and all of it as CSV and Markdown."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeVar

from rulescore.errors.texts import visible
from rulescore.setting.choices import OutputFormat

Cell = str | int | float | None | tuple[str, ...] | Mapping[str, str]


class CellKind(StrEnum):
    """How a column is shown to people. Other programs get the plain value."""

    TEXT = "text"
    COUNT = "count"
    RATE = "rate"
    SCORE = "score"
    WEIGHT = "weight"
    VALUE = "value"
    TEXTS = "texts"
    BINDING = "binding"
    CODE = "code"
    """The text of a rule. A terminal cuts it at the end of the line, and shows it below its row if there is no room next to it."""


class Audience(StrEnum):
    """Whom a column is for: programs get values one by one, people get them put together."""

    EVERYONE = "everyone"
    PEOPLE = "people"
    PROGRAMS = "programs"


class ListingLayout(StrEnum):
    """On a terminal: one line for each row or, if rows are mostly text, one block of lines for each row."""

    ROWS = "rows"
    BLOCKS = "blocks"


class Tone(StrEnum):
    """The meaning of a number, for a terminal with colours. The number alone says it as well."""

    GOOD = "good"
    BAD = "bad"


Position = tuple[int, int]
"""The numbers of a row and a column."""


@dataclass(frozen=True, slots=True)
class Column:
    """`key` is the name other programs see, `heading` the one people see. `whole`: the whole text of a rule stands below its row,
    on several lines if needed. Otherwise it is cut to fit into the row. `spare`: a terminal leaves it out if it is too narrow."""

    key: str
    heading: str
    kind: CellKind = CellKind.TEXT
    audience: Audience = Audience.EVERYONE
    whole: bool = False
    spare: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """`name`: the kind of listing, in JSON. `figures`: values about the whole listing. `notes`: sentences for people. `beside`:
    listings that people see below it: programs see the same in further columns. `best`: the best values of columns or rows. `lead`:
    sentences above its title: what the figures say in words."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    figures: tuple[tuple[str, object], ...] = ()
    notes: tuple[str, ...] = ()
    layout: ListingLayout = ListingLayout.ROWS
    beside: tuple[Listing, ...] = ()
    best: frozenset[Position] = frozenset()
    tones: Mapping[Position, Tone] = field(default_factory=dict)
    lead: tuple[str, ...] = ()


_Row = TypeVar("_Row")
Filled = tuple[Column, Callable[[_Row], Cell]]
"""A column, and its cell in the row of something."""


def filled(rows: Iterable[_Row], *columns: Filled[_Row]) -> tuple[tuple[Column, ...], tuple[tuple[Cell, ...], ...]]:
    """Columns, and the cells below them: a row for each thing."""
    return tuple(column for column, _ in columns), tuple(tuple(cell(row) for _, cell in columns) for row in rows)


def picked(listing: Listing, kept: Sequence[int]) -> Listing:
    """The listing with the columns of these numbers."""
    rows = tuple(tuple(row[index] for index in kept) for row in listing.rows)
    best = frozenset((row, kept.index(column)) for row, column in listing.best if column in kept)
    tones = {(row, kept.index(column)): tone for (row, column), tone in listing.tones.items() if column in kept}
    return replace(listing, columns=tuple(listing.columns[index] for index in kept), rows=rows, best=best, tones=tones)


UNDEFINED = "–"


def shown(value: Cell, kind: CellKind) -> str:
    """A cell as text for people, on one line."""
    match value:
        case None:
            return UNDEFINED
        case str():
            return visible(value)
        case tuple():
            return visible(", ".join(value))
        case int():
            return f"{value:,}"
        case float():
            return _figure(value, kind)
        case Mapping():
            return visible(", ".join(f"{name} = {text}" for name, text in value.items()))


def of_all(part: int, whole: int) -> str:
    """A part of a number of things: 53 of 5,878."""
    return f"{part:,} of {whole:,}"


def share_of(part: int, whole: int) -> str:
    """A part of a number of things, with the share: 53 of 5,878 (0.9%)."""
    if not whole:
        return of_all(part, whole)
    share = part / whole
    return f"{of_all(part, whole)} ({'<0.1%' if 0 < share < 0.0005 else f'{share:.1%}'})"


def counted(number: int, noun: str) -> str:
    """A number of things: 1 rule, 2 rules."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def is_number(kind: CellKind) -> bool:
    return kind in {CellKind.COUNT, CellKind.RATE, CellKind.SCORE, CellKind.WEIGHT, CellKind.VALUE}


def _figure(value: float, kind: CellKind) -> str:
    match kind:
        case CellKind.RATE:
            return f"{value:.4f}"
        case CellKind.WEIGHT:
            return f"{value:g}"
        case CellKind.VALUE:
            mantissa, mark, power = _significant(value, 6).partition("e")
            return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}{mark}{power}"
        case _:
            return _significant(value, 3)


def _significant(value: float, digits: int) -> str:
    """A number with so many significant digits, but never fewer than its whole part has. With three: 0.123, 12.3, 847, 1,235."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")
    if abs(rounded) < 1e-4:
        return f"{value:.{digits - 1}e}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{value:,.{decimals}f}"


# The forms in which results can be shown. They stand here, so the command line can name them without loading a renderer.


class Format(StrEnum):
    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"


class Shown(StrEnum):
    """The tables that a user may ask for alone. `published`: the models, with accuracy and RVS as publications print them."""

    MODELS = "models"
    PUBLISHED = "published"
    RULES = "rules"
    VIOLATIONS = "violations"
    ACCURACY = "accuracy"


class ComparisonTable(StrEnum):
    """The tables of a comparison."""

    MODELS = "models"
    DIFFERENCES = "differences"
    RULES = "rules"
    RULE_DIFFERENCES = "rule_differences"
    CHANGES = "changes"


DEFAULT_FILE_FORMATS = (OutputFormat.JSON, OutputFormat.CSV, OutputFormat.PARQUET)


@dataclass(frozen=True, slots=True)
class Appearance:
    """What a table on a terminal looks like."""

    width: int = 80
    colour: bool = False


@dataclass(frozen=True, slots=True)
class TableChoice:
    """How a table should look. `columns`: only these, in this order; `caption`, `label`: of LaTeX."""

    columns: tuple[str, ...] = ()
    caption: str | None = None
    label: str | None = None


AS_IT_IS = TableChoice()


_CSV_SPECIAL = re.compile(r'[",\r\n]')
_COMPUTED = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def render_csv(listing: Listing, *, spreadsheet: bool = False) -> str:
    return _csv([column.key for column in listing.columns], list(zip(*listing.rows, strict=True)), spreadsheet)


def render_table_csv(table: Any, *, spreadsheet: bool = False) -> str:
    """An Arrow table of plain columns."""
    return _csv(table.column_names, [column.to_pylist() for column in table.columns], spreadsheet)


def _csv(header: Sequence[str], columns: Sequence[Sequence[Cell]], spreadsheet: bool) -> str:
    """Column by column: cells of one column are alike, and an audit of mined rules has millions."""
    first = _csv_line([_csv_texts([name], spreadsheet)[0] for name in header])
    return first + "".join(map(_csv_line, zip(*(_csv_texts(column, spreadsheet) for column in columns), strict=True)))


def _csv_line(fields: Sequence[str]) -> str:
    return (",".join(fields) if any(fields) or len(fields) > 1 else '""') + "\n"


_PLAIN_CELLS = frozenset({str, int, float, type(None)})


def _csv_texts(cells: Sequence[Cell], spreadsheet: bool) -> list[str]:
    fields = cells if _PLAIN_CELLS.issuperset(map(type, cells)) else [_field(cell) for cell in cells]
    texts = ["" if field is None else str(field) for field in (map(_harmless, fields) if spreadsheet else fields)]
    return list(map(_quoted, texts)) if _CSV_SPECIAL.search("".join(texts)) else texts


def _field(cell: Cell) -> str | int | float | None:
    match cell:
        case tuple():
            return "; ".join(cell)
        case Mapping():
            return "; ".join(f"{name} = {text}" for name, text in cell.items())
        case _:
            return cell


def _quoted(text: str) -> str:
    """Python's own writer leaves a lone carriage return without quotes, and readers end the row there."""
    return '"' + text.replace('"', '""') + '"' if _CSV_SPECIAL.search(text) else text


def _harmless(cell: object) -> object:
    """Text that a spreadsheet would compute gets an apostrophe before it, which makes it text there."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_COMPUTED) else cell


# GitHub makes links of plain text with `:`, `@` or `www.` in it, but not of a word that ends with a colon.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~&#$@!]|:(?!\s|$)|(?<=www)\.)")
_FIRST = re.compile(r"^(\d*)([-+=.)])")
_BACKTICKS = re.compile(r"`+")


def render_markdown(listing: Listing) -> str:
    headings = [escaped(column.heading) for column in listing.columns]
    sides = "".join("r" if is_number(column.kind) else "l" for column in listing.columns)
    rows = [[_cell(listing, (row, column)) for column in range(len(headings))] for row in range(len(listing.rows))]
    table = markdown_table(headings, sides, rows)
    notes = [line for note in listing.notes for line in ("", _line(note))]
    lead = [line for sentence in listing.lead for line in (_line(sentence), "")]
    return "\n".join([*lead, f"### {escaped(listing.title)}", "", *table, *notes]) + "\n"


def escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", visible(text))


def code(text: str, *, table: bool = True) -> str:
    """Text between as many backticks as it needs. In a table a pipe would end the cell even there."""
    # A path may have bytes that are not text: they become question marks.
    seen = visible(text).encode(errors="replace").decode() or " "
    fence = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(seen)), default=0))
    blank = " " if seen[0] == "`" or seen[-1] == "`" else ""
    span = f"{fence}{blank}{seen}{blank}{fence}"
    return span.replace("|", r"\|") if table else span


def markdown_table(headings: Sequence[str], sides: str, rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table. `sides`: `l` or `r` for each column, as in LaTeX."""
    rules = ["---:" if side == "r" else ":---" for side in sides]
    return [f"| {' | '.join(cells)} |" for cells in (headings, rules, *rows)]


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
