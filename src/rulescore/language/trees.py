"""Walks over conditions and expressions, and what statements name. Nodes come in the order they are written, a node before its
parts.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, TypeVar, cast, get_args

from rulescore.errors import Span
from rulescore.language.syntax import (
    Aggregate,
    And,
    Atom,
    Attribute,
    Call,
    Comparison,
    Condition,
    Constant,
    Definition,
    Expression,
    ExtractIncompatible,
    Falsity,
    Let,
    Membership,
    Negative,
    Not,
    Operation,
    Operator,
    Or,
    PredicateDeclaration,
    Program,
    Refuting,
    RowAtom,
    Rule,
    Statement,
    Term,
    Test,
    Variable,
    Wildcard,
)
from rulescore.values import key_of

Node = Condition | Expression | Wildcard | Falsity
_CONDITIONS = get_args(Condition)
_EXPRESSIONS = get_args(Expression)
_Node = TypeVar("_Node", bound=Node)
_Parts = dict[type, Callable[[Any], tuple[Node, ...]]]


def nodes_in(node: Node, *, negations: bool = True, aggregates: bool = True) -> Iterator[Node]:
    """The node itself and everything below it."""
    return _below(node, _PARTS, negations, aggregates)


def _below(node: Node, below: _Parts, negations: bool = True, aggregates: bool = True) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        if (negations or not isinstance(current, Not)) and (aggregates or not isinstance(current, Aggregate)):
            waiting += reversed(below[type(current)](current))


def conditions_in(condition: Condition | Expression | Falsity) -> Iterator[Condition]:
    """The conditions, the given one first, and the conditions of aggregates."""
    for node in _below(condition, _PARTS_BUT_TERMS):
        if isinstance(node, _CONDITIONS):
            yield node


def expressions_in(node: Node) -> Iterator[Expression]:
    """Expressions that are compared, computed or tested, with their parts; not the terms of atoms, nor the constants of sets."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, _EXPRESSIONS):
            yield current
        if isinstance(current, Membership):
            waiting.append(current.value)
        elif not isinstance(current, Atom | RowAtom):
            waiting.extend(reversed(parts(current)))


def variables_in(node: Node, *, aggregates: bool = True) -> Iterator[Variable]:
    """Every occurrence of a variable."""
    for part in _below(node, _PARTS_BUT_SETS, aggregates=aggregates):
        if isinstance(part, Variable):
            yield part


def aggregates_in(condition: Condition | Falsity) -> Iterator[Aggregate]:
    """The aggregates, outer ones before those within."""
    for node in _below(condition, _PARTS_BUT_TERMS):
        if isinstance(node, Aggregate):
            yield node


def atoms_in(condition: Condition | Expression | Falsity) -> Iterator[Atom | RowAtom]:
    waiting: list[Node] = [condition]
    while waiting:
        current = waiting.pop()
        if isinstance(current, Atom | RowAtom):
            yield current
        else:
            waiting += reversed(_PARTS_BUT_SETS[type(current)](current))


def parts(node: Node) -> tuple[Node, ...]:
    """The nodes directly below a node, in the order written."""
    return _PARTS[type(node)](node)


# We look up the class and do not use `match`, for speed: every check walks every rule, and a hundred thousand rules have a million
# leaves.
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
# We need not look into atoms, because their terms hold no conditions.
_PARTS_BUT_TERMS: _Parts = {**_PARTS_BUT_SETS, **dict.fromkeys((Atom, RowAtom), lambda _: ())}


