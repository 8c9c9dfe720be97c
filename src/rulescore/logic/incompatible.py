"""Warnings about rules that contradict themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rulescore.errors import Diagnostic, Severity
from rulescore.language.printer import print_atom
from rulescore.language.syntax import Atom, Rule
from rulescore.logic.refutation import Declared


def self_refuting(rules: Sequence[tuple[str, Rule]], declared: Declared) -> Iterator[Diagnostic]:
    """A warning for each rule, given with its name, whose head is incompatible with one of its body atoms on the same arguments."""
    for name, rule in rules:
        if not isinstance(rule.head, Atom):
            continue
        for literal in rule.body.conditions:
            if isinstance(literal, Atom) and _opposed(rule.head, literal, declared):
                yield Diagnostic(
                    "W204",
                    f"rule `{name}` contradicts itself: its head is incompatible with `{print_atom(literal)}` in its body",
                    rule.span.place() if rule.span else None,
                    notes=("every grounding of it is refuted, whatever the data",),
                    severity=Severity.WARNING,
                )
                break


def _opposed(head: Atom, atom: Atom, declared: Declared) -> bool:
    if atom.terms == head.terms and declared.in_one_group(head.predicate, atom.predicate):
        return True
    orders = declared.orders(head.predicate, atom.predicate)
    return any(tuple(head.terms[position] for position in order) == atom.terms for order in orders)
