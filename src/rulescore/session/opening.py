"""Opens a setting: reads its rules, loads its data, checks both, and makes the plan for counting.

`open_session` has the steps in their order. Each is a function from the results of earlier steps to its own. We collect problems,
and raise them together before the first step that cannot run with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from rulescore.counting.counted import Counted
from rulescore.counting.evidence import Evidence
from rulescore.counting.formulas import Formulas, resolve
from rulescore.counting.sql_rules import SqlRules, refuse_clashes, refuse_other_statements
from rulescore.engines.base import Engine, connect, purpose, warn_of_too_little_room
from rulescore.errors import Diagnostic, InputError, Severity, are_errors
from rulescore.language.syntax import Program, Rule
from rulescore.loading.facts import Loaded, StagedFacts, load
from rulescore.loading.stored import read_natively, refuse_unable
from rulescore.loading.suspicions import counted_arguments, data_problems, literal_types, misplaced_constants, shown_pairs
from rulescore.loading.table_values import Inference
from rulescore.loading.tables import LoadedTable, load_tables
from rulescore.logic import checks
from rulescore.logic import horn as conventions
from rulescore.logic.horn import horn_program, refutations
from rulescore.logic.planner import plan_program
from rulescore.logic.refutable import Concerned, concerned, head_predicates, offers, unrefutable_rules
from rulescore.logic.refutation import Declared, declared_in
from rulescore.logic.rules import RulesRead, check_scoring, exempt_rules, is_marked, mark_unrefutable, read, wanted_by
from rulescore.logic.vocabulary import Names
from rulescore.published.layout import expanded
from rulescore.published.statements import PredicateTable
from rulescore.readers.inputs import Inputs
from rulescore.scoring.results import RuleInfo
from rulescore.setting.choices import Role
from rulescore.setting.model import PublishedFacts, Setting, SqlRule
from rulescore.sql.sql_rules import relations_named, words
from rulescore.waiting import planning_within


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


class Opened:
    """A setting that is loaded and checked. It holds an engine, which the caller must close. `declared`: what refutes heads;
    `refutations`: the same for Horn rules. `extracted`: incompatible pairs taken from the data. `concerned`: the predicates that
    rules measure. `offered`: declarations that would help if no rule can be refuted."""

    def __init__(self, setting: Setting, *, sorted_plans: bool = True, horn: bool = True, grid: bool = False) -> None:
        """Read, load and check a setting. Without `sorted_plans` we join pairs within a distance like the pairs of any other rule;
        without `horn` we count rules of Horn form one by one, like all others. Both options give the same counts more slowly, as a
        second opinion. `grid`: the caller will ask for counts with other tolerances; if the engine cannot give them, raise before
        reading data."""
        self.inputs = Inputs(setting)
        text_size = self.inputs.text_size()
        with planning_within(setting.engine.timeout):
            rules = read(setting)
        self.program = rules.program
        self.engine = engine = connect(setting.engine)
        try:
            warn_of_too_little_room(engine, text_size)
            refuse(engine, self.inputs.setting, rules, grid=grid)
            self.data = data = load_data(engine, self.inputs.setting, rules, horn=horn)
            self.setting = data.setting
            self.inputs.refuse_changed()
            with planning_within(setting.engine.timeout):
                options, problems = data.setting.scoring, check(engine, rules, data)
                # We sort in this process, so the engine must be able to send us the values of rows.
                self.formulas = Formulas(engine, data.setting, rules.titles, sorted_plans and engine.capabilities.fetches_rows)
                sound = not are_errors(problems)
                self.evidence = Evidence(engine, data.loaded, marked=sound and is_marked(rules, options, data.loaded.vocabulary))
                self.extracted = self.evidence.never_together() if sound and rules.extracts else []
                self.declared = declared_in(rules.program, data.loaded.vocabulary, self.extracted, data.known.functions)
                known = set(problems)
                problems += [new for new in resolve_rules(self.formulas, rules, data, self.declared) if new not in known]
                self.sql_rules = SqlRules(engine, data.setting.sql_rules, len(rules.program.rules))
                if data.setting.sql_rules:
                    with purpose("preparing the rules in SQL"):
                        problems += self.sql_rules.prepare(self.formulas.schema, data.loaded.vocabulary.predicates)
                raise_errors(problems)
                self.refutations = refutations(self.declared, data.loaded.vocabulary, data.known.is_predicate)
                problems = [*problems, *check_scoring(rules, options, self.declared, data.horn_rules)]
                raise_errors(problems)
                self.rules = mark_unrefutable(rules, self.declared, data.known)
                self.exempt = exempt_rules(self.rules, rules.program)
                none = len(self.exempt) == len(self.rules)
                self.offered = offer(engine, data, self.evidence, self.exempt) if rules.foreign and none else ()
                problems += [unrefutable_rules(self.exempt, len(self.rules), self.offered)] if self.exempt else []
                self.concerned = measured(rules, data, self.sql_rules, self.rules, self.declared)
                self.plan = plan_program(rules.program, data.horn_rules, self.refutations)
                self.counted = Counted(
                    engine,
                    data.loaded,
                    self.rules,
                    rules.titles,
                    data.setting.scoring,
                    self.plan,
                    self.refutations,
                    self.evidence,
                    self.formulas,
                    self.sql_rules,
                    self.concerned,
                )
                self.warnings = (*rules.warnings, *problems)
        except BaseException:
            engine.close()
            raise

    @property
    def told_pairs(self) -> list[Diagnostic]:
        """A warning that lists the extracted pairs. A user who writes `extract incompatible` expects pairs, so only `check` and
        `audit`, which judge rules, list them."""
        return list(shown_pairs(self.extracted))


def refuse(engine: Engine, setting: Setting, rules: RulesRead, *, grid: bool) -> None:
    """Raise problems that no data could solve, before we read any data."""
    if setting.sql_rules:
        refuse_clashes(setting.sql_rules, rules.names)
        refuse_other_statements(setting.sql_rules, engine.dialect)
    refuse_unable(engine, setting, rules.program, grid=grid)


def load_data(engine: Engine, setting: Setting, rules: RulesRead, *, horn: bool) -> DataLoaded:
    """Load the data that the rules mention. If loading fails, raise its problems and the problems of rules that need no data."""
    program = rules.program
    with purpose("loading the data"):
        setting, published = read_natively(engine, setting), None
        if any(isinstance(facts, PublishedFacts) for facts in setting.observed):
            setting, published = expanded(engine, setting)
        setting, known, wanted = wanted_by(setting, program)
        if setting.sql_rules:
            add_words_of_sql(wanted.attributes, setting.sql_rules)
        try:
            staged = StagedFacts(engine, setting)
            tables = load_tables(engine, setting, wanted.attributes, Inference(program, setting.predictions, staged.of_text))
            loaded = load(engine, setting, wanted, tables, staged)
        except InputError as error:
            raise InputError([*checks.structure(program, rules.names, known), *error.problems]) from error
    known = replace(known, vocabulary=loaded.vocabulary)
    families = horn_program(program if horn else Program(()), cache(known.is_predicate))
    return DataLoaded(setting, published, loaded, tables, known, *families)


def add_words_of_sql(used: dict[str, set[str]], sql_rules: Sequence[SqlRule]) -> None:
    """Add further names to the attributes that rules use of each table, because in a rule in SQL every word may be an attribute."""
    for rule in sql_rules:
        for relation in relations_named(rule.statement) & used.keys():
            used[relation] |= words(rule.statement)


def check(engine: Engine, rules: RulesRead, data: DataLoaded) -> list[Diagnostic]:
    """Finds what is wrong or suspicious about rules and data."""
    loaded, known = data.loaded, data.known
    with purpose("checking rules and data"):
        left_out, types = _left_out(loaded), literal_types(engine, loaded, data.horn)
        problems = checks.structure(rules.program, rules.names, known)
        problems += checks.meaning(rules.program, known, types, data.horn, left_out)
        problems += [] if rules.infos or not data.setting.rules else [_no_rules()]
        problems += data_problems(engine, data.setting, loaded, data.tables)
        problems += [] if are_errors(problems) else misplaced_constants(engine, loaded, data.tables, rules.program)
    return problems


def _left_out(loaded: Loaded) -> list[str]:
    """Notes on how many predictions `top_k` dropped: we do not know their predicates."""
    counts = {model: loaded_model for model, loaded_model in loaded.predictions.items() if loaded_model.kept < loaded_model.rows}
    return [
        f"`top_k` keeps {of.kept:,} of {of.rows:,} predictions of `{model}`, and no other is read" for model, of in counts.items()
    ]


def resolve_rules(formulas: Formulas, rules: RulesRead, data: DataLoaded, declared: Declared) -> list[Diagnostic]:
    """Resolve the rules that are not of Horn form. Returns the problems found."""
    horn, every = {id(statement) for statement in data.horn.statements}, rules.program.statements
    if len(horn) == len(every) and not data.setting.sql_rules:
        return []
    others = {number: rule for number, rule in enumerate(rules.program.rules) if number not in data.horn_rules}
    with purpose("resolving the rules"):
        return list(dict.fromkeys(resolve(formulas, others, rules.program.definitions, declared, horn, data.loaded, data.tables)))


def measured(rules: RulesRead, data: DataLoaded, sql_rules: SqlRules, marked: Sequence[RuleInfo], declared: Declared) -> Concerned:
    """The predicates whose predictions rules measure."""
    tables = data.tables.values()
    in_sql = sql_rules.relations_predicted() if sql_rules.rules else set[str]()
    program = rules.program
    return concerned(
        program.rules,
        [rule.unrefutable for rule in marked[: len(program.rules)]],
        declared,
        keys=data.known.tables,
        targets={name: definition.fact.predicate for name, definition in program.definitions.items() if not definition.chained}
        | {f"{table.name}.{attribute}": table.predicate for table in tables for attribute in table.from_target},
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
    helps = ("write a rule: `aunt(X, Z) <- sister(X, Y), father(Y, Z).`", "`rulescore discover` finds rules in the data")
    return Diagnostic("E404", "there are no rules, so there is nothing to count", helps=helps)


def raise_errors(problems: Sequence[Diagnostic]) -> None:
    if are_errors(problems):
        raise InputError(sorted(problems, key=lambda problem: problem.severity is not Severity.ERROR))
