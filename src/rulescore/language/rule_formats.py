"""The common parts of other tools' formats. A line of text becomes a rule, is set aside, or is a problem with a place. The first
lines of a text tell its format. We write a rule as such a line if our reader gives back the same rule, up to names of variables.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rulescore import plugins
from rulescore.errors import Diagnostic, InputError, Severity, Source, Span, meant, place_of, refuse, ticked
from rulescore.language.conditions import MOST_ATOMS
from rulescore.language.printer import print_program, rule_names
from rulescore.language.syntax import And, Atom, Condition, Constant, Head, Or, Program, Rule, Term, Variable, Wildcard
from rulescore.language.words import OWN_FORMAT, format_names

if TYPE_CHECKING:
    from rulescore.language.reading import RuleSource

EMPTY_BODY = "with an empty body"
NEGATIVE_WEIGHT = "with a negative weight"
LOG = "lines of log"
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
WEIGHT_TAG = "weight="
_INVERSE = "inv_"


class MisreadError(Exception):
    """A fault of a line: a message, and the offsets in the line where the fault begins and ends."""

    def __init__(self, message: str, start: int = 0, end: int | None = None, *, help: str = "", code: str = "E152") -> None:
        super().__init__(message)
        self.message, self.start, self.end, self.help, self.code = message, start, end, help, code


class SetAsideError(Exception):
    """A line that we understand and that is not a rule. `reason`: in words, for a count: `with an empty body`."""

    def __init__(self, reason: str = EMPTY_BODY) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class TableName:
    """A table that denial constraints may be about, and its key."""

    name: str
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolRules:
    """What a text holds. `set_aside`: how many lines, by the reason; `problems`: of lines that we do not understand; `told`: what
    users must know of the format."""

    rules: list[Rule] = field(default_factory=list)
    set_aside: Counter[str] = field(default_factory=Counter)
    problems: list[Diagnostic] = field(default_factory=list)
    told: list[Diagnostic] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What facts say that rules need to know. `pairs`: the arguments of a predicate in observed facts. `predicates`: of facts and
    predictions with two arguments."""

    pairs: tuple[tuple[str, str], ...] = ()
    predicates: tuple[str, ...] = ()


AskFacts = Callable[[str], Surroundings]
"""What the facts say of a predicate."""

Kinds = Mapping[str, Collection[str]]
"""For keys of constants, the kinds of terms that stand for them in RDF: `IRI`, `BlankNode`, datatypes, and languages as `@en`."""

Test = Callable[..., bool | None]

LineReader = Callable[[Source, int, str], Rule | None]
"""A line of a source, which begins at this offset, as a rule; None for a line of titles."""


def never(_: Sequence[str]) -> bool:
    """Recognises no text."""
    return False


@dataclass(frozen=True, slots=True)
class RuleFormat:
    """`title`: its name for users. `recognises`: whether lines are of this format; formats are asked in the order of their `turn`.
    `example`: a line, for messages. `write`: makes a line of a rule, if we write the format. `keeps`: what such a line says beyond
    the rule.

    `endings`: names of files of this format end so. `open`: makes rules in our language of a file, so nobody asks `read` for its
    text. `tests`: makes those of the tests `test_names` that rules ask for; the kinds of terms cost a reading of the facts."""

    name: str
    title: str
    example: str = ""
    recognises: Callable[[Sequence[str]], bool] = never
    read: Callable[[Source, Sequence[TableName]], ToolRules] | None = None
    turn: int = 0
    write: Callable[[Rule], str] | None = None
    keeps: frozenset[str] = frozenset()
    endings: Collection[str] = frozenset()
    open: Callable[[Path], RuleSource] | None = None
    test_names: frozenset[str] = frozenset()
    tests: Callable[[Collection[str], Callable[[], Kinds]], Mapping[str, Test]] = lambda _names, _kinds: {}


class UnfitError(Exception):
    """Why a format cannot express a rule."""


