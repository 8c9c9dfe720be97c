"""Small and capital letters, one for one as in DuckDB, for engines that turn one letter into two or go by the server's language.

The capital of `ß` is `ẞ`, and letters whose capitals are several (`ﬁ`, `ŉ`) stay as they are."""

from __future__ import annotations

import sys
from functools import cache

from sqlglot import exp

from rulescore.sql.words import Sql, call, when


def translated(node: exp.Lower | exp.Upper, value: Sql, ascii_letters: Sql) -> Sql:
    """A text in small or capital letters. `ascii_letters`: the result for a text of ASCII letters alone, which is far quicker."""
    pairs = small_letters() if isinstance(node, exp.Lower) else capitals()
    is_plain = call("OCTET_LENGTH", value) == call("CHAR_LENGTH", value)
    return when(is_plain, ascii_letters, call("TRANSLATE", value, *map("".join, zip(*pairs, strict=True))))


@cache
def small_letters() -> tuple[tuple[str, str], ...]:
    """Pairs of a letter and its small letter."""
    # Only `İ` becomes more than one character: `i` and a dot above.
    return tuple((letter, letter.lower()[0]) for letter in _every_character() if letter.lower()[0] != letter)


@cache
def capitals() -> tuple[tuple[str, str], ...]:
    """Pairs of a letter and its capital."""
    return tuple((letter, capital) for letter in _every_character() if (capital := _capital(letter)) != letter)


def _every_character() -> map[str]:
    return map(chr, range(1, sys.maxunicode + 1))


def _capital(letter: str) -> str:
    if letter == "ß":
        return "ẞ"
    # Some Greek letters have several capitals, and one for the beginning of a word.
    return next((found for found in (letter.upper(), letter.title()) if len(found) == 1), letter)
