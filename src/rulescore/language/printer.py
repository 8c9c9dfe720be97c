"""Syntax trees to text that the parser reads again, and the names of rules."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import PurePath

from rulescore.errors import Source
from rulescore.language import syntax
from rulescore.language.builtins import AGGREGATES, gives_value
from rulescore.language.terms import quote, write_name, write_predicate, write_value, write_variable


def print_program(program: syntax.Program) -> str:
    """A rule file: one statement after the other, each on lines of its own."""
    return "".join(f"{print_statement(statement)}\n" for statement in program.statements)


def print_statement(statement: syntax.Statement) -> str:
    """The whole statement, with annotations, name and full stop."""
    match statement:
        case syntax.Rule():
            name = "" if statement.name is None else f"{write_name(statement.name)}: "
            return f"{_print_annotations(statement)}{name}{print_rule(statement)}."
        case syntax.Refuting():
            return f"{statement.words}."
        case syntax.ExtractIncompatible():
            return "extract incompatible."
        case syntax.PredicateDeclaration():
            return f"predicate {write_predicate(statement.predicate)}/{statement.arity}."
        case syntax.Definition(head, fact, chained=True):
            return f"define {print_atom(head)} <- chain {print_atom(fact)}."
        case syntax.Definition(head, fact, members):
            return f"define {print_atom(head)} <- {print_body(syntax.And((fact, *members)))}."


def print_rule(rule: syntax.Rule) -> str:
    """The canonical text: head and body alone."""
    return f"{_print_head(rule.head)} <- {print_body(rule.body)}"


def _print_head(head: syntax.Head) -> str:
    match head:
        case syntax.Falsity():
            return "false"
        case _:
            return print_condition(head)


def _print_annotations(rule: syntax.Rule) -> str:
    """The annotations on a line of their own; empty if there are none."""
    annotations = []
    if rule.kind is not None:
        annotations.append(f"@{rule.kind}")
    if rule.weight != 1.0:
        annotations.append(f"@weight({repr(rule.weight).removesuffix('.0')})")
    if rule.description is not None:
        annotations.append("@description(" + quote(rule.description, '"') + ")")
    if rule.tags:
        annotations.append(f"@tags({', '.join(map(write_value, rule.tags))})")
    if rule.confidence is not None:
        annotations.append(f"@confidence({write_value(rule.confidence)})")
    if rule.about is not None:
        annotations.append(f"@about({_print_about(rule.about)})")
    if rule.support is not None:
        annotations.append(f"@support({rule.support})")
    return f"{' '.join(annotations)}\n" if annotations else ""


def _print_about(about: syntax.About) -> str:
    path = "_" if about.path is None else quote(about.path, '"')
    if about.value is not None:
        return f"{print_term(about.focus)}, {path}, {print_term(about.value)}"
    return print_term(about.focus) if about.path is None else f"{print_term(about.focus)}, {path}"


# Turns conditions and expressions into text, with no more parentheses than the parser needs.


_SUMS = frozenset({syntax.Arithmetic.ADD, syntax.Arithmetic.SUBTRACT})


def print_body(body: syntax.And) -> str:
    """The parts of a body, joined by commas."""
    if len(body.conditions) == 1:
        return print_condition(body.conditions[0])
    return ", ".join(map(_print_part, body.conditions))


def print_condition(condition: syntax.Condition) -> str:
    match condition:
        case syntax.Atom():
            return print_atom(condition)
        case syntax.RowAtom(table=table, arguments=arguments):
            return write_row(table, ((name, print_term(term)) for name, term in arguments))
        case syntax.Test(predicate=name, arguments=arguments):
            written = quote(name, "`") if gives_value(name) else write_predicate(name)
            return f"{written}({', '.join(map(print_expression, arguments))})"
        case syntax.Comparison(operator=operator, left=left, right=right):
            return f"{print_expression(left)} {operator} {print_expression(right)}"
        case syntax.Membership():
            return _print_membership(condition, "in")
        case syntax.Let(variable=variable, value=value):
            return f"let {write_variable(variable.name)} = {print_expression(value)}"
        case syntax.Not(condition=syntax.Membership() as membership):
            return _print_membership(membership, "not in")
        case syntax.Not(condition=negated):
            return f"not {_print_part(negated)}"
        case syntax.And(conditions=parts):
            return " and ".join(map(_print_part, parts))
        case syntax.Or(conditions=parts):
            return " or ".join(_in_parentheses(part) if isinstance(part, syntax.Or) else print_condition(part) for part in parts)


def _print_part(condition: syntax.Condition) -> str:
    """A condition that binds as tightly as `not` does."""
    return _in_parentheses(condition) if isinstance(condition, syntax.And | syntax.Or) else print_condition(condition)


def _in_parentheses(condition: syntax.Condition) -> str:
    return f"({print_condition(condition)})"


def _print_membership(membership: syntax.Membership, word: str) -> str:
    return f"{print_expression(membership.value)} {word} {{{', '.join(map(print_term, membership.constants))}}}"


def write_row(table: str, arguments: Iterable[tuple[str, str]]) -> str:
    """A row, whose values are written already."""
    inner = ", ".join(f"{write_name(name)}: {term}" for name, term in arguments)
    return f"{quote(table, '`') if table in AGGREGATES else write_predicate(table)}({inner})"


def print_atom(atom: syntax.Atom) -> str:
    return f"{write_predicate(atom.predicate)}({', '.join([print_term(term) for term in atom.terms])})"


def print_term(term: syntax.Term) -> str:
    match term:
        case syntax.Variable():
            return write_variable(term.name)
        case syntax.Wildcard():
            return "_"
        case syntax.Constant():
            return write_value(term.value)


def print_expression(expression: syntax.Expression) -> str:
    match expression:
        case syntax.Variable() | syntax.Constant():
            return print_term(expression)
        case syntax.Attribute(name=name):
            return write_name(name)
        case syntax.Operation(operator=operator, left=left, right=right):
            return f"{_print_operand(left, operator, is_right=False)} {operator} {_print_operand(right, operator, is_right=True)}"
        case syntax.Negative(operand=operand):
            return f"-{_print_negated(operand)}"
        case syntax.Call(function="percent", arguments=(syntax.Constant(value=value),)):
            return f"{write_value(value)}%"
        case syntax.Call(function=name, arguments=arguments):
            return f"{name}({', '.join(map(print_expression, arguments))})"
        case syntax.Aggregate(function=function, value=value, condition=condition):
            return f"{function}({print_expression(value)} : {print_body(condition)})"


def _print_operand(operand: syntax.Expression, operator: syntax.Arithmetic, *, is_right: bool) -> str:
    """An operand of `operator`. It gets parentheses if it binds less tightly, or if it binds as tightly and stands on the right."""
    text = print_expression(operand)
    if isinstance(operand, syntax.Operation):
        looser = operand.operator in _SUMS and operator not in _SUMS
        as_tight = (operand.operator in _SUMS) == (operator in _SUMS)
        if looser or (as_tight and is_right):
            return f"({text})"
    return text


def _print_negated(operand: syntax.Expression) -> str:
    """The operand of a minus, in parentheses if needed, because a bare number would take the minus as its sign."""
    match operand:
        case syntax.Operation() | syntax.Negative() | syntax.Constant(value=int() | float() | datetime.timedelta()):
            return f"({print_expression(operand)})"
        case _:
            return print_expression(operand)


TEXT_NAME = "<rules>"
"""The name of a source that the user gave as text."""


def rule_names(program: syntax.Program) -> list[str]:
    """Names as given, and places for rules without one: `family.rules:12`, and `family.rules:12.2` for the second of that line."""
    labels = _labels(rule.span.source for rule in program.rules if rule.span is not None)
    taken = {rule.name for rule in program.rules if rule.name is not None}
    names: list[str] = []
    last: Counter[str] = Counter()
    for rule in program.rules:
        if rule.name is not None:
            names.append(rule.name)
            continue
        assert rule.span is not None, "rules without a name are read from a source"
        source = rule.span.source
        start = f"{labels[source]}:{source.position(rule.span.start)[0]}"
        if start not in last and start not in taken:
            last[start] = 1
            names.append(start)
            continue
        last[start], name = next((number, name) for number, name in _numbered(start, last[start]) if name not in taken)
        names.append(name)
    return names


def _numbered(start: str, last: int) -> Iterator[tuple[int, str]]:
    return ((number, start if number == 1 else f"{start}.{number}") for number in count(last + 1))


def _labels(sources: Iterable[Source]) -> dict[Source, str]:
    """The part of a place before the line number: the name of the file, with as many folders as distinguish it from other files of
    that name. Several texts, or a file that we read twice, get numbers."""
    distinct = tuple(dict.fromkeys(sources))
    paths = list(dict.fromkeys(source.name for source in distinct))
    short = {path: _shortest(path, paths) for path in paths}
    seen: Counter[str] = Counter()
    labels = {}
    for source in distinct:
        seen[source.name] += 1
        times = seen[source.name]
        labels[source] = short[source.name] if times == 1 else f"{short[source.name]}-{times}"
    return labels


def _shortest(path: str, paths: Sequence[str]) -> str:
    """The shortest end of a path with which no other path ends."""
    if path == TEXT_NAME:
        return "rules"
    parts = PurePath(path).parts
    others = [PurePath(other).parts for other in paths if other != path]
    for length in range(1, len(parts)):
        if all(other[-length:] != parts[-length:] for other in others):
            return "/".join(parts[-length:])
    return PurePath(path).as_posix()
