"""Texts that we show: nothing in them steers a terminal, no password stands in them, and a misspelt name finds the known one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from re import compile

# Terminals draw nothing for these, although Unicode counts them as letters and accents.
_INVISIBLE = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
_UNSEEN = re.compile(f"[{_INVISIBLE}]")
_NOT_ASCII = re.compile(r"[^\x20-\x7e]")


def is_hidden(character: str) -> bool:
    """Whether it is a control, bidirectional or zero-width character, a separator other than the blank, or not assigned."""
    return not character.isprintable() or _UNSEEN.match(character) is not None


def visible(text: str, keep: str = "") -> str:
    """Text on one line in which characters that cannot be seen are spelt out: `\\x1b`, `\\u202e`. Characters of `keep` stay."""
    if text.isascii() and text.isprintable():
        return text
    return _NOT_ASCII.sub(lambda match: _spelt(match[0]) if is_hidden(match[0]) and match[0] not in keep else match[0], text)


def visible_lines(text: str) -> str:
    """A text of several lines, spelt out in the same way."""
    return visible(text, keep="\n\t")


def _spelt(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


# Even a misspelt address has `//` or `:/`; a path has neither. A password may hold any character. If the address is the whole text
# or stands in quotes, the password may reach to the end of the text or the quotes, otherwise to the next blank.
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
    """An address without its password. If the text does not begin like an address, everything before the host may be the
    password."""
    before, at, host = address.rpartition("@")
    return f"{_HIDDEN}@{host}" if at and not _SCHEME.match(before) else masked(address)


def masked_place(text: str, column: int, length: int) -> tuple[str, int, int]:
    """A line without its passwords, and the column and length of the marked part in that line."""
    line, secrets = _masked(text)
    # We move a place within a password to its beginning.
    start, end = (
        at - sum(min(at, after) - before - len(_HIDDEN) * (after <= at) for before, after in secrets if before < at)
        for at in (column - 1, column - 1 + length)
    )
    return line, start + 1, max(1, end - start)


# Cached: many problems may point into one line, which may be long.
@lru_cache(maxsize=16)
def _masked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without its passwords, and start and end of each."""
    spans = [match.span(2 if match[2] else 3) for match in _GIVEN.finditer(text)]
    for address in _ADDRESS.finditer(text):
        end = text.rfind("@", *address.span())
        if end < 0 or (user := _USER.search(text, address.start(), text.rfind(":", address.start(), end) + 1)) is None:
            # The password may stand in the place of the port.
            end, user = address.end(), _USER_WITHOUT_PORT.search(text, *address.span())
        if user is not None and user.end() < end:
            spans.append((user.end(), end))
    secrets: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if secrets and start <= secrets[-1][1]:
            start, end = secrets[-1][0], max(end, secrets.pop()[1])
        secrets.append((start, end))
    starts, ends = [start for start, _ in secrets], [end for _, end in secrets]
    shown = (text[before:after] for before, after in zip([0, *ends], [*starts, len(text)], strict=True))
    return _HIDDEN.join(shown), secrets


def ticked(names: Iterable[object]) -> str:
    """Names in backticks, with commas between them."""
    return ", ".join(f"`{name}`" for name in names)


_LONGEST_MISSPELT = 100


def suggestion(word: str, known: Iterable[str]) -> str | None:
    """The known name a misspelt one probably meant, if any is close. We skip long names: nobody mistypes them, and
    comparing takes the product of two lengths."""
    if len(word) > _LONGEST_MISSPELT:
        return None
    short = [name for name in known if len(name) <= _LONGEST_MISSPELT]
    # Two IRIs are not similar only because they share a namespace.
    namespace = word[: max(word.rfind("/"), word.rfind("#")) + 1]
    ends = {name.removeprefix(namespace): name for name in short if namespace and name.startswith(namespace)}
    close = _closest(word.removeprefix(namespace), ends)
    return ends[close] if close is not None else _closest(word, set(short) - set(ends.values()))


def _closest(word: str, known: Iterable[str]) -> str | None:
    from difflib import get_close_matches

    by_small = {name.casefold(): name for name in sorted(known)}
    close = get_close_matches(word.casefold(), list(by_small), n=1, cutoff=0.75)
    return by_small[close[0]] if close else None


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A line of help for a name that is not known, if one is close."""
    close = suggestion(word, known)
    return None if close is None else f"did you mean `{close}`?"


def meant(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """`did_you_mean` as the help lines of a problem."""
    hint = did_you_mean(word, known)
    return () if hint is None else (hint,)


def meant_file(path: Path, shown: Path | None = None) -> tuple[str, ...]:
    """A line of help for a missing file, if a file in its folder has a similar name. `shown`: the path as the user wrote it."""
    neighbours = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
    close = suggestion(path.name, neighbours)
    return () if close is None else (f"did you mean `{(shown or path).with_name(close)}`?",)
