"""Finds the ways in which a candidate takes part in a rule's groundings: the atoms that it fills, and joins of the data for the
rest.

A *seat* is a set of body atoms that the candidate fills at once; with none it is the head. Each seat has *ways* in which the head
is confirmed or refuted. A way is a join of the data, in which equal arguments of atoms are one *class* of variables. A class that
no fact binds is *open*: the way then holds for every value of an argument of the candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, count

from rulescore.logic.normal import Bound, EqualityTest, Fixed, Free, NormalRule, PatternAtom, Refutation, Slot
from rulescore.logic.plan import LiteralName


@dataclass(frozen=True, slots=True)
class Way:
    """A join of `facts`, and of a fact that opposes the head if `opposed` is given.

    `unless`: it refutes the head only if nothing confirms it, as `closed` and `pca` do. `refutation`: the number of a refutation
    that asks for other absent facts. With `vetoes`, such a fact is present in this way. `values`: the slot of each class of the
    seat. `apart`: slots that must differ. `bound`: the classes that facts bind.
    """

    confirmed: bool
    facts: tuple[PatternAtom, ...]
    opposed: PatternAtom | None
    values: Mapping[int, Slot]
    apart: tuple[tuple[Slot, Slot], ...]
    bound: frozenset[int]
    unless: bool = False
    refutation: int | None = None
    vetoes: bool = False

    def is_open(self, slot: Slot) -> bool:
        return isinstance(slot, Bound) and slot.index not in self.bound


@dataclass(frozen=True, slots=True)
class Seat:
    """The candidate, its classes and its ways. `keys`: the classes that the rest of the body binds; `free`: the others."""

    candidate: PatternAtom
    in_body: bool
    keys: tuple[int, ...]
    free: tuple[int, ...]
    ways: tuple[Way, ...]

    def opened(self, way: Way) -> bool:
        """Whether a way holds for every value of some argument."""
        return any(way.is_open(way.values[index]) for index in self.free)


class _Classes:
    """Variables and constants that must be equal, by union and find."""

    def __init__(self, before: _Classes | None = None) -> None:
        self._parents: dict[int, Slot] = {} if before is None else dict(before._parents)

    def of(self, slot: Slot) -> Slot:
        while isinstance(slot, Bound) and slot.index in self._parents:
            slot = self._parents[slot.index]
        return slot

    def unite(self, left: Slot, right: Slot) -> bool:
        """Make two slots equal. Returns False if they are two different constants."""
        left, right = self.of(left), self.of(right)
        if left == right:
            return True
        if isinstance(left, Fixed):
            left, right = right, left
        if not isinstance(left, Bound):
            return False
        if isinstance(right, Bound) and right.index > left.index:
            left, right = right, left
        assert isinstance(left, Bound)
        self._parents[left.index] = right
        return True

    def unite_all(self, pairs: Iterable[tuple[Slot, Slot]]) -> bool:
        return all(self.unite(left, right) for left, right in pairs)

    def atom(self, atom: PatternAtom) -> PatternAtom:
        return PatternAtom(atom.predicate, tuple(self.of(slot) for slot in atom.slots))


@dataclass(frozen=True, slots=True)
class HeadOpponents:
    """What refutes a rule's head: `literals`, observed or negative facts of its own tuple, and `refutations` in general."""

    literals: tuple[LiteralName, ...]
    refutations: tuple[Refutation, ...]


def seats(rule: NormalRule, opponents: HeadOpponents, *, distinct_variables: bool) -> Iterator[Seat]:
    """Every seat of a candidate in a rule of positive atoms."""
    pattern = rule.pattern
    apart = [(test.left, test.right) for test in pattern.tests if not test.equal]
    if distinct_variables:
        apart += [(Bound(i), Bound(j)) for i, j in combinations(range(len(pattern.variables)), 2)]
    together = [(test.left, test.right) for test in pattern.tests if test.equal]
    fillings = [*_fillings(pattern.atoms), *([()] if rule.head is not None else [])]
    for filled in fillings:
        candidate = pattern.atoms[filled[0]] if filled else rule.head
        assert candidate is not None
        classes = _Classes()
        same = [pair for index in filled[1:] for pair in zip(candidate.slots, pattern.atoms[index].slots, strict=True)]
        if not classes.unite_all([*together, *same]):
            continue
        rest = tuple(atom for index, atom in enumerate(pattern.atoms) if index not in filled)
        bound = {slot.index for atom in rest for slot in classes.atom(atom).slots if isinstance(slot, Bound)}
        roots = dict.fromkeys(
            slot.index for index in range(len(pattern.variables)) if isinstance(slot := classes.of(Bound(index)), Bound)
        )
        ways = _ways(rule, classes, candidate, rest, apart, opponents, tuple(roots), in_body=bool(filled))
        keys = tuple(root for root in roots if root in bound)
        free = tuple(root for root in roots if root not in bound)
        yield Seat(classes.atom(candidate), bool(filled), keys, free, tuple(ways))


