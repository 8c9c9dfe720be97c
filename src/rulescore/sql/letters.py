"""Small and capital letters, one for one as DuckDB has them, for engines that take one letter for two or ask the server's language.

The capital of `ß` is `ẞ`, and letters whose capitals are several (`ﬁ`, `ŉ`) stay as they are."""

from __future__ import annotations

import sys
from functools import cache

from sqlglot import exp

from rulescore.sql.build import equal
from rulescore.sql.values import call


def translated(node: exp.Lower | exp.Upper, value: exp.Expr, ascii_letters: exp.Expr) -> exp.Expr:
    """What a text becomes. `ascii_letters`: what it becomes if it has no other letters, which is far quicker to tell."""
    pairs = small_letters() if isinstance(node, exp.Lower) else capitals()
    plain = equal(call("OCTET_LENGTH", value.copy()), call("CHAR_LENGTH", value.copy()))
    found = call("TRANSLATE", value, *(exp.Literal.string("".join(letters)) for letters in zip(*pairs, strict=True)))
    return exp.Case(ifs=[exp.If(this=plain, true=ascii_letters)], default=found)


@cache
def small_letters() -> tuple[tuple[str, str], ...]:
    """Letters that have a small one, and it."""
    # The only letter of which more than one is made is `İ`, an `i` with a dot above.
    return tuple((letter, letter.lower()[0]) for letter in _every_character() if letter.lower()[0] != letter)


@cache
def capitals() -> tuple[tuple[str, str], ...]:
    """Letters that have a capital, and it."""
    return tuple((letter, capital) for letter in _every_character() if (capital := _capital(letter)) != letter)


def _every_character() -> map[str]:
    return map(chr, range(1, sys.maxunicode + 1))


def _capital(letter: str) -> str:
    if letter == "ß":
        return "ẞ"
    # Some Greek letters have several capitals, and one for the beginning of a word.
    return next((found for found in (letter.upper(), letter.title()) if len(found) == 1), letter)