def mostly(pattern: str) -> Callable[[Sequence[str]], bool]:
    """Recognises a text if more than half of its lines match. So we report a broken line, and do not take the text for another
    format."""
    match = re.compile(pattern).match
    return lambda lines: 2 * sum(1 for line in lines if match(line)) > len(lines)


def some(*patterns: str) -> Callable[[Sequence[str]], bool]:
    """Recognises a text if each of the patterns matches some line."""
    matches = [re.compile(pattern).match for pattern in patterns]
    return lambda lines: all(any(map(match, lines)) for match in matches)


def read_lines(source: Source, title: str, example: str, read: LineReader) -> ToolRules:
    """One rule a line. Empty lines and those that begin with `#` or `//` hold nothing."""
    rules_read = ToolRules()
    start = 0
    for line in source.text.split("\n"):
        text = line.strip()
        if text and not text.startswith(("#", "//")):
            try:
                if (rule := read(source, start, line.rstrip())) is not None:
                    rules_read.rules.append(rule)
            except SetAsideError as aside:
                rules_read.set_aside[aside.reason] += 1
            except MisreadError as wrong:
                rules_read.problems.append(problem_at(source, start, line.rstrip(), wrong, title, example))
        start += len(line) + 1
    return rules_read


def format_of_lines(
    name: str, title: str, example: str, recognises: Callable[[Sequence[str]], bool], read: LineReader, **more: Any
) -> RuleFormat:
    """A format of one rule a line. `more`: further fields of the format."""
    return RuleFormat(name, title, example, recognises, lambda source, _: read_lines(source, title, example, read), **more)


def problem_at(source: Source, start: int, line: str, wrong: MisreadError, title: str, example: str) -> Diagnostic:
    end = len(line) if wrong.end is None else wrong.end
    return Diagnostic(
        wrong.code,
        f"expected a line of {title} rules: {wrong.message}",
        Span(source, start + wrong.start, start + max(end, wrong.start + 1)).place(),
        notes=(f"such a line is `{example}`",),
        helps=(wrong.help,) if wrong.help else (),
    )


def rule_of(
    head: Head,
    body: Sequence[Condition],
    span: Span,
    *,
    confidence: float | None = None,
    support: int | None = None,
    tags: tuple[str, ...] = (),
) -> Rule:
    if not body:
        raise SetAsideError
    if len(body) > MOST_ATOMS:
        raise MisreadError(f"the body has more than {MOST_ATOMS} atoms", 0)
    return Rule(head, And(tuple(body), span), tags=tags, confidence=confidence, support=support, span=span)


def weight_tags(weight: str) -> tuple[str, ...]:
    """The weight that a tool gives to a rule, as a tag: it is not the weight in scores. A weight of 1 has no tag."""
    return () if float(weight) == 1 else (f"{WEIGHT_TAG}{weight}",)


def share(text: str, start: int) -> float:
    """A confidence as a number; MisreadError if it is not between 0 and 1."""
    value = float(text.replace(",", "."))
    if not 0 <= value <= 1:
        raise MisreadError("a confidence lies between 0 and 1", start, start + len(text))
    return value


def inverted(name: str, left: Term, right: Term, span: Span) -> Atom:
    """`inv_aunt(X, Y)` is `aunt(Y, X)`."""
    if name.startswith(_INVERSE) and len(name) > len(_INVERSE):
        return Atom(name[len(_INVERSE) :], (right, left), span)
    return Atom(name, (left, right), span)


def path(atoms: int, span: Span) -> list[Variable]:
    """The variables along a chain from X to Y: X, Y; X, Z, Y; X, Z1, Z2, Y. If the chain has no atom, we set the rule aside."""
    if not atoms:
        raise SetAsideError
    between = ["Z"] if atoms == 2 else [f"Z{number}" for number in range(1, atoms)]
    return [Variable(name, span) for name in ("X", *between, "Y")]


def stated_weight(rule: Rule) -> str:
    return next((tag.removeprefix(WEIGHT_TAG) for tag in rule.tags if tag.startswith(WEIGHT_TAG)), "1.0")


