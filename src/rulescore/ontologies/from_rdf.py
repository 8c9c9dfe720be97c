"""Files of RDF as rule files: their axioms and shapes as rules, and a warning about the axioms left out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rulescore.errors import Diagnostic, InputError, Severity, Source
from rulescore.language.printer import print_program
from rulescore.language.reading import RuleSource
from rulescore.language.rule_formats import AskFacts, RuleFormat
from rulescore.language.words import OWN_FORMAT
from rulescore.ontologies.axioms import has_shapes, read_ontology
from rulescore.ontologies.shape_tests import TEST_NAMES, wanted_tests
from rulescore.ontologies.triples import SUBCLASS, Blank, Iri, Literal, Node, NotUnderstood, Triple
from rulescore.readers.files import InputFile, Opening, ending_of, is_folder
from rulescore.readers.lines import open_bytes
from rulescore.readers.rdf import RDF_ENDINGS, SYNTAXES, Syntax, TermError, constant_of, faults, read_prefixes, statements
from rulescore.setting.choices import FileFormat

if TYPE_CHECKING:
    import pyoxigraph

_MOST_NAMES = 3


@dataclass(frozen=True, slots=True, eq=False)
class OntologySource(RuleSource):
    """The rules of an ontology as text, under the name of its file."""

    triples: tuple[Triple, ...] = field(default=(), kw_only=True, repr=False)

    def completed(self, sources: Sequence[Source], facts: AskFacts) -> OntologySource:
        """With the classes that other ontologies and the facts put below those of shapes, and with the predicates of all facts."""
        if not has_shapes(self.triples):
            return self
        ontologies = [source for source in sources if isinstance(source, OntologySource)]
        said = facts(SUBCLASS)
        below = [triple for source in ontologies for triple in source.triples if triple[1] == SUBCLASS]
        below += [(Iri(left), SUBCLASS, Iri(right)) for left, right in said.pairs]
        program = read_ontology(self.triples, below, said.predicates).program
        return replace(self, text=print_program(program), _starts=[], _lines={})


def open_ontology(path: Path) -> OntologySource:
    """Read the axioms and shapes of a file. If its name does not tell the syntax of RDF, it is Turtle."""
    if is_folder(path):
        raise InputError(Diagnostic("E302", f"`{path}` is a folder", helps=("name one file",)))
    file, syntax = InputFile(path), _syntax(path)
    with file.opened() as opening:
        triples = tuple(_triples(opening, syntax, str(path)))
        reader = opening.reader()
        digest = (hashlib.file_digest(reader, "sha256").hexdigest(), reader.tell())
    ontology = read_ontology(triples)
    if not ontology.program.rules and not ontology.left_out and not has_shapes(triples):
        notes = ("axioms of OWL and shapes of SHACL are rules; facts are given as `--facts`",)
        raise InputError(Diagnostic("E363", f"`{path}` has no axioms and no shapes", notes=notes))
    warnings = (_left_out(path, ontology.left_out),) if ontology.left_out else ()
    text = print_program(ontology.program)
    prefixes = read_prefixes(file, syntax)
    return OntologySource(
        str(path), text, converted=True, told=warnings, format=OWN_FORMAT, digest=digest, triples=triples, prefixes=prefixes
    )


def read_triples(path: Path) -> tuple[Triple, ...]:
    """The statements of an RDF file."""
    with InputFile(path).opened() as opening:
        return tuple(_triples(opening, _syntax(path), str(path)))


def _syntax(path: Path) -> Syntax:
    return SYNTAXES[RDF_ENDINGS.get(ending_of(path), FileFormat.TURTLE)]


def _triples(opening: Opening, syntax: Syntax, origin: str) -> Iterator[Triple]:
    try:
        with open_bytes(opening, origin) as raw:
            for quad in statements(raw, syntax):
                yield _node(quad.subject), quad.predicate.value, _node(quad.object)
    except (SyntaxError, TermError):
        with open_bytes(opening, origin) as raw:
            raise InputError(faults(raw, syntax, origin)) from None


def _node(term: pyoxigraph.NamedNode | pyoxigraph.BlankNode | pyoxigraph.Literal | pyoxigraph.Triple) -> Node:
    """A statement about a statement says nothing about classes: it becomes a blank node."""
    import pyoxigraph

    match term:
        case pyoxigraph.NamedNode():
            return Iri(term.value)
        case pyoxigraph.Literal():
            return Literal(term.value, term.datatype.value, constant_of(term.value, term.datatype.value))
        case _:
            return Blank(str(term))


def _left_out(path: Path, axioms_left_out: Sequence[NotUnderstood]) -> Diagnostic:
    axioms = list(dict.fromkeys(part.axiom for part in axioms_left_out))
    notes = []
    for axiom in axioms:
        about = [part.about for part in axioms_left_out if part.axiom == axiom]
        names = list(dict.fromkeys(name for name in about if name is not None))
        notes.append(f"{axiom}: {len(about):,}" + (f", of {_listed(names)}" if names else ""))
    number = "1 axiom" if len(axioms_left_out) == 1 else f"{len(axioms_left_out):,} axioms"
    are = "is" if len(axioms_left_out) == 1 else "are"
    message = f"{number} of {path.name} {are} not understood, and left out: {_listed(axioms)}"
    return Diagnostic("W152", message, notes=tuple(notes), severity=Severity.WARNING)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMES]) + (" and others" if len(names) > _MOST_NAMES else "")


FORMAT = RuleFormat(
    "ontology", "OWL and SHACL", endings=RDF_ENDINGS.keys(), open=open_ontology, test_names=TEST_NAMES, tests=wanted_tests
)
