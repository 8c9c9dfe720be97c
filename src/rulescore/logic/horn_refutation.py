"""What refutes the heads of Horn rules, in the form in which their plans look it up.

Most heads are refuted by other facts of the same tuple: *oppositions*. Sets of predicates that oppose each other are *groups*; a
plan looks up whole sets of oppositions at once. Everything else is a pattern on the head's arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from rulescore.logic.horn import IsPredicate, is_horn_refutation
from rulescore.logic.normal import Refutation, normal_refutation
from rulescore.logic.refutation import Declared, Opposition, identity, numbered, opposition
from rulescore.logic.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Refutations:
    """All ways to refute. `groups` are sets of predicates that are pairwise incompatible on the same arguments. `general`: the
    conditions beyond oppositions that can refute a predicate, which we normalise when somebody asks for them."""

    groups: tuple[tuple[str, ...], ...] = ()
    oppositions: tuple[Opposition, ...] = ()
    general: Callable[[str], tuple[Refutation, ...]] = field(default=lambda _: (), compare=False, repr=False)


def opposed_both_ways(ways: Refutations) -> bool:
    """Whether some head is opposed by one predicate in two argument orders, so that one fact may oppose it twice over."""
    if not ways.oppositions:
        return False
    seen: set[tuple[str, str]] = set()
    groups = numbered(ways.groups)
    for one in ways.oppositions:
        pair = (one.head, one.opponent)
        straight = one.order == identity(len(one.order))
        if pair in seen or (not straight and not groups.get(one.head, set()).isdisjoint(groups.get(one.opponent, set()))):
            return True
        seen.add(pair)
    return False


def refutations(declared: Declared, vocabulary: Vocabulary, is_predicate: IsPredicate = lambda _: True) -> Refutations:
    """What refutes each known predicate, for predicates that Horn rules can have in their heads."""

    @cache
    def general(predicate: str) -> tuple[Refutation, ...]:
        arity = vocabulary.arity(predicate)
        ways = () if arity is None else declared.ways(predicate, arity, grouped=False)
        return tuple(normal_refutation(way) for way in ways if opposition(way) is None and is_horn_refutation(way, is_predicate))

    is_known = cache(is_predicate)
    groups = (tuple(dict.fromkeys(filter(is_known, group))) for group in declared.declared_groups)
    pairs = (pair for pair in declared.extracted if is_known(pair[0]) and is_known(pair[1]))
    ways = (way for known in vocabulary.predicates.values() for way in declared.ways(known.name, known.arity, grouped=False))
    opposed = dict.fromkeys(found for way in ways if (found := opposition(way)) and is_known(found.opponent))
    return Refutations((*groups, *pairs), tuple(opposed), general)
