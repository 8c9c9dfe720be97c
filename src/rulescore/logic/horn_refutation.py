"""What refutes the heads of Horn rules, in the form in which their plans look it up.

Most heads are refuted by other facts of the same tuple: *oppositions*. Sets of predicates that oppose each other are *groups*; a
plan looks up whole sets of oppositions at once. Everything else is a pattern on the head's arguments.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, lru_cache

from rulescore.logic.horn import IsPredicate, is_horn_refutation
from rulescore.logic.normal import Bound, EqualityTest, Pattern, PatternAtom, Refutation, normal_refutation
from rulescore.logic.refutation import Absence, Declared, Opponent, Order, OtherValue, Stated, identity
from rulescore.logic.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Opposition:
    """`head(t)` is refuted by `opponent(t[order[0]], t[order[1]], …)`, an observed fact or a negative one."""

    head: str
    opponent: str
    order: Order
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Refutations:
    """All ways to refute. `groups` are sets of predicates that are pairwise incompatible on the same arguments."""

    groups: tuple[tuple[str, ...], ...] = ()
    oppositions: tuple[Opposition, ...] = ()
    conditions: dict[str, tuple[Refutation, ...]] = field(default_factory=dict)

    def general(self, predicate: str) -> tuple[Refutation, ...]:
        """Conditions beyond oppositions that can refute a predicate."""
        return self.conditions.get(predicate, ())


def opposed_both_ways(ways: Refutations) -> bool:
    """Whether some head is opposed by one predicate in two argument orders, so that one fact may oppose it twice over."""
    if not ways.oppositions:
        return False
    seen: set[tuple[str, str]] = set()
    groups = groups_by_predicate(ways)
    for one in ways.oppositions:
        pair = (one.head, one.opponent)
        straight = one.order == identity(len(one.order))
        if pair in seen or (not straight and not groups.get(one.head, set()).isdisjoint(groups.get(one.opponent, set()))):
            return True
        seen.add(pair)
    return False


def groups_by_predicate(ways: Refutations) -> dict[str, set[int]]:
    """The numbers of the groups that each predicate is in."""
    found: dict[str, set[int]] = {}
    for number, group in enumerate(ways.groups):
        for predicate in group:
            found.setdefault(predicate, set()).add(number)
    return found


def refutations(declared: Declared, vocabulary: Vocabulary, is_predicate: IsPredicate = lambda _: True) -> Refutations:
    """What refutes each known predicate, for predicates that Horn rules can have in their heads."""
    oppositions: dict[Opposition, None] = {}
    conditions: dict[str, tuple[Refutation, ...]] = {}
    for known in vocabulary.predicates.values():
        found: dict[object, Refutation] = {}
        for way in declared.ways(known.name, known.arity, grouped=False):
            match way:
                case Opponent(predicate, order, negative):
                    oppositions[Opposition(known.name, predicate, order, negative)] = None
                case Stated(statement) if not is_horn_refutation(statement, is_predicate):
                    pass
                case Absence() | OtherValue() | Stated():
                    condition = _condition(known.name, known.arity, way)
                    found.setdefault(_said(way, condition), condition)
        if found:
            conditions[known.name] = tuple(found.values())
    is_known = cache(is_predicate)
    groups = (tuple(dict.fromkeys(filter(is_known, group))) for group in declared.declared_groups)
    pairs = (pair for pair in declared.extracted if is_known(pair[0]) and is_known(pair[1]))
    return Refutations((*groups, *pairs), tuple(one for one in oppositions if is_known(one.opponent)), conditions)


def _condition(predicate: str, arity: int, way: Absence | OtherValue | Stated) -> Refutation:
    match way:
        case Absence():
            itself = PatternAtom(predicate, tuple(Bound(i) for i in range(arity)))
            return Refutation(predicate, arity, Pattern((), (itself,), (), _argument_names(arity)))
        case OtherValue(declaration, position):
            atom, all_names = _agreeing(predicate, arity, declaration.keys)
            differs = EqualityTest(False, atom.slots[position], Bound(position))
            return Refutation(predicate, arity, Pattern((atom,), (), (differs,), all_names))
        case Stated(statement):
            return normal_refutation(statement)


def _said(way: Absence | OtherValue | Stated, condition: Refutation) -> object:
    """What is equal if two declarations say the same, and shorter than the condition, which may have thousands of arguments."""
    match way:
        case Absence():
            return Absence
        case OtherValue(declaration, position):
            return OtherValue, frozenset(declaration.keys), position
        case Stated():
            return condition


@lru_cache(maxsize=16)
def _agreeing(predicate: str, arity: int, keys: tuple[int, ...]) -> tuple[PatternAtom, tuple[str, ...]]:
    """A fact that agrees on the keys, and the names of all variables: one for all values that a declaration has."""
    known = set(keys)
    others = [i for i in range(arity) if i not in known]
    numbers = {position: arity + number for number, position in enumerate(others)}
    slots = tuple(Bound(numbers.get(i, i)) for i in range(arity))
    return PatternAtom(predicate, slots), (*_argument_names(arity), *(f"other {i}" for i in others))


def _argument_names(arity: int) -> tuple[str, ...]:
    return tuple(f"argument {i}" for i in range(arity))
