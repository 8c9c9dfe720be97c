"""Ontologies as rule files: reads RDF, gives our rules and a warning about the axioms left out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rulescore.errors import Diagnostic, InputError, Severity
from rulescore.language.formats.names import FormatName
from rulescore.language.formats.ontology import read_ontology
from rulescore.language.formats.statements import NotUnderstood
from rulescore.language.formats.triples import Blank, Iri, Literal, Node, Triple
from rulescore.language.printer import print_program
from rulescore.language.sources import RuleChoice, RuleSource
from rulescore.readers.files import InputFile, Opening, is_folder
from rulescore.readers.lines import open_bytes
from rulescore.readers.rdf import RDF_ENDINGS, SYNTAXES, syntax_problem
from rulescore.readers.tools.rdf import Syntax, TermError, faults, statements

if TYPE_CHECKING:
    import pyoxigraph


_MOST_NAMES = 3


def is_ontology(path: Path) -> bool:
    return _ending(path) in RDF_ENDINGS


def ontology_source(path: Path, choice: RuleChoice) -> RuleSource:
    """The rules of an ontology as text, under the name of its file."""
    if is_folder(path):
        raise InputError(Diagnostic("E302", f"`{path}` is a folder", helps=("name one file",)))
    syntax = SYNTAXES[RDF_ENDINGS[_ending(path)]]
    with InputFile(path).opened() as opening:
        triples = tuple(_triples(opening, syntax, str(path)))
        reader = opening.reader()
        digest = (hashlib.file_digest(reader, "sha256").hexdigest(), reader.tell())
    found = read_ontology(triples)
    if not found.program.rules and not found.left_out:
        notes = ("axioms of OWL and shapes of SHACL are rules; facts are given as `--facts`",)
        raise InputError(Diagnostic("E382", f"`{path}` has no axioms and no shapes", notes=notes))
    told = (_left_out(path, found.left_out),) if found.left_out else ()
    text = print_program(found.program)
    source = RuleSource(str(path), text, converted=True, told=told, format=FormatName.RULESCORE, choice=choice)
    return replace(source, digest=digest, triples=triples)


def _ending(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix


def _triples(opening: Opening, syntax: Syntax, origin: str) -> Iterator[Triple]:
    try:
        with open_bytes(opening, origin) as raw:
            for quad in statements(raw, syntax):
                yield _node(quad.subject), quad.predicate.value, _node(quad.object)
    except (SyntaxError, TermError):
        with open_bytes(opening, origin) as raw:
            raise InputError(syntax_problem(one, syntax, origin) for one in faults(raw, syntax, lambda quad: None)) from None


def _node(term: pyoxigraph.NamedNode | pyoxigraph.BlankNode | pyoxigraph.Literal | pyoxigraph.Triple) -> Node:
    """A statement about a statement says nothing about classes: it becomes a blank node."""
    import pyoxigraph

    match term:
        case pyoxigraph.NamedNode():
            return Iri(term.value)
        case pyoxigraph.Literal():
            return Literal(term.value, term.datatype.value)
        case _:
            return Blank(str(term))


def _left_out(path: Path, found: Sequence[NotUnderstood]) -> Diagnostic:
    axioms = list(dict.fromkeys(one.axiom for one in found))
    notes = [_counted(axiom, [one.about for one in found if one.axiom == axiom]) for axiom in axioms]
    number = "1 axiom" if len(found) == 1 else f"{len(found):,} axioms"
    kinds = _listed(axioms)
    message = f"{number} of {path.name} {'is' if len(found) == 1 else 'are'} not understood, and left out: {kinds}"
    return Diagnostic("W381", message, notes=tuple(notes), severity=Severity.WARNING)


def _counted(axiom: str, about: Sequence[str | None]) -> str:
    """`rdfs:subClassOf with an expression: 4, of Person, Parent, Child and others`."""
    names = list(dict.fromkeys(one for one in about if one is not None))
    return f"{axiom}: {len(about):,}" + (f", of {_listed(names)}" if names else "")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMES]) + (" and others" if len(names) > _MOST_NAMES else "")
