"""What refutes a head: every declaration as conditions on the head's arguments, evaluated over the same facts as the body.

There are four kinds: another fact of the same arguments holds, the fact itself is absent, a fact agrees at some arguments and
differs at another, or the body of a `refute` statement holds, which `pca` is short for. Horn rules,
formulas, warnings and published queries all use this module to know what refutes a head.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from rulescore.language.syntax import (
    And,
    Atom,
    Closed,
    Declaration,
    ExtractIncompatible,
    Functional,
    IncompatibleGroup,
    IncompatiblePair,
    Not,
    PartiallyComplete,
    PredicateDeclaration,
    Program,
    Refute,
    Variable,
    Wildcard,
)
from rulescore.logic.vocabulary import Vocabulary

Order = tuple[int, ...]

_NONE: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Opponent:
    """`head(t)` is refuted by `predicate(t[order[0]], t[order[1]], …)`, an observed fact or a negative one."""

    predicate: str
    order: Order
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Absence:
    """`head(t)` is refuted unless it is a fact."""


@dataclass(frozen=True, slots=True)
class OtherValue:
    """`head(t)` is refuted by a fact of its predicate with the same arguments at the keys and another one at `position`."""

    declaration: Functional
    position: int


@dataclass(frozen=True, slots=True)
class Stated:
    """`head(t)` is refuted if it matches the head of a `refute` statement whose body holds. `declaration`: what the user wrote."""

    statement: Refute
    declaration: Refute | PartiallyComplete


Way = Opponent | Absence | OtherValue | Stated


@dataclass(frozen=True)
class Declared:
    """What can refute heads: the declarations, the pairs extracted from the data, and the predicates that have negative facts.
    `functions`: the names of registered predicates, which bodies may use."""

    declarations: tuple[Declaration, ...] = ()
    extracted: tuple[tuple[str, str], ...] = ()
    functions: frozenset[str] = frozenset()
    negative: frozenset[str] = frozenset()

    def ways(self, predicate: str, arity: int, *, grouped: bool = True) -> Iterator[Way]:
        """All ways to refute facts of a predicate: negative facts first, then extracted pairs; declarations about all predicates
        last. Without `grouped`, the ways that follow from `groups` are left out."""
        if predicate in self.negative:
            yield Opponent(predicate, identity(arity), negative=True)
        for declaration in self.about(predicate) if grouped else self._single(predicate):
            yield from _ways(declaration, predicate, arity)

    def in_one_group(self, predicate: str, other: str) -> bool:
        """Whether some group has both of two predicates, so that they are incompatible on the same arguments."""
        if (predicate, other) in self._extracted or (other, predicate) in self._extracted:
            return True
        numbers = self._group_numbers
        return other != predicate and not numbers.get(predicate, _NONE).isdisjoint(numbers.get(other, _NONE))

    def orders(self, predicate: str, other: str) -> Iterable[Order]:
        """The argument orders in which facts of `other` refute a fact of `predicate`, as pairs declare."""
        return self._orders.get((predicate, other), ())

    def refutes_all(self, predicate: str) -> bool:
        """Whether something can refute every fact of a predicate, whatever its arguments, as all declarations can
        but `refute` and `pca`."""
        return predicate in self._refuted or None in self._refuted

    @property
    def groups(self) -> Iterator[tuple[str, ...]]:
        """Sets of predicates of which no two hold of the same arguments."""
        yield from self.declared_groups
        yield from self.extracted

    @property
    def declared_groups(self) -> Iterator[tuple[str, ...]]:
        """The groups without the extracted pairs, of which there may be as many as pairs of predicates."""
        return (one.predicates for one in self.declarations if isinstance(one, IncompatibleGroup))

    def about(self, predicate: str) -> Iterator[Declaration]:
        """The declarations that can refute a predicate; an extracted pair is a group of two."""
        yield from self._by_predicate.get(predicate, ())
        yield from self._by_predicate.get(None, ())

    def _single(self, predicate: str) -> Iterator[Declaration]:
        """The declarations about a predicate except groups: there may be as many of these as pairs of predicates."""
        yield from self._singles.get(predicate, ())
        yield from self._singles.get(None, ())

    @cached_property
    def _group_numbers(self) -> dict[str, set[int]]:
        """The numbers of the declared groups that each predicate is in."""
        found: dict[str, set[int]] = {}
        for number, group in enumerate(self.declared_groups):
            for predicate in group:
                found.setdefault(predicate, set()).add(number)
        return found

    @cached_property
    def _extracted(self) -> frozenset[tuple[str, str]]:
        return frozenset(self.extracted)

    @cached_property
    def _orders(self) -> dict[tuple[str, str], list[Order]]:
        """The orders that pairs declare, by the two predicates."""
        found: dict[tuple[str, str], list[Order]] = {}
        for one in self.declarations:
            if isinstance(one, IncompatiblePair):
                order = pair_order(one.left, one.right)
                found.setdefault((one.left.predicate, one.right.predicate), []).append(order)
                found.setdefault((one.right.predicate, one.left.predicate), []).append(inverse(order))
        return found

    @cached_property
    def _refuted(self) -> frozenset[str | None]:
        some = Refute | PartiallyComplete
        single = (name for name, several in self._singles.items() if not all(isinstance(one, some) for one in several))
        return self.negative.union(single, chain.from_iterable(self.groups))

    @cached_property
    def _singles(self) -> dict[str | None, list[Declaration]]:
        return _sorted(one for one in self.declarations if not isinstance(one, IncompatibleGroup))

    @cached_property
    def _by_predicate(self) -> dict[str | None, list[Declaration]]:
        return _sorted((*map(IncompatibleGroup, self.extracted), *self.declarations))


def _sorted(declarations: Iterable[Declaration]) -> dict[str | None, list[Declaration]]:
    """The declarations by the predicates whose facts they refute, so that a rule looks at no others. Under None: those about all
    predicates."""
    found: dict[str | None, list[Declaration]] = {}
    for declaration in declarations:
        for predicate in dict.fromkeys(refuted_by(declaration)):
            found.setdefault(predicate, []).append(declaration)
    return found


def refuted_by(declaration: Declaration) -> tuple[str | None, ...]:
    """The predicates whose facts a declaration can refute; None stands for all predicates."""
    match declaration:
        case IncompatibleGroup(predicates):
            return predicates
        case IncompatiblePair(left, right):
            return left.predicate, right.predicate
        case Functional(predicate=predicate) | PartiallyComplete(predicate=predicate) | Closed(predicate):
            return (predicate,)
        case Refute(head):
            return (head.predicate,)
        case ExtractIncompatible() | PredicateDeclaration():
            return ()


def _ways(declaration: Declaration, predicate: str, arity: int) -> Iterator[Way]:
    """The ways in which a declaration refutes facts of one of its predicates; none if it has another number of arguments."""
    match declaration:
        case IncompatibleGroup(predicates):
            yield from (Opponent(other, identity(arity)) for other in predicates if other != predicate)
        case IncompatiblePair(left, right) if left.arity == arity:
            order = pair_order(left, right)
            if left.predicate == predicate:
                yield Opponent(right.predicate, order)
            if right.predicate == predicate:
                yield Opponent(left.predicate, inverse(order))
        case Functional(values=values) if declaration.arity == arity:
            yield from (OtherValue(declaration, position) for position in values)
        case Closed():
            yield Absence()
        case Refute(head) if head.arity == arity:
            yield Stated(declaration, declaration)
        case PartiallyComplete() if declaration.arity == arity:
            yield Stated(_complete(declaration, predicate), declaration)
        case IncompatiblePair() | Functional() | PartiallyComplete() | Refute() | ExtractIncompatible() | PredicateDeclaration():
            return


def _complete(declaration: PartiallyComplete, predicate: str) -> Refute:
    """`refute p(X, Y) <- p(X, _), not p(X, Y)`: the key has values, and this is none of them."""
    variables = [Variable(f"X{position + 1}") for position in range(declaration.arity)]

    def atom(places: tuple[int, ...]) -> Atom:
        return Atom(predicate, tuple(variables[i] if i in places else Wildcard() for i in range(declaration.arity)))

    known, this = atom(declaration.keys), atom(declaration.keys + declaration.values)
    return Refute(Atom(predicate, tuple(variables)), And((known, Not(this))), declaration.span)


def declared_in(
    program: Program,
    vocabulary: Vocabulary,
    extracted: Iterable[tuple[str, str]] = (),
    functions: Iterable[str] = (),
) -> Declared:
    """What a program and the data declare."""
    negative = frozenset(one.name for one in vocabulary.predicates.values() if one.negative)
    return Declared(program.declarations, tuple(extracted), frozenset(functions), negative)


def identity(arity: int) -> Order:
    return tuple(range(arity))


def pair_order(left: Atom, right: Atom) -> Order:
    """Positions of the left atom's variables in the order in which the right atom has them."""
    names = [term.name for term in left.terms if isinstance(term, Variable)]
    return tuple(names.index(term.name) for term in right.terms if isinstance(term, Variable))


def inverse(order: Order) -> Order:
    return tuple(order.index(position) for position in range(len(order)))


def orders_in_use(program: Program) -> dict[int, tuple[Order, ...]]:
    """By arity, the argument orders in which we look up facts: as they are, reversed if binary, and as pairs declare."""
    found: dict[int, list[Order]] = {2: [(0, 1), (1, 0)]}
    for declaration in program.declarations:
        if isinstance(declaration, IncompatiblePair):
            order = pair_order(declaration.left, declaration.right)
            orders = found.setdefault(len(order), [identity(len(order))])
            orders.extend(o for o in dict.fromkeys((order, inverse(order))) if o not in orders)
    return {arity: tuple(orders) for arity, orders in found.items()}
