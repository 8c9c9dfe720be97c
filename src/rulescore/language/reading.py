"""Rule files of any format to one program. Notes tell what we recognised and what we set aside."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import PurePath

from rulescore.errors import Diagnostic, InputError, Severity, Source, Span, place_of, refuse, ticked
from rulescore.language import rule_formats
from rulescore.language.cursor import CHECK_WORDS, DECLARATION_WORDS
from rulescore.language.parser import parse
from rulescore.language.syntax import Atom, Program, RowAtom, Rule, Statement
from rulescore.language.trees import atoms_in
from rulescore.language.words import WeighBy


@dataclass(frozen=True, slots=True)
class RuleChoice:
    """The conditions that the user's wanted rules of a file meet. A rule that states no confidence, or no support, meets the
    condition on it. `max_length`: atoms in the body. `heads`: one of these predicates stands in the head. `weigh_by`: the figure
    that becomes the weight of a rule; a rule without it keeps its own."""

    min_confidence: float | None = None
    min_support: int | None = None
    max_length: int | None = None
    heads: tuple[str, ...] = ()
    weigh_by: WeighBy | None = None

    def wants(self, rule: Rule) -> bool:
        return (
            (self.min_confidence is None or rule.confidence is None or rule.confidence >= self.min_confidence)
            and (self.min_support is None or rule.support is None or rule.support >= self.min_support)
            and (self.max_length is None or sum(1 for _ in atoms_in(rule.body)) <= self.max_length)
            and (not self.heads or not set(self.heads).isdisjoint(map(_name, atoms_in(rule.head))))
        )

    def chosen(self, program: Program) -> Program:
        """The declarations, and the rules that the user wants, with their weights."""
        statements = (statement for statement in program.statements if not isinstance(statement, Rule) or self.wants(statement))
        return Program(tuple(self._weighed(statement) if isinstance(statement, Rule) else statement for statement in statements))

    def _weighed(self, rule: Rule) -> Rule:
        match self.weigh_by:
            case WeighBy.CONFIDENCE:
                return rule if rule.confidence is None else replace(rule, weight=rule.confidence)
            case WeighBy.WEIGHT:
                weights = [
                    float(tag.removeprefix(rule_formats.WEIGHT_TAG)) for tag in rule.tags if tag.startswith(rule_formats.WEIGHT_TAG)
                ]
                if weights and weights[0] < 0:
                    message = f"the weight of a rule is {weights[0]:g}, and weights of scores are 0 or more"
                    helps = ("leave the rule out, or weigh by something else",)
                    raise InputError(Diagnostic("E152", message, place_of(rule.span), helps=helps))
                return replace(rule, weight=weights[0]) if weights else rule
            case None:
                return rule


EVERY_RULE = RuleChoice()


@dataclass(frozen=True, slots=True, eq=False)
class RuleSource(Source):
    """`format`: the format that the user names; None if we recognise it by the text. `digest`: of the bytes that were read from a
    file, with their number. `prefixes`: abbreviations in the file, by the IRIs that they stand for."""

    format: str | None = field(default=None, kw_only=True)
    choice: RuleChoice = field(default=EVERY_RULE, kw_only=True)
    digest: tuple[str, int] | None = field(default=None, kw_only=True)
    prefixes: Mapping[str, str] = field(default_factory=dict, kw_only=True, repr=False)

    def completed(self, sources: Sequence[Source], facts: rule_formats.AskFacts) -> Source:
        """The source, with the rules that it takes from others.

        Args:
            sources: All rule files, this one among them.
            facts: What the facts say.
        """
        return self


def _name(atom: Atom | RowAtom) -> str:
    return atom.predicate if isinstance(atom, Atom) else atom.table


NOTES = frozenset({"W151", "W345"})
"""Codes of notes, which are not problems."""

_CHECK = rf"^[^\n#\"]*(?:\.[^\W\d]\w*|\)) +(?:{'|'.join(sorted(CHECK_WORDS))})\b"
_OWN_SIGNS = re.compile(rf"<-(?!-)|:-|←|->|=>|@|^\s*(?:{'|'.join(sorted(DECLARATION_WORDS))}|for)\b|{_CHECK}", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Reading:
    """`told`: notes and warnings, in the order of the files. `foreign`: some rules are another tool's, without declarations."""

    program: Program
    told: tuple[Diagnostic, ...] = ()
    foreign: bool = False


