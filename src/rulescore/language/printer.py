"""Syntax trees to text. The parser can read the text again: `parse(print_statement(s))` gives `s`."""

from __future__ import annotations

from rulescore.language.conditions_printer import print_atom, print_body, print_condition, print_term
from rulescore.language.literals import quote, write_name, write_predicate, write_value
from rulescore.language.syntax import ExtractIncompatible, Falsity, Head, PredicateDeclaration, Program, Refuting, Rule, Statement

__all__ = ["print_atom", "print_program", "print_rule", "print_statement", "print_term"]


def print_program(program: Program) -> str:
    """A rule file: one statement after the other, each on lines of its own."""
    return "".join(f"{print_statement(statement)}\n" for statement in program.statements)


def print_statement(statement: Statement) -> str:
    """The whole statement, with annotations, name and full stop."""
    match statement:
        case Rule():
            name = "" if statement.name is None else f"{write_name(statement.name)}: "
            return f"{_print_annotations(statement)}{name}{print_rule(statement)}."
        case Refuting():
            return f"{statement.words}."
        case ExtractIncompatible():
            return "extract incompatible."
        case PredicateDeclaration():
            return f"predicate {write_predicate(statement.predicate)}/{statement.arity}."


def print_rule(rule: Rule) -> str:
    """The canonical text: head and body alone."""
    return f"{_print_head(rule.head)} <- {print_body(rule.body)}"


def _print_head(head: Head) -> str:
    match head:
        case Falsity():
            return "false"
        case _:
            return print_condition(head)


def _print_annotations(rule: Rule) -> str:
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
    if rule.support is not None:
        annotations.append(f"@support({rule.support})")
    return f"{' '.join(annotations)}\n" if annotations else ""
