"""Which rules the fast plans count: a head of one atom or `false`, a body of atoms, negated atoms and equations of terms."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from rulescore.language.syntax import (
    And,
    Atom,
    Comparison,
    Condition,
    Constant,
    Falsity,
    IncompatibleGroup,
    IncompatiblePair,
    Not,
    Operator,
    Program,
    Refute,
    Rule,
    Statement,
    Variable,
)
from rulescore.logic.usage import named_predicates

IsPredicate = Callable[[str], bool]
"""Whether a name is a predicate of plain facts, not an attribute of a table and not a test."""


def is_horn_literal(condition: Condition, is_predicate: IsPredicate) -> bool:
    match condition:
        case (Atom() as atom) | Not(Atom() as atom):
            return is_horn_atom(atom, is_predicate)
        case Comparison(Operator.EQUAL | Operator.DIFFERENT, Variable() | Constant(), Variable() | Constant()):
            return not _has_duration((condition.left, condition.right))
        case _:
            return False


def is_horn_atom(atom: Atom, is_predicate: IsPredicate) -> bool:
    return is_predicate(atom.predicate) and not _has_duration(atom.terms)


def _has_duration(values: Iterable[object]) -> bool:
    """No fact holds a duration, so the fast plans have no key for one; that it cannot stand there is told by the other family."""
    return any(isinstance(one, Constant) and isinstance(one.value, datetime.timedelta) for one in values)


def is_horn_body(body: And, is_predicate: IsPredicate) -> bool:
    return all(is_horn_literal(condition, is_predicate) for condition in body.conditions)


def horn_program(program: Program, is_predicate: IsPredicate) -> tuple[Program, frozenset[int]]:
    """The statements of the fast family, and the numbers of its rules. A head that something beyond patterns can refute makes
    its rule one of the other family."""
    general = {name for statement in program.statements for name in _refuted_otherwise(statement, is_predicate)}
    kept = frozenset(i for i, rule in enumerate(program.rules) if is_horn_rule(rule, is_predicate, general))
    rules = {id(rule) for i, rule in enumerate(program.rules) if i in kept}
    statements = [found for one in program.statements if (found := _fast_part(one, rules, is_predicate)) is not None]
    return Program(tuple(statements)), kept


def _refuted_otherwise(statement: Statement, is_predicate: IsPredicate) -> Iterator[str]:
    """The predicates whose facts a statement refutes by something beyond patterns of plain facts."""
    match statement:
        case Refute(Atom(predicate)) if not is_horn_refutation(statement, is_predicate):
            yield predicate
        case IncompatibleGroup() | IncompatiblePair():
            named = list(named_predicates(statement))
            if not all(map(is_predicate, named)):
                yield from named
        case _:
            return


def _fast_part(statement: Statement, rules: set[int], is_predicate: IsPredicate) -> Statement | None:
    """What concerns rules of the fast family in a statement."""
    match statement:
        case Rule():
            return statement if id(statement) in rules else None
        case Refute():
            return statement if is_horn_refutation(statement, is_predicate) else None
        case IncompatibleGroup(predicates):
            facts = tuple(filter(is_predicate, predicates))
            return statement if facts == predicates else replace(statement, predicates=facts)
        case _:
            return statement if all(map(is_predicate, named_predicates(statement))) else None


def is_horn_refutation(statement: Refute, is_predicate: IsPredicate) -> bool:
    return is_horn_atom(statement.head, is_predicate) and is_horn_body(statement.body, is_predicate)


def is_horn_rule(rule: Rule, is_predicate: IsPredicate, general: set[str]) -> bool:
    match rule.head:
        case Falsity():
            fits = True
        case Atom() as atom:
            fits = is_horn_atom(atom, is_predicate) and atom.predicate not in general
        case _:
            fits = False
    return fits and is_horn_body(rule.body, is_predicate)
