"""Rule files of any format to one program. Notes tell what we recognised and what we set aside."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from rulescore.errors import Diagnostic, InputError, Severity, Source, Span
from rulescore.language.formats.base import EMPTY_BODY, NEGATIVE_WEIGHT, Found, RuleFormat, TableName
from rulescore.language.formats.strangers import data_file
from rulescore.language.formats.table import FORMATS, recognise
from rulescore.language.formats.triples import Triple
from rulescore.language.parser import parse
from rulescore.language.sources import EVERY_RULE, RuleSource
from rulescore.language.syntax import Program, Statement
from rulescore.language.tokens import DECLARATION_WORDS

NOTES = frozenset({"W151"})
"""Codes of notes, which are not problems."""

_OWN_SIGNS = re.compile(rf"<-(?!-)|:-|←|->|=>|@|^\s*(?:{'|'.join(sorted(DECLARATION_WORDS))}|for)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Reading:
    """`told`: notes and warnings, in the order of the files. `foreign`: some rules are another tool's, without declarations."""

    program: Program
    told: tuple[Diagnostic, ...] = ()
    foreign: bool = False


def read_rules(
    sources: Iterable[Source], tables: Sequence[TableName] = (), facts: Callable[[], Iterable[Triple]] = tuple
) -> Reading:
    """The statements of several files, in order. Raises InputError with every problem in any of them. `tables`: those that
    denial constraints may be about. `facts`: what the facts say of classes below others, which shapes ask for."""
    read: list[Statement] = []
    told: list[Diagnostic] = []
    problems: list[Diagnostic] = []
    foreign = False
    for source in _with_classes(list(sources), facts):
        try:
            form = format_of(source)
            found = None if form is None else form.read(source, tables)
            program = parse(source) if found is None else _program(found)
        except InputError as error:
            problems += error.problems
            continue
        choice = source.choice if isinstance(source, RuleSource) else EVERY_RULE
        try:
            chosen = program if choice == EVERY_RULE else choice.chosen(program)
        except InputError as error:
            problems += error.problems
            continue
        told += _told(source, form, found, len(program.rules), len(chosen.rules))
        foreign |= form is not None
        read += chosen.statements
    if problems:
        raise InputError(problems)
    return Reading(Program(tuple(read)), tuple(told), foreign)


def _with_classes(sources: list[Source], facts: Callable[[], Iterable[Triple]]) -> Iterable[Source]:
    ontologies = [one for one in sources if isinstance(one, RuleSource) and one.triples]
    if not ontologies:
        return sources
    from rulescore.language.formats.ontology import joined

    made = dict(zip(ontologies, joined(ontologies, facts), strict=True))
    return [made[one] if isinstance(one, RuleSource) and one in made else one for one in sources]


def format_of(source: Source) -> RuleFormat | None:
    """The format that the user names, or that we recognise; None for our own language."""
    named = source.format if isinstance(source, RuleSource) else None
    if named is not None:
        return FORMATS.get(named)
    form = recognise(source.text)
    own = _OWN_SIGNS.search(source.text) is not None
    if form is None and (found := data_file(source.text, arrows=own)) is not None:
        what, cure = found
        place = Span(source, 0, min(len(source.text), len(source.text.partition("\n")[0]))).place()
        raise InputError(Diagnostic("E151", f"the file looks like {what}, not like rules", place, helps=(cure,)))
    if form is None and source.text.strip() and not own:
        _refuse_unknown(source)
    return form


def _refuse_unknown(source: Source) -> None:
    """Raises InputError unless a text, which has no sign of our rules, consists of comments."""
    for line in re.finditer(r"^[^\S\n]*[^\s#].*$", source.text, re.MULTILINE):
        raise InputError(
            Diagnostic(
                "E151",
                "these are neither rules of the rule language nor of a tool that is known",
                Span(source, *line.span()).place(),
                notes=("a rule is `head <- body.`", f"the formats of other tools are {', '.join(f'`{one}`' for one in FORMATS)}"),
                helps=("`--rules-format`, or `format` in the project file, names the format of a file that is not recognised",),
            )
        )


def _program(found: Found) -> Program:
    if found.problems:
        raise InputError(found.problems)
    return Program(tuple(found.rules))


def _told(source: Source, form: RuleFormat | None, found: Found | None, rules: int, kept: int) -> Iterator[Diagnostic]:
    name = PurePath(source.name).name
    chosen = [] if kept == rules else [f"{kept:,} of them chosen"]
    if isinstance(source, RuleSource) and source.choice.weigh_by is not None:
        chosen.append(f"weighed by their {source.choice.weigh_by}")
    if form is None or found is None:
        if source.converted or chosen:
            kind = "an ontology, " if source.converted else ""
            what = ", ".join([f"{kind}{rules:,} {'rule' if rules == 1 else 'rules'} read", *chosen])
            yield Diagnostic("W151", f"{name}: {what}", severity=Severity.NOTE)
        yield from source.told
        return
    aside = [f"{n:,} {reason} set aside" for reason, n in found.set_aside.items()]
    message = ", ".join([f"{name}: {form.title} rules, {rules:,} read", *aside, *chosen])
    yield Diagnostic("W151", message, severity=Severity.NOTE)
    yield from found.told
    if negative := found.set_aside[NEGATIVE_WEIGHT]:
        yield Diagnostic(
            "W155",
            f"{negative:,} rules of {name} are set aside: their weight is negative",
            notes=("a negative weight says that a rule tends to be false, so that breaking it is no violation",),
            helps=("if such a rule is a constraint, write down what it forbids, as a rule with the head `false`",),
            severity=Severity.WARNING,
        )
    if empty := found.set_aside[EMPTY_BODY]:
        yield Diagnostic(
            "W152",
            f"{empty:,} of {empty + rules:,} rules of {name} are set aside: their body is empty",
            notes=("a rule without a body says that its head always holds; there is no grounding of a body to count",),
            severity=Severity.WARNING,
        )
