"""What stands beside the scores, by the definitions and literally: rules that nothing could refute, predictions that violate, those
that no rule concerns, models that are unmeasured."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from oracle.facts import Constant
from oracle.groundings import ground, matching
from oracle.normal import normal_body, normal_head
from oracle.refutation import incompatible_pairs
from oracle.scores import Counted, counts_of, kind_of
from oracle.tree import REFUTER, And, Atom, Condition, Not, Or, Rule, Setting, Some, Variable
from oracle.walks import aggregates_of, conditions_of, expressions_of, from_target


class Findings(NamedTuple):
    """Of one model. All but the last two are numbers of distinct predictions."""

    violating: int
    violating_any: int
    unconcerned: int
    without_partner: int
    evaluable: int
    unmeasured: bool


def findings(setting: Setting, model: str, counts: Counted | None = None) -> Findings:
    counted = counts_of(setting) if counts is None else counts
    predictions = setting.predictions[model]
    given = {(rule, one): found for (rule, one), found in counted.contributions.items() if one in predictions}
    hard = {rule.name for rule in setting.rules if kind_of(rule, counted.dataset[rule.name]) == "hard"}
    refutable = [rule for rule in setting.rules if not unrefutable(setting, rule)]
    return Findings(
        violating=len({one for (rule, one), counts in given.items() if counts.refuted and rule in hard}),
        violating_any=len({one for (_, one), counts in given.items() if counts.refuted}),
        unconcerned=sum(not any(concerns(setting, rule, one[0]) for rule in setting.rules) for one in predictions),
        without_partner=len(predictions) - len({one for (_, one), counts in given.items() if counts.evaluable}),
        evaluable=sum(counts.evaluable for counts in given.values()),
        unmeasured=not any(concerns(setting, rule, one[0]) for rule in refutable for one in predictions),
    )


# Unrefutable


def unrefutable(setting: Setting, rule: Rule) -> bool:
    head = normal_head(setting, rule.head)
    return head is not None and not possible(setting, head)[1]


def possible(setting: Setting, head: Condition) -> tuple[bool, bool]:
    """Whether some facts confirm a head, and whether some refute it."""
    match head:
        case Atom():
            return True, could_be_refuted(setting, head)
        case Not(inner):
            confirmed, refuted = possible(setting, inner)
            return refuted, confirmed
        case And(parts):
            found = [possible(setting, part) for part in parts]
            return all(c for c, _ in found), any(v for _, v in found)
        case Or(parts):
            found = [possible(setting, part) for part in parts]
            return any(c for c, _ in found), all(v for _, v in found)
        case _:
            return True, True


def could_be_refuted(setting: Setting, head: Atom) -> bool:
    predicate = head.predicate
    return (
        setting.is_closed(predicate)
        or any(one[0] == predicate for one in setting.negatives)
        or any(predicate in (pair.left.predicate, pair.right.predicate) for pair in incompatible_pairs(setting))
        or any(key.predicate == predicate for key in setting.functional)
        or any(could_be_one(head, auxiliary.head) for auxiliary in setting.auxiliary)
    )


def could_be_one(head: Atom, refuted: Atom) -> bool:
    """Some grounding of the head is a fact that the other atom matches. Its variables try every constant of both atoms, and for
    each variable one that stands in neither."""
    names = sorted({term.name for term in head.terms if isinstance(term, Variable)})
    constants = {term for term in (*head.terms, *refuted.terms) if isinstance(term, Constant)}
    constants |= {Constant("fresh", name) for name in names}
    tries = (ground(head, dict(zip(names, values, strict=True))) for values in product(constants, repeat=len(names)))
    return any(matching(refuted, one, {}) is not None for one in tries)


# Concerned


def concerns(setting: Setting, rule: Rule, predicate: str) -> bool:
    """The predicate stands in the rule. Where predictions count as refuters, what refutes its head belongs to the rule."""
    if predicate in standing_in(setting, rule):
        return True
    if REFUTER not in setting.counted_roles or unrefutable(setting, rule):
        return False
    found = {one for head in head_predicates(setting, rule) for one in refuting_predicates(setting, head)}
    return predicate in with_targets(setting, found)


def head_predicates(setting: Setting, rule: Rule) -> set[str]:
    """The predicates of the atoms of a head, those of aggregates in it left out."""
    head = normal_head(setting, rule.head)
    waiting = [] if head is None else [head]
    found = set()
    while waiting:
        part = waiting.pop()
        found |= {part.predicate} if isinstance(part, Atom) else set()
        waiting += conditions_of(part)
    return found


def with_targets(setting: Setting, found: set[str]) -> set[str]:
    """Attributes that change with the target of their table speak of the target."""
    for table in setting.tables:
        if table.target is not None and found & set(map(table.predicate, from_target(table))):
            found = found | {table.predicate(table.target)}
    return found


def standing_in(setting: Setting, rule: Rule) -> set[str]:
    conditions = (normal_body(setting, rule.body), normal_head(setting, rule.head))
    found = {atom.predicate for condition in conditions if condition is not None for atom in every_atom(condition)}
    return with_targets(setting, found)


def every_atom(condition: Condition) -> Iterator[Atom]:
    match condition:
        case Atom():
            yield condition
        case Some(atoms):
            yield from atoms
        case _:
            for part in conditions_of(condition):
                yield from every_atom(part)
            for expression in expressions_of(condition):
                for aggregate in aggregates_of(expression):
                    yield from every_atom(aggregate.condition)


def refuting_predicates(setting: Setting, head: str) -> Iterator[str]:
    for pair in incompatible_pairs(setting):
        if head in (pair.left.predicate, pair.right.predicate):
            yield from (pair.left.predicate, pair.right.predicate)
    for auxiliary in setting.auxiliary:
        if auxiliary.head.predicate == head:
            yield from (atom.predicate for atom in every_atom(normal_body(setting, auxiliary.body)))
