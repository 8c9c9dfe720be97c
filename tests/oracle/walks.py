"""Walks over rules: their parts, their variables, their atoms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from oracle.facts import Constant
from oracle.tree import (
    Aggregate,
    And,
    Atom,
    AttributeName,
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
    Rule,
    Some,
    Table,
    Term,
    Test,
    Variable,
)


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    match expression:
        case Operation(_, left, right):
            return (left, right)
        case Negative(operand):
            return (operand,)
        case Call(_, arguments):
            return arguments
        case _:
            return ()


def attributes_of(expression: Expression) -> set[str]:
    own = {expression.name} if isinstance(expression, AttributeName) else set()
    return own.union(*(attributes_of(part) for part in parts_of(expression)))


def from_target(table: Table) -> frozenset[str]:
    """The target of a table and the derived attributes that read it, directly or through others."""
    found = {table.target} - {None}
    for name, value in table.derived:
        if found & attributes_of(value):
            found.add(name)
    return frozenset(str(name) for name in found)


def expressions_of(condition: Condition) -> tuple[Expression, ...]:
    """The expressions that stand in a condition itself, not in its parts."""
    match condition:
        case Comparison(_, left, right):
            return (left, right)
        case Member(value, _):
            return (value,)
        case Let(variable, value):
            return (variable, value)
        case Test(_, arguments):
            return arguments
        case _:
            return ()


def conditions_of(condition: Condition) -> tuple[Condition, ...]:
    match condition:
        case Not(inner):
            return (inner,)
        case And(parts) | Or(parts):
            return parts
        case _:
            return ()


def conjuncts(condition: Condition) -> tuple[Condition, ...]:
    if isinstance(condition, And):
        return tuple(leaf for part in condition.parts for leaf in conjuncts(part))
    return (condition,)


def names_of_atoms(conditions: Iterable[Condition]) -> set[str]:
    """The variables of the atoms among the conditions."""
    return {term.name for one in conditions if isinstance(one, Atom) for term in one.terms if isinstance(term, Variable)}


def is_plain(rule: Rule) -> bool:
    """An atom or none, if atoms, negated atoms, equalities and inequalities of terms hold."""

    def plain(part: Condition) -> bool:
        match part:
            case Atom() | Not(Atom()):
                return True
            case Comparison("=" | "!=", left, right):
                return all(isinstance(one, Variable | Constant) for one in (left, right))
            case _:
                return False

    return isinstance(rule.head, Atom | None) and all(map(plain, conjuncts(rule.body)))


def aggregates_of(expression: Expression) -> Iterator[Aggregate]:
    """The aggregates of an expression, not those within them."""
    if isinstance(expression, Aggregate):
        yield expression
    for part in parts_of(expression):
        yield from aggregates_of(part)


def terms_of(condition: Condition) -> tuple[Term, ...]:
    match condition:
        case Atom(_, terms):
            return terms
        case RowAtom(_, arguments):
            return tuple(term for _, term in arguments)
        case Some(atoms):
            return tuple(term for atom in atoms for term in atom.terms)
        case _:
            return ()


def names_in(expression: Expression) -> set[str]:
    """All variables, those within aggregates too."""
    match expression:
        case Variable(name):
            return {name}
        case Aggregate(_, value, condition):
            return names_in(value) | names_in_condition(condition)
        case _:
            return set().union(*(names_in(part) for part in parts_of(expression)))


def names_in_condition(condition: Condition) -> set[str]:
    found = {term.name for term in terms_of(condition) if isinstance(term, Variable)}
    found = found.union(*(names_in(one) for one in expressions_of(condition)))
    return found.union(*(names_in_condition(part) for part in conditions_of(condition)))


def atoms_in(condition: Condition) -> Iterator[Atom]:
    """Plain atoms anywhere, in aggregates too."""
    if isinstance(condition, Atom):
        yield condition
    for part in conditions_of(condition):
        yield from atoms_in(part)
    for expression in expressions_of(condition):
        for aggregate in aggregates_of(expression):
            yield from atoms_in(aggregate.condition)
