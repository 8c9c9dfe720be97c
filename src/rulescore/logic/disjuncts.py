"""The ways for a condition to hold, before names are resolved: conjunctions of atoms, tests and equations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from rulescore.errors import Span
from rulescore.language.syntax import (
    Aggregate,
    And,
    Atom,
    Comparison,
    Condition,
    Expression,
    Let,
    Membership,
    Not,
    Or,
    RowAtom,
    Term,
    Variable,
)
from rulescore.language.trees import Node, nodes_in, parts, variables_in
from rulescore.logic.formula import Disjunct

FRESH = "_."
"""The prefix of variables for `_`. A variable that a rule names has no dot."""


def is_fresh(variable: str) -> bool:
    """Whether a variable of a rule stands for `_` or for an unnamed key."""
    return variable.startswith(FRESH)


def disjunctions(condition: Condition, spelt_out: Callable[[Or], bool]) -> list[list[Condition]]:
    """The ways for the positive part of a condition to hold, each as a conjunction. An `or` that is not `spelt_out` stays whole."""
    match condition:
        case And(conditions):
            ways = [disjunctions(one, spelt_out) for one in conditions]
            return [[one for part in parts for one in part] for parts in product(*ways)]
        case Or(conditions) if spelt_out(condition):
            return [part for one in conditions for part in disjunctions(one, spelt_out)]
        case _:
            return [[condition]]


def number_of_ways(condition: Condition, spelt_out: Callable[[Or], bool]) -> int:
    """How many ways `disjunctions` would return."""
    match condition:
        case And(conditions):
            return prod(number_of_ways(one, spelt_out) for one in conditions)
        case Or(conditions) if spelt_out(condition):
            return sum(number_of_ways(one, spelt_out) for one in conditions)
        case _:
            return 1


def most_atoms(condition: Condition, spelt_out: Callable[[Or], bool]) -> int:
    """The number of atoms in the way that has the most."""
    match condition:
        case And(conditions):
            return sum(most_atoms(one, spelt_out) for one in conditions)
        case Or(conditions) if spelt_out(condition):
            return max(most_atoms(one, spelt_out) for one in conditions)
        case _:
            return int(isinstance(condition, Atom | RowAtom))


def conjuncts(condition: Condition) -> Iterator[Condition]:
    if isinstance(condition, And):
        for one in condition.conditions:
            yield from conjuncts(one)
    else:
        yield condition


def bound_variables(disjunct: Disjunct) -> Iterator[str]:
    """The variables that a disjunct's atoms bind, in the order of their first use."""
    seen: dict[str, None] = {}
    for atom in disjunct.atoms:
        for _, term in atom.arguments:
            if isinstance(term, Variable):
                seen.setdefault(term.name)
    yield from seen


def common_values(values: Sequence[Mapping[str, Expression]]) -> dict[str, Expression]:
    """The variables that abbreviate the same expression in every disjunct. `values`: the abbreviations of each disjunct. A variable
    of that expression is either one of the rule, even if an equation binds it in some disjuncts, or itself such a variable."""
    first, *others = values
    return {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}


def terms_of(atom: Atom | RowAtom) -> tuple[Term, ...]:
    return atom.terms if isinstance(atom, Atom) else tuple(term for _, term in atom.arguments)


def names_in(node: Node) -> Iterator[str]:
    for one in nodes_in(node):
        if isinstance(one, Variable):
            yield one.name


def first_uses(node: Node, names: set[str]) -> Iterator[Variable]:
    """The first occurrences of these variables, in the order written."""
    first: dict[str, Variable] = {}
    for one in variables_in(node):
        first.setdefault(one.name, one)
    yield from (one for name, one in first.items() if name in names)


def why_unbound(body: And, name: str) -> str:
    for condition in body.conditions:
        if name in {variable.name for variable in variables_in(condition, aggregates=False)}:
            match condition:
                case Not():
                    return "`not` binds nothing"
                case Membership():
                    return "`in` binds nothing"
                case Let():
                    return "what `let` makes of it is not bound"
                case Comparison():
                    return "a comparison binds nothing"
                case _:
                    return "a test binds nothing"
    return "an aggregate binds nothing outside of itself"


def places(nodes: Sequence[Node]) -> Iterator[tuple[str, int | None, Span | None]]:
    """Every occurrence of a variable with the aggregate that it is in (0: none), and, with None, every aggregate in another."""
    waiting: list[tuple[Node, int]] = [(node, 0) for node in reversed(nodes)]
    while waiting:
        node, home = waiting.pop()
        if isinstance(node, Variable):
            yield node.name, home, node.span
        if isinstance(node, Aggregate):
            if home:
                yield "", None, node.span
            home = home or id(node)
        waiting.extend((child, home) for child in reversed(parts(node)))
