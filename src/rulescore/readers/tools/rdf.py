"""RDF in any of its syntaxes, read by pyoxigraph: statements one after the other, and faults line by line.

The parser tells where a syntax error is, except in RDF/XML, but never where a term stands. So we read a wrong file a second time,
from a stream that hands over one line at a time: the fault is in the line handed over last.
"""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import IO, TYPE_CHECKING, cast

from rulescore.errors import MissingExtraError

if TYPE_CHECKING:
    from pyoxigraph import Quad, RdfFormat


Bytes = io.BufferedReader | io.BytesIO | gzip.GzipFile


class Syntax(StrEnum):
    NTRIPLES = "N-Triples"
    NQUADS = "N-Quads"
    TURTLE = "Turtle"
    TRIG = "TriG"
    RDFXML = "RDF/XML"

    @property
    def has_graphs(self) -> bool:
        return self in (Syntax.NQUADS, Syntax.TRIG)

    @property
    def is_by_line(self) -> bool:
        """Whether each statement is a line, so that reading can go on behind a wrong one."""
        return self in (Syntax.NTRIPLES, Syntax.NQUADS)


@dataclass(frozen=True, slots=True)
class RdfFault:
    """A fault and its place: line and column are counted from 1, the column may be unknown. `text`: the line."""

    line: int
    column: int | None
    length: int
    message: str
    text: str
    code: str = "E317"


class TermError(Exception):
    """A term that we cannot use. `text`: the term as the file writes it, if it does."""

    def __init__(self, message: str, text: str, code: str) -> None:
        super().__init__(message)
        self.message, self.text, self.code = message, text, code


def statements(file: Bytes | _Lines, syntax: Syntax) -> Iterator[Quad]:
    """The statements of a file. Raises SyntaxError or TermError at the first wrong one. Relative IRIs stay as they are."""
    try:
        from pyoxigraph import parse
    except ImportError:
        raise MissingExtraError(f"reading {syntax}", "rdf") from None
    guarded = _Guarded(file) if syntax is Syntax.RDFXML else file
    return _bounded(parse(input=cast(IO[bytes], guarded), format=_format(syntax), lenient=True))


def _bounded(quads: Iterator[Quad]) -> Iterator[Quad]:
    try:
        yield from quads
    except MemoryError as error:
        if "buffer" not in str(error):
            raise
        raise TermError("a name or a literal is longer than the 16 MB that are read", "", "E317") from None


def _format(syntax: Syntax) -> RdfFormat:
    from pyoxigraph import RdfFormat

    return {
        Syntax.NTRIPLES: RdfFormat.N_TRIPLES,
        Syntax.NQUADS: RdfFormat.N_QUADS,
        Syntax.TURTLE: RdfFormat.TURTLE,
        Syntax.TRIG: RdfFormat.TRIG,
        Syntax.RDFXML: RdfFormat.RDF_XML,
    }[syntax]


def faults(file: Bytes, syntax: Syntax, check: Callable[[Quad], object]) -> Iterator[RdfFault]:
    """The faults of a file. `check` raises TermError for a statement whose terms we cannot use. Behind the first fault, reading
    goes on only if each statement is a line."""
    if not syntax.is_by_line:
        yield from _first_fault(file, syntax, check)
        return
    for number, line in enumerate(file, 1):
        for fault in _first_fault(io.BytesIO(line.rstrip(b"\r\n")), syntax, check):
            yield replace(fault, line=number)


def _first_fault(file: Bytes, syntax: Syntax, check: Callable[[Quad], object]) -> Iterator[RdfFault]:
    lines = _Lines(file)
    try:
        for quad in statements(lines, syntax):
            check(quad)
    except SyntaxError as error:
        yield _syntax_fault(error, lines)
    except TermError as error:
        yield _term_fault(error, lines)


