"""Facts of RDF: statements one after the other; IRIs and blank nodes are strings, literals constants of their datatype."""

from __future__ import annotations

import decimal
import gzip
import io
import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from itertools import islice
from typing import IO, TYPE_CHECKING, cast

import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, MissingExtraError, Place
from rulescore.readers.columns import assemble, decimal_value, no_facts, parse_number, parse_value
from rulescore.readers.files import InputFile, Opening
from rulescore.readers.layout import column_problem
from rulescore.readers.lines import open_bytes
from rulescore.readers.text import at_most
from rulescore.setting.choices import ColumnType, FileFormat
from rulescore.setting.model import FactBatch, Request
from rulescore.values import Value, key_of, parse_moment

if TYPE_CHECKING:
    from pyoxigraph import BlankNode, Literal, NamedNode, Quad, QuadParser
    from pyoxigraph import Triple as QuotedTriple


RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SHACL = "http://www.w3.org/ns/shacl#"
XSD = "http://www.w3.org/2001/XMLSchema#"
USUAL_PREFIXES = {RDF: "rdf", RDFS: "rdfs", OWL: "owl", SHACL: "sh", XSD: "xsd"}

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
        """Whether each statement is a line, so reading can go on behind a wrong one."""
        return self in (Syntax.NTRIPLES, Syntax.NQUADS)


class TermError(Exception):
    """A term that we cannot use. `text`: the text of the term in the file, if it has one there."""

    def __init__(self, message: str, text: str, code: str) -> None:
        super().__init__(message)
        self.message, self.text, self.code = message, text, code


def statements(file: Bytes | _Lines, syntax: Syntax) -> Iterator[Quad]:
    """The statements of a file. Raises SyntaxError or TermError at the first wrong one. Relative IRIs stay as they are."""
    return _bounded(_parsed(file, syntax))


def _parsed(file: Bytes | _Lines, syntax: Syntax) -> QuadParser:
    try:
        from pyoxigraph import RdfFormat, parse
    except ImportError:
        raise MissingExtraError(f"reading {syntax}", "rdf") from None
    guarded = _Guarded(file) if syntax is Syntax.RDFXML else file
    form = RdfFormat.from_extension(_EXTENSIONS[syntax])
    return parse(input=cast(IO[bytes], guarded), format=form, lenient=True)


def _bounded(quads: Iterator[Quad]) -> Iterator[Quad]:
    try:
        yield from quads
    except MemoryError as error:
        if "buffer" not in str(error):
            raise
        raise SyntaxError("a name or a literal is longer than the 16 MB that are read") from None


def faults(file: Bytes, syntax: Syntax, origin: str, check: Callable[[Quad], object] = lambda _: None) -> Iterator[Diagnostic]:
    """The problems of a file. `check` raises TermError for a statement whose terms we cannot use. Behind the first problem, reading
    goes on only if each statement is a line."""
    if not syntax.is_by_line:
        yield from _first_fault(_Lines(file), syntax, origin, check)
        return
    for number, line in enumerate(file):
        yield from _first_fault(_Lines(io.BytesIO(line.rstrip(b"\r\n")), number), syntax, origin, check)


def _first_fault(lines: _Lines, syntax: Syntax, origin: str, check: Callable[[Quad], object]) -> Iterator[Diagnostic]:
    try:
        for quad in statements(lines, syntax):
            check(quad)
    except SyntaxError as error:
        yield _syntax_problem(error, lines, syntax, origin)
    except TermError as error:
        line, column = lines.last_with(error.text)
        place = Place(origin, line, column or None, max(1, len(error.text)) if column else 1, lines.text(line))
        yield Diagnostic(error.code, error.message, place)


class _Lines:
    """Hands over a file line by line. It remembers the last thousand lines, for statements that span several. `before`: how many
    lines of the file come before these."""

    def __init__(self, file: Bytes, before: int = 0) -> None:
        self._file = file
        self._known: dict[int, bytes] = {}
        self.before = self.number = before
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
        """The last line that holds a text, and its column. If no line holds it: the current line and 0."""
        for number in sorted(self._known, reverse=True):
            for before in ('"', "'", ">", ""):
                if text and (column := self.text(number).find(before + text)) >= 0:
                    return number, column + len(before) + 1
        return self.number, 0


_ENTITY = b"<!ENTITY"
_SHORT_ENTITY = re.compile(rb"<!ENTITY\s+[^\s%\"']+\s+(?:\"[^\"&<]{0,500}\"|'[^'&<]{0,500}')\s{0,100}>")
_LONGEST_ENTITY = 1000
_DEEPEST = 10_000


