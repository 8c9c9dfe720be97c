"""Walks over resolved rules: atoms, tests and judgements, with the expressions in them. A node comes before its parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rulescore.language.syntax import Expression, Variable, Wildcard
from rulescore.language.trees import Node, expressions_in, nodes_in, replace_variables
from rulescore.logic.formula import All, AnyOf, Decided, Disjunct, Exists, Judgement, Leaf, Opposite, ResolvedAtom

Resolved = ResolvedAtom | Judgement | Expression
"""A part of a rule. Walks do not enter the disjuncts of `Exists`, which have variables of their own."""


def leaves(judgement: Judgement) -> Iterator[Decided]:
    match judgement:
        case Leaf(condition):
            yield condition
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from leaves(part)
        case Opposite(part):
            yield from leaves(part)
        case Exists():
            return


def nodes_of(part: Resolved) -> Iterator[ResolvedAtom | Node]:
    """Atoms, tests and expressions, with all their parts."""
    match part:
        case ResolvedAtom(_, arguments):
            yield part
            for _, term in arguments:
                yield from nodes_in(term)
        case Leaf() | All() | AnyOf() | Opposite() | Exists():
            for leaf in leaves(part):
                yield from nodes_of(leaf) if isinstance(leaf, ResolvedAtom) else nodes_in(leaf)
        case _:
            yield from nodes_in(part)


def atoms_of(part: Resolved) -> Iterator[ResolvedAtom]:
    return (node for node in nodes_of(part) if isinstance(node, ResolvedAtom))


def variables_of(part: Resolved) -> Iterator[Variable]:
    return (node for node in nodes_of(part) if isinstance(node, Variable))


def computed_in(judgement: Judgement) -> Iterator[Expression]:
    """The expressions that comparisons and tests use, with their parts; not the arguments of atoms."""
    for leaf in leaves(judgement):
        if not isinstance(leaf, ResolvedAtom):
            yield from expressions_in(leaf)


def parts_of(disjunct: Disjunct) -> tuple[Resolved, ...]:
    """All parts of a disjunct."""
    return (*disjunct.atoms, *asked_in(disjunct))


def asked_in(disjunct: Disjunct) -> tuple[Judgement | Expression, ...]:
    """The parts of a disjunct without its atoms: tests, and the expressions of its equations."""
    return (*disjunct.tests, *(value for _, value in disjunct.values))


def with_values(atom: ResolvedAtom, values: Mapping[Variable, Expression]) -> ResolvedAtom:
    """The atom with values in place of variables."""
    replaced = ((name, term if isinstance(term, Wildcard) else replace_variables(term, values)) for name, term in atom.arguments)
    return ResolvedAtom(atom.relation, tuple(replaced), atom.written)


def judged_with_values(test: Judgement, values: Mapping[Variable, Expression]) -> Judgement:
    """The test with values in place of variables."""
    match test:
        case Leaf(condition):
            found = with_values(condition, values) if isinstance(condition, ResolvedAtom) else replace_variables(condition, values)
            return Leaf(found)
        case All(parts):
            return All(tuple(judged_with_values(part, values) for part in parts))
        case AnyOf(parts):
            return AnyOf(tuple(judged_with_values(part, values) for part in parts))
        case Opposite(part):
            return Opposite(judged_with_values(part, values))
        case Exists():
            raise AssertionError("only what refutes a head exists")
