"""Rules of any form as data, ready to compile, the relations that they read, and walks over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property

from rulescore.errors import Span
from rulescore.language import syntax
from rulescore.language.trees import Node, expressions_in, nodes_in, replace_variables
from rulescore.values import NUMBERS, ValueType


@dataclass(frozen=True, slots=True)
class RelationColumn:
    """A column in the database, and its type; None if the relation has no rows that tell. If the type is mixed, `kinds` are the
    types of its values, and `examples` describe some of them."""

    column: str
    type: ValueType | None
    kinds: frozenset[ValueType] = frozenset()
    examples: tuple[str, ...] = ()

    def may_hold(self, kind: ValueType) -> bool:
        """Whether a value of a type can equal a value of the column."""
        return may_equal(kind, self.kinds or ({self.type} if self.type is not None else {kind}))


def may_equal(kind: ValueType, kinds: AbstractSet[ValueType]) -> bool:
    """Whether a value of a type can equal a value of one of these types. If the types differ, only integers and floats can be
    equal."""
    return kind in kinds or bool(kind in NUMBERS and NUMBERS & kinds)


@dataclass(frozen=True, slots=True)
class Relation:
    """A predicate of facts, with columns `a0`, `a1`, …, or a table with a key.

    `predicted` has the columns of `observed` and the number of the `prediction`; for facts also `observed`, whether the fact is
    observed already. A prediction takes part in an atom that names one of the columns `from_prediction`. `attributes`: all
    attributes of a table, including attributes that no rule uses."""

    name: str
    columns: Mapping[str, RelationColumn]
    observed: str
    predicted: str | None = None
    from_prediction: frozenset[str] = frozenset()
    key: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()

    @property
    def is_table(self) -> bool:
        return bool(self.key)


NEGATIVE = "negative "
"""The prefix of the relation of a predicate's negative facts. No predicate that a rule can name begins with it."""


@dataclass(frozen=True)
class Schema:
    """Every relation that formulas read, by name. `inexact`: the keys of their integers beyond 64 bits that no double equals."""

    relations: Mapping[str, Relation]
    inexact: frozenset[str] = frozenset()

    def attribute(self, predicate: str) -> tuple[Relation, str] | None:
        """The table and attribute that a predicate `table.attribute` names."""
        for relation in self._tables:
            if predicate.startswith(f"{relation.name}."):
                attribute = predicate[len(relation.name) + 1 :]
                if attribute in relation.columns:
                    return relation, attribute
        return None

    @cached_property
    def _tables(self) -> tuple[Relation, ...]:
        """The tables, apart from the predicates: there are few tables, but there may be many predicates."""
        return tuple(relation for relation in self.relations.values() if relation.is_table)

    def positions(self, predicate: str) -> tuple[Relation, tuple[str, ...]] | None:
        """The relation that holds a predicate's facts, and its columns in the order of the predicate's arguments."""
        owner = self.attribute(predicate)
        if owner is not None:
            relation, attribute = owner
            return relation, (*relation.key, attribute)
        known = self.relations.get(predicate)
        return None if known is None or known.is_table else (known, tuple(known.columns))


@dataclass(frozen=True, slots=True)
class ResolvedAtom:
    """A row of a relation has these values in these columns. An argument may be a whole expression, since an atom may have a
    variable that abbreviates one; `_` is any value. `written`: the object that stands for the atom in the rule. We keep the object,
    because two atoms of a rule may be equal, or have one place in a file of another tool."""

    relation: str
    arguments: tuple[tuple[str, syntax.Expression | syntax.Wildcard], ...]
    written: syntax.Atom | syntax.RowAtom | None = field(default=None, compare=False, repr=False)


Decided = ResolvedAtom | syntax.Comparison | syntax.Membership | syntax.Test
"""The smallest conditions: each is true, false or unknown by itself."""


@dataclass(frozen=True, slots=True)
class Disjunct:
    """One way for a body to hold: atoms that bind variables, and tests on these. `values`: variables that equations bind here, but
    to another expression in some other disjunct."""

    atoms: tuple[ResolvedAtom, ...]
    tests: tuple[Judgement, ...] = ()
    values: tuple[tuple[str, syntax.Expression], ...] = ()