class _Guarded:
    """Checks RDF/XML on its way to the parser. Entities that are long, or made of entities, would take all memory, and very deep
    elements all time. Many files have entities that stand for the beginning of an IRI. These are short."""

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
        # The text may end within the beginning of a declaration. We hold back nothing else, so the parser stops exactly at a fault.
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


def _syntax_problem(error: SyntaxError, lines: _Lines, syntax: Syntax, origin: str) -> Diagnostic:
    said = _WHERE.sub("", error.msg, count=1)
    message = said if said[1:2].isupper() else said[:1].lower() + said[1:]
    line = lines.number if error.lineno is None else lines.before + error.lineno
    if message.startswith("invalid UTF-8"):
        place = Place(origin, line, error.offset, 1, lines.text(line))
        return Diagnostic("E313", "the line is not UTF-8", place, helps=("save the file as UTF-8",))
    same_line = error.end_lineno == error.lineno and error.offset is not None and error.end_offset is not None
    length = max(1, (error.end_offset or 0) - (error.offset or 0)) if same_line else 1
    note = (
        "an N-Triples line is `<subject> <predicate> <object> .`" if syntax is Syntax.NTRIPLES else f"the file is read as {syntax}"
    )
    return Diagnostic("E317", message, Place(origin, line, error.offset, length, lines.text(line)), notes=(note,))


SYNTAXES = {FileFormat[syntax.name]: syntax for syntax in Syntax}
_EXTENSIONS = {Syntax.NTRIPLES: "nt", Syntax.NQUADS: "nq", Syntax.TURTLE: "ttl", Syntax.TRIG: "trig", Syntax.RDFXML: "rdf"}
RDF_ENDINGS = {
    ".nt": FileFormat.NTRIPLES,
    ".nq": FileFormat.NQUADS,
    ".ttl": FileFormat.TURTLE,
    ".trig": FileFormat.TRIG,
    ".rdf": FileFormat.RDFXML,
    ".owl": FileFormat.RDFXML,
    ".xml": FileFormat.RDFXML,
}
"""Endings of RDF files; `.gz` may stand behind them."""

DEFAULT_GRAPH = "default"

_SIZES = ("int", "long", "short", "byte", "unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte")
_SIGNS = ("nonNegativeInteger", "nonPositiveInteger", "positiveInteger", "negativeInteger")
_INTEGERS = frozenset(("integer", *_SIZES, *_SIGNS))
_FLOATS = frozenset(f"{XSD}{name}" for name in ("double", "float"))
_BATCH_ROWS = 1 << 16

# The parser names a blank node without a label by a random number (decision 0013).
_ANONYMOUS = re.compile(r"[a-f][0-9a-f]{23,31}")


def read_rdf(file: InputFile, syntax: Syntax, request: Request) -> Iterator[FactBatch]:
    """The facts of all graphs of an RDF file, or of one. If the file is wrong, a second reading finds the place (decision 0013)."""
    _refuse_choices(syntax, request)
    with file.opened() as opening:
        try:
            with open_bytes(opening, request.origin) as raw:
                yield from _batches(iter(statements(raw, syntax)), _Terms(syntax, request), request)
        except (SyntaxError, TermError):
            raise InputError(_problems(opening, syntax, request)) from None


def read_prefixes(file: InputFile, syntax: Syntax) -> dict[str, str]:
    """The prefixes that a file declares before its first statement, by the IRIs that they stand for. If an IRI has two prefixes,
    the later one counts."""
    if syntax.is_by_line:
        return {}
    with file.opened() as opening, open_bytes(opening, str(file.path)) as raw:
        parser = _parsed(raw, syntax)
        next(iter(parser), None)
        return {iri: prefix for prefix, iri in parser.prefixes.items()}


def term_kinds(file: InputFile, syntax: Syntax, request: Request) -> dict[str, frozenset[str]]:
    """For the key of each constant, what it is in a file that can be read: `IRI`, `BlankNode`, a datatype, a language as `@en`."""
    from pyoxigraph import BlankNode, Literal, NamedNode

    terms, kinds = _Terms(syntax, request), dict[str, frozenset[str]]()
    with file.opened() as opening, open_bytes(opening, request.origin) as raw:
        for subject, _, value, _ in statements(raw, syntax):
            for term in (subject, value):
                match term:
                    case NamedNode():
                        said = {"IRI"}
                    case BlankNode():
                        said = {"BlankNode"}
                    case Literal(datatype=datatype, language=None):
                        said = {datatype.value}
                    case Literal(datatype=datatype, language=language):
                        said = {datatype.value, f"@{language}"}
                    case _:
                        continue
                key = terms.key(term)
                if not said <= (known := kinds.get(key, frozenset())):
                    kinds[key] = known | said
    return kinds


