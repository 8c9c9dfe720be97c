"""Facts of RDF: IRIs and blank nodes as strings, literals as constants of their datatype."""

from __future__ import annotations

import decimal
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Place
from rulescore.language.formats.triples import SUBCLASS, Iri, Triple
from rulescore.readers.batches import assemble, no_facts
from rulescore.readers.constant_columns import decimal_value, parse_number, parse_value
from rulescore.readers.files import InputFile, Opening
from rulescore.readers.layout import column_problem
from rulescore.readers.lines import open_bytes
from rulescore.readers.text_problems import at_most
from rulescore.readers.tools.rdf import RdfFault, Syntax, TermError, faults, statements
from rulescore.setting.choices import FileFormat
from rulescore.setting.model import FactBatch, FactSource, FactStream
from rulescore.setting.request import ColumnType, Request
from rulescore.values.keys import key_of, text_of
from rulescore.values.moments import parse_moment
from rulescore.values.types import Value

if TYPE_CHECKING:
    from pyoxigraph import BlankNode, Literal, NamedNode, Quad
    from pyoxigraph import Triple as QuotedTriple

SYNTAXES = {
    FileFormat.NTRIPLES: Syntax.NTRIPLES,
    FileFormat.NQUADS: Syntax.NQUADS,
    FileFormat.TURTLE: Syntax.TURTLE,
    FileFormat.TRIG: Syntax.TRIG,
    FileFormat.RDFXML: Syntax.RDFXML,
}
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

_XSD = "http://www.w3.org/2001/XMLSchema#"
_SIZES = ("int", "long", "short", "byte", "unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte")
_SIGNS = ("nonNegativeInteger", "nonPositiveInteger", "positiveInteger", "negativeInteger")
_INTEGERS = frozenset(("integer", *_SIZES, *_SIGNS))
_FLOATS = frozenset(f"{_XSD}{name}" for name in ("double", "float"))
_BATCH_ROWS = 1 << 16

# The name that the parser gives to a blank node without one: a random number.
_ANONYMOUS = re.compile(r"[a-f][0-9a-f]{23,31}")


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


def read_rdf(file: InputFile, syntax: Syntax, request: Request) -> Iterator[FactBatch]:
    """The facts of all graphs of an RDF file, or of the one the user asks for. A second reading finds what is wrong."""
    _refuse_choices(syntax, request)
    with file.opened() as opening:
        try:
            with open_bytes(opening, request.origin) as raw:
                yield from _batches(iter(statements(raw, syntax)), _Terms(syntax, request), request)
        except (SyntaxError, TermError):
            raise InputError(_problems(opening, syntax, request)) from None


def subclasses(sources: Iterable[FactSource]) -> Iterator[Triple]:
    """Which classes the facts put below others. Facts of the engine's own we do not ask: rules are read before there is one."""
    import pyarrow.compute as pc

    for source in sources:
        if isinstance(source, FactStream) and (source.native is None or source.native.frame is None):
            for batch in source.open():
                if batch.arity == 2 and not batch.negative and batch.predicate in (None, SUBCLASS):
                    rows = batch.rows if batch.predicate else batch.rows.filter(pc.field("predicate") == SUBCLASS)
                    for row in rows.select(["a0", "a1"]).to_pylist():
                        yield Iri(text_of(row["a0"])), SUBCLASS, Iri(text_of(row["a1"]))


def _batches(quads: Iterator[Quad], terms: _Terms, request: Request) -> Iterator[FactBatch]:
    graph = request.file.graph
    columns, found_any = _Columns(), False
    for quad in quads:
        if graph is not None and graph != _graph(quad):
            continue
        subject, predicate, value, _ = quad
        relation = predicate.value
        columns.heads.append(terms.key(subject))
        columns.relations.append(relation)
        columns.tails.append(terms.key(value))
        if terms.is_float(value):
            columns.floats.add(relation)
        if len(columns.heads) == _BATCH_ROWS:
            yield columns.batch(request)
            columns, found_any = _Columns(), True
    if columns.heads:
        yield columns.batch(request)
    elif not found_any:
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
        if isinstance(term, self._literal):
            return _literal_key(term.value, term.datatype.value)
        raise TermError("a statement about a statement is not a fact", "<<", "E381")

    def is_float(self, term: NamedNode | BlankNode | Literal | QuotedTriple) -> bool:
        return isinstance(term, self._literal) and term.datatype.value in _FLOATS

    def _blank_key(self, label: str) -> str:
        if not self._renames or not _ANONYMOUS.fullmatch(label):
            return f"_:{label}"
        # No label in a file has a `#`.
        return f"_:{self._stem}#{self._numbers.setdefault(label, len(self._numbers) + 1)}"


def _graph(quad: Quad) -> str:
    """The graph of a statement: its IRI, or its blank node as it is written."""
    name = str(quad.graph_name)
    return name[1:-1] if name.startswith("<") else name if name.startswith("_:") else DEFAULT_GRAPH


def _literal_key(text: str, datatype: str) -> str:
    name = datatype.removeprefix(_XSD) if datatype.startswith(_XSD) else ""
    try:
        return key_of(_literal(text, name))
    except (ValueError, decimal.DecimalException):
        raise TermError(f"`{text}` is not a constant of type {name}", text, "E314") from None


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
        return at_most(syntax_problem(fault, syntax, request.origin) for fault in faults(raw, syntax, check))


def syntax_problem(fault: RdfFault, syntax: Syntax, origin: str) -> Diagnostic:
    place = Place(origin, fault.line, fault.column, fault.length, fault.text)
    match fault.code:
        case "E317" if syntax is Syntax.NTRIPLES:
            return Diagnostic("E317", fault.message, place, notes=("an N-Triples line is `<subject> <predicate> <object> .`",))
        case "E317":
            return Diagnostic("E317", fault.message, place, notes=(f"the file is read as {syntax}",))
        case "E313":
            return Diagnostic("E313", fault.message, place, helps=("save the file as UTF-8",))
        case _:
            return Diagnostic(fault.code, fault.message, place)
