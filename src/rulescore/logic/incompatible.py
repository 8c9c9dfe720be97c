"""Rules that contradict themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rulescore.errors import Diagnostic, Severity
from rulescore.language.printer import print_atom
from rulescore.language.syntax import Atom, Program
from rulescore.logic.refutation import Order, Refutations, groups_by_predicate


def self_refuting(program: Program, names: Sequence[str], ways: Refutations) -> Iterator[Diagnostic]:
    """A warning for each rule whose head is incompatible with one of its body atoms on the same arguments."""
    groups = groups_by_predicate(ways)
    orders: dict[tuple[str, str], set[Order]] = {}
    for one in ways.oppositions:
        if not one.negative:
            orders.setdefault((one.head, one.opponent), set()).add(one.order)
    for rule, name in zip(program.rules, names, strict=True):
        if not isinstance(rule.head, Atom):
            continue
        for literal in rule.body.conditions:
            if isinstance(literal, Atom) and _opposed(rule.head, literal, groups, orders):
                yield Diagnostic(
                    "W204",
                    f"rule `{name}` contradicts itself: its head is incompatible with `{print_atom(literal)}` in its body",
                    rule.span.place() if rule.span else None,
                    notes=("every grounding of it is refuted, whatever the data",),
                    severity=Severity.WARNING,
                )
                break


def _opposed(head: Atom, atom: Atom, groups: dict[str, set[int]], orders: dict[tuple[str, str], set[Order]]) -> bool:
    straight = atom.predicate != head.predicate and atom.terms == head.terms
    if straight and not groups.get(head.predicate, set()).isdisjoint(groups.get(atom.predicate, set())):
        return True
    declared = orders.get((head.predicate, atom.predicate), set())
    return any(tuple(head.terms[position] for position in order) == atom.terms for order in declared)
