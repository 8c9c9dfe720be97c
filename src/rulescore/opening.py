"""A setting that is loaded and checked: its rules, its data, and the plan by which they are counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

from rulescore.data.inputs import Inputs
from rulescore.data.setting import Convention, Role, Setting
from rulescore.data.sources import refuse_shared_pipes
from rulescore.engines import counting, evidence
from rulescore.engines.adopting import adopted
from rulescore.engines.base import KeepingEngine
from rulescore.engines.connect import connect
from rulescore.engines.data_problems import data_problems, literal_types, shown_pairs
from rulescore.engines.in_place import expanded
from rulescore.engines.loading import load
from rulescore.engines.offers import counted_arguments
from rulescore.engines.refusals import refuse_unable
from rulescore.engines.resolution import Resolution, attributes_in_use
from rulescore.engines.sql_rules import SqlRules, refuse_clashes, refuse_other_statements
from rulescore.engines.tables import load_tables, predicted_tables
from rulescore.errors import Diagnostic, InputError, Severity, are_errors, suggestion
from rulescore.language.formats.base import TableName
from rulescore.language.names import rule_names
from rulescore.language.reading import read_rules
from rulescore.language.syntax import ExtractIncompatible, Program, Rule
from rulescore.logic import checks, conventions
from rulescore.logic.families import Names, names_of
from rulescore.logic.horn import horn_program
from rulescore.logic.incompatible import self_refuting
from rulescore.logic.normal import normal_rule
from rulescore.logic.offers import offers
from rulescore.logic.plan import Judge, Plan
from rulescore.logic.planner import plan
from rulescore.logic.refutable import (
    Concerned,
    concerned,
    head_predicates,
    refuters,
    unrefutable_rules,
)
from rulescore.logic.refutation import opposed_both_ways, orders_in_use, refutations
from rulescore.logic.tautologies import tautologies
from rulescore.logic.usage import constant_keys, mentioned_by
from rulescore.scoring.described import described_rules
from rulescore.scoring.results import RuleInfo

CODES = {"W206": "the rule files hold no rule"}

_MOST_SUGGESTIONS = 10


class Opened:
    """A setting that is loaded and checked. Use as a context manager: it holds a database connection. Without `sorted_plans` pairs
    within a distance are joined like those of any other rule; without `horn` rules of Horn form are counted one by one, as all
    others are. Both give the same counts, slowly: a second opinion. `grid`: counts with other tolerances will be asked for, so that
    an engine that cannot give them says so before anything is read."""

    def __init__(self, setting: Setting, *, sorted_plans: bool = True, horn: bool = True, grid: bool = False) -> None:
        self._inputs = Inputs(setting)
        self.setting = self._inputs.setting
        self._sorted_plans = sorted_plans
        self._fast_family = horn
        self._grid = grid
        reading = read_rules(setting.rules, [TableName(table.name, table.key) for table in setting.tables])
        self.program, self._told, self._foreign = reading.program, reading.told, reading.foreign
        self.rules = described_rules(self.program, setting.scoring, setting.sql_rules)
        self._engine = connect(setting.engine)
        try:
            self._open(rule_names(self.program))
        except BaseException:
            self._engine.close()
            raise

    def _open(self, names: Sequence[str]) -> None:
        refuse_shared_pipes(self.setting)
        refuse_clashes(self.setting.sql_rules, names)
        refuse_other_statements(self.setting.sql_rules, self._engine.dialect)
        refuse_unable(self._engine, self.setting, self.program, grid=self._grid)
        found = expanded(self._engine, adopted(self._engine, self.setting))
        self.setting, self._published = found.setting, found.tables
        known = self._load(names)
        self._horn, self._fast = self._families(known)
        problems = checks.structure(self.program, names, self._horn)
        types = literal_types(self._engine, self._loaded, self._horn)
        problems += checks.meaning(
            self.program,
            self._loaded.vocabulary,
            types,
            self._horn,
            lambda name: not known.is_predicate(name),
            known.functions,
            self._left_out(),
        )
        problems += [] if self.rules or not self.setting.rules else [_no_rules()]
        problems += data_problems(self._engine, self.setting, self._loaded, self._tables)
        self._numbered = False
        extracted = [] if are_errors(problems) else self._extracted()
        resolution = Resolution(self._engine, self.setting, self.program, self._horn, self._fast, self._loaded, self._tables)
        # Sorting is done here, and an engine that keeps rows keeps its values.
        sorting = self._sorted_plans and not isinstance(self._engine, KeepingEngine)
        self._formulas = resolution.formulas(extracted, self._titles, problems, sorting=sorting)
        self._sql_rules = SqlRules(self._engine, self.setting.sql_rules, len(self.program.rules))
        problems += self._sql_rules.prepare(self._formulas.schema, self._loaded.vocabulary.predicates)
        raise_errors(problems)
        self.ways = refutations(self._horn, self._loaded.vocabulary, extracted)
        # Who writes `extract incompatible` knows of the pairs: only what judges the rules themselves tells them.
        self.told_pairs = tuple(shown_pairs(extracted))
        problems += self._option_problems()
        problems += self_refuting(self._horn, [names[i] for i in sorted(self._fast)], self.ways)
        named = list(zip(names, self.program.rules, strict=True))
        problems += tautologies(named)
        problems += conventions.unsuitable(self.setting.scoring, named, self.ways, self._fast)
        raise_errors(problems)
        self.rules = self._marked(known, extracted)
        self._concerned = self._concern(extracted)
        exempt = self._exempt
        self._offered = self._offers(exempt) if self._foreign and len(exempt) == len(self.rules) else ()
        problems += [unrefutable_rules(exempt, len(self.rules), self._offered)] if exempt else []
        self.warnings = (*self._told, *problems)
        self.plan: Plan = plan(((i, normal_rule(self.program.rules[i])) for i in sorted(self._fast)), self.ways)
        self._prepared: counting.Counter | None = None
        self._counted = self._warned = False

    def _left_out(self) -> list[str]:
        """How many predictions `top_k` has not kept: what they are about is not known."""
        counts = {model: one for model, one in self._loaded.predictions.items() if one.kept < one.rows}
        return [
            f"`top_k` keeps {of.kept:,} of {of.rows:,} predictions of `{model}`, and no other is read"
            for model, of in counts.items()
        ]

    def _families(self, known: Names) -> tuple[Program, frozenset[int]]:
        """The statements of the fast family, and the numbers of its rules."""
        return horn_program(self.program if self._fast_family else Program(()), known.is_predicate)

    def _marked(self, known: Names, extracted: Sequence[tuple[str, str]]) -> tuple[RuleInfo, ...]:
        """The rules, with those marked that nothing declared could refute. Rules in SQL decide themselves."""
        negative = [one.name for one in self._loaded.vocabulary.predicates.values() if one.negative]
        keys = {name: table.key for name, table in self._tables.items()}
        found = refuters(self.program.declarations, extracted, negative, known.is_test, keys)
        exempt = [not found.could_refute(rule.head) for rule in self.program.rules] + [False] * len(self.setting.sql_rules)
        return tuple(replace(rule, unrefutable=True) if one else rule for rule, one in zip(self.rules, exempt, strict=True))

    def _concern(self, extracted: Sequence[tuple[str, str]]) -> Concerned:
        tables = self._tables.values()
        in_sql = self._sql_rules.relations_predicted()
        rules = self.program.rules
        return concerned(
            rules,
            [rule.unrefutable for rule in self.rules[: len(rules)]],
            self.program.declarations,
            extracted,
            targets={f"{table.name}.{one}": table.predicate for table in tables for one in table.from_target},
            in_sql=in_sql | {table.predicate for table in tables if table.name in in_sql},
            refuting=Role.REFUTER in conventions.roles(self.setting.scoring),
        )

    def _load(self, names: Sequence[str]) -> Names:
        """Load the data. Problems of the rules that need no data are told together with those of loading."""
        known = names_of(self.setting)
        try:
            used = attributes_in_use(self.program, self.setting.sql_rules, known.tables)
            tables = load_tables(self._engine, self.setting, used)
            self._loaded = load(
                self._engine,
                self.setting,
                orders_in_use(self.program),
                constant_keys(self.program),
                known.predicates(self.program),
                tables,
                mentioned_by(self.program, self.setting.sql_rules),
            )
            self._tables = predicted_tables(self._engine, tables, self._loaded.literal)
        except InputError as error:
            guess, _ = self._families(known)
            raise InputError([*checks.structure(self.program, names, guess), *error.problems]) from error
        return replace(known, vocabulary=self._loaded.vocabulary)

    @property
    def _titles(self) -> list[str]:
        return [f"rule `{rule.name}` ({rule.place})" for rule in self.rules]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._engine.close()

    @property
    def counter(self) -> counting.Counter:
        """The plan with its parameters loaded; made when first asked for."""
        if self._prepared is None:
            if any(group.judge is Judge.EVIDENCE for group in self.plan.groups):
                self._number_evidence()
            options = self.setting.scoring
            self._prepared = counting.prepare(
                self._engine,
                self._loaded,
                self.plan,
                self.ways,
                appendix=options.convention is Convention.APPENDIX,
                distinct_variables=conventions.distinct_variables(options),
                roles=conventions.roles(options),
                titles=self._titles,
            )
        return self._prepared

    def _number_evidence(self) -> None:
        """Number the sets of literals that hold of tuples, when first needed."""
        if not self._numbered:
            # Extracted pairs are not known before evidence is numbered; any of them may oppose a head that a reversed pair opposes.
            declared = refutations(self._horn, self._loaded.vocabulary)
            marked = opposed_both_ways(declared) or (self._extracts and bool(declared.oppositions))
            appendix = self.setting.scoring.convention is Convention.APPENDIX
            evidence.number_evidence(self._engine, self._loaded, marked=appendix and marked)
            self._numbered = True

    def _offers(self, exempt: Sequence[tuple[str, Rule]]) -> tuple[str, ...]:
        """What could be declared so that rules of another tool, which come without declarations, can be refuted."""
        self._number_evidence()
        pairs = evidence.never_together(self._engine, self._loaded)
        known = self._loaded.vocabulary.predicates
        observed = {name for name in known if known[name].observed}
        return offers(head_predicates(exempt), pairs, counted_arguments(self._engine, self._loaded), observed)

    @property
    def _exempt(self) -> list[tuple[str, Rule]]:
        """The rules that nothing declared could refute, with their names."""
        rules = zip(self.rules, self.program.rules, strict=False)
        return [(info.name, rule) for info, rule in rules if info.unrefutable]

    @property
    def _extracts(self) -> bool:
        return any(isinstance(statement, ExtractIncompatible) for statement in self.program.statements)

    def _extracted(self) -> list[tuple[str, str]]:
        if not self._extracts:
            return []
        self._number_evidence()
        return evidence.never_together(self._engine, self._loaded)

    def _option_problems(self) -> Iterator[Diagnostic]:
        names = {rule.name for rule in self.rules}
        options = self.setting.scoring
        for what, given in (("weight", options.weights), ("kind", options.kinds)):
            for number, name in enumerate(name for name in given if name not in names):
                # A search among all names takes long; who is wrong so often has taken another file.
                close = suggestion(name, names) if number < _MOST_SUGGESTIONS else None
                helps = (f"did you mean `{close}`?",) if close else ()
                yield Diagnostic("E209", f"a {what} is given for `{name}`, but no rule has that name", helps=helps)


def _no_rules() -> Diagnostic:
    return Diagnostic("W206", "there are no rules, so there is nothing to count", severity=Severity.WARNING)


def raise_errors(problems: Sequence[Diagnostic]) -> None:
    if are_errors(problems):
        raise InputError(sorted(problems, key=lambda problem: problem.severity is not Severity.ERROR))