@dataclass(frozen=True, slots=True)
class AggregateValue:
    """The value of an aggregate over the groundings of its own variables. `written`: the aggregate as in the rule."""

    function: syntax.Aggregation
    value: syntax.Expression
    variables: tuple[str, ...]
    disjuncts: tuple[Disjunct, ...]
    written: syntax.Aggregate | None = field(default=None, compare=False, repr=False)


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
    """True if some values of the variables that are not bound outside make one of the disjuncts hold. `title`: the declaration."""

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
    """`variables`: a grounding's, in the order of their first use. `measures`: from a variable to the aggregate that it stands for.
    Predictions take part through aggregates of body and head, not of refutations. `doubles`: the relations and columns whose
    integers the rule reads as doubles, because a variable stands for integers there and for floats elsewhere."""

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


Resolved = ResolvedAtom | Judgement | syntax.Expression
"""A part of a rule. Walks do not enter the disjuncts of `Exists`, which have variables of their own."""


def leaves(judgement: Judgement) -> Iterator[Decided]:
    match judgement:
        case Leaf(condition):
            yield condition
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from leaves(part)
        case Opposite(part):
            yield from leaves(part)
        case Exists():
            return


def nodes_of(part: Resolved) -> Iterator[ResolvedAtom | Node]:
    """Atoms, tests and expressions, with all their parts."""
    match part:
        case ResolvedAtom(_, arguments):
            yield part
            for _, term in arguments:
                yield from nodes_in(term)
        case Leaf() | All() | AnyOf() | Opposite() | Exists():
            for leaf in leaves(part):
                yield from nodes_of(leaf) if isinstance(leaf, ResolvedAtom) else nodes_in(leaf)
        case _:
            yield from nodes_in(part)


def atoms_of(part: Resolved) -> Iterator[ResolvedAtom]:
    return (node for node in nodes_of(part) if isinstance(node, ResolvedAtom))


def variables_of(part: Resolved) -> Iterator[syntax.Variable]:
    return (node for node in nodes_of(part) if isinstance(node, syntax.Variable))


def computed_in(judgement: Judgement) -> Iterator[syntax.Expression]:
    """The expressions that comparisons and tests use, with their parts; not the arguments of atoms."""
    for leaf in leaves(judgement):
        if not isinstance(leaf, ResolvedAtom):
            yield from expressions_in(leaf)


def parts_of(disjunct: Disjunct) -> tuple[Resolved, ...]:
    """All parts of a disjunct."""
    return (*disjunct.atoms, *asked_in(disjunct))


def asked_in(disjunct: Disjunct) -> tuple[Judgement | syntax.Expression, ...]:
    """The parts of a disjunct without its atoms: tests, and the expressions of its equations."""
    return (*disjunct.tests, *(value for _, value in disjunct.values))


def with_values(atom: ResolvedAtom, values: Mapping[syntax.Variable, syntax.Expression]) -> ResolvedAtom:
    """The atom with values in place of variables."""
    replaced = (
        (name, term if isinstance(term, syntax.Wildcard) else replace_variables(term, values)) for name, term in atom.arguments
    )
    return ResolvedAtom(atom.relation, tuple(replaced), atom.written)


def judged_with_values(test: Judgement, values: Mapping[syntax.Variable, syntax.Expression]) -> Judgement:
    """The test with values in place of variables."""
    match test:
        case Leaf(condition):
            replaced = (
                with_values(condition, values) if isinstance(condition, ResolvedAtom) else replace_variables(condition, values)
            )
            return Leaf(replaced)
        case All(parts):
            return All(tuple(judged_with_values(part, values) for part in parts))
        case AnyOf(parts):
            return AnyOf(tuple(judged_with_values(part, values) for part in parts))
        case Opposite(part):
            return Opposite(judged_with_values(part, values))
        case Exists():
            raise AssertionError("only refutations have this form")
