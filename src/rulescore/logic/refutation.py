"""Declarations to refutations: conditions on a head's arguments, evaluated over the same facts as the body.

Most refutations say that another fact holds of the same tuple. Those are *oppositions*: pairs of literals, where a literal is a
predicate read with its arguments in some order. They are kept apart from the general conditions because whole sets of them can
be looked up at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rulescore.data.vocabulary import Vocabulary
from rulescore.language.syntax import (
    Atom,
    Closed,
    Declaration,
    ExtractIncompatible,
    Functional,
    IncompatibleGroup,
    IncompatiblePair,
    PredicateDeclaration,
    Program,
    Refute,
    Variable,
)
from rulescore.logic.normal import Bound, Pattern, PatternAtom, Refutation, Test, normal_refutation

Order = tuple[int, ...]


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


def identity(arity: int) -> Order:
    return tuple(range(arity))


def pair_order(left: Atom, right: Atom) -> Order:
    """Positions of the left atom's variables in the order in which the right atom has them."""
    names = [term.name for term in left.terms if isinstance(term, Variable)]
    return tuple(names.index(term.name) for term in right.terms if isinstance(term, Variable))


def inverse(order: Order) -> Order:
    return tuple(order.index(position) for position in range(len(order)))


def orders_in_use(program: Program) -> dict[int, tuple[Order, ...]]:
    """Per arity, the argument orders in which facts are looked up: as they are, binary ones reversed, and those declared."""
    found: dict[int, list[Order]] = {2: [(0, 1), (1, 0)]}
    for declaration in program.declarations:
        if isinstance(declaration, IncompatiblePair):
            order = pair_order(declaration.left, declaration.right)
            orders = found.setdefault(len(order), [identity(len(order))])
            orders.extend(o for o in dict.fromkeys((order, inverse(order))) if o not in orders)
    return {arity: tuple(orders) for arity, orders in found.items()}


def closed_refutation(predicate: str, arity: int) -> Refutation:
    itself = PatternAtom(predicate, tuple(Bound(i) for i in range(arity)))
    return Refutation(predicate, arity, Pattern((), (itself,), (), _argument_names(arity)))


def functional_refutations(declaration: Functional) -> tuple[Refutation, ...]:
    """One refutation for each value position: a fact that agrees on the keys and differs there."""
    arity = declaration.arity
    found = []
    for value in declaration.values:
        slots: list[Bound] = []
        names = list(_argument_names(arity))
        for position in range(arity):
            if position in declaration.keys:
                slots.append(Bound(position))
            else:
                slots.append(Bound(len(names)))
                names.append(f"other {position}")
        atom = PatternAtom(declaration.predicate, tuple(slots))
        differs = Test(False, slots[value], Bound(value))
        found.append(Refutation(declaration.predicate, arity, Pattern((atom,), (), (differs,), tuple(names))))
    return tuple(found)


def _argument_names(arity: int) -> tuple[str, ...]:
    return tuple(f"argument {i}" for i in range(arity))


def refutations(program: Program, vocabulary: Vocabulary, extracted: Iterable[tuple[str, str]] = ()) -> Refutations:
    """Every declared way to refute, with the pairs extracted from the data."""
    groups: list[tuple[str, ...]] = []
    oppositions: dict[Opposition, None] = {}
    conditions: dict[str, list[Refutation]] = {}

    def add(refutation: Refutation) -> None:
        conditions.setdefault(refutation.predicate, []).append(refutation)

    def declare(declaration: Declaration) -> None:
        match declaration:
            case IncompatibleGroup(predicates):
                groups.append(tuple(dict.fromkeys(predicates)))
            case IncompatiblePair(left, right):
                order = pair_order(left, right)
                oppositions[Opposition(left.predicate, right.predicate, order)] = None
                oppositions[Opposition(right.predicate, left.predicate, inverse(order))] = None
            case Functional():
                for refutation in functional_refutations(declaration):
                    add(refutation)
            case Closed(None):
                for known in vocabulary.predicates.values():
                    add(closed_refutation(known.name, known.arity))
            case Closed(predicate=name):
                arity = vocabulary.arity(name) if name is not None else None
                if name is not None and arity is not None:
                    add(closed_refutation(name, arity))
            case Refute():
                add(normal_refutation(declaration))
            case ExtractIncompatible() | PredicateDeclaration():
                pass

    for declaration in program.declarations:
        declare(declaration)
    for left, right in extracted:
        groups.append((left, right))
    for known in vocabulary.predicates.values():
        if known.negative:
            oppositions[Opposition(known.name, known.name, identity(known.arity), negative=True)] = None
    unique = {name: tuple(dict.fromkeys(found)) for name, found in conditions.items()}
    return Refutations(tuple(groups), tuple(oppositions), unique)
