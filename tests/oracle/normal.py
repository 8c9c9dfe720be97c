"""Rules as the evaluator takes them: rows are conjunctions of attribute atoms, every `_` and unnamed key has a name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

from oracle.tree import (
    BUILT_IN_TESTS,
    Aggregate,
    And,
    Atom,
    Call,
    Comparison,
    Condition,
    Expression,
    Let,
    Member,
    Negative,
    Not,
    Operation,
    Or,
    RowAtom,
    Setting,
    Some,
    Table,
    Term,
    Test,
    Variable,
    Wildcard,
)

BINDING, ELSEWHERE, IN_HEAD = "binding", "elsewhere", "in head"


def normal_body(setting: Setting, body: Condition) -> Condition:
    return normal(setting, body, BINDING, fresh_variables("_."))


def normal_head(setting: Setting, head: Condition | None) -> Condition | None:
    # Names of their own: what is known of the body's variables is known beside them.
    return None if head is None else normal(setting, head, IN_HEAD, fresh_variables("_head."))


def fresh_variables(prefix: str) -> Callable[[], Variable]:
    numbers: Iterator[int] = count()
    return lambda: Variable(f"{prefix}{next(numbers)}")


def normal(setting: Setting, condition: Condition, place: str, fresh: Callable[[], Variable]) -> Condition:
    """The atoms of a place that binds, or of a head, stay atoms; elsewhere what is not named is existential."""

    def inner(expression: Expression) -> Expression:
        return normal_expression(setting, expression, fresh)

    match condition:
        case Atom(predicate, terms) if is_test(setting, predicate):
            return Test(predicate, terms)  # type: ignore[arg-type]
        case Atom(predicate, terms):
            return placed((Atom(predicate, tuple(named(term, fresh) for term in terms)),), place)
        case RowAtom(name, arguments):
            table = next(table for table in setting.tables if table.name == name)
            return placed(row_atoms(table, dict(arguments), fresh), place)
        case Not(negated):
            return Not(normal(setting, negated, IN_HEAD if place == IN_HEAD else ELSEWHERE, fresh))
        case And(parts):
            return And(tuple(normal(setting, part, place, fresh) for part in parts))
        case Or(parts):
            return Or(tuple(normal(setting, part, place, fresh) for part in parts))
        case Comparison(operator, left, right):
            return Comparison(operator, inner(left), inner(right))
        case Member(value, constants):
            return Member(inner(value), constants)
        case Let(variable, value):
            return Let(variable, inner(value))
        case Test(predicate, arguments):
            return Test(predicate, tuple(map(inner, arguments)))
        case Some():
            raise TypeError("`Some` is no part of the language")


def placed(atoms: tuple[Atom, ...], place: str) -> Condition:
    if place == ELSEWHERE:
        return Some(atoms)
    return atoms[0] if len(atoms) == 1 else And(atoms)


def named(term: Term, fresh: Callable[[], Variable]) -> Term:
    return fresh() if isinstance(term, Wildcard) else term


def row_atoms(table: Table, arguments: dict[str, Term], fresh: Callable[[], Variable]) -> tuple[Atom, ...]:
    """The attribute atoms of a row. A row of which only the key is named is there if its key is."""
    unknown = arguments.keys() - set(table.attributes)
    if unknown:
        raise ValueError(f"`{table.name}` has no {sorted(unknown)}")
    key = tuple(named(arguments.get(name, Wildcard()), fresh) for name in table.key)
    others = [(name, named(term, fresh)) for name, term in arguments.items() if name not in table.key]
    if not others:
        others = list(zip(table.key, key, strict=True))
    return tuple(Atom(table.predicate(name), (*key, term)) for name, term in others)


def normal_expression(setting: Setting, expression: Expression, fresh: Callable[[], Variable]) -> Expression:
    def inner(part: Expression) -> Expression:
        return normal_expression(setting, part, fresh)

    match expression:
        case Operation(_, left, right):
            return replace(expression, left=inner(left), right=inner(right))
        case Negative(operand):
            return Negative(inner(operand))
        case Call(_, arguments):
            return replace(expression, arguments=tuple(map(inner, arguments)))
        case Aggregate(_, value, condition):
            return replace(expression, value=inner(value), condition=normal(setting, condition, BINDING, fresh))
        case _:
            return expression


def is_test(setting: Setting, predicate: str) -> bool:
    """A predicate of the data wins over a test of the same name."""
    known = predicate in BUILT_IN_TESTS or predicate in setting.functions
    return known and all(one[0] != predicate for one in setting.every_fact)
