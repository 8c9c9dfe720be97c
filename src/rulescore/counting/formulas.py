"""Formulas on an engine. We resolve them against the loaded data. Each has one statement over the data and one for all predictions;
tolerances may form a grid.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import pyarrow as pa

from rulescore.counting.parameters import formula_sizes
from rulescore.counting.proximity import (
    PairCounts,
    TooLarge,
    Values,
    at_limit,
    dataset_pairs,
    observed_values,
    prediction_pairs,
    taken_from,
)
from rulescore.counting.registered import RegisteredAnswers
from rulescore.counting.run import CountRows, named_in_errors
from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, InputError, are_errors
from rulescore.language.syntax import Definition, Rule
from rulescore.loading.facts import Loaded
from rulescore.loading.relations import defined_relations, fact_relations, table_relations
from rulescore.loading.stored import refuse_grid
from rulescore.loading.suspicions import ordered_texts
from rulescore.loading.tables import LoadedTable
from rulescore.logic import horn as conventions
from rulescore.logic.checks import declaration_problems
from rulescore.logic.formula import FormulaRule, Schema
from rulescore.logic.judgement import Question, formula, formula_predicates, questions, rounds_before, test_places
from rulescore.logic.planner import estimated_for_formula
from rulescore.logic.problems import print_column
from rulescore.logic.proximity import Proximity, proximity
from rulescore.logic.refutation import Declared
from rulescore.logic.tolerances import (
    DataTolerance,
    cannot_be_taken,
    data_tolerance,
    is_relative,
    log_distance,
    no_pairs,
    of_large_numbers,
    of_no_numbers,
    takes_numbers,
    with_own_distance,
    with_tolerance,
)
from rulescore.scoring.results import Counts, GridRow, RuleInfo, Tolerance
from rulescore.setting.choices import Role
from rulescore.setting.model import Setting
from rulescore.sql.formula.branches import taken_part_through
from rulescore.sql.formula.changes import can_be_inside
from rulescore.sql.formula.counts import counts
from rulescore.sql.formula.proximity import asked_arguments, distinct_rows, in_pieces
from rulescore.sql.formula.scope import FormulaContext
from rulescore.sql.names import argument, name
from rulescore.sql.query import Select, TitledStatement, drop, every_row, row, select, union_all
from rulescore.sql.sql_rules import relations_named
from rulescore.sql.values import inexact_integer
from rulescore.waiting import look_at_the_clock

_PAIRS = name("pair_contributions")
_NO_RELATIONS = Schema({})


@dataclass
class Formulas:
    """The rules that are not Horn rules, by number, and what counting them needs. `titles`: how errors call each rule. `sorting`:
    whether we count pairs within a distance by sorting. `schema`: the relations that the rules read."""

    engine: Engine
    setting: Setting
    titles: Sequence[str]
    sorting: bool
    rules: dict[int, FormulaRule] = field(default_factory=dict)
    schema: Schema = _NO_RELATIONS
    largest_groups: dict[int, int] = field(default_factory=dict)
    tolerances: dict[int, int | float] = field(default_factory=dict)
    _calls: dict[tuple[int, bool], dict[Question, str]] = field(default_factory=dict)

    @property
    def distinct_variables(self) -> bool:
        return conventions.distinct_variables(self.setting.scoring)

    @property
    def roles(self) -> frozenset[Role]:
        return conventions.roles(self.setting.scoring)

    @cached_property
    def _answers(self) -> RegisteredAnswers:
        return RegisteredAnswers(self.engine, self.setting.functions, self.setting.engine.timeout)

    def sorted_counts(self) -> CountRows:
        """Counts over the data of the rules whose pairs we count by sorting."""
        counts: CountRows = {}
        for number in self.rules:
            pairs = self._dataset_pairs(number)
            if pairs is not None:
                counts[number] = (pairs.confirmed, pairs.refuted, pairs.evaluable)
                self.largest_groups[number] = pairs.largest_group
        return counts

    def dataset_statements(self, but: Collection[int]) -> Iterator[TitledStatement]:
        """The statements that count all rules `but` these over the data, with the rule in words."""
        for number in self.rules:
            if number not in but:
                statement = counts(self.context(number, predictions=False), number)
                if statement is not None:
                    yield self.titles[number], statement

    def sorted_form(self, number: int) -> Proximity | None:
        """The form by which we count the rule's pairs by sorting; None if we cannot."""
        if not self.sorting or self.distinct_variables or not {Role.BODY, Role.HEAD} <= self.roles:
            return None
        return self.proximity(number)

    def proximity(self, number: int) -> Proximity | None:
        """The rule as a limit on distances within groups; None if it has another form."""
        return proximity(self.rules[number], self.schema)

    def tolerance(self, number: int, wanted: DataTolerance) -> int | float | TooLarge | None:
        """The tolerance that the data give for a rule that limits a distance; None if they have no rows to compare."""
        values, form = self._observed_values(number)
        return taken_from(values, form, wanted) if values.fits else TooLarge()

    def grid(self, number: int, limits: Sequence[int | float]) -> list[PairCounts] | None:
        """The counts over the data that a rule that limits a distance would have with other tolerances; None if values are too
        large to subtract."""
        values, form = self._observed_values(number)
        return [at_limit(values, form, limit) for limit in limits] if values.fits else None

    def _observed_values(self, number: int) -> tuple[Values, Proximity]:
        form = self.proximity(number)
        assert form is not None
        with named_in_errors(self.titles[number]):
            return observed_values(self.engine, self.context(number, predictions=False), form), form

    def _dataset_pairs(self, number: int) -> PairCounts | None:
        form = self.sorted_form(number)
        if form is None:
            return None
        with named_in_errors(self.titles[number]):
            return dataset_pairs(self.engine, self.context(number, predictions=False), form)

    def estimates(self) -> dict[int, int]:
        """How many groundings we expect of each rule that joins rows one by one. We leave out rules with one atom, because they
        have no more groundings than rows, and pairs that we sort, because they are never joined."""
        joined = {
            number: rule
            for number, rule in self.rules.items()
            if any(len(disjunct.atoms) > 1 for disjunct in rule.disjuncts) and self.sorted_form(number) is None
        }
        names = {atom.relation for rule in joined.values() for disjunct in rule.disjuncts for atom in disjunct.atoms}
        known = formula_sizes(self.engine, (self.schema.relations[name] for name in sorted(names)))
        return {number: estimated_for_formula(rule, known) for number, rule in joined.items()}

    def prediction_statements(self) -> Iterator[TitledStatement]:
        """Each rule's statement for the contributions of predictions, with the rule in words."""
        for number in self.rules:
            statement = self._sorted_contributions(number)
            if statement is None:
                statement = counts(self.context(number, predictions=True), number)
            if statement is not None:
                yield self.titles[number], statement

    def _sorted_contributions(self, number: int) -> Select | None:
        form = self.sorted_form(number)
        context = self.context(number, predictions=True)
        if form is None or not context.predictable(form.row):
            return None
        with named_in_errors(self.titles[number]):
            rows = prediction_pairs(self.engine, context, form, number)
            if rows is None:
                return None
            self.engine.run(drop(_PAIRS))
            self.engine.load(_PAIRS, rows)
        return every_row(_PAIRS)

    def context(self, number: int, *, predictions: bool) -> FormulaContext:
        """What a rule's statements need, with all answers of registered predicates, which the first call asks for."""
        rule = self.rules[number]
        key = (number, predictions)
        if key not in self._calls:
            self._calls[key] = self._ask(number, predictions=predictions)
        return FormulaContext(rule, self.schema, self._calls[key], predictions, self.distinct_variables, self.roles)

    def _ask(self, number: int, *, predictions: bool) -> dict[Question, str]:
        """Ask registered predicates, in rounds: a question that depends on answers comes after them."""
        rule = self.rules[number]
        calls: dict[Question, str] = {}
        asked: dict[Question, pa.Table] = {}
        for rounds in range(1 + max((rounds_before(rule, place) for place in test_places(rule)), default=0)):
            for question in questions(rule):
                context = FormulaContext(
                    rule, self.schema, dict(calls), predictions, self.distinct_variables, self.roles, asking=True
                )
                # If a prediction can change an aggregate, tests must be answered over the data alone as well.
                both = predictions and can_be_inside(context, taken_part_through(context))
                contexts = [context, replace(context, predictions=False)] if both else [context]
                # Separate statements for both: Spark's planner loses a column if one statement asks for both.
                parts = (part for over in contexts for part in in_pieces(asked_arguments(over, question, rounds=rounds)))
                with named_in_errors(self.titles[number]):
                    rows = [self.engine.query(distinct_rows(union_all(part))) for part in parts]
                if rows:
                    rows += [asked[question]] if question in asked else []
                    asked[question] = pa.concat_tables(rows, promote_options="permissive")
                    calls[question] = self._answers.load(question, asked[question], self.titles[number])
        return calls


