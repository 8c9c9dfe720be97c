"""Evidence: the sets of literals that hold of tuples, and the predicates that share tuples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

from rulescore.counting.parameters import empty_columns
from rulescore.engines.base import Engine, purpose
from rulescore.errors import Diagnostic, InputError
from rulescore.loading.facts import Loaded
from rulescore.logic.vocabulary import Predicate
from rulescore.scoring.pairs import PairCount
from rulescore.sql.horn import evidence as sql
from rulescore.sql.query import drop

_MOST_PAIRS = 5_000_000


@dataclass
class Evidence:
    """The sets of literals that hold of some tuple. We number them once, when first needed. `marked`: whether we distinguish the
    literals that one fact has in two argument orders."""

    engine: Engine
    loaded: Loaded
    marked: bool
    _numbered: bool = False

    def _refuse_many(self) -> None:
        """Raise if there are more pairs of predicates than fit into memory."""
        arities = Counter(predicate.arity for predicate in self.loaded.vocabulary.predicates.values() if predicate.observed)
        pairs = sum(comb(predicates, 2) for predicates in arities.values())
        if pairs > _MOST_PAIRS:
            message = f"the predicates of the data make {pairs:,} pairs, and {_MOST_PAIRS:,} are the most that we compare"
            helps = ("declare the pairs that you need: `incompatible aunt, mother`",)
            raise InputError(Diagnostic("E369", message, helps=helps))

    def number(self) -> None:
        if not self._numbered:
            with purpose("numbering the evidence"):
                _number_signatures(self.engine, self.loaded, marked=self.marked)
            self._numbered = True

    def never_together(self) -> list[tuple[str, str]]:
        """Pairs of observed predicates of one arity that share no tuple."""
        self._refuse_many()
        self.number()
        together = self._together()
        return [(left.name, right.name) for left, right in self._pairs() if (left.name, right.name) not in together]

    def pair_counts(self) -> list[PairCount]:
        """Every pair of observed predicates of one arity, with the number of tuples that both hold of, and of tuples that could
        carry a fact. For one argument, these are all constants of the facts; for two, all pairs that some fact joins, in either
        order; for more, all tuples of facts."""
        self._refuse_many()
        self.number()
        together, tuples = self._together(), self._tuples_with_facts()
        return [
            PairCount(
                left.name, right.name, together.get((left.name, right.name), 0), left.observed, right.observed, tuples[left.arity]
            )
            for left, right in self._pairs()
        ]

    def _pairs(self) -> Iterator[tuple[Predicate, Predicate]]:
        observed = sorted(
            (predicate for predicate in self.loaded.vocabulary.predicates.values() if predicate.observed),
            key=lambda predicate: predicate.name,
        )
        return ((left, right) for left, right in combinations(observed, 2) if left.arity == right.arity)

    def _together(self) -> dict[tuple[str, str], int]:
        """Pairs of observed predicates that share tuples, in alphabetical order, with the number of shared tuples."""
        loaded, together = self.loaded, {}
        names = {number: name for name, number in loaded.predicate_ids.items()}
        for arity in sorted(loaded.fact_arities):
            rows = self.engine.query(sql.cooccurrences(arity, loaded.stride, len(loaded.predicate_ids)))
            for left, right, n in zip(*(rows[c].to_pylist() for c in ("left", "right", "n")), strict=True):
                together[names[left // loaded.stride], names[right // loaded.stride]] = int(n)
        return together

    def _tuples_with_facts(self) -> dict[int, int]:
        """How many tuples of each arity could carry a fact: their constants stand together in some fact."""
        loaded, predicates = self.loaded, len(self.loaded.predicate_ids)
        arities = sorted(loaded.fact_arities)
        statements = {arity: sql.tuples_with_facts(arity, arities, loaded.stride, predicates) for arity in arities}
        return {arity: int(self.engine.query(statement)["n"].to_pylist()[0]) for arity, statement in statements.items()}


def _number_signatures(engine: Engine, loaded: Loaded, *, marked: bool) -> None:
    """Give every set of literals that holds of some tuple a number."""
    arities = sorted(loaded.fact_arities)
    for arity in arities:
        orders = loaded.orders[arity]
        engine.run(sql.create_extremes(arity, orders, loaded.stride, marked=marked))
        engine.run(sql.create_sets(arity, orders, loaded.stride, marked=marked))
    if arities:
        engine.run(sql.create_signatures(arities, 2 * loaded.stride * len(loaded.predicate_ids)))
        engine.run(sql.create_members(arities))
    else:
        engine.load(sql.MEMBER, empty_columns("signature", "literal"))
    for arity in sorted(loaded.fact_arities | loaded.prediction_arities):
        facts, predictions = arity in loaded.fact_arities, arity in loaded.prediction_arities
        engine.run(sql.create_tuples(arity, facts=facts, predictions=predictions))
    for arity in arities:
        for table in sql.intermediate_tables(arity):
            engine.run(drop(table))
