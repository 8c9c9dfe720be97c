"""The numbers by the published appendix, for the rules that it can count: atoms imply an atom, and incompatible facts refute it.

It counts tuples. One place of a tuple, the head, an incompatible fact or an atom of the body, is the prediction; all others are
observed facts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from oracle.counts import Counts
from oracle.facts import Constant, Fact
from oracle.groundings import Known, allowed_values, ground, groundings, joins, matching
from oracle.normal import is_test, normal_body, normal_head
from oracle.refutation import incompatible_facts
from oracle.tree import BODY, HEAD, REFUTER, Atom, Rule, Setting
from oracle.walks import conjuncts
from oracle.world import World, world_of

Grounding = frozenset[tuple[str, Constant | None]]


class Row(NamedTuple):
    """A tuple: a grounding, the place of the prediction in it, and the fact that refutes the head; none if it is confirmed."""

    grounding: Grounding
    role: str
    body_position: int | None
    refuter: Fact | None


def dataset_counts(setting: Setting, rule: Rule) -> Counts:
    world = world_of(setting, setting.observed)
    confirmed = refuted = 0
    for _, known in groundings(setting, rule, world):
        head = ground(head_of(setting, rule), known)
        confirmed += head in world.facts
        refuted += len(incompatible_facts(setting, head) & world.facts)
    return Counts(confirmed, refuted, confirmed + refuted)


def contribution(setting: Setting, rule: Rule, prediction: Fact) -> Counts:
    found = list(rows(setting, rule, prediction))
    confirmed = sum(row.refuter is None for row in found)
    return Counts(confirmed, len(found) - confirmed, len(found))


def violations(setting: Setting, rule: Rule, prediction: Fact) -> set[tuple[Grounding, frozenset[str]]]:
    """The refuted groundings that count for a prediction, each with the roles the prediction plays in it."""
    refuting = [row for row in rows(setting, rule, prediction) if row.refuter is not None]
    return {(row.grounding, frozenset(other.role for other in refuting if other.grounding == row.grounding)) for row in refuting}


def rows(setting: Setting, rule: Rule, prediction: Fact) -> Iterator[Row]:
    world = world_of(setting, setting.observed)
    allowed = setting.counted_roles
    atoms = body_of(setting, rule)
    for grounding in distinct_joins(setting, atoms, {}, world):
        head = ground(head_of(setting, rule), dict(grounding))
        if HEAD in allowed and head == prediction:
            yield Row(grounding, HEAD, None, None)
        if REFUTER in allowed and prediction in incompatible_facts(setting, head):
            yield Row(grounding, REFUTER, None, prediction)
    for position, atom in enumerate(atoms):
        bound = matching(atom, prediction, {})
        if bound is None or BODY not in allowed:
            continue
        others = (*atoms[:position], *atoms[position + 1 :])
        for grounding in distinct_joins(setting, others, bound, world):
            head = ground(head_of(setting, rule), dict(grounding))
            if head in world.facts:
                yield Row(grounding, BODY, position, None)
            for refuter in incompatible_facts(setting, head) & world.facts:
                yield Row(grounding, BODY, position, refuter)


def distinct_joins(setting: Setting, atoms: tuple[Atom, ...], bound: Known, world: World) -> set[Grounding]:
    return {frozenset(one.items()) for one in joins(atoms, bound, world) if allowed_values(setting, one)}


def head_of(setting: Setting, rule: Rule) -> Atom:
    head = normal_head(setting, rule.head)
    assert isinstance(head, Atom)
    return head


def body_of(setting: Setting, rule: Rule) -> tuple[Atom, ...]:
    return tuple(atom for atom in conjuncts(normal_body(setting, rule.body)) if isinstance(atom, Atom))


# What it cannot count


def refuses(setting: Setting) -> tuple[str, ...]:
    """Names of the rules that this way of counting has no meaning for."""
    return tuple(rule.name for rule in setting.rules if not is_countable(setting, rule))


def is_countable(setting: Setting, rule: Rule) -> bool:
    attributes = {table.predicate(name) for table in setting.tables for name in table.attributes}
    for one in (rule.head, *conjuncts(rule.body)):
        if not isinstance(one, Atom) or one.predicate in attributes or is_test(setting, one.predicate):
            return False
    assert isinstance(rule.head, Atom)
    predicate = rule.head.predicate
    return not (
        setting.is_closed(predicate)
        or any(one[0] == predicate for one in setting.negatives)
        or any(key.predicate == predicate for key in setting.functional)
        or bool(setting.completions(predicate, len(rule.head.terms)))
        or any(auxiliary.head.predicate == predicate for auxiliary in setting.auxiliary)
    )
