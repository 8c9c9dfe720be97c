"""Resolves the rules that are not Horn rules against the loaded data."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rulescore.counting.formulas import Formulas
from rulescore.counting.registered import RegisteredAnswers
from rulescore.counting.tolerances import TooLarge
from rulescore.deadline import look_at_the_clock
from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, are_errors
from rulescore.language.syntax import Program, Rule
from rulescore.loading.facts import Loaded
from rulescore.loading.ordered_texts import ordered_texts
from rulescore.loading.relations import fact_relations, table_relations
from rulescore.loading.tables.loaded import LoadedTable
from rulescore.logic import conventions
from rulescore.logic.declaration_checks import declaration_problems
from rulescore.logic.formula import FormulaRule
from rulescore.logic.judgement import formula, formula_predicates
from rulescore.logic.problems import print_column
from rulescore.logic.refutation import Declared
from rulescore.logic.schema import Schema
from rulescore.logic.tolerances import (
    DataTolerance,
    cannot_be_taken,
    data_tolerance,
    no_pairs,
    of_large_numbers,
    of_no_numbers,
    takes_numbers,
    with_own_distance,
    with_tolerance,
)
from rulescore.logic.vocabulary import used_attributes
from rulescore.setting.model import Setting, SqlRule
from rulescore.sql.names import argument
from rulescore.sql.query import row, select
from rulescore.sql.sql_rules import relations_named, words
from rulescore.sql.values import inexact_integer


def attributes_in_use(program: Program, sql_rules: Sequence[SqlRule], tables: Collection[str]) -> dict[str, set[str]]:
    """The attributes of tables that rules name. In a rule in SQL, every word may be an attribute."""
    used = used_attributes(program, tables)
    for rule in sql_rules:
        for name in relations_named(rule.statement) & used.keys():
            used[name] |= words(rule.statement)
    return used


@dataclass(frozen=True, slots=True)
class Resolution:
    """Resolves rules one by one, collecting their problems. `fast`: the numbers of the Horn rules; `horn`: these rules and the
    declarations of Horn form."""

    engine: Engine
    setting: Setting
    program: Program
    horn: Program
    fast: frozenset[int]
    loaded: Loaded
    tables: Mapping[str, LoadedTable]

    def formulas(self, declared: Declared, titles: Sequence[str], problems: list[Diagnostic], *, sorting: bool) -> Formulas:
        """Every rule that is not a Horn rule, with the relations that these rules read. `titles`: how errors call each rule."""
        schema = self._schema(declared)
        fast = {id(statement) for statement in self.horn.statements}
        found = dict.fromkeys(declaration_problems(declared, schema, fast))
        options = self.setting.scoring
        formulas = Formulas(
            self.engine,
            schema,
            {},
            RegisteredAnswers(self.engine, self.setting.functions, self.setting.engine.timeout),
            titles=titles,
            distinct_variables=conventions.distinct_variables(options),
            roles=conventions.roles(options),
            sorting=sorting,
        )
        declared_text = self._declared_text()
        for number, rule in enumerate(self.program.rules):
            if number not in self.fast:
                look_at_the_clock()
                found.update(dict.fromkeys(_resolve(formulas, number, rule, declared, declared_text)))
        known = set(problems)
        problems.extend(one for one in found if one not in known)
        return formulas

    def _declared_text(self) -> set[tuple[str, str]]:
        """The columns of text whose values have the type of their source, or that a user declares."""
        facts = {(predicate, argument(number)) for predicate, number in self.loaded.declared_text}
        return facts | {(name, one) for name, table in self.tables.items() for one in table.columns if one not in table.inferred}

    def _schema(self, declared: Declared) -> Schema:
        others = [rule for number, rule in enumerate(self.program.rules) if number not in self.fast]
        # We read rows and predictions of a table's target from the table; only negative facts about the target are facts.
        targets = {one.predicate for one in self.tables.values()} - declared.negative
        wanted = formula_predicates(others, declared) - targets
        wanted |= {name for rule in self.setting.sql_rules for name in relations_named(rule.statement)}
        facts, inexact = fact_relations(self.engine, self.loaded, wanted)
        return Schema(facts | table_relations(self.tables), inexact)


def _resolve(
    formulas: Formulas, number: int, rule: Rule, declared: Declared, declared_text: Collection[tuple[str, str]]
) -> list[Diagnostic]:
    """Resolve a rule. If its tolerance comes from the data, replace that by a number first. `declared_text`: the columns that the
    user declares to be text."""
    wanted = data_tolerance(rule)
    if wanted is not None:
        return _resolve_with_tolerance(formulas, number, rule, declared, wanted)
    problems: list[Diagnostic] = []
    formulas.rules[number] = found = formula(rule, formulas.schema, declared, problems)
    if are_errors(problems):
        return problems
    problems += ordered_texts(formulas.engine, formulas.schema, found, declared_text)
    return [*problems, *_inexact_integers(formulas.engine, formulas.schema, found)]


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
    for name, attribute in rule.doubles:
        relation = schema.relations[name]
        field = relation.columns[attribute].column
        tables = [one for one in (relation.observed, relation.predicted) if one is not None]
        values = [select(value=t[field]).from_(t) for t in (row(table, "t") for table in tables)]
        found = engine.query(inexact_integer(values))["value"][0].as_py()
        if found is not None:
            message = f"{print_column(relation, attribute)} has the integer `{found}`, which no float equals"
            notes = ("a variable of the rule stands for it and for floats, with which it is computed as a float",)
            yield Diagnostic("E283", message, notes=notes, helps=("write one rule for integers and another for floats",))
