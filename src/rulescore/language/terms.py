"""Names, variables and constants: each function reads one of them and leaves the cursor behind it."""

from __future__ import annotations

import datetime
import math
import re
from functools import lru_cache

from rulescore.errors import Span
from rulescore.language.cursor import NAME_KINDS, Cursor, Token, is_dotted, is_variable_word, is_word
from rulescore.language.syntax import Constant, Term, Variable, Wildcard
from rulescore.values import DAY, UNITS, Value, parse_moment, write_duration, write_moment

PLAIN_KINDS = frozenset({"word", "quoted", "variable"})
"""Kinds of tokens that are a term by themselves."""

_UNITS = UNITS | {f"{unit}s": size for unit, size in UNITS.items()}
_OTHER_UNITS = frozenset({"month", "year", "months", "years"})
_SIGNS = frozenset({"-", "+"})


def read_name(cursor: Cursor, expected: str) -> str:
    """A word or a quoted text as a name, even if it means something else elsewhere."""
    token = cursor.token
    if token.kind not in NAME_KINDS or token.text == "_":
        raise cursor.unexpected(expected, operand=True)
    cursor.advance()
    return token.text if token.kind == "word" else unquoted(cursor, token)


def read_predicate(cursor: Cursor, expected: str) -> str:
    """A name, or a table and its attribute: `sale.price`."""
    if cursor.token.kind == "dotted" and is_dotted(cursor.token.text):
        return cursor.advance().text
    return read_name(cursor, expected)


def read_term(cursor: Cursor, expected: str = "a variable or a constant") -> Term:
    token = cursor.token
    if token.kind in PLAIN_KINDS:
        cursor.advance()
        return plain_term(cursor, token)
    match token.kind:
        case "number" | "+" | "-":
            return read_number(cursor)
        case "date":
            cursor.advance()
            return Constant(_date(cursor, token), cursor.token_span(token))
        case "moment":
            cursor.advance()
            return Constant(_moment(cursor, token), cursor.token_span(token))
        case "true" | "false" if cursor.following.kind != "(":
            cursor.advance()
            return Constant(token.kind == "true", cursor.token_span(token))
    raise cursor.unexpected(expected, operand=True)


def plain_term(cursor: Cursor, token: Token) -> Term:
    """The term that one token of `PLAIN_KINDS` is."""
    span = Span(cursor.source, token.start, token.end)
    text = token.text
    if token.kind == "word":
        if is_variable_word(text):
            return Variable(text, span)
        return Wildcard(span) if text == "_" else Constant(text, span)
    return Variable(text[1:], span) if token.kind == "variable" else Constant(unquoted(cursor, token), span)


def read_constant(cursor: Cursor) -> Constant:
    token = cursor.token
    if token.kind == "variable" or (token.kind == "word" and (token.text == "_" or is_variable_word(token.text))):
        raise cursor.unexpected("a constant", help="a text in upper case is quoted" if token.kind == "word" else "")
    term = read_term(cursor, "a constant")
    assert isinstance(term, Constant)
    return term


def read_number(cursor: Cursor) -> Constant:
    """A number, or a duration: `30 days`."""
    start = cursor.token.start
    sign = cursor.advance().kind if cursor.token.kind in _SIGNS else ""
    token = cursor.expect("number", "a number")
    value = _parsed_number(token.text)
    if sign == "-":
        value = -value
    unit = cursor.token.text
    # If a parenthesis follows, the word is a predicate, so a full stop or a comma is missing before it.
    if cursor.token.kind == "word" and (unit in _UNITS or unit in _OTHER_UNITS) and cursor.following.kind != "(":
        return _read_duration(cursor, start, value)
    span = cursor.span_from(start)
    if abs(value) == math.inf:
        cursor.report("E105", "the number is too large", span, note="infinity is not a constant")
    return Constant(value, span)


def _parsed_number(text: str) -> int | float:
    """A number; infinite if it has too many digits for the interpreter."""
    try:
        return float(text) if any(character in text for character in ".eE") else int(text)
    except ValueError:
        return math.inf


def _read_duration(cursor: Cursor, start: int, number: int | float) -> Constant:
    unit = cursor.advance().text
    span = cursor.span_from(start)
    duration = datetime.timedelta()
    if unit in _OTHER_UNITS or not isinstance(number, int):
        note = "a duration is a whole number of weeks, days, hours, minutes, seconds, milliseconds or microseconds: `30 days`"
        cursor.report("E105", f"`{cursor.source.text[span.start : span.end]}` is not a duration", span, note=note)
    else:
        try:
            duration = _duration(number * _UNITS[unit])
        except OverflowError:
            cursor.report("E105", "the duration is too long", span, note="dates end with the year 9999")
    return Constant(duration, span)


def _duration(count: int) -> datetime.timedelta:
    """A duration of `count` microseconds. Engines have 64 bits for microseconds, or for days."""
    if count % DAY and not -(2**63) <= count < 2**63:
        raise OverflowError
    return datetime.timedelta(days=count // DAY, microseconds=count % DAY)


def _date(cursor: Cursor, token: Token) -> datetime.date:
    try:
        return datetime.date.fromisoformat(token.text)
    except ValueError:
        cursor.report(
            "E105",
            f"there is no day `{token.text}`",
            cursor.token_span(token),
            note="a date is written as year, month and day: `2020-01-31`",
            help=f'to use it as text, quote it: `"{token.text}"`',
        )
        return datetime.date.min


def _moment(cursor: Cursor, token: Token) -> datetime.datetime:
    try:
        return parse_moment(token.text)
    except ValueError as error:
        cursor.report(
            "E105",
            f"`{token.text}` is not a date-time: {error}",
            cursor.token_span(token),
            note="a date-time is written `2020-01-31T12:30:00`, with a zone `2020-01-31T12:30:00+01:00` or `2020-01-31T11:30:00Z`",
            help=f'to use it as text, quote it: `"{token.text}"`',
        )
        return datetime.datetime.min


def unquoted(cursor: Cursor, token: Token) -> str:
    """The text of a quoted token."""
    try:
        return unquote(token.text)
    except EscapeError as error:
        cursor.report(
            "E102",
            f"`{token.text[error.start : error.end]}` is not an escape",
            Span(cursor.source, token.start + error.start, token.start + error.end),
            note='the escapes are \\" \\` \\\\ \\n \\t \\r and \\u with four hexadecimal digits, such as \\u00e9',
            help="a backslash itself is written `\\\\`",
        )
        return token.text


# Turns values and names into text, and text into values and names.


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
    """The text in quotes. Characters that a reader could not see or would misread are escaped."""
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


# Cached, because a hundred thousand rules may have only two hundred names.
@lru_cache(maxsize=4096)
def write_predicate(name: str) -> str:
    """A name, or a table and its attribute: `sale.price`."""
    return name if is_word(name) or is_dotted(name) else quote(name, "`")


def write_value(value: Value) -> str:
    """A constant as it stands among terms: a string is quoted unless it is a word that is not written like a variable."""
    match value:
        case str():
            return _write_text(value)
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


# Cached, because facts repeat the same few thousand constants.
@lru_cache(maxsize=65536)
def _write_text(value: str) -> str:
    return value if is_word(value) and not is_variable_word(value) else quote(value, '"')


@lru_cache(maxsize=4096)
def write_variable(name: str) -> str:
    return name if is_word(name) and is_variable_word(name) else f"?{name}"
