"""The predicates of the loaded data, with their arity and how often they occur."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from rulescore.errors import Span
from rulescore.language.declarations.refute import Refute
from rulescore.language.syntax import (
    Atom,
    Condition,
    Constant,
    ExtractIncompatible,
    Falsity,
    PredicateDeclaration,
    Program,
    Refuting,
    RowAtom,
    Rule,
    Statement,
    Test,
)
from rulescore.language.trees import atoms_in, nodes_in
from rulescore.logic.problems import DECIDABLE
from rulescore.setting.model import Setting, SqlRule
from rulescore.values.keys import key_of


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate and the number of its distinct facts among the observed, the predicted and the negative ones."""

    name: str
    arity: int
    observed: int = 0
    predicted: int = 0
    negative: int = 0

    @property
    def occurs(self) -> bool:
        return bool(self.observed or self.predicted or self.negative)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Predicates by name."""

    predicates: dict[str, Predicate]

    def arity(self, name: str) -> int | None:
        known = self.predicates.get(name)
        return known.arity if known else None


# What the names in rules mean, which decides whether a rule is a Horn rule.


@dataclass(frozen=True, slots=True)
class Names:
    """The tables of a setting, with the attributes of their keys, and its registered predicates. The vocabulary is None until the
    data are loaded."""

    tables: Mapping[str, tuple[str, ...]]
    functions: frozenset[str]
    vocabulary: Vocabulary | None = None

    def is_predicate(self, name: str) -> bool:
        """Whether a name is a predicate of facts: not an attribute of a table and, unless the data have it, not a test."""
        if self._is_of_table(name):
            return False
        known = self.vocabulary.predicates.get(name) if self.vocabulary is not None else None
        return (known is not None and known.occurs) or not (name in DECIDABLE or name in self.functions)

    def is_test(self, name: str) -> bool:
        """Whether a name is a test, built in or registered."""
        return not (self.is_predicate(name) or self._is_of_table(name))

    def _is_of_table(self, name: str) -> bool:
        """Whether a name is that of a table or of an attribute of one."""
        return name in self.tables or attribute_table(name, self.tables) is not None

    def is_surely_test(self, name: str) -> bool:
        """Whether we know that a name is a test: until the data are loaded, they may have a predicate of that name."""
        return self.vocabulary is not None and self.is_test(name)

    def predicates(self, program: Program) -> dict[str, int]:
        """The predicates of facts that statements use, with their arity."""
        return {name: arity for name, arity in used_arities(program).items() if self.is_predicate(name)}


def names_of(setting: Setting) -> Names:
    return Names({table.name: table.key for table in setting.tables}, frozenset(one.name for one in setting.functions))


# Which predicates and constants statements use. An atom, by its syntax, may be a test; `tests`: the names of tests.


def conditions_of(statement: Statement) -> tuple[Condition, ...]:
    """The conditions of a statement, heads first."""
    match statement:
        case Rule(head=head, body=body):
            return (body,) if isinstance(head, Falsity) else (head, body)
        case Refuting():
            return statement.conditions
        case ExtractIncompatible() | PredicateDeclaration():
            return ()


def used_atoms(statement: Statement, tests: Collection[str] = ()) -> Iterator[Atom]:
    """The atoms of a statement, heads first."""
    for condition in conditions_of(statement):
        for atom in atoms_in(condition):
            if isinstance(atom, Atom) and atom.predicate not in tests:
                yield atom


def uses(program: Program, tests: Collection[str] = ()) -> Iterator[tuple[str, int, Span | None]]:
    """Every use of a predicate with a number of arguments."""
    for statement in program.statements:
        for atom in used_atoms(statement, tests):
            yield atom.predicate, atom.arity, atom.span
        if isinstance(statement, PredicateDeclaration):
            yield statement.predicate, statement.arity, statement.span


def used_arities(program: Program, tests: Collection[str] = ()) -> dict[str, int]:
    """Predicates that rules and declarations use, with the arity of their first use."""
    found: dict[str, int] = {}
    for predicate, arity, _ in uses(program, tests):
        found.setdefault(predicate, arity)
    return found


def named_predicates(statement: Statement) -> Iterator[str]:
    """Predicates that a statement names."""
    for atom in used_atoms(statement):
        yield atom.predicate
    if isinstance(statement, Refuting):
        yield from (predicate for predicate in statement.refuted if predicate is not None)


def span_of(predicate: str, statement: Statement) -> Span | None:
    """Where a statement first names a predicate."""
    atoms = (atom for atom in used_atoms(statement) if atom.predicate == predicate and atom.span is not statement.span)
    return next((atom.span for atom in atoms), statement.span and statement.span.word(predicate))


def mentioned_by(program: Program, sql_rules: Collection[SqlRule] = ()) -> Callable[[str], bool]:
    """Whether rules or declarations mention a predicate. A rule in SQL does if its text has the name anywhere."""
    named = {name for statement in program.statements for name in named_predicates(statement)}.union(used_arities(program))
    return lambda predicate: predicate in named or any(predicate in rule.statement for rule in sql_rules)


def named_in_rule(rule: Rule | Refute) -> Iterator[str]:
    """The predicates of the atoms of a rule or a refutation, including the attributes of rows. The names of tests and of tables are
    included, since they may turn out to be predicates."""
    for condition in conditions_of(rule):
        for node in nodes_in(condition):
            match node:
                case Atom(predicate) | Test(predicate):
                    yield predicate
                case RowAtom(table, arguments):
                    yield table
                    yield from (f"{table}.{attribute}" for attribute, _ in arguments)
                case _:
                    pass


def constant_keys(program: Program) -> set[str]:
    """Keys of all constants in rules and refutations."""
    found: set[str] = set()
    for statement in program.statements:
        for condition in conditions_of(statement):
            for node in nodes_in(condition):
                if isinstance(node, Constant) and not isinstance(node.value, datetime.timedelta):
                    found.add(key_of(node.value))
    return found


def used_attributes(program: Program, tables: Collection[str]) -> dict[str, set[str]]:
    """The attributes of each table that statements name."""
    found: dict[str, set[str]] = {name: set() for name in tables}
    for statement in program.statements:
        for condition in conditions_of(statement):
            for node in nodes_in(condition):
                if isinstance(node, RowAtom) and node.table in found:
                    found[node.table].update(attribute for attribute, _ in node.arguments)
        for predicate in named_predicates(statement):
            table = attribute_table(predicate, tables)
            if table is not None:
                found[table].add(predicate[len(table) + 1 :])
    return found


def attribute_table(predicate: str, tables: Collection[str]) -> str | None:
    """The table of a predicate `table.attribute`."""
    return next((table for table in tables if predicate.startswith(f"{table}.")), None)
