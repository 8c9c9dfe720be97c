"""Rules as users give them (files, texts or trees), turned into sources for the parser."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from rulescore.errors import Diagnostic, InputError, Place, Severity, Source, meant_file
from rulescore.language.formats.names import FormatName, WeighBy
from rulescore.language.formats.ontology import read_ontology
from rulescore.language.formats.statements import NotUnderstood
from rulescore.language.formats.table import named_format
from rulescore.language.formats.triples import Blank, Iri, Literal, Node, Triple
from rulescore.language.names import TEXT_NAME
from rulescore.language.printer import print_program, print_statement
from rulescore.language.sources import EVERY_RULE, RuleChoice, RuleSource
from rulescore.language.syntax import Program, Statement
from rulescore.readers.files import (
    STANDARD_INPUT,
    InputFile,
    Opening,
    changed,
    chunks,
    is_device,
    is_folder,
    is_pipe,
    standard_input,
    version_of,
)
from rulescore.readers.lines import open_bytes
from rulescore.readers.rdf import RDF_ENDINGS, SYNTAXES, syntax_problem
from rulescore.readers.tools.rdf import Syntax, TermError, faults, statements
from rulescore.setting.request import chosen
from rulescore.values.keys import has_lone_surrogate

if TYPE_CHECKING:
    import pyoxigraph


@dataclass(frozen=True, slots=True)
class RuleText:
    """Rule text, whatever it looks like, never the name of a file. `folder`: where the tables of its templates lie; without one it
    reads no files."""

    text: str
    folder: str | Path | None = None


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A rule file, with its format if that is not recognised, and which of its rules are wanted: with at least this confidence and
    support, at most so many atoms in the body, one of these predicates in the head. These bounds do not apply to rules that state
    no confidence, or no support. `weigh_by`: `confidence` or `weight`, as the tool states it, is the weight of each in scores."""

    path: str | Path
    format: str | None = None
    min_confidence: float | None = None
    min_support: int | None = None
    max_length: int | None = None
    head: str | Iterable[str] = ()
    weigh_by: str | None = None

    @property
    def choice(self) -> RuleChoice:
        heads = (self.head,) if isinstance(self.head, str) else tuple(self.head)
        return RuleChoice(self.min_confidence, self.min_support, self.max_length, heads, chosen(WeighBy, self.weigh_by, "weigh_by"))


RulesLike = str | Path | RuleText | RuleFile | Program | Statement | Iterable["RulesLike"]
"""A rule file, rule text, syntax trees, or several of these."""

_GZIP = b"\x1f\x8b"
_MOST_UNPACKED = 100 * 10**6
_ARROWS = ("<-", ":-", "←")


def rule_sources(rules: RulesLike) -> tuple[Source, ...]:
    """Sources in the order given; files that cannot be read are reported together."""
    problems: list[Diagnostic] = []
    sources = tuple(_sources(rules, problems))
    problems.extend(problem for source in sources if (problem := _surrogate_problem(source)))
    if problems:
        raise InputError(problems)
    return sources


def _surrogate_problem(source: Source) -> Diagnostic | None:
    if not has_lone_surrogate(source.text):
        return None
    offset = next(i for i, character in enumerate(source.text) if has_lone_surrogate(character))
    line, column = source.position(offset)
    return Diagnostic("E406", "a lone surrogate is not a character", Place(source.name, line, column))


def _read(path: Path, form: FormatName | None = None, choice: RuleChoice = EVERY_RULE) -> RuleSource:
    """A rule file's text under the name the user gave it; compressed by gzip or not."""
    try:
        piped = path == STANDARD_INPUT
        if not piped and is_device(path):
            raise InputError(Diagnostic("E406", f"`{path}` is a device, not a rule file"))
        with nullcontext(standard_input()) if piped else path.open("rb") as file:
            before = None if is_pipe(path) else version_of(path, os.fstat(file.fileno()))
            found = b"".join(chunks(file))
            if before is not None and version_of(path, os.fstat(file.fileno())) != before:
                raise changed(path)
        raw = _unpacked(path, found) if found.startswith(_GZIP) else found
        text = io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8-sig").read()
        digest = (hashlib.sha256(found).hexdigest(), len(found))
        return RuleSource(str(path), text, None if piped else path.parent, format=form, choice=choice, digest=digest)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        helps = ("save the file as UTF-8",)
        raise InputError(Diagnostic("E406", "the rule file is not UTF-8", Place(str(path), line), helps=helps)) from None
    except FileNotFoundError:
        raise InputError(Diagnostic("E406", f"there is no rule file `{path}`", helps=meant_file(path))) from None
    except (OSError, ValueError, EOFError, zlib.error) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise InputError(Diagnostic("E406", f"the rule file `{path}` cannot be read: {reason}")) from None


def _unpacked(path: Path, packed: bytes) -> bytes:
    """The content of a compressed file. A small file may unpack to more than fits into memory, or than we read in an hour."""
    with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
        raw = file.read(_MOST_UNPACKED + 1)
    if len(raw) > _MOST_UNPACKED:
        message = f"the rule file `{path}` unpacks to more than {_MOST_UNPACKED // 10**6} MB"
        raise InputError(Diagnostic("E406", message, helps=("unpack it, and choose the rules that are needed",)))
    return raw


def _read_file(file: RuleFile) -> RuleSource:
    path = Path(file.path)
    if file.format is None and is_ontology(path):
        return ontology_source(path, file.choice)
    return _read(path, None if file.format is None else named_format(file.format), file.choice)


def _sources(rules: RulesLike, problems: list[Diagnostic]) -> Iterator[Source]:
    match rules:
        case str() if _is_text(rules):
            yield Source(TEXT_NAME, rules)
        case RuleText(str() as text, folder):
            yield Source(TEXT_NAME, text, None if folder is None else Path(folder))
        case str() | Path() | RuleFile():
            try:
                yield _read_file(rules if isinstance(rules, RuleFile) else RuleFile(rules))
            except InputError as error:
                problems.extend(error.problems)
        case Program():
            yield RuleSource(TEXT_NAME, print_program(rules), format=FormatName.RULESCORE)
        case _ if isinstance(rules, get_args(Statement)):
            yield RuleSource(TEXT_NAME, print_statement(rules), format=FormatName.RULESCORE)
        case _ if isinstance(rules, Iterable):
            for one in rules:
                yield from _sources(one, problems)
        case _:
            problems.append(Diagnostic("E406", f"a {type(rules).__name__} cannot be read as rules"))


def _is_text(text: str) -> bool:
    """Whether this is rule text: it has an arrow, a line end or a closing full stop, and there is no file of that name."""
    looks_like_text = "\n" in text or any(arrow in text for arrow in _ARROWS) or text.rstrip().endswith(".") or not text.strip()
    return looks_like_text and not _is_file(text)


def _is_file(text: str) -> bool:
    try:
        return bool(text) and Path(text).is_file()
    except (OSError, ValueError):
        return False


# Ontologies as rule files: reads RDF, gives our rules and a warning about the axioms left out.


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