def body_atoms(body: And) -> tuple[Atom, ...]:
    return tuple(map(only_atom, body.conditions))


def only_atom(condition: Condition | Head) -> Atom:
    if isinstance(condition, Atom):
        return condition
    raise UnfitError("it is not made of atoms alone")


def entity(term: Term) -> str:
    """The name of an entity. Other types would come back as names."""
    if isinstance(term, Constant) and isinstance(term.value, str):
        return term.value
    raise UnfitError("it has a constant that is not a text")


_FACTS = "give facts with `--facts`, and predictions with `--predictions`"
_ONTOLOGY = "an ontology is read as rules if its name ends so: `.ttl`, `.nt`, `.nq`, `.trig`, `.rdf`, `.owl` or `.xml`"
_STRANGE_COMMENT = re.compile(r"\s*(?:#|//|%|\Z)")
_MOST_STRANGE_LINES = 50

# Each pattern must match all lines that we try it on: the first one, or the first fifty.
_FIRST = (
    (re.compile(r"\s*(?:@prefix|@base|PREFIX|BASE)\b"), "Turtle", _ONTOLOGY),
    (re.compile(r"\s*<(?:\?xml|!DOCTYPE|rdf:RDF)"), "RDF/XML", _ONTOLOGY),
    (re.compile(r"\s*<[^<>\s]+>\s+<[^<>\s]+>\s.*\.\s*\Z"), "N-Triples", _ONTOLOGY),
    (re.compile(r"\s*[\[{]"), "JSON", "write rules as `head <- body.`"),
)
_EVERY = (
    (re.compile(r"[^\t]+\t[^\t]+\t[^\t]+(?:\t[^\t]+)*\Z"), "triples", _FACTS),
    (re.compile(r"!?\s*\w+\([^()]*\)\Z"), "facts of ExpressGNN", _FACTS),
    (re.compile(r"\d+\t[^\t]+\Z|[^\t]+\t\d+\Z"), "a dictionary of ids", _FACTS),
    (re.compile(r"[^,\s()]+(?:,[^,()]+){2,}\Z"), "rows with commas between them", _FACTS),
)


def data_file(text: str, *, arrows: bool) -> tuple[str, str] | None:
    """Says what a text without rules probably is, and what the user can do. `arrows`: it has signs of rules, so we do not look for
    rows."""
    lines = [line.rstrip() for line in text[:100_000].split("\n") if not _STRANGE_COMMENT.match(line)][:_MOST_STRANGE_LINES]
    if len(lines) >= 3 and all(line.startswith(("Heads:", "Tails:")) for line in lines[1:3]):
        return "an AnyBURL ranking", "give it as predictions: `--predictions MODEL=FILE`"
    asked = ((_FIRST, lines[:1]), (() if arrows else _EVERY, lines))
    matching = ((what, cure) for kinds, some in asked for pattern, what, cure in kinds if some and all(map(pattern.match, some)))
    return next(matching, None)


_MOST_LINES = 50
_LINES = re.compile(r"[^\n]+")
_COMMENT = re.compile(r"\s*(?:#|//|%|$)")


@cache
def rule_formats() -> dict[str, RuleFormat]:
    """The formats of other tools by their names. The first format that recognises a text wins. So the formats with the most special
    lines come first."""
    formats = [plugins.load(plugins.RULE_FORMATS, name) for name in plugins.plugins(plugins.RULE_FORMATS)]
    return {form.name: form for form in sorted(formats, key=lambda form: form.turn)}


def rule_format(name: str) -> RuleFormat:
    """One format of another tool, without loading the others."""
    form: RuleFormat = plugins.load(plugins.RULE_FORMATS, name)
    return form


def recognise(text: str) -> RuleFormat | None:
    """The format of another tool that a text is in, by its first lines; None for our own language and for unknown formats."""
    telling = (line[0].rstrip() for line in _LINES.finditer(text) if not _COMMENT.match(line[0]))
    lines = list(islice(telling, _MOST_LINES))
    return next((form for form in rule_formats().values() if lines and form.recognises(lines)), None)


