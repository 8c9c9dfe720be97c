"""Statements as ontologies need them."""

from __future__ import annotations

from dataclasses import dataclass

from rulescore.language.declarations.refute import Refute
from rulescore.language.formats.triples import TYPE
from rulescore.language.syntax import (
    And,
    Atom,
    Comparison,
    Condition,
    Constant,
    Expression,
    Falsity,
    Head,
    Kind,
    Operator,
    Rule,
    Statement,
    Term,
    Variable,
)

X, Y, Z = Variable("X"), Variable("Y"), Variable("Z")


@dataclass(frozen=True, slots=True)
class NotUnderstood:
    """An axiom, in words, and what it is about, if that has a name."""

    axiom: str
    about: str | None


Made = Statement | NotUnderstood


def atom(predicate: str, left: Term, right: Term) -> Atom:
    return Atom(predicate, (left, right))


def is_a(term: Term, kind: str) -> Atom:
    return Atom(TYPE, (term, Constant(kind)))


def equal(left: Expression, right: Expression) -> Comparison:
    return Comparison(Operator.EQUAL, left, right)


def different(left: Expression, right: Expression) -> Comparison:
    return Comparison(Operator.DIFFERENT, left, right)


def denial(name: str, *body: Condition) -> Rule:
    return constraint(name, Falsity(), *body)


def constraint(name: str, head: Head, *body: Condition, description: str | None = None) -> Rule:
    """A hard rule, however often the data violate it."""
    return Rule(head, And(body), name, Kind.HARD, description=description)


def implication(name: str, head: Atom, *body: Condition) -> Rule:
    return Rule(head, And(body), name)


def refutation(head: Atom, *body: Condition) -> Refute:
    return Refute(head, And(body))
