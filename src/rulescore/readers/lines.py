"""Reads text files line by line. That is slow and exact: it finds out what a file is and what is wrong with it."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Place
from rulescore.readers.files import Opening, damaged

# If a quoted field has more bytes than this, we assume that its closing quote is missing.
LONGEST_FIELD = 1 << 20


@dataclass(frozen=True, slots=True)
class Field:
    """A field's value and where its text begins in the record's line, counted from 1."""

    column: int
    text: str


@dataclass(frozen=True, slots=True)
class Record:
    """One row of a text file: its first line's number, its text, and its fields, or the column of a wrong quote."""

    line: int
    text: str
    fields: tuple[Field, ...] = ()
    wrong_quote: int | None = None


@contextmanager
def open_bytes(file: Opening, origin: str) -> Iterator[gzip.GzipFile | io.BufferedReader]:
    """The bytes of a text file, without a byte order mark. InputError if its first bytes show that it holds no text."""
    try:
        with file.reader() as plain, gzip.open(plain) if file.compressed else plain as raw:
            _refuse_others(raw.peek(1), origin)
            if raw.peek(len(codecs.BOM_UTF8)).startswith(codecs.BOM_UTF8):
                raw.read(len(codecs.BOM_UTF8))
            yield raw
    except (EOFError, OSError, zlib.error) as error:
        raise damaged(origin, getattr(error, "strerror", None) or str(error)) from None


@contextmanager
def open_lines(file: Opening, origin: str) -> Iterator[Iterator[str]]:
    """The lines of a text file without their ends (`\\n`, `\\r\\n` or `\\r`); bytes that are not UTF-8 become surrogates."""
    with (
        open_bytes(file, origin) as raw,
        io.TextIOWrapper(raw, encoding="utf-8", errors="surrogateescape", newline="") as handle,
    ):
        yield _lines(handle)


def _refuse_others(beginning: bytes, origin: str) -> None:
    if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError(Diagnostic("E305", "the file looks like UTF-16", Place(origin), helps=("convert it to UTF-8",)))
    if b"\0" in beginning:
        notes = ("files that can be read are delimited text, RDF and Parquet",)
        helps = ("if the name has the wrong ending, rename the file or give its `format`",)
        raise InputError(Diagnostic("E305", "the file looks like a binary file", Place(origin), notes=notes, helps=helps))


def _lines(handle: io.TextIOWrapper) -> Iterator[str]:
    """The lines, without empty ones at the end of the file: editors and scripts leave them there."""
    empty = 0
    for line in handle:
        body = line[:-2] if line.endswith("\r\n") else line[:-1] if line.endswith(("\n", "\r")) else line
        if body:
            yield from [""] * empty
            empty = 0
            yield body
        else:
            empty += 1


def records(lines: Iterator[str], delimiter: str, quoted: bool) -> Iterator[Record]:
    """The rows of a file. If it is `quoted`, a field may span lines."""
    numbered = enumerate(lines, 1)
    for number, text in numbered:
        if not quoted or '"' not in text:
            yield Record(number, text, _split(text, delimiter))
            continue
        record = _quoted_record(number, text, delimiter)
        while record is None:
            following = next(numbered, None) if len(text) < LONGEST_FIELD else None
            if following is None:
                pattern, start = _field_pattern(delimiter), 0
                while (match := pattern.match(text, start)) is not None:
                    start = match.end() + 1
                yield Record(number, text.split("\n")[0], wrong_quote=start + 1)
                return
            text = f"{text}\n{following[1]}"
            # Only a line with a quote can close the field, so we skip the others.
            record = _quoted_record(number, text, delimiter) if '"' in following[1] else None
        yield record


def _split(text: str, delimiter: str) -> tuple[Field, ...]:
    fields, column = [], 1
    for part in text.split(delimiter):
        fields.append(Field(column, part))
        column += len(part) + 1
    return tuple(fields)


def _quoted_record(number: int, text: str, delimiter: str) -> Record | None:
    """The record of a text with quotes; None when a quoted field is still open at its end."""
    pattern = _field_pattern(delimiter)
    fields, start = [], 0
    while (match := pattern.match(text, start)) is not None:
        value = match[2] if match[1] is None else match[1].replace('""', '"')
        fields.append(Field(start + 1, value))
        if match.end() == len(text):
            return Record(number, text, tuple(fields))
        start = match.end() + 1
    if _OPEN.match(text, start):
        return None
    return Record(number, text.split("\n")[0], wrong_quote=start + 1)


_OPEN = re.compile(r'"[^"]*+(?:""[^"]*+)*+\Z')


def _field_pattern(delimiter: str) -> re.Pattern[str]:
    """A quoted field, or one that does not begin with a quote, up to the delimiter or the end of the line."""
    mark = re.escape(delimiter)
    return re.compile(rf'(?:"([^"]*+(?:""[^"]*+)*+)"|(?!")([^{mark}]*+))(?={mark}|\Z)')


# Bytes of a text file without the empty lines at its end.


_ENDS = b"\r\n"


class TrimmedStream(io.RawIOBase):
    """Passes bytes on, but holds back all line ends in a row except the first until something follows them."""

    def __init__(self, stream: pa.NativeFile) -> None:
        self._stream = stream
        self._held = b""
        self._ready = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            return self.readall()
        # Line ends that we held back can make a block longer than `size`, and Arrow accepts no longer block.
        block = self._ready or self._next(size)
        self._ready = block[size:]
        return block[:size]

    def _next(self, size: int) -> bytes:
        data: bytes = self._stream.read(size)
        while data:
            body = data.rstrip(_ENDS)
            if body:
                ends = data[len(body) :]
                first = _ENDS if ends.startswith(_ENDS) else ends[:1]
                held, self._held = self._held, ends[len(first) :]
                return held + body + first if held or self._held else data
            self._held += data
            data = self._stream.read(size)
        return b""

    def close(self) -> None:
        self._stream.close()
        super().close()


# A check of the quotes in a delimited file, made while the bytes stream by.


class QuoteCheckedStream(io.RawIOBase):
    """Passes bytes on while quotes are in order. After the first wrong quote the stream ends and `malformed` is true."""

    def __init__(self, stream: io.RawIOBase, delimiter: str) -> None:
        self._stream = stream
        self._delimiter = delimiter.encode()
        mark = re.escape(self._delimiter)
        field = rb'(?:[^"%b\r\n][^%b\r\n]*+|"[^"]*+(?:""[^"]*+)*+")?+' % (mark, mark)
        self._fields = re.compile(rb"(?:%b[%b\r\n])*+" % (field, mark))
        self._whole = re.compile(field)
        self._part = re.compile(rb'[^"%b\r\n][^%b\r\n]*+|"[^"]*+(?:""[^"]*+)*+"?+|' % (mark, mark))
        self._carry = b""
        self.malformed = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data: bytes = b"" if self.malformed else self._stream.read(size) or b""
        self.malformed = self.malformed or not self._in_order(data)
        return b"" if self.malformed else data

    def close(self) -> None:
        self._stream.close()
        super().close()

    def _in_order(self, data: bytes) -> bool:
        if not data:
            return self._whole.fullmatch(self._carry) is not None
        text = self._carry + data
        if b'"' not in text:
            self._carry = text[1 + max(text.rfind(end) for end in (self._delimiter, b"\n", b"\r")) :]
            return True
        match = self._fields.match(text)
        assert match is not None  # the pattern matches the empty text
        self._carry = text[match.end() :]
        return len(self._carry) <= LONGEST_FIELD and self._part.fullmatch(self._carry) is not None