def replace_variables(node: _Node, replacements: Mapping[Variable, Expression]) -> _Node:
    """The same tree with other values in place of variables. In an atom or behind `let`, only a term or a variable can stand. If
    the replacement is something else, the variable stays there."""
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
        case And() | Or():
            return replace(node, conditions=tuple(replace_variables(condition, replacements) for condition in node.conditions))
        case Not():
            return replace(node, condition=replace_variables(node.condition, replacements))
        case Comparison() | Operation():
            left, right = (replace_variables(side, replacements) for side in (node.left, node.right))
            return replace(node, left=left, right=right)
        case Membership():
            return replace(node, value=replace_variables(node.value, replacements))
        case Let(variable=variable):
            other = replacements.get(variable)
            named = other if isinstance(other, Variable) else variable
            return replace(node, variable=named, value=replace_variables(node.value, replacements))
        case Test() | Call():
            return replace(node, arguments=tuple(replace_variables(argument, replacements) for argument in node.arguments))
        case Negative():
            return replace(node, operand=replace_variables(node.operand, replacements))
        case Aggregate():
            value, condition = replace_variables(node.value, replacements), replace_variables(node.condition, replacements)
            return replace(node, value=value, condition=condition)


def _term(term: Term, replacements: Mapping[Variable, Expression]) -> Term:
    other = replacements.get(term) if isinstance(term, Variable) else None
    return other if isinstance(other, Variable | Constant) else term


def dependency(rule: Rule) -> Rule | None:
    """Turns `false <- …, X != Y` into `X = Y <- …`. The same groundings are refuted, and all others are confirmed, so the rule has
    a rate. None if the rule is not a denial constraint with one `!=`."""
    different = [
        condition
        for condition in rule.body.conditions
        if isinstance(condition, Comparison) and condition.operator is Operator.DIFFERENT
    ]
    others = tuple(condition for condition in rule.body.conditions if condition not in different)
    if not isinstance(rule.head, Falsity) or len(different) != 1 or not others:
        return None
    return replace(rule, head=replace(different[0], operator=Operator.EQUAL), body=And(others, rule.body.span))


# What statements name. Some of these atoms may be tests, because a test looks like an atom.


def conditions_of(statement: Statement) -> tuple[Condition, ...]:
    """The conditions of a statement, heads first."""
    match statement:
        case Rule(head=head, body=body):
            return (body,) if isinstance(head, Falsity) else (head, body)
        case Refuting():
            return statement.conditions
        case Definition(head, fact, members):
            return head, fact, *members
        case ExtractIncompatible() | PredicateDeclaration():
            return ()


def _parts_of(statement: Statement) -> Iterator[Condition]:
    """The conditions of a statement and the parts of its conjunctions, heads first. Of most rules these are atoms: asking for the
    nodes below each takes most of the time of a check."""
    for condition in conditions_of(statement):
        yield from condition.conditions if isinstance(condition, And) else (condition,)


def used_atoms(statement: Statement) -> Iterator[Atom]:
    """The atoms of a statement, heads first."""
    for part in _parts_of(statement):
        for atom in (part,) if isinstance(part, Atom) else atoms_in(part):
            if isinstance(atom, Atom):
                yield atom


def uses(program: Program) -> Iterator[tuple[str, int, Span | None]]:
    """Every use of a predicate with a number of arguments."""
    for statement in program.statements:
        for atom in used_atoms(statement):
            yield atom.predicate, atom.arity, atom.span
        if isinstance(statement, PredicateDeclaration):
            yield statement.predicate, statement.arity, statement.span


def used_arities(program: Program) -> dict[str, int]:
    """Predicates that rules and declarations use, with the arity of their first use."""
    arities: dict[str, int] = {}
    for predicate, arity in program.occurrences.first:
        arities.setdefault(predicate, arity)
    return arities


def named_predicates(statement: Statement) -> Iterator[str]:
    """Predicates that a statement names."""
    for atom in used_atoms(statement):
        yield atom.predicate
    if isinstance(statement, Refuting):
        yield from (predicate for predicate in statement.refuted if predicate is not None)


def span_of(predicate: str, statement: Statement) -> Span | None:
    """Where a statement first names a predicate."""
    atoms = (atom for atom in used_atoms(statement) if atom.predicate == predicate and atom.span is not statement.span)
    return next((atom.span for atom in atoms), statement.span and statement.span.word(predicate))