def _fillings(atoms: Sequence[PatternAtom]) -> Iterator[tuple[int, ...]]:
    """The sets of atoms that one fact can fill."""
    for predicate in dict.fromkeys(atom.predicate for atom in atoms):
        places = [index for index, atom in enumerate(atoms) if atom.predicate == predicate]
        for size in range(1, len(places) + 1):
            yield from combinations(places, size)


def _ways(
    rule: NormalRule,
    classes: _Classes,
    candidate: PatternAtom,
    rest: tuple[PatternAtom, ...],
    apart: Sequence[tuple[Slot, Slot]],
    opponents: HeadOpponents,
    roots: tuple[int, ...],
    *,
    in_body: bool,
) -> Iterator[Way]:
    def way(
        *,
        confirmed: bool = False,
        same: Iterable[tuple[Slot, Slot]] = (),
        facts: Sequence[PatternAtom] = (),
        opposed: PatternAtom | None = None,
        tests: Sequence[tuple[Slot, Slot]] = (),
        unless: bool = False,
        refutation: int | None = None,
        vetoes: bool = False,
    ) -> Iterator[Way]:
        own = _Classes(classes)
        if not own.unite_all(same):
            return
        joined = tuple(own.atom(atom) for atom in (*rest, *facts))
        on = None if opposed is None else own.atom(opposed)
        kept = []
        for left, right in ((own.of(a), own.of(b)) for a, b in (*apart, *tests)):
            if left == right:
                return
            if isinstance(left, Bound) or isinstance(right, Bound):
                kept.append((left, right))
        slots = [slot for atom in (*joined, *([on] if on is not None else [])) for slot in atom.slots]
        bound = frozenset(slot.index for slot in slots if isinstance(slot, Bound))
        values = {root: own.of(Bound(root)) for root in roots}
        yield Way(confirmed, joined, on, values, tuple(dict.fromkeys(kept)), bound, unless, refutation, vetoes)

    head = rule.head
    if head is None:
        yield from way()
        return
    if not in_body:
        yield from way(confirmed=True)
    else:
        yield from way(confirmed=True, facts=[head])
        if head.predicate == candidate.predicate:
            yield from way(confirmed=True, same=zip(head.slots, candidate.slots, strict=True))
    if opponents.literals:
        yield from way(opposed=head)
    for literal in opponents.literals:
        if literal.predicate == candidate.predicate and not literal.negative:
            turned = [head.slots[place] for place in literal.order]
            yield from way(same=zip(turned, candidate.slots, strict=True))
    for number, refutation in enumerate(opponents.refutations):
        yield from _by_refutation(number, refutation, head, candidate, len(rule.pattern.variables), way)


def _by_refutation(
    number: int,
    refutation: Refutation,
    head: PatternAtom,
    candidate: PatternAtom,
    variables: int,
    way: Callable[..., Iterator[Way]],
) -> Iterator[Way]:
    """The ways of a refutation: each set of its atoms may be the candidate. Facts that must be absent have ways of their own."""

    def moved(slot: Slot) -> Slot:
        if not isinstance(slot, Bound):
            return slot
        return head.slots[slot.index] if slot.index < head.arity else Bound(variables + slot.index - head.arity)

    pattern = refutation.pattern
    atoms = [PatternAtom(atom.predicate, tuple(map(moved, atom.slots))) for atom in pattern.atoms]
    tests = [EqualityTest(test.equal, moved(test.left), moved(test.right)) for test in pattern.tests]
    together = [(test.left, test.right) for test in tests if test.equal]
    apart = [(test.left, test.right) for test in tests if not test.equal]
    unless, others = _absent(refutation)
    own = number if others else None
    places = [index for index, atom in enumerate(atoms) if atom.predicate == candidate.predicate]
    for size in range(len(places) + 1):
        for filled in combinations(places, size):
            same = [pair for index in filled for pair in zip(atoms[index].slots, candidate.slots, strict=True)]
            facts = [atom for index, atom in enumerate(atoms) if index not in filled]
            yield from way(same=[*together, *same], facts=facts, tests=apart, unless=unless, refutation=own)
    fresh = count(variables + len(pattern.variables))
    for negated in others:
        slots = tuple(Bound(next(fresh)) if isinstance(slot, Free) else moved(slot) for slot in negated.slots)
        yield from way(facts=[PatternAtom(negated.predicate, slots)], refutation=own, vetoes=True)
        if negated.predicate == candidate.predicate:
            pairs = zip(map(moved, negated.slots), candidate.slots, strict=True)
            yield from way(same=[pair for pair in pairs if not isinstance(pair[0], Free)], refutation=own, vetoes=True)


def _absent(refutation: Refutation) -> tuple[bool, list[PatternAtom]]:
    """Whether the refuted fact must be absent, and the other atoms of which no fact may be there."""
    itself = PatternAtom(refutation.predicate, tuple(map(Bound, range(refutation.arity))))
    negated = refutation.pattern.negated
    return itself in negated, [atom for atom in negated if atom != itself]


def asks_by_witness(refutation: Refutation) -> bool:
    """Whether facts must be absent that depend on facts that must be present."""
    slots = [slot for atom in _absent(refutation)[1] for slot in atom.slots]
    return any(isinstance(slot, Bound) and slot.index >= refutation.arity for slot in slots)
