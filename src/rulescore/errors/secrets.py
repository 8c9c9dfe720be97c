"""Passwords and tokens in texts: found in linear time, and left out of whatever we show."""

from __future__ import annotations

from functools import lru_cache
from re import compile

# An address has `//` or `:/`, misspelt as it may be; a path has neither. A password may hold any character: if its address stands
# alone or in quotes, it may reach to their end, else to the next blank.
_SLASHES = "(?: :?// | :/ )"
_ADDRESS = compile(
    rf"""(?sx) \A [\w+.-]*+ {_SLASHES} [^\s:/@]* : .* | (["'`]) [\w+.-]*+ {_SLASHES} (?: \\. | (?!\1) . )*+ | {_SLASHES} \S*+"""
)
_USER = compile(r"//[^:]*+:|:/[^:/@]*:")
_USER_WITHOUT_PORT = compile(r"""//[^\s:/@[]*:(?!\d+(?:[/?,"'`\s]|$))""")
_WORDS = "".join(f"(?:{letter}|%{ord(letter):x}|%{ord(letter.upper()):x})" for letter in "password") + "|passwd|client_secret"
_GIVEN = compile(
    rf"""(?ix) (?: (?: {_WORDS} ) ["'`]? \s* = | (["']) (?: {_WORDS} ) \1 \s* : ) \s* ( '[^']*' | "[^"]*" | [^\s&]* [^\s&"'`] )
    | ; token = ( [^\s;"'`]+ )"""
)
_SCHEME = compile(r"[\w+.-]*:?//")
_HIDDEN = "***"


def masked(text: str) -> str:
    """A text without the passwords in it, and without their lengths."""
    return _masked(text)[0]


def masked_address(address: str) -> str:
    """An address without its password. If it does not begin like one, all that stands before the host may be the password."""
    before, at, host = address.rpartition("@")
    return f"{_HIDDEN}@{host}" if at and not _SCHEME.match(before) else masked(address)


def masked_place(text: str, column: int, length: int) -> tuple[str, int, int]:
    """A line without its passwords, and the column and length of the marked part in that line."""
    line, secrets = _masked(text)
    # Within a password, a place moves to its beginning.
    start, end = (
        at - sum(min(at, after) - before - len(_HIDDEN) * (after <= at) for before, after in secrets if before < at)
        for at in (column - 1, column - 1 + length)
    )
    return line, start + 1, max(1, end - start)


# Cached: many problems may point into one line, which may be long.
@lru_cache(maxsize=16)
def _masked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without its passwords, and start and end of each."""
    found = [match.span(2 if match[2] else 3) for match in _GIVEN.finditer(text)]
    for address in _ADDRESS.finditer(text):
        end = text.rfind("@", *address.span())
        if end < 0 or (user := _USER.search(text, address.start(), text.rfind(":", address.start(), end) + 1)) is None:
            # The password may stand in the place of the port.
            end, user = address.end(), _USER_WITHOUT_PORT.search(text, *address.span())
        if user is not None and user.end() < end:
            found.append((user.end(), end))
    secrets: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if secrets and start <= secrets[-1][1]:
            start, end = secrets[-1][0], max(end, secrets.pop()[1])
        secrets.append((start, end))
    starts, ends = [start for start, _ in secrets], [end for _, end in secrets]
    shown = (text[before:after] for before, after in zip([0, *ends], [*starts, len(text)], strict=True))
    return _HIDDEN.join(shown), secrets