def _batches(quads: Iterator[Quad], terms: _Terms, request: Request) -> Iterator[FactBatch]:
    graph, begun = request.file.graph, False
    kept = (quad for quad in quads if graph is None or graph == _graph(quad))
    facts = ((terms.key(head), relation.value, terms.key(tail), terms.is_float(tail)) for head, relation, tail, _ in kept)
    while part := list(islice(facts, _BATCH_ROWS)):
        begun = True
        heads, relations, tails, of_floats = zip(*part, strict=True)
        floats = frozenset((relation, 1) for relation, is_float in zip(relations, of_floats, strict=True) if is_float)
        arguments = [pa.array(heads, pa.string()), pa.array(tails, pa.string())]
        ranking = (None, None, None) if request.predictions else None
        yield assemble(arguments, pa.array(relations, pa.string()), None, ranking, floats)
    if not begun:
        raise no_facts(request)


class _Terms:
    """Terms as keys of constants. Blank nodes without a name are numbered in the order of the file: the parser's own names for them
    change with each reading."""

    def __init__(self, syntax: Syntax, request: Request) -> None:
        from pyoxigraph import BlankNode, Literal, NamedNode

        self._named, self._blank, self._literal = NamedNode, BlankNode, Literal
        self._renames = not syntax.is_by_line
        self._stem, self._numbers = request.stem, dict[str, int]()

    def key(self, term: NamedNode | BlankNode | Literal | QuotedTriple) -> str:
        if isinstance(term, self._named):
            return key_of(term.value)
        if isinstance(term, self._blank):
            return self._blank_key(term.value)
        if not isinstance(term, self._literal):
            raise TermError("a statement about a statement is not a fact", "<<", "E314")
        text, datatype = term.value, term.datatype.value
        name = datatype.removeprefix(XSD) if datatype.startswith(XSD) else ""
        try:
            return key_of(_literal(text, name))
        except (ValueError, decimal.DecimalException):
            raise TermError(f"`{text}` is not a constant of type {name}", text, "E314") from None

    def is_float(self, term: NamedNode | BlankNode | Literal | QuotedTriple) -> bool:
        return isinstance(term, self._literal) and term.datatype.value in _FLOATS

    def _blank_key(self, label: str) -> str:
        if not self._renames or not _ANONYMOUS.fullmatch(label):
            return f"_:{label}"
        # No label in a file has a `#`, so our names do not clash with labels.
        return f"_:{self._stem}#{self._numbers.setdefault(label, len(self._numbers) + 1)}"


def _graph(quad: Quad) -> str:
    """The graph of a statement: its IRI, or its blank node as written."""
    name = str(quad.graph_name)
    return name[1:-1] if name.startswith("<") else name if name.startswith("_:") else DEFAULT_GRAPH


def constant_of(text: str, datatype: str) -> Value | None:
    """The constant that stands for a literal in facts; None if its text is not of its datatype."""
    try:
        return _literal(text, datatype.removeprefix(XSD) if datatype.startswith(XSD) else "")
    except (ValueError, decimal.DecimalException):
        return None


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
        case "dateTime":
            return parse_moment(text)
        case "dateTimeStamp":
            return parse_value(text, ColumnType.INSTANT)
        case _:
            return text


def _refuse_choices(syntax: Syntax, request: Request) -> None:
    file = request.file
    if file.predicate is not None or file.columns or file.types:
        notes = ("every statement of RDF names its predicate and its types",)
        raise column_problem(request, f"{syntax} has no columns to choose", notes=notes)
    if file.graph is not None and not syntax.has_graphs:
        raise column_problem(request, f"{syntax} has no named graphs to choose from", notes=("N-Quads and TriG have",))


def _problems(opening: Opening, syntax: Syntax, request: Request) -> tuple[Diagnostic, ...]:
    terms = _Terms(syntax, request)
    graph = request.file.graph

    def check(quad: Quad) -> None:
        if graph is None or graph == _graph(quad):
            terms.key(quad.subject)
            terms.key(quad.object)

    with open_bytes(opening, request.origin) as raw:
        return at_most(faults(raw, syntax, request.origin, check))