class _Lines:
    """Hands over a file line by line. It remembers the last thousand lines, for statements that span several."""

    def __init__(self, file: Bytes) -> None:
        self._file = file
        self._known: dict[int, bytes] = {}
        self.number = 0
        self._begins_line = True

    def read(self, size: int = -1) -> bytes:
        part = self._file.readline(size)
        if self._begins_line and part:
            self.number += 1
            self._known[self.number] = part
            self._known.pop(self.number - _REMEMBERED, None)
        self._begins_line = part.endswith(b"\n")
        return part

    def text(self, number: int) -> str:
        return self._known.get(number, b"").decode(errors="replace").rstrip("\r\n")

    def last_with(self, text: str) -> tuple[int, int]:
        """The last line that has a text, and the column; the current line and 0 if none has it."""
        for number in sorted(self._known, reverse=True):
            for before in ('"', "'", ">", ""):
                if text and (found := self.text(number).find(before + text)) >= 0:
                    return number, found + len(before) + 1
        return self.number, 0


_ENTITY = b"<!ENTITY"
_SHORT_ENTITY = re.compile(rb"<!ENTITY\s+[^\s%\"']+\s+(?:\"[^\"&<]{0,500}\"|'[^'&<]{0,500}')\s{0,100}>")
_LONGEST_ENTITY = 1000
_DEEPEST = 10_000


class _Guarded:
    """RDF/XML on its way to the parser, which would take all memory for entities that are made of entities or long, and all time
    for elements that are nested very deep. Entities that stand for the beginning of an IRI, as many files have them, are short."""

    def __init__(self, file: Bytes | _Lines) -> None:
        self._file, self._held, self._last, self._depth = file, b"", b"", 0

    def read(self, size: int = -1) -> bytes:
        data = self._held + (more := self._file.read(size))
        start = 0
        while (start := data.find(_ENTITY, start)) >= 0:
            while more and len(data) < start + _LONGEST_ENTITY:
                data += (more := self._file.read(size))
            if _SHORT_ENTITY.match(data, start) is None:
                raise SyntaxError("an entity has more than 500 characters, or refers to other entities or files")
            start += len(_ENTITY)
        # The beginning of a declaration may be at the end. We hold back nothing else: the parser's place is that of a fault.
        ends = (length for length in range(len(_ENTITY) - 1, 0, -1) if data.endswith(_ENTITY[:length]))
        kept = len(data) - (next(ends, 0) if more else 0)
        self._held = data[kept:]
        self._count_elements(data[:kept])
        return data[:kept] or self.read(size) if more else data

    def _count_elements(self, data: bytes) -> None:
        """Count how deep we are, roughly: comments may hold anything."""
        pairs = self._last + data
        closed = 2 * pairs.count(b"</") + pairs.count(b"/>") + pairs.count(b"<!") + pairs.count(b"<?")
        self._depth += data.count(b"<") - closed
        self._last = data[-1:] or self._last
        if self._depth > _DEEPEST:
            raise SyntaxError(f"elements are nested deeper than {_DEEPEST:,} levels")


_REMEMBERED = 1000
_WHERE = re.compile(r"Parser error (?:at|between) .*?: ")


def _syntax_fault(error: SyntaxError, lines: _Lines) -> RdfFault:
    said = _WHERE.sub("", error.msg, count=1)
    message = said if said[1:2].isupper() else said[:1].lower() + said[1:]
    line = lines.number if error.lineno is None else error.lineno
    same_line = error.end_lineno == error.lineno and error.offset is not None and error.end_offset is not None
    length = max(1, (error.end_offset or 0) - (error.offset or 0)) if same_line else 1
    if message.startswith("invalid UTF-8"):
        return RdfFault(line, error.offset, 1, "the line is not UTF-8", lines.text(line), "E313")
    return RdfFault(line, error.offset, length, message, lines.text(line))


def _term_fault(error: TermError, lines: _Lines) -> RdfFault:
    line, column = lines.last_with(error.text)
    return RdfFault(line, column or None, max(1, len(error.text)) if column else 1, error.message, lines.text(line), error.code)
