"""The plan of what to count, as data: shapes, and for each shape its rules as rows of parameters.

A shape is a rule whose predicates, directions of binary atoms and constants have become parameters. Rules of one shape differ in
their parameters only, so one statement counts them all (0003)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rulescore.logic.normal import Bound, Free
from rulescore.logic.refutation import Order


@dataclass(frozen=True, slots=True)
class Parameter:
    """A constant of the body or of the head, by its number among them."""

    index: int


ShapeSlot = Bound | Parameter | Free


@dataclass(frozen=True, slots=True)
class ShapeAtom:
    slots: tuple[ShapeSlot, ...]

    @property
    def arity(self) -> int:
        return len(self.slots)


@dataclass(frozen=True, slots=True)
class ShapeTest:
    equal: bool
    left: ShapeSlot
    right: ShapeSlot


@dataclass(frozen=True, slots=True)
class Shape:
    """`head` is None for denial constraints; its parameters are numbered apart from the body's."""

    atoms: tuple[ShapeAtom, ...]
    negated: tuple[ShapeAtom, ...]
    tests: tuple[ShapeTest, ...]
    variables: int
    head: tuple[ShapeSlot, ...] | None

    @property
    def head_variables(self) -> tuple[int, ...]:
        """Numbers of the variables that the head mentions, each once."""
        return tuple(dict.fromkeys(slot.index for slot in self.head or () if isinstance(slot, Bound)))


@dataclass(frozen=True, slots=True)
class LiteralName:
    """A predicate read with its arguments in some order; negative facts are literals of their own."""

    predicate: str
    order: Order
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Body:
    """The parameters of a body: one literal for each atom, then for each negated atom; keys of its constants."""

    literals: tuple[LiteralName, ...]
    constants: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Head:
    """One rule of a shape: its number, its body's number within the group, and its head's parameters."""

    rule: int
    body: int
    predicate: str | None
    constants: tuple[str, ...]


class Judge(StrEnum):
    """How a plan finds out whether heads are confirmed or refuted."""

    DENIAL = "denial"
    EVIDENCE = "evidence"
    CONDITIONS = "conditions"


@dataclass(frozen=True, slots=True)
class ConditionShape:
    """The shape of a refutation: variables 0 … arity-1 are the head's arguments."""

    arity: int
    atoms: tuple[ShapeAtom, ...]
    negated: tuple[ShapeAtom, ...]
    tests: tuple[ShapeTest, ...]
    variables: int


@dataclass(frozen=True, slots=True)
class ConditionRow:
    """One refutation of a `ConditionShape`: its parameters."""

    predicate: str
    literals: tuple[LiteralName, ...]
    constants: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Rules of one shape and one judge, which we count together. `text`: the shape as messages write it."""

    shape: Shape
    text: str
    judge: Judge
    bodies: tuple[Body, ...]
    heads: tuple[Head, ...]
    conditions: tuple[tuple[ConditionShape, tuple[ConditionRow, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    groups: tuple[Group, ...]
