"""Rules that their own bodies confirm or refute, whatever the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rulescore.errors import Diagnostic, Severity, place_of
from rulescore.language.printer import print_atom, print_condition
from rulescore.language.syntax import And, Atom, Condition, Falsity, Head, Not, Or, Rule
from rulescore.logic.refutation import Declared, opposition


def is_tautology(rule: Rule) -> bool:
    """Whether the head is a condition of the body, so that every grounding is confirmed."""
    return _stands_in(rule.head, rule.body.conditions)


def _stands_in(head: Head | Condition, body: tuple[Condition, ...]) -> bool:
    match head:
        case Falsity() | Not():
            # In a head, `not p(X)` is confirmed if something refutes p(X); in a body, it holds if p(X) is only absent.
            return False
        case And(conditions=parts):
            return all(_stands_in(part, body) for part in parts)
        case Or(conditions=parts):
            return any(_stands_in(part, body) for part in parts)
        case _:
            # Python takes the constants 1 and true for equal; their texts differ.
            return any(one == head and print_condition(one) == print_condition(head) for one in body)


def tautologies(rules: Iterable[tuple[str, Rule]]) -> Iterator[Diagnostic]:
    """A warning for each rule that says nothing."""
    for name, rule in rules:
        if is_tautology(rule):
            yield Diagnostic(
                "W212",
                f"rule `{name}` says nothing: its head stands in its own body",
                place_of(rule.span),
                notes=("every grounding of it confirms it, whatever the data",),
                helps=("remove the rule; `rulescore audit --no-flag tautology --keep FILE` writes the others",),
                severity=Severity.WARNING,
            )


def self_refuting(rules: Iterable[tuple[str, Rule]], declared: Declared) -> Iterator[Diagnostic]:
    """A warning for each rule, given with its name, whose head is incompatible with one of its body atoms on the same arguments."""
    for name, rule in rules:
        if not isinstance(rule.head, Atom):
            continue
        for literal in rule.body.conditions:
            if isinstance(literal, Atom) and _opposed(rule.head, literal, declared):
                yield Diagnostic(
                    "W204",
                    f"rule `{name}` contradicts itself: its head is incompatible with `{print_atom(literal)}` in its body",
                    place_of(rule.span),
                    notes=("every grounding of it is refuted, whatever the data",),
                    severity=Severity.WARNING,
                )
                break


def _opposed(head: Atom, atom: Atom, declared: Declared) -> bool:
    if atom.terms == head.terms and declared.in_one_group(head.predicate, atom.predicate):
        return True
    return any(
        found.opponent == atom.predicate and not found.negative and tuple(head.terms[i] for i in found.order) == atom.terms
        for way in declared.ways(head.predicate, head.arity, grouped=False)
        if (found := opposition(way))
    )