def resolve(
    formulas: Formulas,
    rules: Mapping[int, Rule],
    defined: Mapping[str, Definition],
    declared: Declared,
    fast: Collection[int],
    loaded: Loaded,
    tables: Mapping[str, LoadedTable],
) -> Iterator[Diagnostic]:
    """Resolve rules, given by number, against the relations that they read. Yields the problems of these and of declarations.
    `defined`: predicates that rule files define. `fast`: the identities of the declarations of Horn form."""
    # We read rows and predictions of a table's target from the table; only negative facts about the target are facts.
    targets = {table.predicate for table in tables.values()} - declared.negative
    wanted = formula_predicates(rules.values(), declared) - targets
    wanted |= {name for rule in formulas.setting.sql_rules for name in relations_named(rule.statement)}
    known = loaded.vocabulary.predicates
    definitions = [made for name, made in defined.items() if name in wanted and made.fact.predicate in known]
    wanted |= {definition.fact.predicate for definition in definitions}
    facts, inexact = fact_relations(formulas.engine, loaded, wanted)
    parts = defined_relations(formulas.engine, loaded, definitions, facts)
    formulas.schema = Schema(facts | parts | table_relations(tables), inexact)
    yield from declaration_problems(declared, formulas.schema, fast)
    declared_text = _declared_text(loaded, tables)
    for number, rule in rules.items():
        look_at_the_clock()
        yield from _resolve(formulas, number, rule, declared, declared_text)


