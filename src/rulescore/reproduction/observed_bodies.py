"""Test facts that ExpressGNN can have trained on: those that head a grounding with an observed fact in its body."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pyarrow as pa

from rulescore.arguments.rule_sources import rule_sources
from rulescore.language.reading import read_rules
from rulescore.language.syntax import And, Atom, Rule, Term

Bound = tuple[str, int | None, int | None]
"""A body atom: its predicate, and for each of its arguments which argument of the head it is, if any."""


def heads_a_grounding(rules: Path, train: pa.Table, test: pa.Table) -> pa.Array:
    """For each test fact, whether a rule about its relation has a body atom that a training fact matches, with the arguments that
    the head gives it."""
    bodies: defaultdict[str, list[Bound]] = defaultdict(list)
    for rule in read_rules(rule_sources(rules)).program.rules:
        if isinstance(rule.head, Atom):
            bodies[rule.head.predicate] += _atoms(rule, rule.head.terms)
    first: defaultdict[str, set[str]] = defaultdict(set)
    second: defaultdict[str, set[str]] = defaultdict(set)
    pairs: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for head, relation, tail in zip(*(train[name].to_pylist() for name in ("head", "relation", "tail")), strict=True):
        first[relation].add(head)
        second[relation].add(tail)
        pairs[relation].add((head, tail))

    def matches(fact: tuple[str, str], bound: Bound) -> bool:
        predicate, left, right = bound
        if left is not None and right is not None:
            return (fact[left], fact[right]) in pairs[predicate]
        if left is not None:
            return fact[left] in first[predicate]
        return right is not None and fact[right] in second[predicate]

    facts = zip(*(test[name].to_pylist() for name in ("head", "relation", "tail")), strict=True)
    return pa.array([any(matches((head, tail), one) for one in bodies[relation]) for head, relation, tail in facts])


def _atoms(rule: Rule, head: tuple[Term, ...]) -> list[Bound]:
    conditions = rule.body.conditions if isinstance(rule.body, And) else (rule.body,)
    places = {term: place for place, term in enumerate(head)}
    return [
        (one.predicate, places.get(one.terms[0]), places.get(one.terms[1]))
        for one in conditions
        if isinstance(one, Atom) and len(one.terms) == 2
    ]