def read_rules(
    sources: Iterable[Source],
    tables: Sequence[rule_formats.TableName] = (),
    facts: rule_formats.AskFacts = lambda _: rule_formats.Surroundings(),
) -> Reading:
    """The statements of several files, in order. Raises InputError with every problem in any of them. `tables`: the tables that
    denial constraints may use. `facts`: what the facts say, if rules ask for it."""
    read: list[Statement] = []
    told: list[Diagnostic] = []
    problems: list[Diagnostic] = []
    foreign = False
    for source in _completed(list(sources), cache(facts)):
        try:
            form = format_of(source)
            rules_read = None if form is None or form.read is None else form.read(source, tables)
            program = parse(source, {table.name: table.key for table in tables}) if rules_read is None else _program(rules_read)
        except InputError as error:
            problems += error.problems
            continue
        choice = source.choice if isinstance(source, RuleSource) else EVERY_RULE
        try:
            chosen = program if choice == EVERY_RULE else choice.chosen(program)
        except InputError as error:
            problems += error.problems
            continue
        told += _told(source, form, rules_read, len(program.rules), len(chosen.rules))
        foreign |= form is not None
        read += chosen.statements
    refuse(problems)
    return Reading(Program(tuple(read)), tuple(told), foreign)


def _completed(sources: Sequence[Source], facts: rule_formats.AskFacts) -> list[Source]:
    return [source.completed(sources, facts) if isinstance(source, RuleSource) else source for source in sources]


def format_of(source: Source) -> rule_formats.RuleFormat | None:
    """The format that the user names, or that we recognise; None for our own language."""
    named = source.format if isinstance(source, RuleSource) else None
    if named is not None:
        return rule_formats.named_format(named)
    form = rule_formats.recognise(source.text)
    own = _OWN_SIGNS.search(source.text) is not None
    if form is None and (data_kind := rule_formats.data_file(source.text, arrows=own)) is not None:
        what, cure = data_kind
        place = Span(source, 0, min(len(source.text), len(source.text.partition("\n")[0]))).place()
        raise InputError(Diagnostic("E151", f"the file looks like {what}, not like rules", place, helps=(cure,)))
    if form is None and source.text.strip() and not own:
        _refuse_unknown(source)
    return form


def _refuse_unknown(source: Source) -> None:
    """Raises InputError unless a text, which has no sign of our rules, consists of comments."""
    for line in re.finditer(r"^[^\S\n]*[^\s#].*$", source.text, re.MULTILINE):
        known = ticked(rule_formats.rule_formats())
        raise InputError(
            Diagnostic(
                "E151",
                "these are no rules of the rule language, and no rules of a known tool",
                Span(source, *line.span()).place(),
                notes=(
                    "a rule is `head <- body.`",
                    f"the formats of other tools are {known}",
                ),
                helps=("`--rules-format`, or `format` in the project file, names the format of a file that is not recognised",),
            )
        )


def _program(rules_read: rule_formats.ToolRules) -> Program:
    if rules_read.problems:
        raise InputError(rules_read.problems)
    return Program(tuple(rules_read.rules))


def _told(
    source: Source, form: rule_formats.RuleFormat | None, rules_read: rule_formats.ToolRules | None, rules: int, kept: int
) -> Iterator[Diagnostic]:
    name = PurePath(source.name).name
    chosen = [] if kept == rules else [f"{kept:,} of them chosen"]
    if isinstance(source, RuleSource) and source.choice.weigh_by is not None:
        chosen.append(f"weighed by their {source.choice.weigh_by}")
    if form is None or rules_read is None:
        if source.converted or chosen:
            kind = "an ontology, " if source.converted else ""
            what = ", ".join([f"{kind}{rules:,} {'rule' if rules == 1 else 'rules'} read", *chosen])
            yield Diagnostic("W151", f"{name}: {what}", severity=Severity.NOTE)
        yield from source.told
        return
    aside = [f"{n:,} {reason} set aside" for reason, n in rules_read.set_aside.items()]
    message = ", ".join([f"{name}: {form.title} rules, {rules:,} read", *aside, *chosen])
    yield Diagnostic("W151", message, severity=Severity.NOTE)
    yield from rules_read.told
    if negative := rules_read.set_aside[rule_formats.NEGATIVE_WEIGHT]:
        yield Diagnostic(
            "W152",
            f"rules of {name} with a negative weight are set aside: {negative:,}",
            notes=("a negative weight says that a rule tends to be false, so breaking it is no violation",),
            helps=("if such a rule is a constraint, write down what it forbids, as a rule with the head `false`",),
            severity=Severity.WARNING,
        )
    if empty := rules_read.set_aside[rule_formats.EMPTY_BODY]:
        yield Diagnostic(
            "W152",
            f"{empty:,} of {empty + rules:,} rules of {name} are set aside: their body is empty",
            notes=("a rule without a body says that its head always holds; there is no grounding of a body to count",),
            severity=Severity.WARNING,
        )
