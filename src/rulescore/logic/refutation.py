"""What refutes a head: `refute` statements, conditions on the head's arguments over the same facts as the body.

Every declaration is short for such statements, and they keep it for the words of listings. Horn rules, formulas, warnings and
published queries all use this module to know what refutes a head.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from rulescore.language.declarations.incompatible import IncompatibleGroup, IncompatiblePair
from rulescore.language.declarations.refute import Refute, variables
from rulescore.language.syntax import And, Atom, Declaration, Program, Refuting, Variable
from rulescore.logic.formula import NEGATIVE
from rulescore.logic.vocabulary import Vocabulary

Order = tuple[int, ...]

_NONE: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Opposition:
    """`head(t)` is refuted by `opponent(t[order[0]], t[order[1]], …)`, an observed fact or a negative one."""

    head: str
    opponent: str
    order: Order
    negative: bool = False


def opposition(statement: Refute) -> Opposition | None:
    """What one other fact opposes, by incompatible predicates or negative facts. None for everything else. A `refute` statement of
    this form by the user also gives None, because the appendix convention does not count it."""
    match statement.body.conditions:
        case (Atom() as fact,) if statement.said is not None and statement.said.opposing:
            name = fact.predicate.removeprefix(NEGATIVE)
            return Opposition(statement.head.predicate, name, pair_order(statement.head, fact), name != fact.predicate)
        case _:
            return None


@dataclass(frozen=True, slots=True)
class NegativeFacts(Refuting):
    """A source of facts that are known to be false, as if it were declared."""

    predicate: str
    span = None
    opposing = True
    words = "negative facts"

    @property
    def refuted(self) -> tuple[str, ...]:
        return (self.predicate,)

    def refutations(self, predicate: str, arity: int) -> Iterator[Refute]:
        terms = variables(arity)
        yield Refute(Atom(predicate, terms), And((Atom(f"{NEGATIVE}{predicate}", terms),)), said=self)


@dataclass(frozen=True)
class Declared:
    """What can refute heads: the declarations, the pairs extracted from the data, and the predicates that have negative facts.
    `functions`: the names of registered predicates, which bodies may use."""

    declarations: tuple[Declaration, ...] = ()
    extracted: tuple[tuple[str, str], ...] = ()
    functions: frozenset[str] = frozenset()
    negative: frozenset[str] = frozenset()

    def ways(self, predicate: str, arity: int, *, grouped: bool = True) -> Iterator[Refute]:
        """All ways to refute facts of a predicate: negative facts first, then extracted pairs; declarations about all predicates
        last. Without `grouped`, the ways that follow from `groups` are left out: there may be as many as pairs of predicates."""
        about = self._by_predicate if grouped else self._ungrouped
        for declaration in (*about.get(predicate, ()), *about.get(None, ())):
            yield from declaration.refutations(predicate, arity)

    def in_a_group(self, predicate: str) -> bool:
        """Whether something is incompatible with a predicate on all equal arguments."""
        return predicate in self._grouped

    def in_one_group(self, predicate: str, other: str) -> bool:
        """Whether some group has both of two predicates, so they are incompatible on the same arguments."""
        if (predicate, other) in self._extracted or (other, predicate) in self._extracted:
            return True
        numbers = self._group_numbers
        return other != predicate and not numbers.get(predicate, _NONE).isdisjoint(numbers.get(other, _NONE))

    @property
    def groups(self) -> Iterator[tuple[str, ...]]:
        """Sets of predicates, no two of which hold of the same arguments."""
        yield from self.declared_groups
        yield from self.extracted

    @property
    def declared_groups(self) -> Iterator[tuple[str, ...]]:
        """The groups without the extracted pairs. There may be as many extracted pairs as pairs of predicates."""
        return (group.predicates for group in self.declarations if isinstance(group, IncompatibleGroup))

    @cached_property
    def _group_numbers(self) -> dict[str, set[int]]:
        return numbered(self.declared_groups)

    @cached_property
    def _extracted(self) -> frozenset[tuple[str, str]]:
        return frozenset(self.extracted)

    @cached_property
    def _grouped(self) -> frozenset[str]:
        return frozenset(chain.from_iterable(self.groups))

    @cached_property
    def _ungrouped(self) -> dict[str | None, list[Refuting]]:
        others = (declaration for declaration in self.declarations if not isinstance(declaration, IncompatibleGroup))
        return _sorted((*map(NegativeFacts, self.negative), *others))

    @cached_property
    def _by_predicate(self) -> dict[str | None, list[Refuting]]:
        return _sorted((*map(NegativeFacts, self.negative), *map(IncompatibleGroup, self.extracted), *self.declarations))


def numbered(groups: Iterable[Iterable[str]]) -> dict[str, set[int]]:
    """The numbers of the groups that each predicate is in."""
    numbers: dict[str, set[int]] = {}
    for number, group in enumerate(groups):
        for predicate in group:
            numbers.setdefault(predicate, set()).add(number)
    return numbers


def _sorted(declarations: Iterable[Declaration]) -> dict[str | None, list[Refuting]]:
    """The declarations by the predicates whose facts they refute, so a rule looks at no others. Under None: declarations about all
    predicates."""
    by_predicate: dict[str | None, list[Refuting]] = {}
    for declaration in declarations:
        if isinstance(declaration, Refuting):
            for predicate in dict.fromkeys(declaration.refuted):
                by_predicate.setdefault(predicate, []).append(declaration)
    return by_predicate


def declared_in(
    program: Program,
    vocabulary: Vocabulary,
    extracted: Iterable[tuple[str, str]] = (),
    functions: Iterable[str] = (),
) -> Declared:
    """What a program and the data declare."""
    negative = frozenset(predicate.name for predicate in vocabulary.predicates.values() if predicate.negative)
    return Declared(program.declarations, tuple(extracted), frozenset(functions), negative)


def identity(arity: int) -> Order:
    return tuple(range(arity))


def pair_order(left: Atom, right: Atom) -> Order:
    """Positions of the left atom's variables in the order in which the right atom has them."""
    names = [term.name for term in left.terms if isinstance(term, Variable)]
    return tuple(names.index(term.name) for term in right.terms if isinstance(term, Variable))


def inverse(order: Order) -> Order:
    return tuple(order.index(position) for position in range(len(order)))


class Orders(dict[int, tuple[Order, ...]]):
    """For each arity, the argument orders in which we look up facts: as written, reversed if there are two arguments, and the
    orders that pairs declare."""

    def __missing__(self, arity: int) -> tuple[Order, ...]:
        return (identity(arity),)


def orders_in_use(declarations: Iterable[Declaration]) -> Orders:
    by_arity: dict[int, list[Order]] = {2: [(0, 1), (1, 0)]}
    for declaration in declarations:
        if isinstance(declaration, IncompatiblePair):
            order = pair_order(declaration.left, declaration.right)
            orders = by_arity.setdefault(len(order), [identity(len(order))])
            orders.extend(o for o in dict.fromkeys((order, inverse(order))) if o not in orders)
    return Orders({arity: tuple(orders) for arity, orders in by_arity.items()})
