"""Syntax trees to text. What is printed can be read again: `parse(print_statement(s))` gives `s`."""

from __future__ import annotations

from rulescore.language.literals import quote, write_name, write_value, write_variable
from rulescore.language.syntax import (
    And,
    Atom,
    Closed,
    Comparison,
    Constant,
    ExtractIncompatible,
    Falsity,
    Functional,
    Head,
    IncompatibleGroup,
    IncompatiblePair,
    Literal,
    Not,
    PredicateDeclaration,
    Program,
    Refute,
    Rule,
    Statement,
    Term,
    Variable,
    Wildcard,
)


def print_program(program: Program) -> str:
    """A rule file: one statement after the other, each on lines of its own."""
    return "".join(f"{print_statement(statement)}\n" for statement in program.statements)


def print_statement(statement: Statement) -> str:
    """The whole statement, with annotations, name and full stop."""
    match statement:
        case Rule():
            name = "" if statement.name is None else f"{write_name(statement.name)}: "
            return f"{_print_annotations(statement)}{name}{print_rule(statement)}."
        case IncompatibleGroup():
            return f"incompatible {', '.join(map(write_name, statement.predicates))}."
        case IncompatiblePair():
            return f"incompatible {print_atom(statement.left)}, {print_atom(statement.right)}."
        case Functional():
            return f"functional {_print_dependency(statement)}."
        case Closed():
            return f"closed {'*' if statement.predicate is None else write_name(statement.predicate)}."
        case Refute():
            return f"refute {print_atom(statement.head)} <- {_print_body(statement.body)}."
        case ExtractIncompatible():
            return "extract incompatible."
        case PredicateDeclaration():
            return f"predicate {write_name(statement.predicate)}/{statement.arity}."


def print_rule(rule: Rule) -> str:
    """The canonical text: head and body alone. It names a rule that has no name of its own."""
    return f"{_print_head(rule.head)} <- {_print_body(rule.body)}"


def print_atom(atom: Atom) -> str:
    return f"{write_name(atom.predicate)}({', '.join(map(print_term, atom.terms))})"


def print_term(term: Term) -> str:
    match term:
        case Variable():
            return write_variable(term.name)
        case Wildcard():
            return "_"
        case Constant():
            return write_value(term.value)


def _print_head(head: Head) -> str:
    match head:
        case Atom():
            return print_atom(head)
        case Falsity():
            return "false"


def _print_body(body: And) -> str:
    return ", ".join(map(_print_literal, body.conditions))


def _print_literal(literal: Literal) -> str:
    match literal:
        case Atom():
            return print_atom(literal)
        case Not():
            return f"not {print_atom(literal.condition)}"
        case Comparison():
            return f"{print_term(literal.left)} {literal.operator} {print_term(literal.right)}"


def _print_annotations(rule: Rule) -> str:
    """The annotations on a line of their own; nothing where there are none."""
    annotations = []
    if rule.kind is not None:
        annotations.append(f"@{rule.kind}")
    if rule.weight != 1.0:
        annotations.append(f"@weight({repr(rule.weight).removesuffix('.0')})")
    if rule.description is not None:
        annotations.append("@description(" + quote(rule.description, '"') + ")")
    if rule.tags:
        annotations.append(f"@tags({', '.join(map(write_value, rule.tags))})")
    return f"{' '.join(annotations)}\n" if annotations else ""


def _print_dependency(functional: Functional) -> str:
    """The short form where the keys are the leading arguments and the values all others."""
    names = [f"X{position + 1}" for position in range(functional.arity)] if functional.arity > 3 else list("XYZ")
    keys = ", ".join(names[position] for position in functional.keys)
    values = ", ".join(names[position] for position in functional.values)
    if functional.keys + functional.values == tuple(range(functional.arity)):
        return f"{write_name(functional.predicate)}({keys} -> {values})"
    return f"{write_name(functional.predicate)}({', '.join(names[: functional.arity])}) on {keys} -> {values}"
