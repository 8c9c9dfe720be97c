"""Values and names as text, in both directions."""

from __future__ import annotations

import datetime
import re

from rulescore.language.tokens import is_dotted, is_variable_word, is_word
from rulescore.values.moments import write_duration, write_moment
from rulescore.values.types import Value

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {'"': '"', "`": "`", "\\": "\\", "n": "\n", "t": "\t", "r": "\r"}
_WRITTEN = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


class EscapeError(ValueError):
    """A backslash that does not begin an escape; `start` and `end` are offsets into the quoted text."""

    def __init__(self, start: int, end: int) -> None:
        super().__init__(start, end)
        self.start = start
        self.end = end


def unquote(quoted: str) -> str:
    """The text between quotes, escapes resolved."""
    inner = quoted[1:-1]
    return _ESCAPE.sub(_unescape, inner) if "\\" in inner else inner


def _unescape(match: re.Match[str]) -> str:
    code, letter = match.groups()
    # Half of a surrogate pair is not a character: we could neither store nor print it.
    if code and not 0xD800 <= int(code, 16) < 0xE000:
        return chr(int(code, 16))
    if letter in _ESCAPED:
        return _ESCAPED[letter]
    raise EscapeError(match.start() + 1, match.end() + 1)


def quote(text: str, mark: str) -> str:
    """The text in quotes, with escapes for characters that a reader could not see or would misread."""
    if text.isprintable() and mark not in text and "\\" not in text:
        return mark + text + mark
    return mark + "".join(_write_character(character, mark) for character in text) + mark


def _write_character(character: str, mark: str) -> str:
    if character == mark:
        return "\\" + mark
    if character in _WRITTEN:
        return _WRITTEN[character]
    if character.isprintable() or ord(character) > 0xFFFF:
        return character
    return f"\\u{ord(character):04x}"


def write_name(name: str) -> str:
    """The name of a rule, a table or an attribute: in backticks unless it is a word."""
    return name if is_word(name) else quote(name, "`")


def write_predicate(name: str) -> str:
    """A name, or a table and its attribute: `sale.price`."""
    return name if is_word(name) or is_dotted(name) else quote(name, "`")


def write_value(value: Value) -> str:
    """A constant as it stands among terms: a string is quoted unless it is a word that is not written like a variable."""
    match value:
        case str():
            return value if is_word(value) and not is_variable_word(value) else quote(value, '"')
        case bool():
            return "true" if value else "false"
        case datetime.datetime():
            return write_moment(value)
        case datetime.date():
            return value.isoformat()
        case int() | float():
            return repr(value)
        case datetime.timedelta():
            return write_duration(value)


def write_variable(name: str) -> str:
    return name if is_word(name) and is_variable_word(name) else f"?{name}"
