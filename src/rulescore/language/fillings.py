"""Fillings, which replace a template's parameters: the tokens of one constant or name."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from rulescore.errors import Source
from rulescore.language.cursor import Cursor, StatementError
from rulescore.language.literals import quote, write_value
from rulescore.language.terms import read_constant
from rulescore.language.tokens import Token, is_dotted, statements
from rulescore.values.types import Value

_CONSTANTS = frozenset({"number", "+", "-", "date", "moment", "true", "false", "quoted"})


@dataclass(frozen=True, slots=True)
class Filling:
    """`text` is how names of rules show it, `tokens` are kinds and texts."""

    text: str
    tokens: tuple[tuple[str, str], ...]


def read_filling(cursor: Cursor) -> Filling:
    """A constant, a percentage or a name; a word is a name or a string, whatever letter it begins with."""
    token = cursor.token
    if (token.kind == "word" and token.text != "_") or (token.kind == "dotted" and is_dotted(token.text)):
        return filling_of(cursor.advance().text)
    constant = read_constant(cursor)
    filling = filling_of(constant.value)
    if cursor.token.kind == "%" and filling.tokens[0][0] == "number":
        cursor.advance()
        return Filling(f"{filling.text}%", (*filling.tokens, ("%", "%")))
    return filling


def filling_of(value: Value) -> Filling:
    match value:
        case str():
            return Filling(value, (("quoted", quote(value, '"')),))
        case bool():
            word = write_value(value)
            return Filling(word, ((word, word),))
        case datetime.datetime():
            return Filling(write_value(value), (("moment", write_value(value)),))
        case datetime.date():
            return Filling(write_value(value), (("date", write_value(value)),))
        case int() | float():
            return Filling(write_value(value), (("number", write_value(value)),))
        case datetime.timedelta():
            number, unit = write_value(value).split()
            return Filling(write_value(value), (("number", number), ("word", unit)))


def filling_of_cell(cell: str) -> Filling:
    """The filling in a cell of a table: a constant if it reads as one, a string or name otherwise."""
    tokens, *others = statements(Source("cell", cell))
    last = tokens.pop()
    if others or last.kind != "end" or not tokens or tokens[0].kind not in _CONSTANTS:
        return filling_of(cell)
    cursor = Cursor(Source("cell", cell), [*tokens, Token(".", "", last.start, last.end)], [])
    try:
        filling = read_filling(cursor)
    except StatementError:
        return filling_of(cell)
    return filling_of(cell) if cursor.problems or cursor.token.kind != "." else filling