def format_by_ending(ending: str) -> RuleFormat | None:
    return next((form for form in rule_formats().values() if ending in form.endings), None)


def named_format(name: str) -> RuleFormat | None:
    """The format that a user names; None for our own language. Raises InputError if there is no such format."""
    if name in format_names():
        return None if name == OWN_FORMAT else rule_format(name)
    notes = (f"the formats are {ticked(format_names())}",)
    raise InputError(
        Diagnostic("E402", f"there is no format of rules `{name}`", notes=notes, helps=meant(name, list(format_names())))
    )


def converted(program: Program, name: str) -> tuple[str, tuple[Diagnostic, ...]]:
    """The rules as a file, and warnings of what it leaves out. Raises InputError with every rule that does not fit."""
    if name == OWN_FORMAT:
        return print_program(program), ()
    form = rule_format(name)
    if form.write is None:
        writable = [OWN_FORMAT, *(other.name for other in rule_formats().values() if other.write is not None)]
        notes = (f"formats that can be written are {ticked(writable)}",)
        raise InputError(Diagnostic("E156", f"rules of {form.title} can be read, but not written", notes=notes))
    lines, problems = [], []
    for rule_name, rule in zip(rule_names(program), program.rules, strict=True):
        try:
            lines.append(f"{written(rule, form)}\n")
        except UnfitError as unfit:
            place = place_of(rule.span)
            problems.append(Diagnostic("E156", f"rule `{rule_name}` cannot be written for {form.title}: {unfit}", place))
    refuse(problems)
    return "".join(lines), tuple(_losses(program, form))


def written(rule: Rule, form: RuleFormat) -> str:
    """A rule as a line. Raises UnfitError."""
    assert form.write is not None
    assert form.read is not None
    standard = _standard(rule)
    line = form.write(standard)
    reread = form.read(Source("line", line), ())
    if reread.problems or [(again.head, again.body) for again in map(_standard, reread.rules)] != [(standard.head, standard.body)]:
        raise UnfitError(f"its line, `{line}`, would be read as something else")
    return line


def _losses(program: Program, form: RuleFormat) -> Iterator[Diagnostic]:
    lost = {
        "names": sum(rule.name is not None for rule in program.rules),
        "kinds": sum(rule.kind is not None for rule in program.rules),
        "weights": sum(rule.weight != 1 for rule in program.rules),
        "descriptions": sum(rule.description is not None for rule in program.rules),
        "tags": sum(any(not tag.startswith(WEIGHT_TAG) for tag in rule.tags) for rule in program.rules),
        "confidences": 0 if "confidence" in form.keeps else sum(rule.confidence is not None for rule in program.rules),
        "supports": 0 if "support" in form.keeps else sum(rule.support is not None for rule in program.rules),
        "declarations": len(program.declarations),
    }
    if said := ", ".join(f"{what} ({n:,})" for what, n in lost.items() if n):
        yield Diagnostic("W153", f"{form.title} rules cannot say these: {said}", severity=Severity.WARNING)


def _standard(rule: Rule) -> Rule:
    """The rule with variables called V1, V2, … in the order in which they occur, each wildcard one of them."""
    names: dict[str, str] = {}

    def term(written: Term) -> Term:
        match written:
            case Variable(name):
                return Variable(names.setdefault(name, f"V{len(names) + 1}"))
            case Wildcard():
                # No variable can have such a name, so these do not clash.
                return Variable(names.setdefault(f"_ {len(names)}", f"V{len(names) + 1}"))
            case Constant():
                return written

    def atom(condition: Condition) -> Condition:
        return Atom(condition.predicate, tuple(map(term, condition.terms))) if isinstance(condition, Atom) else condition

    match rule.head:
        case Or(parts):
            head: Head = Or(tuple(map(atom, parts)))
        case Atom(predicate, terms):
            head = Atom(predicate, tuple(map(term, terms)))
        case other:
            head = other
    return replace(rule, head=head, body=And(tuple(map(atom, rule.body.conditions))))
