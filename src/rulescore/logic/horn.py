"""Which rules the fast plans count: a head of one atom or `false`, a body of atoms, negated atoms and equations of terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rulescore.language.syntax import (
    And,
    Atom,
    Comparison,
    Condition,
    Constant,
    Falsity,
    IncompatibleGroup,
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
        case Atom(predicate) | Not(Atom(predicate)):
            return is_predicate(predicate)
        case Comparison(Operator.EQUAL | Operator.DIFFERENT, Variable() | Constant(), Variable() | Constant()):
            return True
        case _:
            return False


def is_horn_body(body: And, is_predicate: IsPredicate) -> bool:
    return all(is_horn_literal(condition, is_predicate) for condition in body.conditions)


def horn_program(program: Program, is_predicate: IsPredicate) -> tuple[Program, frozenset[int]]:
    """The statements of the fast family, and the numbers of its rules. A head that something beyond patterns can refute makes
    its rule one of the other family."""
    general = {
        statement.head.predicate
        for statement in program.statements
        if isinstance(statement, Refute) and not is_horn_refutation(statement, is_predicate)
    }
    kept = frozenset(i for i, rule in enumerate(program.rules) if is_horn_rule(rule, is_predicate, general))
    rules = {id(program.rules[i]) for i in kept}
    statements = [found for one in program.statements if (found := _fast_part(one, rules, is_predicate)) is not None]
    return Program(tuple(statements)), kept


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
            return statement if all(is_predicate(name) for name, _ in named_predicates(statement)) else None


def is_horn_refutation(statement: Refute, is_predicate: IsPredicate) -> bool:
    return is_predicate(statement.head.predicate) and is_horn_body(statement.body, is_predicate)


def is_horn_rule(rule: Rule, is_predicate: IsPredicate, general: set[str]) -> bool:
    match rule.head:
        case Falsity():
            fits = True
        case Atom(predicate):
            fits = is_predicate(predicate) and predicate not in general
        case _:
            fits = False
    return fits and is_horn_body(rule.body, is_predicate)
