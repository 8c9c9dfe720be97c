"""Decides how many places an answer falls for the soft rules that it breaks. The number is tuned on answers to validation
queries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rulescore.errors import Diagnostic, InputError, Place
from rulescore.mending.enumeration import Integers
from rulescore.mending.lists import Floats, Lists
from rulescore.mending.table import CandidateTable, Fact

TRIED = (0.0, 0.1, 0.3, 1.0, 3.0)


@dataclass(frozen=True, slots=True)
class Penalty:
    """The chosen penalty of soft rules, and the MRR of validation facts for each that was tried.

    An answer that breaks a soft rule falls by `chosen` times the rule's weight times ln(1 / its rate in the data) places.
    """

    chosen: float = 0.0
    tried: Mapping[float, float] = field(default_factory=dict)

    def sentences(self) -> list[str]:
        """What was tried, in words."""
        if not self.tried:
            return []
        tried = ", ".join(f"{penalty:g}: {mrr:.4f}" for penalty, mrr in self.tried.items())
        return [f"the penalty of soft rules is {self.chosen:g}, by the MRR of validation facts ({tried})"]


def soft_places(table: CandidateTable, facts: Sequence[Fact]) -> Floats:
    """How many places each answer falls if the penalty is 1."""
    weights = {rule: table.rules[rule].weight * math.log(1 / float(table.rules[rule].dataset.rate or 1)) for rule in table.soft}
    of_fact = {
        fact: sum(weights[rule] for rule, counts in table.of(fact).items() if rule in weights and counts[1]) for fact in set(facts)
    }
    return np.array([of_fact[fact] for fact in facts], np.float64)


def tuned(lists: Lists, truths: Sequence[bool], levels: Integers, places: Floats) -> Penalty:
    """The penalty with the best MRR of validation facts, among answers to their queries.

    Args:
        lists: The answers to validation queries.
        truths: Whether each answer is a validation fact.
        levels: The level to which each answer moves for other reasons.
        places: How many places each answer falls if the penalty is 1.

    Raises:
        InputError: No answer is a validation fact.
    """
    if not any(truths):
        helps = ("give the answers to queries of the facts of `valid`",)
        raise InputError(
            Diagnostic("E809", "no answer is a validation fact, so there is nothing to tune by", Place(lists.origin), helps=helps)
        )
    queries, is_true = lists.queries(), np.array(truths)
    tried = {}
    for penalty in TRIED:
        order = lists.order(levels, penalty * places)
        starts = np.flatnonzero(np.append(True, np.diff(queries[order]) != 0))
        ranks = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order)))) + 1
        reciprocals = np.where(is_true[order], 1 / ranks, 0.0)
        tried[penalty] = float(np.maximum.reduceat(reciprocals, starts).mean())
    return Penalty(max(tried, key=tried.__getitem__), tried)
