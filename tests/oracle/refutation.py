"""Confirmed and refuted heads, and the facts that refute them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations

from oracle.facts import Fact, Facts
from oracle.groundings import Known, disjuncts, ground, matching, solutions, truth
from oracle.normal import normal_body
from oracle.tree import And, Atom, Comparison, Condition, Functional, Incompatible, Not, Or, Refutation, Setting, Variable
from oracle.walks import names_of_atoms
from oracle.world import World


def answers(head: Condition | None, known: Known, world: World) -> tuple[bool, bool]:
    """Confirmed and refuted, independently of each other."""
    match head:
        case None:
            return False, True
        case Atom():
            one = ground(head, known)
            return one in world.facts, refuted(one, world)
        case Not(inner):
            confirmed, is_refuted = answers(inner, known, world)
            return is_refuted, confirmed
        case And(parts):
            found = [answers(part, known, world) for part in parts]
            return all(c for c, _ in found), any(v for _, v in found)
        case Or(parts):
            found = [answers(part, known, world) for part in parts]
            return any(c for c, _ in found), all(v for _, v in found)
        case _:
            held = truth(head, known, world)
            return held is True, held is False


# Atoms


def refuted(head: Fact, world: World) -> bool:
    """An atom with a missing argument is refuted by nothing."""
    setting = world.setting
    return None not in head and (
        (setting.is_closed(head[0]) and head not in world.facts)
        or head in setting.negatives
        or bool(incompatible_facts(setting, head) & world.facts)
        or any(breaks(key, head, one) for key in setting.functional for one in world.facts)
        or bool(known_others(head, world))
        or any(refutes(auxiliary, head, world) for auxiliary in setting.auxiliary)
    )


def incompatible_facts(setting: Setting, head: Fact) -> Facts:
    """The facts, observed or not, that cannot be true beside the head."""
    found = set()
    for pair in incompatible_pairs(setting):
        for mine, other in ((pair.left, pair.right), (pair.right, pair.left)):
            bound = matching(mine, head, {})
            if bound is not None:
                found.add(ground(other, bound))
    return frozenset(found)


@lru_cache(maxsize=100)
def incompatible_pairs(setting: Setting) -> tuple[Incompatible, ...]:
    return (*setting.incompatible, *(extracted(setting.observed) if setting.extract else ()))


def incompatible_group(arity: int, *predicates: str) -> tuple[Incompatible, ...]:
    terms = tuple(Variable(f"X{i}") for i in range(arity))
    return tuple(Incompatible(Atom(one, terms), Atom(other, terms)) for one, other in combinations(predicates, 2))


def extracted(observed: Facts) -> tuple[Incompatible, ...]:
    """Pairs of predicates of one arity, each with observed facts, that have no tuple in common."""
    tuples: dict[tuple[str, int], set[Fact]] = {}
    for predicate, *arguments in observed:
        tuples.setdefault((predicate, len(arguments)), set()).add(tuple(arguments))
    pairs: list[Incompatible] = []
    for (one, arity), (other, other_arity) in combinations(sorted(tuples), 2):
        if arity == other_arity and not tuples[one, arity] & tuples[other, arity]:
            pairs += incompatible_group(arity, one, other)
    return tuple(pairs)


def breaks(key: Functional, head: Fact, one: Fact) -> bool:
    """The fact has the head's key and another value."""
    if not head[0] == one[0] == key.predicate:
        return False
    same_key = all(head[1 + i] == one[1 + i] for i in key.keys)
    return same_key and any(head[1 + i] != one[1 + i] for i in key.values)


def known_others(head: Fact, world: World) -> set[Fact]:
    """The facts by which `pca` refutes the head: those of its key, if none of them has its values."""
    found: set[Fact] = set()
    for key in world.setting.completions(head[0], len(head) - 1):
        same_key = {one for one in world.facts if one[0] == head[0] and all(one[1 + i] == head[1 + i] for i in key.keys)}
        if not any(all(one[1 + i] == head[1 + i] for i in key.values) for one in same_key):
            found |= same_key
    return found


def refutes(auxiliary: Refutation, head: Fact, world: World) -> bool:
    return any(True for _ in instances(auxiliary, head, world))


def instances(auxiliary: Refutation, head: Fact, world: World) -> Iterator[tuple[Condition, Known]]:
    """The body of the auxiliary rule with every grounding under which it refutes the head. The head's variables are bound; those
    that stand in atoms of the body have the types that the atoms give them."""
    bound = matching(auxiliary.head, head, {})
    if bound is None:
        return
    body = normal_body(world.setting, auxiliary.body)
    named = set().union(*map(names_of_atoms, disjuncts(body))) & bound.keys()
    known = {f"head {name}" if name in named else name: argument for name, argument in bound.items()}
    whole = And((body, *(Comparison("=", Variable(name), Variable(f"head {name}")) for name in sorted(named))))
    for _, extended in solutions(whole, known, world):
        yield whole, extended


# Facts that confirm or refute


def refuting_facts(head: Condition | None, known: Known, world: World) -> set[Fact]:
    """The facts of all instances that refute the head; none if it is not refuted."""
    if head is None or not answers(head, known, world)[1]:
        return set()
    match head:
        case Atom():
            return atom_refuting_facts(ground(head, known), world)
        case Not(inner):
            return confirming_facts(inner, known, world)
        case And(parts) | Or(parts):
            return set().union(*(refuting_facts(part, known, world) for part in parts))
        case _:
            return set()


def confirming_facts(head: Condition, known: Known, world: World) -> set[Fact]:
    """The facts by which the head is confirmed; none if it is not."""
    if not answers(head, known, world)[0]:
        return set()
    match head:
        case Atom():
            return {ground(head, known)}
        case Not(inner):
            return refuting_facts(inner, known, world)
        case And(parts) | Or(parts):
            return set().union(*(confirming_facts(part, known, world) for part in parts))
        case _:
            return set()


def atom_refuting_facts(head: Fact, world: World) -> set[Fact]:
    setting = world.setting
    found = set(incompatible_facts(setting, head) & world.facts)
    found |= known_others(head, world)
    found |= {one for one in world.facts if any(breaks(key, head, one) for key in setting.functional)}
    for auxiliary in setting.auxiliary:
        for body, extended in instances(auxiliary, head, world):
            for leaves in disjuncts(body):
                if all(truth(leaf, extended, world) is True for leaf in leaves):
                    found |= {ground(leaf, extended) for leaf in leaves if isinstance(leaf, Atom)}
    return found
