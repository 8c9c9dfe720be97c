"""`@check` before a declaration: it refutes heads as it does without, and is a rule, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from rulescore.language.annotations import Annotations
from rulescore.language.printer import print_statement
from rulescore.language.syntax import (
    And,
    Atom,
    Comparison,
    Condition,
    Declaration,
    Falsity,
    Functional,
    IncompatibleGroup,
    IncompatiblePair,
    Kind,
    Operator,
    Refute,
    Rule,
    Variable,
)

Checkable = Functional | IncompatiblePair | IncompatibleGroup | Refute


def check_rules(declaration: Checkable, name: str | None, annotations: Annotations) -> Iterator[Rule]:
    """Denial constraints, hard unless annotated otherwise, that facts violate if the declaration is not true of them. Without a
    name, each is named after what it says; if there are several, all but the first have a number after the name."""
    for number, (said, body) in enumerate(_denied(declaration), start=1):
        given = name if number == 1 else f"{name} {number}"
        yield Rule(
            Falsity(),
            And(body),
            print_statement(said).removesuffix(".") if name is None else given,
            annotations.kind or Kind.HARD,
            annotations.weight,
            annotations.description,
            annotations.tags,
            annotations.confidence,
            annotations.support,
            declaration.span,
        )


def _denied(declaration: Checkable) -> Iterator[tuple[Declaration, tuple[Condition, ...]]]:
    """What must not hold, with the part of the declaration that says so: one for each value, one for each pair."""
    match declaration:
        case Functional(predicate, arity, keys, values):
            names = list("XYZ") if arity <= 3 else [f"X{position + 1}" for position in range(arity)]
            places = tuple(map(Variable, names[:arity]))
            others = tuple(place if i in keys else Variable(f"Other{place.name}") for i, place in enumerate(places))
            for value in values:
                differ = Comparison(Operator.DIFFERENT, places[value], others[value])
                yield replace(declaration, values=(value,)), (Atom(predicate, places), Atom(predicate, others), differ)
        case IncompatiblePair(left, right):
            yield declaration, (left, right)
        case IncompatibleGroup(predicates):
            both = (Variable("X"), Variable("Y"))
            for pair in combinations(predicates, 2):
                yield IncompatibleGroup(pair), (Atom(pair[0], both), Atom(pair[1], both))
        case Refute(head, body):
            yield declaration, (head, *body.conditions)
