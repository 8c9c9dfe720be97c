"""Rules of any form, ready to be compiled, as data.

Every atom is a `RowAtom` over a relation of the schema. A variable that abbreviates an expression is replaced by it, an
aggregate by a variable that stands for its value: its `Measure`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rulescore.data.setting import ValueType
from rulescore.language.syntax import Aggregate, Aggregation, Condition, Expression, RowAtom


@dataclass(frozen=True, slots=True)
class Disjunct:
    """One way for a body to hold: atoms that bind variables, tests on them, and variables that equations bind here and atoms
    elsewhere."""

    atoms: tuple[RowAtom, ...]
    tests: tuple[Condition, ...] = ()
    values: tuple[tuple[str, Expression], ...] = ()


@dataclass(frozen=True, slots=True)
class Measure:
    """The value of an aggregate over the groundings of its own variables. `written`: as it stands in the rule."""

    function: Aggregation
    value: Expression
    variables: tuple[str, ...]
    disjuncts: tuple[Disjunct, ...]
    written: Aggregate | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Leaf:
    condition: Condition


@dataclass(frozen=True, slots=True)
class All:
    parts: tuple[Judgement, ...]


@dataclass(frozen=True, slots=True)
class Any:
    parts: tuple[Judgement, ...]


@dataclass(frozen=True, slots=True)
class Opposite:
    part: Judgement


@dataclass(frozen=True, slots=True)
class Exists:
    """Some values of the variables that are not bound outside make one of the disjuncts hold. `title`: what says so."""

    disjuncts: tuple[Disjunct, ...]
    title: str


Judgement = Leaf | All | Any | Opposite | Exists

TRUE = All(())
FALSE = Any(())


@dataclass(frozen=True, slots=True)
class FormulaRule:
    """`variables` are those of a grounding, in the order of their first use; `measures` by the names of the variables that stand
    for them. Predictions take part through those of body and head, not through those of refutations. `doubles`: the relations and
    columns whose integers the rule takes for doubles, because a variable stands for floats as well."""

    variables: tuple[str, ...]
    types: Mapping[str, ValueType | None]
    disjuncts: tuple[Disjunct, ...]
    head_atoms: tuple[RowAtom, ...]
    confirmed: Judgement
    refuted: Judgement
    measures: Mapping[str, Measure]
    body_measures: tuple[str, ...]
    head_measures: tuple[str, ...]
    doubles: tuple[tuple[str, str], ...] = ()
