"""Opens a setting: its rules read, its data loaded, both checked, and the plan by which they are counted.

`open_session` has the steps in their order. Each is a function from the results of earlier steps to its own. We collect problems,
and raise them together before the first step that cannot run with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from rulescore.counting.build import Resolution, attributes_in_use
from rulescore.counting.evidence import Evidence
from rulescore.counting.formulas import Formulas
from rulescore.counting.sql_rules import SqlRules, refuse_clashes, refuse_other_statements
from rulescore.deadline import planning_within
from rulescore.engines.base import Engine
from rulescore.engines.connect import connect
from rulescore.engines.log import purpose
from rulescore.errors import Diagnostic, InputError, Severity, are_errors, meant
from rulescore.language.formats.base import TableName
from rulescore.language.names import rule_names
from rulescore.language.reading import read_rules
from rulescore.language.syntax import ExtractIncompatible, Program, Rule
from rulescore.loading.facts import Loaded, StagedFacts, load
from rulescore.loading.native import read_natively
from rulescore.loading.published_tables import expanded
from rulescore.loading.rule_constants import misplaced_constants
from rulescore.loading.support import refuse_unable
from rulescore.loading.suspicions import counted_arguments, data_problems, literal_types, shown_pairs
from rulescore.loading.tables.inference import Inference
from rulescore.loading.tables.loaded import LoadedTable, load_tables
from rulescore.logic import checks, conventions
from rulescore.logic.described import described_rules
from rulescore.logic.horn import horn_program, opposed_both_ways, refutations
from rulescore.logic.normal import normal_rule
from rulescore.logic.offers import offers
from rulescore.logic.planner import plan
from rulescore.logic.refutable import Concerned, Refuters, concerned, head_predicates, unrefutable_rules
from rulescore.logic.refutation import Declared, declared_in, orders_in_use
from rulescore.logic.self_evident import self_refuting, tautologies
from rulescore.logic.vocabulary import Names, constant_keys, mentioned_by, names_of
from rulescore.readers.inputs import Inputs
from rulescore.readers.rdf import subclasses
from rulescore.readers.sources import refuse_shared_pipes
from rulescore.scoring.results import RuleInfo
from rulescore.setting.choices import Convention, Role
from rulescore.setting.model import Setting
from rulescore.sql.published import PredicateTable

_MOST_SUGGESTIONS = 10

Pair = tuple[str, str]
"""Two predicates that share no tuple of the data."""


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
        """The rules as messages call them."""
        return [f"rule `{rule.name}` ({rule.place})" for rule in self.infos]

    @property
    def named(self) -> list[tuple[str, Rule]]:
        return list(zip(self.names, self.program.rules, strict=True))

    @property
    def extracts(self) -> bool:
        """Whether the rules say `extract incompatible`: take incompatible pairs from the data."""
        return any(isinstance(statement, ExtractIncompatible) for statement in self.program.statements)


@dataclass(frozen=True, slots=True)
class DataLoaded:
    """The data on the engine. `setting`: the sources that the engine reads itself are tables of the engine in it. `published`: the
    tables of predicates if all facts are from one published schema. `known`: what names mean. `horn`: the statements of Horn form;
    `horn_rules`: the numbers of the rules among them."""

    setting: Setting
    published: Mapping[str, PredicateTable] | None
    loaded: Loaded
    tables: Mapping[str, LoadedTable]
    known: Names
    horn: Program
    horn_rules: frozenset[int]

    @property
    def keys(self) -> dict[str, tuple[str, ...]]:
        """The key columns of tables."""
        return {name: table.key for name, table in self.tables.items()}


class Opened:
    """A setting that is loaded and checked. It holds an engine, which the caller must close. `declared`: what refutes heads;
    `refutations`: the same for Horn rules. `told_pairs`: warnings that list the incompatible pairs extracted from the data.
    `concerned`: the predicates that rules measure. `offered`: declarations that would help if no rule can be refuted."""

    def __init__(self, setting: Setting, *, sorted_plans: bool = True, horn: bool = True, grid: bool = False) -> None:
        """Read, load and check a setting. Without `sorted_plans` we join pairs within a distance like the pairs of any other rule;
        without `horn` we count rules of Horn form one by one, like all others. Both give the same counts, slowly: a second opinion.
        `grid`: the caller will ask for counts with other tolerances; if the engine cannot give them, raise before reading data."""
        self.inputs = Inputs(setting)
        with planning_within(setting.engine.timeout):
            rules = read(setting)
        self.program = rules.program
        self.engine = engine = connect(setting.engine)
        try:
            refuse(engine, self.inputs.setting, rules, grid=grid)
            self.data = data = load_data(engine, self.inputs.setting, rules, horn=horn)
            self.setting = data.setting
            self.inputs.refuse_changed()
            with planning_within(setting.engine.timeout):
                problems = check(engine, rules, data)
                self.evidence = evidence_of(engine, rules, data)
                extracted = [] if are_errors(problems) else extract(rules, self.evidence)
                self.declared = declared_in(rules.program, data.loaded.vocabulary, extracted, data.known.functions)
                self.formulas, problems = resolve(engine, rules, data, self.declared, problems, sorted_plans=sorted_plans)
                self.sql_rules, problems = resolve_sql(engine, rules, data, self.formulas, problems)
                raise_errors(problems)
                self.refutations = refutations(self.declared, data.loaded.vocabulary, data.known.is_predicate)
                problems = [*problems, *check_scoring(rules, data, self.declared)]
                raise_errors(problems)
                self.rules = mark_unrefutable(rules, data, self.declared)
                self.exempt = exempt_rules(self.rules, rules.program)
                none = len(self.exempt) == len(self.rules)
                self.offered = offer(engine, data, self.evidence, self.exempt) if rules.foreign and none else ()
                problems += [unrefutable_rules(self.exempt, len(self.rules), self.offered)] if self.exempt else []
                self.concerned = measured(rules, data, self.sql_rules, self.rules, self.declared)
                horn_rules = ((number, normal_rule(rules.program.rules[number])) for number in sorted(data.horn_rules))
                self.plan = plan(horn_rules, self.refutations)
                self.warnings = (*rules.warnings, *problems)
                # A user who writes `extract incompatible` expects pairs: only `check` and `audit`, which judge rules, list them.
                self.told_pairs = tuple(shown_pairs(extracted))
        except BaseException:
            engine.close()
            raise


def read(setting: Setting) -> RulesRead:
    """Read the rules, which needs no data."""
    tables = [TableName(table.name, table.key) for table in setting.tables]
    found = read_rules(setting.rules, tables, partial(subclasses, setting.observed))
    infos = described_rules(found.program, setting.scoring, setting.sql_rules)
    return RulesRead(found.program, tuple(rule_names(found.program)), infos, tuple(found.told), found.foreign)


def refuse(engine: Engine, setting: Setting, rules: RulesRead, *, grid: bool) -> None:
    """Raise problems that no data could mend, before we read any."""
    refuse_shared_pipes(setting)
    refuse_clashes(setting.sql_rules, rules.names)
    refuse_other_statements(setting.sql_rules, engine.dialect)
    refuse_unable(engine, setting, rules.program, grid=grid)


def load_data(engine: Engine, setting: Setting, rules: RulesRead, *, horn: bool) -> DataLoaded:
    """Load the data that the rules mention. If loading fails, raise its problems with those of the rules that need no data."""
    program = rules.program
    with purpose("loading the data"):
        found = expanded(engine, read_natively(engine, setting))
        setting, known = found.setting, names_of(found.setting)
        try:
            used = attributes_in_use(program, setting.sql_rules, known.tables)
            staged = StagedFacts(engine, setting)
            tables = load_tables(engine, setting, used, Inference(program, setting.predictions, staged.of_text))
            loaded = load(
                engine,
                setting,
                orders_in_use(program),
                constant_keys(program),
                known.predicates(program),
                tables,
                mentioned_by(program, setting.sql_rules),
                staged,
            )
        except InputError as error:
            raise InputError([*checks.structure(program, rules.names, known), *error.problems]) from error
    known = replace(known, vocabulary=loaded.vocabulary)
    return DataLoaded(setting, found.tables, loaded, tables, known, *_families(program, known, horn=horn))


def _families(program: Program, known: Names, *, horn: bool) -> tuple[Program, frozenset[int]]:
    """The statements of Horn form, and the numbers of the rules among them. Both are empty without `horn`."""
    return horn_program(program if horn else Program(()), known.is_predicate)


def check(engine: Engine, rules: RulesRead, data: DataLoaded) -> list[Diagnostic]:
    """What is wrong or suspicious about rules and data."""
    loaded, known = data.loaded, data.known
    problems = checks.structure(rules.program, rules.names, known)
    with purpose("checking rules and data"):
        problems += checks.meaning(
            rules.program,
            loaded.vocabulary,
            literal_types(engine, loaded, data.horn),
            data.horn,
            lambda name: not known.is_predicate(name),
            known.functions,
            _left_out(loaded),
        )
        problems += [] if rules.infos or not data.setting.rules else [_no_rules()]
        problems += data_problems(engine, data.setting, loaded, data.tables)
        problems += [] if are_errors(problems) else misplaced_constants(engine, loaded, data.tables, rules.program)
    return problems


def _left_out(loaded: Loaded) -> list[str]:
    """Notes on how many predictions `top_k` dropped: we do not know their predicates."""
    counts = {model: one for model, one in loaded.predictions.items() if one.kept < one.rows}
    return [
        f"`top_k` keeps {of.kept:,} of {of.rows:,} predictions of `{model}`, and no other is read" for model, of in counts.items()
    ]


def evidence_of(engine: Engine, rules: RulesRead, data: DataLoaded) -> Evidence:
    """The evidence in the data. We number it when it is first needed."""

    def marked() -> bool:
        if data.setting.scoring.convention is not Convention.APPENDIX:
            return False
        # We extract pairs only after numbering the evidence; any of them may oppose a head that a reversed pair opposes.
        declared = refutations(declared_in(rules.program, data.loaded.vocabulary), data.loaded.vocabulary)
        return opposed_both_ways(declared) or (rules.extracts and bool(declared.oppositions))

    return Evidence(engine, data.loaded, marked)


def extract(rules: RulesRead, evidence: Evidence) -> list[Pair]:
    """The incompatible pairs of `extract incompatible`."""
    return evidence.never_together() if rules.extracts else []


def resolve(
    engine: Engine,
    rules: RulesRead,
    data: DataLoaded,
    declared: Declared,
    problems: Sequence[Diagnostic],
    *,
    sorted_plans: bool,
) -> tuple[Formulas, list[Diagnostic]]:
    """Resolve the rules that are not of Horn form. Also returns the problems: those given, then those found here."""
    found = list(problems)
    resolution = Resolution(engine, data.setting, rules.program, data.horn, data.horn_rules, data.loaded, data.tables)
    # We sort in this process, so the engine must be able to send us the values of rows.
    sorting = sorted_plans and engine.capabilities.fetches_rows
    with purpose("resolving the rules"):
        return resolution.formulas(declared, rules.titles, found, sorting=sorting), found


def resolve_sql(
    engine: Engine, rules: RulesRead, data: DataLoaded, formulas: Formulas, problems: Sequence[Diagnostic]
) -> tuple[SqlRules, list[Diagnostic]]:
    """Prepare the rules in SQL. Also returns the problems: those given, then those found here."""
    made = SqlRules(engine, data.setting.sql_rules, len(rules.program.rules))
    with purpose("preparing the rules in SQL"):
        return made, [*problems, *made.prepare(formulas.schema, data.loaded.vocabulary.predicates)]


def check_scoring(rules: RulesRead, data: DataLoaded, declared: Declared) -> Iterator[Diagnostic]:
    """What is wrong or suspicious about refutations, conventions, weights and kinds."""
    yield from _option_problems(rules, data.setting)
    yield from self_refuting(rules.named, declared)
    yield from tautologies(rules.named)
    yield from conventions.unsuitable(data.setting.scoring, rules.named, declared, data.horn_rules)


def _option_problems(rules: RulesRead, setting: Setting) -> Iterator[Diagnostic]:
    names = {rule.name for rule in rules.infos}
    for what, given in (("weight", setting.scoring.weights), ("kind", setting.scoring.kinds)):
        for number, name in enumerate(name for name in given if name not in names):
            # A search among all names takes long, and a user with so many wrong names probably gave the wrong file.
            helps = meant(name, names) if number < _MOST_SUGGESTIONS else ()
            yield Diagnostic("E209", f"a {what} is given for `{name}`, but no rule has that name", helps=helps)


def mark_unrefutable(rules: RulesRead, data: DataLoaded, declared: Declared) -> tuple[RuleInfo, ...]:
    """The rules, each marked if no declaration could refute it. A rule in SQL decides itself what refutes it."""
    found = Refuters(declared, data.known.is_test, data.keys)
    exempt = [not found.could_refute(rule.head) for rule in rules.program.rules] + [False] * len(data.setting.sql_rules)
    return tuple(replace(rule, unrefutable=True) if one else rule for rule, one in zip(rules.infos, exempt, strict=True))


def exempt_rules(rules: Sequence[RuleInfo], program: Program) -> list[tuple[str, Rule]]:
    """The rules that no declaration could refute, with their names."""
    return [(info.name, rule) for info, rule in zip(rules, program.rules, strict=False) if info.unrefutable]


def measured(rules: RulesRead, data: DataLoaded, sql_rules: SqlRules, marked: Sequence[RuleInfo], declared: Declared) -> Concerned:
    """The predicates whose predictions rules measure."""
    tables = data.tables.values()
    in_sql = sql_rules.relations_predicted()
    program = rules.program
    return concerned(
        program.rules,
        [rule.unrefutable for rule in marked[: len(program.rules)]],
        declared,
        keys=data.keys,
        targets={f"{table.name}.{one}": table.predicate for table in tables for one in table.from_target},
        in_sql=in_sql | {table.predicate for table in tables if table.name in in_sql},
        refuting=Role.REFUTER in conventions.roles(data.setting.scoring),
    )


def offer(engine: Engine, data: DataLoaded, evidence: Evidence, exempt: Sequence[tuple[str, Rule]]) -> tuple[str, ...]:
    """Declarations that could refute the rules of another tool, which come without declarations."""
    pairs = evidence.never_together()
    known = data.loaded.vocabulary.predicates
    observed = {name for name in known if known[name].observed}
    return offers(head_predicates(exempt), pairs, counted_arguments(engine, data.loaded), observed)


def _no_rules() -> Diagnostic:
    return Diagnostic("W206", "there are no rules, so there is nothing to count", severity=Severity.WARNING)


def raise_errors(problems: Sequence[Diagnostic]) -> None:
    if are_errors(problems):
        raise InputError(sorted(problems, key=lambda problem: problem.severity is not Severity.ERROR))
