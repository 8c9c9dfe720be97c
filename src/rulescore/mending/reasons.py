"""Reasons why a candidate is probably wrong, or right: the rules that it would break, and what the data and hard rules say of its
arguments."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from rulescore.errors import Diagnostic, InputError, ticked
from rulescore.language.terms import write_value
from rulescore.mending.table import CandidateTable, Fact
from rulescore.values import value_of


class Reason(StrEnum):
    """What is known of a candidate. All but `CONCLUDED` speak against it."""

    BREAKS = "breaks a rule"
    TAKEN = "pair is taken"
    CONTRADICTS = "contradicts a conclusion"
    REFLEXIVE = "reflexive"
    CONCLUDED = "is concluded"


AGAINST = (Reason.BREAKS, Reason.TAKEN, Reason.CONTRADICTS, Reason.REFLEXIVE)


Opposes = Mapping[int, Mapping[int, Sequence[tuple[int, ...]]]]
"""For each predicate its opponents, each with the orders in which it takes the arguments."""


@dataclass(frozen=True, slots=True)
class Known:
    """A reason, and the rule, fact or conclusion behind it, in words."""

    reason: Reason
    because: str


def reasons_named(reasons: Collection[str]) -> tuple[Reason, ...]:
    """The reasons that words name.

    Args:
        reasons: Their words.

    Returns:
        The reasons, in the order of `AGAINST`.

    Raises:
        InputError: There is no such reason, or it does not speak against candidates.
    """
    wrong = [reason for reason in reasons if reason not in set(AGAINST)]
    if wrong or not reasons:
        notes = (f"reasons are {ticked(AGAINST)}",)
        what = f"`{wrong[0]}` is no reason to move a candidate" if wrong else "no reason is given to move a candidate"
        raise InputError(Diagnostic("E402", what, notes=notes))
    return tuple(Reason(reason) for reason in AGAINST if reason in set(reasons))


@dataclass(frozen=True)
class Reasons:
    """Finds the reasons for and against candidates of a table."""

    table: CandidateTable

    @cached_property
    def hard(self) -> frozenset[int]:
        return frozenset(self.table.hard)

    @cached_property
    def irreflexive(self) -> frozenset[int]:
        """The predicates that have facts of two arguments, none of them about twice the same constant."""
        rows = [fact[1:] for fact in self.table.observed.tolist()]
        observed = self.table.observed[:, 0].tolist()
        pairs = {predicate for predicate in observed if self.table.arities[predicate] == 2}
        return frozenset(pairs - {predicate for predicate, row in zip(observed, rows, strict=True) if row[0] == row[1]})

    def is_reflexive(self, fact: Fact) -> bool:
        """Whether a candidate has the same constant twice, and no fact of its predicate does."""
        return len(fact) == 3 and fact[1] == fact[2] and fact[0] in self.irreflexive

    def of(self, fact: Fact) -> Iterator[Known]:
        """Everything that is known of one candidate."""
        yield from self._broken(fact)
        yield from self._opposed(fact)
        if self.is_reflexive(fact):
            yield Known(Reason.REFLEXIVE, f"no fact of `{self._predicates[fact[0]]}` has the same constant twice")
        if fact in self.table.conclusions:
            yield Known(Reason.CONCLUDED, self._rule(self.table.conclusions[fact]))

    def against(self, fact: Fact, reasons: Collection[Reason]) -> Known | None:
        """The first of some reasons that speaks against a candidate."""
        return next((known for known in self.of(fact) if known.reason in reasons), None)

    def _broken(self, fact: Fact) -> Iterator[Known]:
        broken = [(-counts[1], rule) for rule, counts in self.table.of(fact).items() if rule in self.hard and counts[1] > 0]
        if broken:
            times, rule = min(broken)
            yield Known(Reason.BREAKS, f"{self._rule(rule)}, {-times:,} grounding{'s' if times < -1 else ''}")

    def _opposed(self, fact: Fact) -> Iterator[Known]:
        if fact in self.table.negative:
            yield Known(Reason.TAKEN, "it is known to be false")
        other = self._opposing(fact, self.opposes, self._facts_at)
        if other is not None:
            yield Known(Reason.TAKEN, self.words(other))
        concluded = self._opposing(fact, self.opposed_by, self._conclusions_at)
        if concluded is not None:
            yield Known(Reason.CONTRADICTS, f"{self.words(concluded)} by {self._rule(self.table.conclusions[concluded])}")

    @staticmethod
    def _opposing(fact: Fact, opposes: Opposes, at: Mapping[Fact, Sequence[Fact]]) -> Fact | None:
        """The first fact with the same arguments whose predicate opposes. A predicate may have hundreds of opponents, but a pair
        few facts, so we go through these."""
        opponents, arguments = opposes.get(fact[0], {}), fact[1:]
        opposing = (
            other
            for other in at.get(tuple(sorted(arguments)), ())
            if any(other[1:] == tuple(arguments[place] for place in order) for order in opponents.get(other[0], ()))
        )
        return min(opposing, default=None)

    @cached_property
    def _facts_at(self) -> Mapping[Fact, Sequence[Fact]]:
        return _by_arguments(self.table.facts if self.table.opposes else ())

    @cached_property
    def _conclusions_at(self) -> Mapping[Fact, Sequence[Fact]]:
        return _by_arguments(self.table.conclusions)

    @cached_property
    def opposes(self) -> Opposes:
        """The predicates whose facts refute each predicate's."""
        return _grouped((head, opponent, order) for head, others in self.table.opposes.items() for opponent, order in others)

    @cached_property
    def opposed_by(self) -> Opposes:
        """The predicates whose facts each predicate's refute."""
        return _grouped(
            (opponent, head, tuple(order.index(place) for place in range(len(order))))
            for head, others in self.table.opposes.items()
            for opponent, order in others
        )

    @cached_property
    def _predicates(self) -> dict[int, str]:
        return {number: name for name, number in self.table.predicates.items()}

    def _rule(self, number: int) -> str:
        return f"`{self.table.rules[number].name}`"

    def words(self, fact: Fact) -> str:
        """A fact, written as in a rule."""
        keys = [self.table.keys[value] for value in fact[1:]]
        return f"`{self._predicates[fact[0]]}({', '.join(write_value(value_of(key)) for key in keys)})`"


def _by_arguments(facts: Iterable[Fact]) -> dict[Fact, list[Fact]]:
    """Facts by their arguments, whatever the order of these."""
    at: dict[Fact, list[Fact]] = {}
    for fact in facts:
        at.setdefault(tuple(sorted(fact[1:])), []).append(fact)
    return at


def _grouped(pairs: Iterable[tuple[int, int, tuple[int, ...]]]) -> Opposes:
    grouped: dict[int, dict[int, list[tuple[int, ...]]]] = {}
    for predicate, opponent, order in pairs:
        grouped.setdefault(predicate, {}).setdefault(opponent, []).append(order)
    return grouped