def _declared_text(loaded: Loaded, tables: Mapping[str, LoadedTable]) -> set[tuple[str, str]]:
    """The columns of text that are text in their source, or because a user declares it."""
    facts = {(predicate, argument(number)) for predicate, number in loaded.declared_text}
    return facts | {(name, column) for name, table in tables.items() for column in table.columns if column not in table.inferred}


def _resolve(
    formulas: Formulas, number: int, rule: Rule, declared: Declared, declared_text: Collection[tuple[str, str]]
) -> list[Diagnostic]:
    """Resolve a rule. If the tolerance comes from the data, we replace it by a number first. `declared_text`: the columns that the
    user declares to be text."""
    wanted = data_tolerance(rule)
    if wanted is not None:
        return _resolve_with_tolerance(formulas, number, rule, declared, wanted)
    problems: list[Diagnostic] = []
    formulas.rules[number] = resolved = formula(rule, formulas.schema, declared, problems)
    if are_errors(problems):
        return problems
    problems += ordered_texts(formulas.engine, formulas.schema, resolved, declared_text)
    return [*problems, *_inexact_integers(formulas.engine, formulas.schema, resolved)]


def _resolve_with_tolerance(
    formulas: Formulas, number: int, rule: Rule, declared: Declared, wanted: DataTolerance
) -> list[Diagnostic]:
    """If the data have no two rows to compare, there is no tolerance: the rule has no groundings, not even with predictions."""
    problems: list[Diagnostic] = []
    of_numbers = takes_numbers(formula(with_own_distance(rule), formulas.schema, declared, problems))
    if are_errors(problems) or not of_numbers:
        return problems if are_errors(problems) else [of_no_numbers(rule, wanted)]
    formulas.rules[number] = formula(with_tolerance(rule, 0), formulas.schema, declared, problems)
    if are_errors(problems) or formulas.proximity(number) is None:
        return problems if are_errors(problems) else [cannot_be_taken(rule, wanted)]
    taken = formulas.tolerance(number, wanted)
    match taken:
        case None:
            formulas.rules[number] = replace(formulas.rules[number], disjuncts=())
            return [no_pairs(rule, wanted)]
        case TooLarge():
            return [of_large_numbers(rule, wanted)]
        case _:
            formulas.tolerances[number] = taken
            formulas.rules[number] = formula(with_tolerance(rule, taken), formulas.schema, declared, problems)
            return problems


def _inexact_integers(engine: Engine, schema: Schema, rule: FormulaRule) -> Iterator[Diagnostic]:
    """Errors for integers that no double equals, in columns that the rule reads as doubles."""
    for relation_name, attribute in rule.doubles:
        relation = schema.relations[relation_name]
        field = relation.columns[attribute].column
        tables = [table for table in (relation.observed, relation.predicted) if table is not None]
        values = [select(value=t[field]).from_(t) for t in (row(table, "t") for table in tables)]
        integer = engine.query(inexact_integer(values))["value"][0].as_py()
        if integer is not None:
            message = f"{print_column(relation, attribute)} has the integer `{integer}`, which no float equals"
            notes = ("a variable of the rule stands for it and for floats, with which it is computed as a float",)
            yield Diagnostic("E271", message, notes=notes, helps=("write one rule for integers and another for floats",))


def tolerance_grid(
    formulas: Formulas, rules: Sequence[Rule], infos: Sequence[RuleInfo], limits: Sequence[Tolerance]
) -> list[GridRow]:
    """Dataset counts of every rule that limits a distance within groups, for each tolerance of its kind."""
    refuse_grid(formulas.engine)
    if formulas.distinct_variables:
        raise InputError(_no_grid("two variables may not stand for one constant, so pairs of equal values are left out"))
    return [row for number in formulas.rules for row in _of_rule(formulas, number, rules[number], infos[number], limits)]


def _of_rule(formulas: Formulas, number: int, rule: Rule, info: RuleInfo, limits: Sequence[Tolerance]) -> Iterator[GridRow]:
    relative = is_relative(rule)
    chosen = [limit for limit in limits if limit.relative is relative]
    if formulas.proximity(number) is None or not chosen:
        return
    counts_of_limits = formulas.grid(number, [log_distance(limit.value) if relative else limit.value for limit in chosen])
    if counts_of_limits is None:
        raise InputError(_no_grid(f"values of rule `{info.name}` are too large to be subtracted"))
    for limit, counted in zip(chosen, counts_of_limits, strict=True):
        yield GridRow(info, limit, Counts(counted.confirmed, counted.refuted, counted.evaluable))


def _no_grid(reason: str) -> Diagnostic:
    return Diagnostic("E264", "rules cannot be counted with other tolerances", notes=(reason,))
