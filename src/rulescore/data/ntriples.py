"""N-Triples: IRIs and blank nodes as strings, literals as constants of their datatype."""

from __future__ import annotations

import decimal
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from rulescore.data.batches import assemble, no_facts
from rulescore.data.constants import key_of
from rulescore.data.files import InputFile
from rulescore.data.keys import decimal_value, parse_number, parse_value
from rulescore.data.lines import open_lines
from rulescore.data.request import ColumnType, Request
from rulescore.data.setting import FactBatch
from rulescore.data.text_problems import MOST_PROBLEMS, at_most, encoding_problem, printable
from rulescore.errors import Diagnostic, InputError, Place
from rulescore.language.syntax import Value

_IRI = r'<([^<>"{}|^`\s]*)>'
_BLANK = r'(_:[^\s<>".]+(?:\.+[^\s<>".]+)*)'
_LITERAL = r'"((?:[^"\\]|\\.)*)"(?:\^\^<([^<>"{}|^`\s]*)>|@[A-Za-z]+(?:-[A-Za-z0-9]+)*)?'
_SPACE = r"[ \t]*"
_PARTS = (
    ("a subject: an IRI or a blank node", re.compile(rf"{_SPACE}(?:{_IRI}|{_BLANK})")),
    ("a predicate: an IRI", re.compile(rf"{_SPACE}{_IRI}")),
    ("an object: an IRI, a blank node or a literal", re.compile(rf"{_SPACE}(?:{_IRI}|{_BLANK}|{_LITERAL})")),
    ("a full stop", re.compile(rf"{_SPACE}\.{_SPACE}(?:#.*)?\Z")),
)
_STATEMENT = re.compile("".join(pattern.pattern for _, pattern in _PARTS))
_NOTHING = re.compile(rf"{_SPACE}(?:#.*)?\Z")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.)|\Z)")
_LETTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}

_XSD = "http://www.w3.org/2001/XMLSchema#"
_SIZES = ("int", "long", "short", "byte", "unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte")
_SIGNS = ("nonNegativeInteger", "nonPositiveInteger", "positiveInteger", "negativeInteger")
_INTEGERS = frozenset(("integer", *_SIZES, *_SIGNS))
_FLOATS = frozenset(f"{_XSD}{name}" for name in ("double", "float"))
_BATCH_LINES = 1 << 16


class _LineError(Exception):
    """What is wrong with a line, and the column, counted from 1."""

    def __init__(self, column: int, message: str, code: str = "E317") -> None:
        super().__init__(message)
        self.column, self.message, self.code = column, message, code


@dataclass(slots=True)
class _Columns:
    heads: list[str] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)
    tails: list[str] = field(default_factory=list)
    floats: set[str] = field(default_factory=set)
    """Predicates that have a float for an object."""

    def batch(self, request: Request) -> FactBatch:
        arguments = [pa.array(self.heads, pa.string()), pa.array(self.tails, pa.string())]
        answers = (None, None, None) if request.predictions else None
        floats = frozenset((relation, 1) for relation in self.floats)
        return assemble(arguments, pa.array(self.relations, pa.string()), None, answers, floats)


def read_ntriples(file: InputFile, request: Request) -> Iterator[FactBatch]:
    """The facts of an N-Triples file. Lines that are no statement are reported together; comments and blank lines may stand."""
    columns, problems, found_any = _Columns(), list[Diagnostic](), False
    with file.opened() as opening, open_lines(opening, request.origin) as lines:
        for number, line in enumerate(lines, 1):
            try:
                _read_line(line, columns)
            except _LineError as fault:
                problems.append(_diagnose(fault, number, line, request))
                if len(problems) > MOST_PROBLEMS:
                    break
            if len(columns.heads) == _BATCH_LINES:
                if not problems:
                    yield columns.batch(request)
                columns, found_any = _Columns(), True
    if problems:
        raise InputError(at_most(iter(problems)))
    if columns.heads:
        yield columns.batch(request)
    elif not found_any:
        raise no_facts(request)


def _read_line(line: str, columns: _Columns) -> None:
    match = _STATEMENT.match(line)
    if match is None:
        if _NOTHING.match(line):
            return
        raise _misplaced(line)
    if not line.isascii() and (column := _undecodable(line)):
        raise _LineError(column, "")
    subject, blank_subject, predicate, iri, blank, literal, datatype = match.groups()
    head = key_of(blank_subject or _decoded(subject, match.start(1)))
    relation = _decoded(predicate, match.start(3))
    if iri is not None or blank is not None:
        tail = key_of(blank or _decoded(iri, match.start(4)))
    else:
        tail = _literal_key(_decoded(literal, match.start(6)), datatype, match.start(6))
        if datatype in _FLOATS:
            columns.floats.add(relation)
    columns.heads.append(head)
    columns.relations.append(relation)
    columns.tails.append(tail)


def _undecodable(line: str) -> int:
    return next((i for i, character in enumerate(line, 1) if "\udc80" <= character <= "\udcff"), 0)


def _misplaced(line: str) -> _LineError:
    position = 0
    for expected, pattern in _PARTS:
        match = pattern.match(line, position)
        if match is None:
            start = position + len(line[position:]) - len(line[position:].lstrip(" \t"))
            return _LineError(start + 1, f"expected {expected}")
        position = match.end()
    raise AssertionError("a line whose parts all match is a statement")


def _decoded(text: str, start: int) -> str:
    if "\\" not in text:
        return text

    def replacement(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        number = int(code, 16) if code else None
        if number is None and match[3] in _LETTERS:
            return _LETTERS[match[3]]
        if number is None or number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
            raise _LineError(start + match.start() + 1, f"`{match[0]}` is not an escape")
        return chr(number)

    return _ESCAPE.sub(replacement, text)


def _literal_key(text: str, datatype: str | None, start: int) -> str:
    name = datatype.removeprefix(_XSD) if datatype is not None and datatype.startswith(_XSD) else ""
    try:
        return key_of(_literal(text, name))
    except ValueError:
        raise _LineError(start + 1, f"`{text}` is not a constant of type {name}", "E314") from None


def _literal(text: str, name: str) -> Value:
    if name in _INTEGERS:
        return parse_value(text, ColumnType.INTEGER)
    match name:
        case "decimal":
            parse_number(text)
            return decimal_value(decimal.Decimal(text))
        case "double" | "float":
            return parse_number(text)
        case "boolean":
            return parse_value({"1": "true", "0": "false"}.get(text, text), ColumnType.BOOLEAN)
        case "date":
            return parse_value(text, ColumnType.DATE)
        case _:
            return text


def _diagnose(fault: _LineError, number: int, line: str, request: Request) -> Diagnostic:
    if (problem := encoding_problem(request.origin, number, line)) is not None:
        return problem
    place = Place(request.origin, number, min(fault.column, len(line) + 1), text=printable(line))
    notes = ("an N-Triples line is `<subject> <predicate> <object> .`",) if fault.code == "E317" else ()
    return Diagnostic(fault.code, fault.message, place, notes=notes)
