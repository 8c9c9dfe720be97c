"""Walks over conditions and expressions. Nodes come in the order they are written, a node before its parts.

`negations=False` does not look into `not`, `aggregates=False` not into aggregates; the `not` or aggregate itself still comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from typing import Any, TypeVar, cast, get_args

from rulescore.language.syntax import (
    Aggregate,
    And,
    Atom,
    Attribute,
    Call,
    Comparison,
    Condition,
    Constant,
    Expression,
    Falsity,
    Let,
    Membership,
    Negative,
    Not,
    Operation,
    Or,
    RowAtom,
    Term,
    Test,
    Variable,
    Wildcard,
)

Node = Condition | Expression | Wildcard | Falsity
_CONDITIONS = get_args(Condition)
_EXPRESSIONS = get_args(Expression)
_Node = TypeVar("_Node", bound=Node)
_Parts = dict[type, Callable[[Any], tuple[Node, ...]]]


def nodes_in(node: Node, *, negations: bool = True, aggregates: bool = True) -> Iterator[Node]:
    """The node itself and everything below it."""
    return _below(node, _PARTS, negations, aggregates)


def _below(node: Node, below: _Parts, negations: bool, aggregates: bool) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        if (negations or not isinstance(current, Not)) and (aggregates or not isinstance(current, Aggregate)):
            waiting += reversed(below[type(current)](current))


def conditions_in(
    condition: Condition | Expression | Falsity, *, negations: bool = True, aggregates: bool = True
) -> Iterator[Condition]:
    """The conditions, the given one first, and the conditions of aggregates."""
    for node in _below(condition, _PARTS_BUT_SETS, negations, aggregates):
        if isinstance(node, _CONDITIONS):
            yield node


def expressions_in(node: Node, *, negations: bool = True, aggregates: bool = True) -> Iterator[Expression]:
    """Expressions that are compared, computed or tested, with their parts; not the terms of atoms, nor the constants of sets."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, _EXPRESSIONS):
            yield current
        entered = (negations or not isinstance(current, Not)) and (aggregates or not isinstance(current, Aggregate))
        if isinstance(current, Membership):
            waiting.append(current.value)
        elif entered and not isinstance(current, Atom | RowAtom):
            waiting.extend(reversed(parts(current)))


def variables_in(node: Node, *, negations: bool = True, aggregates: bool = True) -> Iterator[Variable]:
    """Every occurrence of a variable."""
    for one in _below(node, _PARTS_BUT_SETS, negations, aggregates):
        if isinstance(one, Variable):
            yield one


def atoms_in(
    condition: Condition | Expression | Falsity, *, negations: bool = True, aggregates: bool = True
) -> Iterator[Atom | RowAtom]:
    waiting: list[Node] = [condition]
    while waiting:
        current = waiting.pop()
        if isinstance(current, Atom | RowAtom):
            yield current
        elif (negations or not isinstance(current, Not)) and (aggregates or not isinstance(current, Aggregate)):
            waiting += reversed(_PARTS_BUT_SETS[type(current)](current))


def parts(node: Node) -> tuple[Node, ...]:
    """The nodes directly below a node, in the order written."""
    return _PARTS[type(node)](node)


# By class, not by `match`: every check walks every rule, and of a hundred thousand rules the leaves alone are a million.
_PARTS: _Parts = {
    Atom: attrgetter("terms"),
    RowAtom: lambda node: tuple(term for _, term in node.arguments),
    **dict.fromkeys((Test, Call), attrgetter("arguments")),
    **dict.fromkeys((And, Or), attrgetter("conditions")),
    **dict.fromkeys((Comparison, Operation), attrgetter("left", "right")),
    Membership: lambda node: (node.value, *node.constants),
    Let: attrgetter("variable", "value"),
    Not: lambda node: (node.condition,),
    Negative: lambda node: (node.operand,),
    Aggregate: attrgetter("value", "condition"),
    **dict.fromkeys((Variable, Wildcard, Constant, Attribute, Falsity), lambda _: ()),
}
# A set may have a hundred thousand constants, and has neither conditions nor variables.
_PARTS_BUT_SETS: _Parts = {**_PARTS, Membership: lambda node: (node.value,)}


def replace_variables(node: _Node, replacements: Mapping[Variable, Expression]) -> _Node:
    """The same tree with other values in place of variables. In an atom or behind `let`, where only a term or a variable can stand,
    a variable stays if its replacement is something else."""
    # A variable becomes an expression; every other node stays of its kind.
    return cast(_Node, _replaced(node, replacements))


def _replaced(node: Node, replacements: Mapping[Variable, Expression]) -> Node:
    match node:
        case Variable():
            return replacements.get(node, node)
        case Wildcard() | Constant() | Attribute() | Falsity():
            return node
        case Atom(predicate=predicate, terms=terms, span=span):
            return Atom(predicate, tuple(_term(term, replacements) for term in terms), span)
        case RowAtom(table=table, arguments=arguments, span=span):
            return RowAtom(table, tuple((name, _term(term, replacements)) for name, term in arguments), span)
        case And() | Or() | Not() | Comparison() | Membership() | Let() | Test():
            return _replaced_condition(node, replacements)
        case Operation() | Negative() | Call() | Aggregate():
            return _replaced_expression(node, replacements)


def _replaced_condition(
    node: And | Or | Not | Comparison | Membership | Let | Test, replacements: Mapping[Variable, Expression]
) -> Condition:
    match node:
        case And(conditions=conditions, span=span):
            return And(tuple(replace_variables(one, replacements) for one in conditions), span)
        case Or(conditions=conditions, span=span):
            return Or(tuple(replace_variables(one, replacements) for one in conditions), span)
        case Not(condition=condition, span=span):
            return Not(replace_variables(condition, replacements), span)
        case Comparison(operator=operator, left=left, right=right, span=span):
            return Comparison(operator, replace_variables(left, replacements), replace_variables(right, replacements), span)
        case Membership(value=value, constants=constants, span=span):
            return Membership(replace_variables(value, replacements), constants, span)
        case Let(variable=variable, value=value, span=span):
            other = replacements.get(variable)
            return Let(other if isinstance(other, Variable) else variable, replace_variables(value, replacements), span)
        case Test(predicate=predicate, arguments=arguments, span=span):
            return Test(predicate, tuple(replace_variables(one, replacements) for one in arguments), span)


def _replaced_expression(node: Operation | Negative | Call | Aggregate, replacements: Mapping[Variable, Expression]) -> Expression:
    match node:
        case Operation(operator=operator, left=left, right=right, span=span):
            return Operation(operator, replace_variables(left, replacements), replace_variables(right, replacements), span)
        case Negative(operand=operand, span=span):
            return Negative(replace_variables(operand, replacements), span)
        case Call(function=function, arguments=arguments, span=span):
            return Call(function, tuple(replace_variables(one, replacements) for one in arguments), span)
        case Aggregate(function=function, value=value, condition=condition, span=span):
            return Aggregate(function, replace_variables(value, replacements), replace_variables(condition, replacements), span)


def _term(term: Term, replacements: Mapping[Variable, Expression]) -> Term:
    other = replacements.get(term) if isinstance(term, Variable) else None
    return other if isinstance(other, Variable | Constant) else term
