"""The rules of a setting: read, described as scoring and listings see them, checked against its options, and marked.

`Wanted` says what they want of the data, so loading reads nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pyarrow.compute as pc

from rulescore.errors import Diagnostic, meant
from rulescore.language.column_checks import MATCHES, matches
from rulescore.language.printer import print_rule, rule_names
from rulescore.language.reading import read_rules
from rulescore.language.rule_formats import Surroundings, TableName, rule_formats
from rulescore.language.syntax import ExtractIncompatible, Falsity, Program, Refuting, Rule
from rulescore.language.trees import constant_keys, named_in, used_arities, used_attributes
from rulescore.logic.checks import is_tautology, self_refuting, tautologies, with_themselves
from rulescore.logic.horn import distinct_variables, opposed_both_ways, refutations, unsuitable
from rulescore.logic.refutable import Refuters
from rulescore.logic.refutation import Declared, Orders, declared_in, orders_in_use
from rulescore.logic.vocabulary import Names, Vocabulary
from rulescore.scoring.results import RuleInfo
from rulescore.setting.choices import Convention
from rulescore.setting.model import FactStream, Function, Setting, SqlRule
from rulescore.setting.options import ScoringOptions
from rulescore.values import text_of

_MOST_SUGGESTIONS = 10


@dataclass(frozen=True, slots=True)
class RulesRead:
    """The rules, before we know the data. `names`: of the rules of the program. `infos`: the rules of the program, then those in
    SQL. `warnings` come from reading. `foreign`: whether some rules are another tool's."""

    program: Program
    names: tuple[str, ...]
    infos: tuple[RuleInfo, ...]
    warnings: tuple[Diagnostic, ...]
    foreign: bool

    @property
    def titles(self) -> list[str]:
        """The names of rules in messages."""
        return [f"rule `{rule.name}` ({rule.place})" for rule in self.infos]

    @property
    def named(self) -> list[tuple[str, Rule]]:
        return list(zip(self.names, self.program.rules, strict=True))

    @property
    def extracts(self) -> bool:
        """Whether the rules say `extract incompatible`: take incompatible pairs from the data."""
        return any(isinstance(statement, ExtractIncompatible) for statement in self.program.statements)


def read(setting: Setting) -> RulesRead:
    """Read the rules, which needs no data."""
    tables = [TableName(table.name, table.key) for table in setting.tables]
    rules = read_rules(setting.rules, tables, partial(_said, setting))
    names = tuple(rule_names(rules.program))
    infos = described_rules(rules.program, names, setting.scoring, setting.sql_rules)
    return RulesRead(rules.program, names, infos, tuple(rules.told), rules.foreign)


def _said(setting: Setting, predicate: str) -> Surroundings:
    """What facts say of a predicate. We skip facts in the engine's database: we read rules before there is an engine."""
    pairs: dict[tuple[str, str], None] = {}
    predicates: dict[str, None] = {}
    predicted = ((source, False) for model in setting.predictions for source in model.streams)
    for source, is_observed in (*((source, True) for source in setting.observed), *predicted):
        if isinstance(source, FactStream) and (source.native is None or source.native.frame is None):
            for batch in source.open():
                if batch.arity != 2 or batch.negative:
                    continue
                named = [batch.predicate] if batch.predicate else pc.unique(batch.rows["predicate"]).to_pylist()
                predicates |= dict.fromkeys(named)
                if is_observed and predicate in named:
                    rows = batch.rows if batch.predicate else batch.rows.filter(pc.field("predicate") == predicate)
                    for row in rows.select(["a0", "a1"]).to_pylist():
                        pairs[text_of(row["a0"]), text_of(row["a1"])] = None
    return Surroundings(tuple(pairs), tuple(predicates))


def described_rules(
    program: Program, names: Sequence[str], options: ScoringOptions, further: Sequence[SqlRule] = ()
) -> tuple[RuleInfo, ...]:
    """The rules of a program in order, with these names, then those in SQL, with weights and kinds as the options set them."""
    described = [_described(rule, name, options) for rule, name in zip(program.rules, names, strict=True)]
    return (*described, *(_described_sql(rule, options) for rule in further))


def _described_sql(rule: SqlRule, options: ScoringOptions) -> RuleInfo:
    kind = options.kinds.get(rule.name, rule.kind)
    return RuleInfo(
        name=rule.name,
        text=" ".join(rule.statement.split()),
        declared_kind=None if kind is None else str(kind),
        weight=options.weights.get(rule.name, rule.weight),
        description=rule.description,
        tags=rule.tags,
        place=str(rule.place) if rule.place else None,
    )


def _described(rule: Rule, name: str, options: ScoringOptions) -> RuleInfo:
    kind = options.kinds.get(name, rule.kind)
    return RuleInfo(
        name=name,
        text=print_rule(rule),
        declared_kind=kind.value if kind is not None else None,
        weight=options.weights.get(name, rule.weight),
        denial=isinstance(rule.head, Falsity),
        description=rule.description,
        tags=rule.tags,
        place=rule.span.place_text if rule.span else None,
        tautology=is_tautology(rule),
        confidence=rule.confidence,
        support=rule.support,
    )


