"""Passwords and tokens in texts: found in linear time, and left out of whatever we show."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from re import compile

_PASSWORD = "".join(f"(?:{letter}|%{ord(letter):x}|%{ord(letter.upper()):x})" for letter in "password")
_WORDS = f"{_PASSWORD} | passwd | client_secret"

# Where a secret may begin: behind the user's name of an address, any `password=…` or `"password": …`, and a `;token=…` of Spark
# Connect. An address has `//` or `:/`, misspelt as it may be, and a name with slashes behind it; a path has neither.
_BEGIN = compile(
    rf"""(?isx) (?:
        (?: (?: (?P<alone> \A ) | (?P<quote> ["'`] ) ) [\w+.-]*+ )? (?: :? / (?P<second> / ) | : / )
        | // (?: [^\s:/@]{{0,99}}+ / ){{1,20}}+
    ) (?P<user> [^\s:/@]* ) :
    | (?: (?: {_WORDS} ) ["'`]? \s* = | (?P<around> ["'] ) (?: {_WORDS} ) (?P=around) \s* : ) \s*
        (?P<given> '[^']*' | "[^"]*" | [^\s&]* [^\s&"'`] )
    | ; token = (?P<token> [^\s;"'`]+ )"""
)
# A password may hold any character. If its address stands alone or in quotes, it may reach to their end, else to the next blank.
_RESTS = {
    "alone": compile(r"(?s).*"),
    "blank": compile(r"\S*"),
    **{quote: compile(rf"(?s)(?:\\.|[^{quote}])*+") for quote in "\"'`"},
}
_PORT = compile(r"""\d+([/?,"'`\s]|$)""")
_SCHEME = compile(r"[\w+.-]*:?//")
_HIDDEN = "***"


def masked(text: str) -> str:
    """A text without the passwords in it, and without their lengths."""
    pieces, end = [], 0
    for start, after in _secrets(text):
        pieces += [text[end:start], _HIDDEN]
        end = after
    return "".join([*pieces, text[end:]])


def masked_address(address: str) -> str:
    """An address without its password. If it does not begin like one, all that stands before the host may be the password."""
    before, at, host = address.rpartition("@")
    return f"{_HIDDEN}@{host}" if at and not _SCHEME.match(before) else masked(address)


# Cached: many problems may point into one line, which may be long.
@lru_cache(maxsize=16)
def _secrets(text: str) -> list[tuple[int, int]]:
    """Start and end of each password. Takes linear time: we search every rest of the text once."""
    found: list[tuple[int, int]] = []
    rests: dict[str, tuple[int, int]] = {}
    position = 0
    while (begin := _BEGIN.search(text, position)) is not None:
        if begin["user"] is None:
            start, position = begin.span("given" if begin["given"] else "token")
            found.append((start, position))
            continue
        start = begin.end()
        kind = "alone" if begin["alone"] is not None else begin["quote"] or "blank"
        if start >= rests.get(kind, (0, 0))[0]:
            end = _RESTS[kind].match(text, start).end()  # type: ignore[union-attr]  # it also matches the empty text
            rests[kind] = end, text.rfind("@", start, end)
        end, last = rests[kind]
        if start <= last:
            # The password stands between the user's name and the last `@` of an address …
            found.append((start, last))
            position = last + 1
        elif start < end and begin["second"] and "[" not in begin["user"] and not _PORT.match(text, start):
            # … or in the place of its port.
            found.append((start, end))
            position = end
        else:
            position = begin.start() + 1
    return [(start, end) for start, end in found if start < end]


def masked_place(text: str, column: int, length: int) -> tuple[str, int, int]:
    """A line without its passwords, and the column and length of the marked part in that line."""
    line = _masked_line(text)
    start, end = line.moved(column - 1), line.moved(column - 1 + length)
    return line.masked, start + 1, max(1, end - start)


class _MaskedLine:
    def __init__(self, text: str) -> None:
        self.text, self.masked = text, masked(text)
        self._secrets = _secrets(text)
        self._ends = [end for _, end in self._secrets]
        # How far the characters behind the first none, one, two … of the passwords move.
        self._shifts = list(accumulate((len(_HIDDEN) - (end - start) for start, end in self._secrets), initial=0))

    def moved(self, offset: int) -> int:
        """The place of a character in the masked line; within a password, that of its beginning."""
        before = bisect_right(self._ends, offset)
        start = min(offset, self._secrets[before][0]) if before < len(self._ends) else offset
        return start + self._shifts[before]


_last = _MaskedLine("")


def _masked_line(text: str) -> _MaskedLine:
    # The last line is kept: many problems may point into one long line. By identity, since comparing long lines takes long.
    global _last
    line = _last
    if line.text is not text:
        _last = line = _MaskedLine(text)
    return line
