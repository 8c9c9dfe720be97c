"""The ways for a condition to hold, before names are resolved: conjunctions of atoms, tests and equations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from rulescore.errors import Span
from rulescore.language import syntax
from rulescore.language.trees import Node, nodes_in, parts, variables_in
from rulescore.logic.formula import Disjunct

FRESH = "_."
"""The prefix of variables for `_`. A variable that a rule names has no dot."""


def is_fresh(variable: str) -> bool:
    """Whether a variable of a rule stands for `_` or for an unnamed key."""
    return variable.startswith(FRESH)


def disjunctions(condition: syntax.Condition, spelt_out: Callable[[syntax.Or], bool]) -> list[list[syntax.Condition]]:
    """The ways for the positive part of a condition to hold, each as a conjunction. An `or` that is not `spelt_out` stays whole."""
    match condition:
        case syntax.And(conditions):
            ways = [disjunctions(part, spelt_out) for part in conditions]
            return [[conjunct for part in parts for conjunct in part] for parts in product(*ways)]
        case syntax.Or(conditions) if spelt_out(condition):
            return [part for disjunct in conditions for part in disjunctions(disjunct, spelt_out)]
        case _:
            return [[condition]]


def number_of_ways(condition: syntax.Condition, spelt_out: Callable[[syntax.Or], bool]) -> int:
    """How many ways `disjunctions` would return."""
    match condition:
        case syntax.And(conditions):
            return prod(number_of_ways(part, spelt_out) for part in conditions)
        case syntax.Or(conditions) if spelt_out(condition):
            return sum(number_of_ways(part, spelt_out) for part in conditions)
        case _:
            return 1


def most_atoms(condition: syntax.Condition, spelt_out: Callable[[syntax.Or], bool]) -> int:
    """The number of atoms in the way that has the most."""
    match condition:
        case syntax.And(conditions):
            return sum(most_atoms(part, spelt_out) for part in conditions)
        case syntax.Or(conditions) if spelt_out(condition):
            return max(most_atoms(part, spelt_out) for part in conditions)
        case _:
            return int(isinstance(condition, syntax.Atom | syntax.RowAtom))


def conjuncts(condition: syntax.Condition) -> Iterator[syntax.Condition]:
    if isinstance(condition, syntax.And):
        for part in condition.conditions:
            yield from conjuncts(part)
    else:
        yield condition


def bound_variables(disjunct: Disjunct) -> Iterator[str]:
    """The variables that a disjunct's atoms bind, in the order of their first use."""
    seen: dict[str, None] = {}
    for atom in disjunct.atoms:
        for _, term in atom.arguments:
            if isinstance(term, syntax.Variable):
                seen.setdefault(term.name)
    yield from seen


def common_values(values: Sequence[Mapping[str, syntax.Expression]]) -> dict[str, syntax.Expression]:
    """The variables that abbreviate the same expression in every disjunct. `values`: the abbreviations of each disjunct. A variable
    of that expression is either a variable of the rule, even if an equation binds it in some disjuncts, or abbreviates an
    expression itself."""
    first, *others = values
    return {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}


def names_in(node: Node) -> Iterator[str]:
    for inner in nodes_in(node):
        if isinstance(inner, syntax.Variable):
            yield inner.name


def first_uses(node: Node, names: set[str]) -> Iterator[syntax.Variable]:
    """The first occurrences of these variables, in the order written."""
    first: dict[str, syntax.Variable] = {}
    for variable in variables_in(node):
        first.setdefault(variable.name, variable)
    yield from (variable for name, variable in first.items() if name in names)


def why_unbound(body: syntax.And, name: str) -> str:
    for condition in body.conditions:
        if name in {variable.name for variable in variables_in(condition, aggregates=False)}:
            match condition:
                case syntax.Not():
                    return "`not` binds nothing"
                case syntax.Membership():
                    return "`in` binds nothing"
                case syntax.Let():
                    return "what `let` makes of it is not bound"
                case syntax.Comparison():
                    return "a comparison binds nothing"
                case _:
                    return "a test binds nothing"
    return "an aggregate binds nothing outside of itself"


def places(nodes: Sequence[Node]) -> Iterator[tuple[str, int | None, Span | None]]:
    """Every occurrence of a variable with the aggregate that it is in (0: none), and, with None, every aggregate in another."""
    waiting: list[tuple[Node, int]] = [(node, 0) for node in reversed(nodes)]
    while waiting:
        node, home = waiting.pop()
        if isinstance(node, syntax.Variable):
            yield node.name, home, node.span
        if isinstance(node, syntax.Aggregate):
            if home:
                yield "", None, node.span
            home = home or id(node)
        waiting.extend((child, home) for child in reversed(parts(node)))
