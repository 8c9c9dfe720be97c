"""What the statements of Horn rules have in common, and the tables that they read."""

from __future__ import annotations

from dataclasses import dataclass

from rulescore.logic.refutation import Order, identity
from rulescore.sql.names import candidate_table, fact_table, name, tuple_table

LOOPED = name("looped")
LOOPED_FACT = name("looped_fact")
LOOPED_TUPLE = name("looped_tuple")


@dataclass(frozen=True, slots=True)
class HornContext:
    """What the statements of one evaluation have in common. `looped`: they look only at predictions of two arguments that are
    loops or touch one, and at facts between the ends of one such prediction."""

    stride: int
    orders: dict[int, tuple[Order, ...]]
    fact_arities: frozenset[int]
    candidate_arities: frozenset[int]
    distinct_variables: bool
    appendix: bool
    ambiguous: bool
    any_observed_prediction: bool
    looped: bool = False

    def predictions(self, arity: int) -> str:
        """The table of the predictions that statements look at."""
        return LOOPED if self.looped else candidate_table(arity)

    def facts(self, arity: int) -> str:
        """The table of the facts that statements look at."""
        return LOOPED_FACT if self.looped else fact_table(arity)

    def tuples(self, arity: int) -> str:
        """The table of the tuples, with their signatures, that statements look at."""
        return LOOPED_TUPLE if self.looped else tuple_table(arity)

    def orders_of(self, arity: int) -> tuple[Order, ...]:
        return self.orders.get(arity, (identity(arity),))
