"""The variables whose values a statement orders or computes with. Only these need one type; others may have values of any."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rulescore.language.declarations.refute import Refute
from rulescore.language.syntax import (
    Aggregate,
    Aggregation,
    Atom,
    Call,
    Comparison,
    Expression,
    Let,
    Negative,
    Operation,
    Operator,
    RowAtom,
    Rule,
    Test,
    Variable,
)
from rulescore.language.trees import nodes_in, variables_in
from rulescore.logic.disjuncts import terms_of
from rulescore.logic.problems import DECIDABLE
from rulescore.logic.vocabulary import conditions_of

_COUNTS = {Aggregation.COUNT, Aggregation.COUNT_DISTINCT}


def computed_variables(statement: Rule | Refute, others: Iterable[str] = ()) -> frozenset[str]:
    """The names of these variables. `others`: variables of the head that its refutations compute with."""
    found = set(others)
    equal: list[set[str]] = []
    for condition in conditions_of(statement):
        for node in nodes_in(condition):
            match node:
                case Operation() | Negative() | Call():
                    found |= _names(node)
                case Test(predicate, arguments) if predicate in DECIDABLE:
                    found |= _names(*arguments)
                case Atom(predicate) if predicate in DECIDABLE:  # the parser reads a test of terms alone as an atom
                    found |= {variable.name for variable in variables_in(node)}
                case Aggregate(function, value) if function not in _COUNTS:
                    found |= _names(value)
                case Comparison(operator, left, right) if operator not in {Operator.EQUAL, Operator.DIFFERENT}:
                    found |= _names(left, right)
                case Comparison(Operator.EQUAL, Variable(), Variable()) | Let(Variable(), Variable()):
                    equal.append({variable.name for variable in variables_in(node)})
                case _:
                    pass
    # Equal variables have the same value: if a statement computes with one, it computes with all.
    for _ in equal:
        for several in equal:
            if several & found:
                found |= several
    return frozenset(found)


def typed_by_body(refute: Refute) -> Refute:
    """The same statement with other names in its head for variables that it computes with and that its body's atoms bind, too. They
    are then computed by the type of the places in the body, whatever type the head's argument has."""
    nodes = nodes_in(refute.body, negations=False, aggregates=False)
    atoms = [node for node in nodes if isinstance(node, RowAtom) or (isinstance(node, Atom) and node.predicate not in DECIDABLE)]
    bound = {term.name for atom in atoms for term in terms_of(atom) if isinstance(term, Variable)}
    own = bound & computed_variables(refute)
    renamed = {term: replace(term, name=f"argument {term.name}") for term in variables_in(refute.head) if term.name in own}
    equations = (Comparison(Operator.EQUAL, term, argument, term.span) for term, argument in renamed.items())
    terms = tuple(renamed.get(term, term) if isinstance(term, Variable) else term for term in refute.head.terms)
    body = replace(refute.body, conditions=(*refute.body.conditions, *equations))
    return replace(refute, head=replace(refute.head, terms=terms), body=body)


def _names(*expressions: Expression) -> set[str]:
    """The variables outside of aggregates. Those inside have values of their own."""
    return {variable.name for one in expressions for variable in variables_in(one, aggregates=False)}
