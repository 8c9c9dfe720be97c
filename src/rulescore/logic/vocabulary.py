"""The predicates of the loaded data, with their arity and how often they occur."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate and the number of its distinct facts among the observed, the predicted and the negative ones."""

    name: str
    arity: int
    observed: int = 0
    predicted: int = 0
    negative: int = 0

    @property
    def occurs(self) -> bool:
        return bool(self.observed or self.predicted or self.negative)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Predicates by name."""

    predicates: dict[str, Predicate]

    def arity(self, name: str) -> int | None:
        known = self.predicates.get(name)
        return known.arity if known else None
