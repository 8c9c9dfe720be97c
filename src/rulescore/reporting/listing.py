"""A listing: rows under typed columns, as data. Every format knows how to show one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

Cell = str | int | float | None | tuple[str, ...] | Mapping[str, str]


class CellKind(StrEnum):
    """How a column is shown to people; other programs get the value as it is."""

    TEXT = "text"
    COUNT = "count"
    RATE = "rate"
    SCORE = "score"
    WEIGHT = "weight"
    VALUE = "value"
    TEXTS = "texts"
    BINDING = "binding"
    CODE = "code"
    """The text of a rule. A terminal cuts it at the end of the line, and shows it below its row if there is no room beside it."""


class Audience(StrEnum):
    """Whom a column is for: programs get values one by one, people get them put together."""

    EVERYONE = "everyone"
    PEOPLE = "people"
    PROGRAMS = "programs"


class ListingLayout(StrEnum):
    """On a terminal: one line a row, or one block of lines a row if rows are mostly text."""

    ROWS = "rows"
    BLOCKS = "blocks"


class Tone(StrEnum):
    """What a figure says, for a terminal with colours; the figure says it as well."""

    GOOD = "good"
    BAD = "bad"


Position = tuple[int, int]
"""The numbers of a row and a column."""


@dataclass(frozen=True, slots=True)
class Column:
    """`key` is the name other programs see, `heading` the one people see. `whole`: the text of a rule stands below its row rather
    than cut beside it."""

    key: str
    heading: str
    kind: CellKind = CellKind.TEXT
    audience: Audience = Audience.EVERYONE
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """`name` says in JSON what is listed; `figures` are values about the whole of it; `notes` are sentences for people. `beside`
    are listings that people see below it: what programs find in further columns. `best`: the best values of columns or rows."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    figures: tuple[tuple[str, int | str | None], ...] = ()
    notes: tuple[str, ...] = ()
    layout: ListingLayout = ListingLayout.ROWS
    beside: tuple[Listing, ...] = ()
    best: frozenset[Position] = frozenset()
    tones: Mapping[Position, Tone] = field(default_factory=dict)