def named_in(statement: Statement) -> Iterator[str]:
    """The predicates of the atoms of a statement, including the attributes of rows. The names of tests and of tables are included,
    since they may turn out to be predicates."""
    for part in _parts_of(statement):
        if isinstance(part, Atom):
            yield part.predicate
            continue
        for node in _below(part, _PARTS_BUT_TERMS, True, True):
            match node:
                case Atom(predicate) | Test(predicate):
                    yield predicate
                case RowAtom(table, arguments):
                    yield table
                    yield from (f"{table}.{attribute}" for attribute, _ in arguments)
                case _:
                    pass


def constant_keys(program: Program) -> set[str]:
    """Keys of all constants in rules and refutations."""
    keys = {key for _, key in program.occurrences.constants}
    for statement in program.occurrences.others:
        for condition in conditions_of(statement):
            for node in nodes_in(condition):
                if isinstance(node, Constant) and not isinstance(node.value, datetime.timedelta):
                    keys.add(key_of(node.value))
    return keys


def used_attributes(program: Program, tables: Collection[str]) -> dict[str, set[str]]:
    """The attributes of each table that statements name."""
    attributes: dict[str, set[str]] = {name: set() for name in tables}
    for statement in program.statements if attributes else ():
        for condition in conditions_of(statement):
            for node in nodes_in(condition):
                if isinstance(node, RowAtom) and node.table in attributes:
                    attributes[node.table].update(attribute for attribute, _ in node.arguments)
        for predicate in named_predicates(statement):
            table = attribute_table(predicate, tables)
            if table is not None:
                attributes[table].add(predicate[len(table) + 1 :])
    return attributes


def attribute_table(predicate: str, tables: Collection[str]) -> str | None:
    """The table of a predicate `table.attribute`."""
    return next((table for table in tables if predicate.startswith(f"{table}.")), None)


Argument = tuple[str, int, int]
"""A predicate, how many arguments it has, and the number of one of them."""


@dataclass(frozen=True, slots=True)
class Occurrences:
    """`first`: where a predicate is first used with so many arguments, in an atom or in its declaration. `plain`: for each rule,
    whether it is made of atoms alone. `constants`: those of plain rules by place and key, each where it first stands. `others`: the
    statements that are no plain rules."""

    first: dict[tuple[str, int], Span | None]
    plain: tuple[bool, ...]
    constants: dict[tuple[Argument, str], Constant]
    others: tuple[Statement, ...]


def occurrences(program: Program) -> Occurrences:
    """What the statements of a program name."""
    first: dict[tuple[str, int], Span | None] = {}
    plain: list[bool] = []
    constants: dict[tuple[Argument, str], Constant] = {}
    others: list[Statement] = []
    for statement in program.statements:
        atoms: Iterable[Atom] | None = _atoms(statement) if isinstance(statement, Rule) else None
        if isinstance(statement, Rule):
            plain.append(atoms is not None)
        if atoms is not None:
            _add_constants(constants, atoms)
        else:
            others.append(statement)
            atoms = used_atoms(statement)
        for atom in atoms:
            use = atom.predicate, len(atom.terms)
            if use not in first:
                first[use] = atom.span
        if isinstance(statement, PredicateDeclaration):
            first.setdefault((statement.predicate, statement.arity), statement.span)
    return Occurrences(first, tuple(plain), constants, tuple(others))


def _atoms(rule: Rule) -> list[Atom] | None:
    """The atoms of a plain rule. None for any other, also if it has a duration, which no fact holds, or is of a converted file,
    which may speak of what the data do not have."""
    if rule.span is not None and rule.span.source.converted:
        return None
    atoms = []
    for part in rule.body.conditions if isinstance(rule.head, Falsity) else (rule.head, *rule.body.conditions):
        if not isinstance(part, Atom):
            return None
        for term in part.terms:
            if isinstance(term, Constant) and isinstance(term.value, datetime.timedelta):
                return None
        atoms.append(part)
    return atoms


def _add_constants(constants: dict[tuple[Argument, str], Constant], atoms: Iterable[Atom]) -> None:
    for atom in atoms:
        for position, term in enumerate(atom.terms):
            if isinstance(term, Constant):
                assert not isinstance(term.value, datetime.timedelta)
                constants.setdefault(((atom.predicate, len(atom.terms), position), key_of(term.value)), term)