@dataclass(frozen=True, slots=True)
class Wanted:
    """What rules want of the data. `predicates`: with their
    arity. `constants`: their keys. `attributes`: of each table. `named`: what rules or declarations mention; a rule in SQL
    mentions a predicate if its text has the name anywhere."""

    orders: Orders
    predicates: Mapping[str, int]
    constants: Collection[str]
    attributes: dict[str, set[str]]
    named: Collection[str | None]
    sql: tuple[str, ...]

    def mentions(self, predicate: str) -> bool:
        return predicate in self.named or any(predicate in statement for statement in self.sql)


def wanted_by(setting: Setting, program: Program) -> tuple[Setting, Names, Wanted]:
    """The setting with the tests that rules ask for, what names mean as far as we know without the data, and what rules want."""
    tables = {table.name: table.key for table in setting.tables}
    arities, attributes, constants = used_arities(program), used_attributes(program, tables), constant_keys(program)
    declared = {name for way in program.declarations if isinstance(way, Refuting) for name in way.refuted}
    setting = _with_tests(setting, program)
    names = Names(tables, frozenset(function.name for function in setting.functions), defined=frozenset(program.definitions))
    predicates = {name: arity for name, arity in arities.items() if names.is_predicate(name)}
    sql = tuple(rule.statement for rule in setting.sql_rules)
    wanted = Wanted(orders_in_use(program.declarations), predicates, constants, attributes, {*declared, *arities}, sql)
    return setting, names, wanted


def _with_tests(setting: Setting, program: Program) -> Setting:
    """The setting with the tests that checks of columns and shapes ask for, unless the user registers others of their names."""
    named = {name for statement in program.statements for name in named_in(statement)}
    asked = named - {function.name for function in setting.functions}
    known = {MATCHES: matches} if MATCHES in asked else {}
    for form in rule_formats().values():
        if wanted := asked & form.test_names:
            known |= form.tests(wanted, partial(_term_kinds, setting))
    added = (Function(name, test) for name, test in sorted(known.items()))
    return replace(setting, functions=(*setting.functions, *added))


def _term_kinds(setting: Setting) -> dict[str, frozenset[str]]:
    """The kinds of constants, as the files of RDF have them. If two terms are one constant, it is of both kinds."""
    sources = (*setting.observed, *setting.negatives, *(source for model in setting.predictions for source in model.streams))
    kinds: dict[str, frozenset[str]] = {}
    for source in sources:
        if isinstance(source, FactStream) and source.kinds is not None:
            for key, said in source.kinds().items():
                kinds[key] = kinds.get(key, frozenset()) | said
    return kinds


def check_scoring(
    rules: RulesRead, options: ScoringOptions, declared: Declared, horn_rules: Collection[int]
) -> Iterator[Diagnostic]:
    """Finds what is wrong or suspicious about refutations, conventions, weights and kinds."""
    yield from _option_problems(rules, options)
    yield from self_refuting(rules.named, declared)
    yield from tautologies(rules.named)
    if not distinct_variables(options):
        yield from with_themselves(rules.named)
    yield from unsuitable(options, rules.named, declared, horn_rules)


def _option_problems(rules: RulesRead, options: ScoringOptions) -> Iterator[Diagnostic]:
    names = {rule.name for rule in rules.infos}
    for what, by_rule in (("weight", options.weights), ("kind", options.kinds)):
        for number, name in enumerate(name for name in by_rule if name not in names):
            # We search for similar names only a few times: a search takes long, and a user with many wrong names probably gave the
            # wrong file.
            helps = meant(name, names) if number < _MOST_SUGGESTIONS else ()
            yield Diagnostic("E261", f"a {what} is given for `{name}`, but no rule has that name", helps=helps)


def mark_unrefutable(rules: RulesRead, declared: Declared, names: Names) -> tuple[RuleInfo, ...]:
    """The rules, each marked if no declaration could refute it. A rule in SQL decides itself what refutes it."""
    refuters, written = Refuters(declared, names.is_test, names.tables), rules.program.rules
    marked = (
        info if refuters.could_refute(rule.head) else replace(info, unrefutable=True)
        for info, rule in zip(rules.infos, written, strict=False)
    )
    return (*marked, *rules.infos[len(written) :])


def exempt_rules(rules: Sequence[RuleInfo], program: Program) -> list[tuple[str, Rule]]:
    """The rules that no declaration could refute, with their names."""
    return [(info.name, rule) for info, rule in zip(rules, program.rules, strict=False) if info.unrefutable]


def is_marked(rules: RulesRead, options: ScoringOptions, vocabulary: Vocabulary) -> bool:
    """Whether the evidence distinguishes the literals that one fact has in two argument orders."""
    if options.convention is not Convention.APPENDIX:
        return False
    # We extract pairs only after numbering the evidence, so we assume that any extracted pair may oppose a head that a reversed
    # pair opposes.
    declared = refutations(declared_in(rules.program, vocabulary), vocabulary)
    return opposed_both_ways(declared) or (rules.extracts and bool(declared.oppositions))
