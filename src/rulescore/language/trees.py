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
from rulescore.language import syntax
from rulescore.values import key_of

Node = syntax.Condition | syntax.Expression | syntax.Wildcard | syntax.Falsity
_CONDITIONS = get_args(syntax.Condition)
_EXPRESSIONS = get_args(syntax.Expression)
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
        if (negations or not isinstance(current, syntax.Not)) and (aggregates or not isinstance(current, syntax.Aggregate)):
            waiting += reversed(below[type(current)](current))


def conditions_in(condition: syntax.Condition | syntax.Expression | syntax.Falsity) -> Iterator[syntax.Condition]:
    """The conditions, the given one first, and the conditions of aggregates."""
    for node in _below(condition, _PARTS_BUT_TERMS):
        if isinstance(node, _CONDITIONS):
            yield node


def expressions_in(node: Node) -> Iterator[syntax.Expression]:
    """Expressions that are compared, computed or tested, with their parts; not the terms of atoms, nor the constants of sets."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, _EXPRESSIONS):
            yield current
        if isinstance(current, syntax.Membership):
            waiting.append(current.value)
        elif not isinstance(current, syntax.Atom | syntax.RowAtom):
            waiting.extend(reversed(parts(current)))


def variables_in(node: Node, *, aggregates: bool = True) -> Iterator[syntax.Variable]:
    """Every occurrence of a variable."""
    for part in _below(node, _PARTS_BUT_SETS, aggregates=aggregates):
        if isinstance(part, syntax.Variable):
            yield part


def aggregates_in(condition: syntax.Condition | syntax.Falsity) -> Iterator[syntax.Aggregate]:
    """The aggregates, outer ones before those within."""
    for node in _below(condition, _PARTS_BUT_TERMS):
        if isinstance(node, syntax.Aggregate):
            yield node


def atoms_in(condition: syntax.Condition | syntax.Expression | syntax.Falsity) -> Iterator[syntax.Atom | syntax.RowAtom]:
    waiting: list[Node] = [condition]
    while waiting:
        current = waiting.pop()
        if isinstance(current, syntax.Atom | syntax.RowAtom):
            yield current
        else:
            waiting += reversed(_PARTS_BUT_SETS[type(current)](current))


def parts(node: Node) -> tuple[Node, ...]:
    """The nodes directly below a node, in the order written."""
    return _PARTS[type(node)](node)


# We look up the class and do not use `match`, for speed: every check walks every rule, and a hundred thousand rules have a million
# leaves.
_PARTS: _Parts = {
    syntax.Atom: attrgetter("terms"),
    syntax.RowAtom: lambda node: tuple(term for _, term in node.arguments),
    **dict.fromkeys((syntax.Test, syntax.Call), attrgetter("arguments")),
    **dict.fromkeys((syntax.And, syntax.Or), attrgetter("conditions")),
    **dict.fromkeys((syntax.Comparison, syntax.Operation), attrgetter("left", "right")),
    syntax.Membership: lambda node: (node.value, *node.constants),
    syntax.Let: attrgetter("variable", "value"),
    syntax.Not: lambda node: (node.condition,),
    syntax.Negative: lambda node: (node.operand,),
    syntax.Aggregate: attrgetter("value", "condition"),
    **dict.fromkeys((syntax.Variable, syntax.Wildcard, syntax.Constant, syntax.Attribute, syntax.Falsity), lambda _: ()),
}
# A set may have a hundred thousand constants, and has neither conditions nor variables.
_PARTS_BUT_SETS: _Parts = {**_PARTS, syntax.Membership: lambda node: (node.value,)}
# We need not look into atoms, because their terms hold no conditions.
_PARTS_BUT_TERMS: _Parts = {**_PARTS_BUT_SETS, **dict.fromkeys((syntax.Atom, syntax.RowAtom), lambda _: ())}


def replace_variables(node: _Node, replacements: Mapping[syntax.Variable, syntax.Expression]) -> _Node:
    """The same tree with other values in place of variables. In an atom or behind `let`, only a term or a variable can stand. If
    the replacement is something else, the variable stays there."""
    # A variable becomes an expression; every other node stays of its kind.
    return cast(_Node, _replaced(node, replacements))


def _replaced(node: Node, replacements: Mapping[syntax.Variable, syntax.Expression]) -> Node:
    match node:
        case syntax.Variable():
            return replacements.get(node, node)
        case syntax.Wildcard() | syntax.Constant() | syntax.Attribute() | syntax.Falsity():
            return node
        case syntax.Atom(predicate=predicate, terms=terms, span=span):
            return syntax.Atom(predicate, tuple(_term(term, replacements) for term in terms), span)
        case syntax.RowAtom(table=table, arguments=arguments, span=span):
            return syntax.RowAtom(table, tuple((name, _term(term, replacements)) for name, term in arguments), span)
        case syntax.And() | syntax.Or():
            return replace(node, conditions=tuple(replace_variables(condition, replacements) for condition in node.conditions))
        case syntax.Not():
            return replace(node, condition=replace_variables(node.condition, replacements))
        case syntax.Comparison() | syntax.Operation():
            left, right = (replace_variables(side, replacements) for side in (node.left, node.right))
            return replace(node, left=left, right=right)
        case syntax.Membership():
            return replace(node, value=replace_variables(node.value, replacements))
        case syntax.Let(variable=variable):
            other = replacements.get(variable)
            named = other if isinstance(other, syntax.Variable) else variable
            return replace(node, variable=named, value=replace_variables(node.value, replacements))
        case syntax.Test() | syntax.Call():
            return replace(node, arguments=tuple(replace_variables(argument, replacements) for argument in node.arguments))
        case syntax.Negative():
            return replace(node, operand=replace_variables(node.operand, replacements))
        case syntax.Aggregate():
            value, condition = replace_variables(node.value, replacements), replace_variables(node.condition, replacements)
            return replace(node, value=value, condition=condition)


def _term(term: syntax.Term, replacements: Mapping[syntax.Variable, syntax.Expression]) -> syntax.Term:
    other = replacements.get(term) if isinstance(term, syntax.Variable) else None
    return other if isinstance(other, syntax.Variable | syntax.Constant) else term


def dependency(rule: syntax.Rule) -> syntax.Rule | None:
    """Turns `false <- …, X != Y` into `X = Y <- …`. The same groundings are refuted, and all others are confirmed, so the rule has
    a rate. None if the rule is not a denial constraint with one `!=`."""
    different = [
        condition
        for condition in rule.body.conditions
        if isinstance(condition, syntax.Comparison) and condition.operator is syntax.Operator.DIFFERENT
    ]
    others = tuple(condition for condition in rule.body.conditions if condition not in different)
    if not isinstance(rule.head, syntax.Falsity) or len(different) != 1 or not others:
        return None
    return replace(rule, head=replace(different[0], operator=syntax.Operator.EQUAL), body=syntax.And(others, rule.body.span))


# What statements name. Some of these atoms may be tests, because a test looks like an atom.


def conditions_of(statement: syntax.Statement) -> tuple[syntax.Condition, ...]:
    """The conditions of a statement, heads first."""
    match statement:
        case syntax.Rule(head=head, body=body):
            return (body,) if isinstance(head, syntax.Falsity) else (head, body)
        case syntax.Refuting():
            return statement.conditions
        case syntax.Definition(head, fact, members):
            return head, fact, *members
        case syntax.ExtractIncompatible() | syntax.PredicateDeclaration():
            return ()


def _parts_of(statement: syntax.Statement) -> Iterator[syntax.Condition]:
    """The conditions of a statement and the parts of its conjunctions, heads first. Of most rules these are atoms: asking for the
    nodes below each takes most of the time of a check."""
    for condition in conditions_of(statement):
        yield from condition.conditions if isinstance(condition, syntax.And) else (condition,)


def used_atoms(statement: syntax.Statement) -> Iterator[syntax.Atom]:
    """The atoms of a statement, heads first."""
    for part in _parts_of(statement):
        for atom in (part,) if isinstance(part, syntax.Atom) else atoms_in(part):
            if isinstance(atom, syntax.Atom):
                yield atom


def uses(program: syntax.Program) -> Iterator[tuple[str, int, Span | None]]:
    """Every use of a predicate with a number of arguments."""
    for statement in program.statements:
        for atom in used_atoms(statement):
            yield atom.predicate, atom.arity, atom.span
        if isinstance(statement, syntax.PredicateDeclaration):
            yield statement.predicate, statement.arity, statement.span


def used_arities(program: syntax.Program) -> dict[str, int]:
    """Predicates that rules and declarations use, with the arity of their first use."""
    arities: dict[str, int] = {}
    for predicate, arity in program.occurrences.first:
        arities.setdefault(predicate, arity)
    return arities


def named_predicates(statement: syntax.Statement) -> Iterator[str]:
    """Predicates that a statement names."""
    for atom in used_atoms(statement):
        yield atom.predicate
    if isinstance(statement, syntax.Refuting):
        yield from (predicate for predicate in statement.refuted if predicate is not None)


def span_of(predicate: str, statement: syntax.Statement) -> Span | None:
    """Where a statement first names a predicate."""
    atoms = (atom for atom in used_atoms(statement) if atom.predicate == predicate and atom.span is not statement.span)
    return next((atom.span for atom in atoms), statement.span and statement.span.word(predicate))


def named_in(statement: syntax.Statement) -> Iterator[str]:
    """The predicates of the atoms of a statement, including the attributes of rows. The names of tests and of tables are included,
    since they may turn out to be predicates."""
    for part in _parts_of(statement):
        if isinstance(part, syntax.Atom):
            yield part.predicate
            continue
        for node in _below(part, _PARTS_BUT_TERMS, True, True):
            match node:
                case syntax.Atom(predicate) | syntax.Test(predicate):
                    yield predicate
                case syntax.RowAtom(table, arguments):
                    yield table
                    yield from (f"{table}.{attribute}" for attribute, _ in arguments)
                case _:
                    pass


def constant_keys(program: syntax.Program) -> set[str]:
    """Keys of all constants in rules and refutations."""
    keys = {key for _, key in program.occurrences.constants}
    for statement in program.occurrences.others:
        for condition in conditions_of(statement):
            for node in nodes_in(condition):
                if isinstance(node, syntax.Constant) and not isinstance(node.value, datetime.timedelta):
                    keys.add(key_of(node.value))
    return keys


def used_attributes(program: syntax.Program, tables: Collection[str]) -> dict[str, set[str]]:
    """The attributes of each table that statements name."""
    attributes: dict[str, set[str]] = {name: set() for name in tables}
    for statement in program.statements if attributes else ():
        for condition in conditions_of(statement):
            for node in nodes_in(condition):
                if isinstance(node, syntax.RowAtom) and node.table in attributes:
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
    constants: dict[tuple[Argument, str], syntax.Constant]
    others: tuple[syntax.Statement, ...]


def occurrences(program: syntax.Program) -> Occurrences:
    """What the statements of a program name."""
    first: dict[tuple[str, int], Span | None] = {}
    plain: list[bool] = []
    constants: dict[tuple[Argument, str], syntax.Constant] = {}
    others: list[syntax.Statement] = []
    for statement in program.statements:
        atoms: Iterable[syntax.Atom] | None = _atoms(statement) if isinstance(statement, syntax.Rule) else None
        if isinstance(statement, syntax.Rule):
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
        if isinstance(statement, syntax.PredicateDeclaration):
            first.setdefault((statement.predicate, statement.arity), statement.span)
    return Occurrences(first, tuple(plain), constants, tuple(others))


def _atoms(rule: syntax.Rule) -> list[syntax.Atom] | None:
    """The atoms of a plain rule. None for any other, also if it has a duration, which no fact holds, or is of a converted file,
    which may speak of what the data do not have."""
    if rule.span is not None and rule.span.source.converted:
        return None
    atoms = []
    for part in rule.body.conditions if isinstance(rule.head, syntax.Falsity) else (rule.head, *rule.body.conditions):
        if not isinstance(part, syntax.Atom):
            return None
        for term in part.terms:
            if isinstance(term, syntax.Constant) and isinstance(term.value, datetime.timedelta):
                return None
        atoms.append(part)
    return atoms


def _add_constants(constants: dict[tuple[Argument, str], syntax.Constant], atoms: Iterable[syntax.Atom]) -> None:
    for atom in atoms:
        for position, term in enumerate(atom.terms):
            if isinstance(term, syntax.Constant):
                assert not isinstance(term.value, datetime.timedelta)
                constants.setdefault(((atom.predicate, len(atom.terms), position), key_of(term.value)), term)
