"""The ways for a condition to hold, before names are resolved: conjunctions of atoms, tests and equations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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
"""How variables for `_` begin; none that a rule names has a dot."""


@dataclass(frozen=True, slots=True)
class Part:
    """One disjunct before resolution."""

    atoms: tuple[Atom | RowAtom, ...]
    tests: tuple[Condition, ...]
    values: dict[str, Expression]
    bound: set[str]
    conditions: tuple[Condition, ...]


def is_fresh(variable: str) -> bool:
    """Whether a variable of a rule stands for `_` or for a key that is not named."""
    return variable.startswith(FRESH)


def disjunctions(condition: Condition, spelt_out: Callable[[Or], bool]) -> list[list[Condition]]:
    """The ways for the positive part of a condition to hold, each as a conjunction; an `or` that is not to be spelt out stays."""
    match condition:
        case And(conditions):
            ways = [disjunctions(one, spelt_out) for one in conditions]
            return [[one for part in parts for one in part] for parts in product(*ways)]
        case Or(conditions) if spelt_out(condition):
            return [part for one in conditions for part in disjunctions(one, spelt_out)]
        case _:
            return [[condition]]


def number_of_ways(condition: Condition, spelt_out: Callable[[Or], bool]) -> int:
    """How many `disjunctions` would give."""
    match condition:
        case And(conditions):
            return prod(number_of_ways(one, spelt_out) for one in conditions)
        case Or(conditions) if spelt_out(condition):
            return sum(number_of_ways(one, spelt_out) for one in conditions)
        case _:
            return 1


def conjuncts(condition: Condition) -> Iterator[Condition]:
    if isinstance(condition, And):
        for one in condition.conditions:
            yield from conjuncts(one)
    else:
        yield condition


def bound_variables(disjunct: Disjunct) -> Iterator[str]:
    """Variables that a disjunct's atoms bind, in the order of their first use."""
    seen: dict[str, None] = {}
    for atom in disjunct.atoms:
        for _, term in atom.arguments:
            if isinstance(term, Variable):
                seen.setdefault(term.name)
    yield from seen


def common_values(parts: Sequence[Part]) -> dict[str, Expression]:
    """Variables that stand for one expression in every disjunct. What that is made of is a variable of the rule even if an equation
    binds it in some of them, or stands for one expression itself."""
    first, *others = parts
    return {name: value for name, value in first.values.items() if all(other.values.get(name) == value for other in others)}


def terms_of(atom: Atom | RowAtom) -> Iterator[Term]:
    match atom:
        case Atom(_, terms):
            yield from terms
        case RowAtom(_, arguments):
            yield from (term for _, term in arguments)


def names_in(node: Node) -> Iterator[str]:
    for one in nodes_in(node):
        if isinstance(one, Variable):
            yield one.name


def first_uses(node: Node, names: set[str]) -> Iterator[Variable]:
    """Where variables occur first, in the order written."""
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
    """Every occurrence of a variable with the aggregate it stands in (0: none); None for an aggregate within another."""
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
