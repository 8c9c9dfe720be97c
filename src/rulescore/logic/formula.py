"""Rules of any form as data, ready to compile.

Names are resolved: every atom reads a relation of the schema. An expression replaces the variable that abbreviates it; a variable
replaces an aggregate and stands for its value, an `AggregateValue` in `measures`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rulescore.errors import Span
from rulescore.language.syntax import Aggregate, Aggregation, Atom, Comparison, Expression, Membership, RowAtom, Test, Wildcard
from rulescore.values.types import ValueType


@dataclass(frozen=True, slots=True)
class ResolvedAtom:
    """A row of a relation has these values in these columns. An argument may be a whole expression, since an atom may have a
    variable that abbreviates one; `_` is any value. `written`: the atom of the rule, itself: two of a rule may be equal, or
    have one place in a file of another tool."""

    relation: str
    arguments: tuple[tuple[str, Expression | Wildcard], ...]
    written: Atom | RowAtom | None = field(default=None, compare=False, repr=False)


Decided = ResolvedAtom | Comparison | Membership | Test
"""The smallest conditions: each is true, false or unknown by itself."""


@dataclass(frozen=True, slots=True)
class Disjunct:
    """One way for a body to hold: atoms that bind variables, tests on these, and `values`: variables that equations bind here,
    but not alike in all disjuncts."""

    atoms: tuple[ResolvedAtom, ...]
    tests: tuple[Judgement, ...] = ()
    values: tuple[tuple[str, Expression], ...] = ()


@dataclass(frozen=True, slots=True)
class AggregateValue:
    """The value of an aggregate over the groundings of its own variables. `written`: the aggregate as in the rule."""

    function: Aggregation
    value: Expression
    variables: tuple[str, ...]
    disjuncts: tuple[Disjunct, ...]
    written: Aggregate | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Leaf:
    condition: Decided


@dataclass(frozen=True, slots=True)
class All:
    parts: tuple[Judgement, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    parts: tuple[Judgement, ...]


@dataclass(frozen=True, slots=True)
class Opposite:
    part: Judgement


@dataclass(frozen=True, slots=True)
class Exists:
    """Some values of the variables that are not bound outside make one of the disjuncts hold. `title`: the declaration."""

    disjuncts: tuple[Disjunct, ...]
    title: str


Judgement = Leaf | All | AnyOf | Opposite | Exists

TRUE = All(())
FALSE = AnyOf(())


@dataclass(frozen=True, slots=True)
class OrderedText:
    """A column of text that a rule orders by `word`: an operator, `min` or `max`."""

    relation: str
    column: str
    word: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FormulaRule:
    """`variables`: those of a grounding, in the order of their first use. `measures`: the aggregates by the variables that stand
    for them; predictions take part through those of body and head, not through those of refutations. `doubles`: the relations and
    columns whose integers the rule reads as doubles, because a variable stands for integers there and for floats elsewhere."""

    variables: tuple[str, ...]
    types: Mapping[str, ValueType | None]
    disjuncts: tuple[Disjunct, ...]
    head_atoms: tuple[ResolvedAtom, ...]
    confirmed: Judgement
    refuted: Judgement
    measures: Mapping[str, AggregateValue]
    body_measures: tuple[str, ...]
    head_measures: tuple[str, ...]
    doubles: tuple[tuple[str, str], ...] = ()
    ordered_texts: tuple[OrderedText, ...] = field(default=(), compare=False, repr=False)
